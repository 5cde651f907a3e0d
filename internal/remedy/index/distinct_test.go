package index

import (
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/evidence"
)

// Rows that a key tells apart are no groups: they are read in order, up to the limit.
func TestServerNeedsNoGroups(t *testing.T) {
	await.SkipShort(t)
	tables := notesOf("400")
	check(t, []onServer{
		{"DISTINCT with the key", tables, "SELECT DISTINCT id, text FROM notes WHERE kind = 3 ORDER BY made DESC LIMIT 10", "notes(kind,made)", 30, ""},
		{"all columns", tables, "SELECT DISTINCT n.* FROM notes n WHERE n.kind = 3 ORDER BY n.made DESC LIMIT 10", "notes(kind,made)", 30, ""},
		{"GROUP BY the key", tables, "SELECT id, text FROM notes WHERE kind = 3 GROUP BY id ORDER BY made DESC LIMIT 10", "notes(kind,made)", 30, ""},
		{"GROUP BY the key, in its order", tables, "SELECT id, text FROM notes WHERE person = 3 GROUP BY id LIMIT 10", "notes(person)", 30, ""},
		{"a real group", tables, "SELECT kind, COUNT(*) FROM notes WHERE person = 3 GROUP BY kind ORDER BY kind LIMIT 10", "notes(person,kind)", 60, ""},
		{"joined", tables, "SELECT DISTINCT n.id, n.text FROM notes n JOIN people p ON p.id = n.person WHERE n.person = 9 ORDER BY n.made DESC LIMIT 10", "notes(person,made)", 60, "leave DISTINCT out"},
	})
}

// What may be twice, or NULL twice, is grouped; and a joined table may make several of one row.
func TestWhatIsGrouped(t *testing.T) {
	a := define("a", 60000, "id:int(11):60000 code:int(11):60000 kind:int(11):5 made:datetime:60000", "PRIMARY(id)", "UNIQUE code(code)")
	a.Columns[1].Nullable = true
	b := define("b", 60000, "id:int(11):60000 a_id:int(11):6000", "PRIMARY(id)", "a_id(a_id)")
	for sql, grouped := range map[string]bool{
		"SELECT DISTINCT id, made FROM a WHERE kind = 3 ORDER BY made LIMIT 10":                                 false,
		"SELECT DISTINCT code, made FROM a WHERE kind = 3 ORDER BY made LIMIT 10":                               true,
		"SELECT DISTINCT made FROM a WHERE kind = 3 ORDER BY made LIMIT 10":                                     true,
		"SELECT id, COUNT(*) FROM a WHERE kind = 3 GROUP BY id ORDER BY made LIMIT 10":                          true,
		"SELECT DISTINCT a.id, a.made FROM a JOIN b ON b.a_id = a.id WHERE a.kind = 3 ORDER BY a.made LIMIT 10": true,
	} {
		cat := newCatalog([]evidence.Table{a, b})
		s := newStatement(run(sql, 1000, 60*second, 60000, 10), 0, cat, false)
		if s.root.grouped != grouped || len(s.notes) > 0 && strings.Contains(sql, "JOIN") {
			t.Errorf("%s: grouped %v, notes %v", sql, s.root.grouped, s.notes)
		}
	}
}
