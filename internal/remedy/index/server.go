package index

import (
	"strconv"
	"strings"

	"kasoku/internal/evidence"
)

// OptionsFor are the defaults with what the server can do.
func OptionsFor(db *evidence.Database) Options {
	can := func(maria, mysql [3]int) bool {
		if db.MariaDB {
			return maria != never && from(db.Version, maria)
		}
		return mysql != never && from(db.Version, mysql)
	}
	return Options{
		Descending: can([3]int{10, 8}, [3]int{8}),       // MDEV-13756; MySQL 8.0 Reference Manual, "Descending Indexes"
		Functional: can(never, [3]int{8, 0, 13}),        // "Functional Key Parts"
		Finds:      can([3]int{11, 8}, [3]int{5, 7, 8}), // MDEV-35616; MySQL 5.7 Reference Manual, "Optimizer Use of Generated Column Indexes"
		MySQL:      !db.MariaDB,
	}
}

// never is the version of what a server has not had yet.
var never [3]int

// from reports whether a version, "10.11.6-MariaDB", is that one or later.
func from(have string, want [3]int) bool {
	var h [3]int
	for i, part := range strings.SplitN(strings.SplitN(have, "-", 2)[0], ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return false
		}
		h[i] = n
	}
	for i := range h {
		if h[i] != want[i] {
			return h[i] > want[i]
		}
	}
	return true
}
