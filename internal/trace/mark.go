package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// MarkKey is what a mark looks like in a stream of cache commands.
func MarkKey(n int) string { return fmt.Sprintf("kasoku-mark-%d", n) }

// MarkText is the statement that marks a database's general log: what follows
// belongs to request n.
func MarkText(n int) string { return "SELECT '" + MarkKey(n) + "'" }

// markOf reads the number of a mark that s holds.
func markOf(s string) (n int, ok bool) {
	_, rest, found := strings.Cut(s, "kasoku-mark-")
	if !found {
		return 0, false
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(rest[:end])
	return n, err == nil
}
