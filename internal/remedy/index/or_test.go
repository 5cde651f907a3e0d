package index

import (
	"slices"
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

// An OR over columns gets an index for each side, which help only together; sides that
// share columns get one for both.
func TestOrOverColumns(t *testing.T) {
	for _, c := range []struct {
		name, sql string
		sent      float64
		indexes   []string
		want      string
	}{
		{"two sides", "SELECT * FROM links WHERE origin = 7 OR target = 7", 30, nil, "links(origin) links(target)"},
		{"one side has an index", "SELECT * FROM links WHERE origin = 7 OR target = 7", 30, []string{"had(origin)"}, "links(target)"},
		{"a side is the primary key", "SELECT * FROM links WHERE id = 7 OR target = 7", 13, nil, "links(target)"},
		{"three sides, one a range", "SELECT * FROM links WHERE origin = 7 OR target IN (7, 8) OR label LIKE 'ab%'", 30, nil, "links(label) links(origin) links(target)"},
		{"sides with the same columns", "SELECT COUNT(*) FROM links WHERE (origin = 7 AND target = 9) OR (origin = 9 AND target = 7)", 1, nil, "links(target,origin)"},
		{"sides that begin with the same condition", "SELECT * FROM links WHERE (origin = 7 AND made = '2026-01-01') OR (origin = 7 AND made = '2026-02-01')", 1, nil, "links(made,origin)"},
		{"a condition beside it", "SELECT * FROM links WHERE kind = 3 AND (origin = 7 OR target = 7)", 1, nil, "links(origin,kind) links(target,kind)"},
		{"a side that no index serves", "SELECT * FROM links WHERE origin = 7 OR label LIKE '%x'", 30, nil, ""},
	} {
		table := define("links", 60000, "id:int(11):60000 origin:int(11):4000 target:int(11):5000 kind:int(11):40 made:datetime:60000 label:varchar(40):50000 bio:text:100", append([]string{"PRIMARY(id)"}, c.indexes...)...)
		advice, notes := Advise([]evidence.Statement{run(c.sql, 1000, 60*second, 60000, c.sent)}, []evidence.Table{table}, Options{})
		if got := strings.Join(columnsOf(advice), " "); got != c.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s\nnotes %v", c.name, c.sql, got, c.want, notes)
		}
		for _, a := range advice {
			if len(advice) > 1 && (len(a.With) != len(advice)-1 || !strings.Contains(a.Reason, "index merge")) {
				t.Errorf("%s: %v stands for itself: with %v, %s", c.name, a.Columns, a.With, a.Reason)
			}
			if a.RowsAfter >= a.RowsBefore || a.Benefit <= 0 {
				t.Errorf("%s: incomplete advice %+v", c.name, a)
			}
		}
	}
}

// What index merge cannot do is said: an OR over two tables, and a side that needs a scan.
func TestOrThatNoIndexServes(t *testing.T) {
	tables := []evidence.Table{
		define("a", 60000, "id:int(11):60000 x:int(11):4000 label:varchar(40):50000", "PRIMARY(id)"),
		define("b", 60000, "id:int(11):60000 a_id:int(11):30000 y:int(11):5000", "PRIMARY(id)", "a(a_id)"),
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM a JOIN b ON b.a_id = a.id WHERE a.x = 5 OR b.y = 6", "UNION"},
		{"SELECT * FROM a WHERE x = 5 OR label LIKE '%x'", "read whole"},
	} {
		_, notes := Advise([]evidence.Statement{run(c.sql, 1000, 60*second, 60000, 5)}, tables, Options{})
		if !slices.ContainsFunc(notes, func(n Note) bool { return strings.Contains(n.Text, c.want) }) {
			t.Errorf("%s: notes %+v, want one with %q", c.sql, notes, c.want)
		}
	}
}
