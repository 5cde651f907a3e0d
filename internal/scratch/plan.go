package scratch

import (
	"errors"
	"fmt"
	"strings"

	"kasoku/internal/evidence"
	"kasoku/internal/remedy/index"
	"kasoku/internal/ui"
)

// Copy is what is copied of a table.
type Copy struct {
	Table *evidence.Table
	// Rows at most; Copied, once it was done.
	Rows, Copied int64
	// Whole: all rows were copied. How says which were, if not.
	Whole bool
	How   string
	// Bytes that it takes with its indexes, the advised ones among them, estimated.
	Bytes int64
}

const (
	// lockedMost is the largest table of an engine that locks it against writers while
	// it is read: 16 MiB are read in a tenth of a second.
	lockedMost = 16 << 20
	// leastRows of a sample that still say something.
	leastRows = 1000
)

// job is a statement on the copies.
type job struct {
	at     int // among the statements
	target target
}

// copies plans which tables are copied for the jobs, and how much of each.
func copies(tables []evidence.Table, jobs []job, advice []index.Advice, l Limits) ([]*Copy, error) {
	var out []*Copy
	seen := map[*evidence.Table]bool{}
	for _, j := range jobs {
		for _, name := range j.target.tables {
			t := tableOf(tables, name)
			if t == nil || seen[t] {
				continue
			}
			seen[t] = true
			out = append(out, sized(t, advice, l))
		}
	}
	return out, fit(out, l)
}

// sized is how much of a table is copied where it is the only one.
func sized(t *evidence.Table, advice []index.Advice, l Limits) *Copy {
	c := &Copy{Table: t, Rows: min(max(t.Rows+t.Rows/5, leastRows), l.Rows)}
	rows := max(t.Rows, 1)
	each := max(t.RowBytes, t.DataBytes/rows, 16) + t.IndexBytes/rows
	for _, a := range advice {
		if strings.EqualFold(a.Schema, t.Schema) && strings.EqualFold(a.Table, t.Name) {
			each += index.Size(*t, a.Columns) / rows
		}
	}
	c.Bytes = each * min(c.Rows, rows)
	return c
}

// fit halves the largest copies until all have room.
func fit(list []*Copy, l Limits) error {
	for {
		var sum int64
		var largest *Copy
		for _, c := range list {
			sum += c.Bytes
			if largest == nil || c.Bytes > largest.Bytes {
				largest = c
			}
		}
		if sum <= l.Bytes {
			return nil
		}
		if largest.Rows/2 < leastRows {
			return fmt.Errorf("copies of %d rows would take %s, more than %s", leastRows, ui.Bytes(sum), ui.Bytes(l.Bytes))
		}
		largest.Rows, largest.Bytes = largest.Rows/2, largest.Bytes/2
	}
}

func tableOf(tables []evidence.Table, name [2]string) *evidence.Table {
	for i := range tables {
		if strings.EqualFold(tables[i].Schema, name[0]) && strings.EqualFold(tables[i].Name, name[1]) {
			return &tables[i]
		}
	}
	return nil
}

// copyable reports an error where one of the tables of a statement is not copied.
func copyable(t target, tables []evidence.Table) error {
	if len(t.tables) == 0 {
		return errors.New("it reads no table")
	}
	for _, name := range t.tables {
		x := tableOf(tables, name)
		if x == nil {
			return fmt.Errorf("%s.%s is no table, or one that this account does not see", name[0], name[1])
		}
		switch strings.ToLower(x.Engine) {
		case "innodb":
		case "aria", "myisam":
			if x.DataBytes > lockedMost {
				return fmt.Errorf("%s.%s is %s, which keeps writers out while its %s are read", x.Schema, x.Name, x.Engine, ui.Bytes(x.DataBytes))
			}
		default: // a table that stands elsewhere would be written there
			return fmt.Errorf("%s.%s is %s, of which no copy is made", x.Schema, x.Name, x.Engine)
		}
	}
	return nil
}
