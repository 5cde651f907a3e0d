package digest

import (
	"fmt"
	"strings"
	"testing"
)

// Reads that came before in the same words, and whose tables nothing wrote meanwhile, are
// told; what is written elsewhere, or only begun and ended, does not count.
func TestRepeats(t *testing.T) {
	var log strings.Builder
	for _, q := range []struct {
		schema string
		sql    string
	}{
		{"shop", "SELECT * FROM items WHERE id = 1"},
		{"shop", "SELECT * FROM items WHERE id = 1"}, // again
		{"shop", "SELECT * FROM items WHERE id = 2"},
		{"shop", "SET NAMES utf8mb4"},
		{"shop", "INSERT INTO orders VALUES (1)"},
		{"shop", "SELECT * FROM items WHERE id = 1"}, // again
		{"old", "SELECT * FROM items WHERE id = 1"},  // another table
		{"old", "UPDATE items SET n = 1"},
		{"shop", "SELECT * FROM items WHERE id = 2"}, // again
		{"shop", "SELECT * FROM items i JOIN orders o ON o.item = i.id"},
		{"shop", "SELECT * FROM items i JOIN orders o ON o.item = i.id"}, // again
		{"shop", "UPDATE items SET n = 2 WHERE id = 7"},
		{"shop", "SELECT * FROM items i JOIN orders o ON o.item = i.id"},
		{"shop", "SELECT * FROM items WHERE id = 1"},
		{"shop", "CALL tidy()"}, // may have written anything
		{"shop", "SELECT * FROM items WHERE id = 1"},
		{"shop", "select * FROM items WHERE id = 1"}, // other words
	} {
		fmt.Fprintf(&log, "# User@Host: app[app] @ localhost []\n# Thread_id: 7  Schema: %s  QC_hit: No\n# Query_time: 0.001000  Lock_time: 0.000010  Rows_sent: 1  Rows_examined: 9\nSET timestamp=1714557601;\n%s;\n", q.schema, q.sql)
	}
	count := func(o StatementOptions) string {
		var out []string
		for _, c := range digested(t, []byte(log.String()), o).Classes {
			if c.Repeats > 0 || c.Replayed != o.Repeats {
				out = append(out, fmt.Sprint(c.Schema, " ", c.Fingerprint, " ", c.Repeats, " of ", c.Count))
			}
		}
		return strings.Join(out, "\n")
	}
	if got, want := count(StatementOptions{Repeats: true}), "shop SELECT * FROM items WHERE id = ? 3 of 8\nshop SELECT * FROM items i JOIN orders o ON o.item = i.id 1 of 3"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := count(StatementOptions{}); got != "" {
		t.Errorf("counted though nobody asked: %s", got)
	}
}
