package index

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

// A condition on the inner side of an outer join makes it an inner join, so that the server
// may begin there; one that NULLs fulfil does not.
func TestOuterJoinBecomesInner(t *testing.T) {
	tables := []evidence.Table{
		define("shelves", 400, "id:int(11):400 store:int(11):1", "PRIMARY(id,store)"),
		define("paths", 1100, "shelf_id:int(11):400 path_id:int(11):300 level:int(11):3", "PRIMARY(shelf_id,path_id)"),
		define("placed", 30000, "thing_id:int(11):20000 shelf_id:int(11):400", "PRIMARY(thing_id,shelf_id)", "by_shelf(shelf_id)"),
	}
	const from = "SELECT COUNT(DISTINCT t.thing_id) FROM shelves s LEFT JOIN paths p ON (p.shelf_id = s.id AND s.store = 0) LEFT JOIN placed t ON (t.shelf_id = p.shelf_id) WHERE "
	for _, c := range []struct {
		name, where, want string
	}{
		{"equality", "p.path_id = 136", "paths(path_id)"},
		{"without its alias", "path_id = 136", "paths(path_id)"},
		{"a later ON needs it", "t.thing_id > 0 AND p.path_id IN (136)", "paths(path_id)"},
		{"both sides of an OR", "(p.path_id = 136 AND p.level = 1 OR p.path_id = 137)", "paths(path_id,level)"},
		{"computed", "p.path_id = 136 AND p.level + 1 = 2", "paths(path_id)"},
		{"NULLs, too", "(p.path_id = 136 OR p.path_id IS NULL)", ""},
		{"the same or NULL", "p.path_id <=> 136", ""},
		{"a value for NULL", "IFNULL(p.path_id, 136) = 136", ""},
	} {
		advice, notes := Advise([]evidence.Statement{run(from+c.where, 8000, 50*second, 2000, 1)}, tables, Options{})
		if got := strings.Join(columnsOf(advice), " "); got != c.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s\nnotes %v", c.name, c.where, got, c.want, notes)
		}
	}
}

// Every row of a right join's left side is like one of a left join's right side, and what an
// inner join's ON compares is no NULL either.
func TestOuterJoinInChain(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM a RIGHT JOIN b ON a.id = b.a_id WHERE a.x = 1", ""},
		{"SELECT * FROM a RIGHT JOIN b ON a.id = b.a_id WHERE b.x = 1", "a"},
		{"SELECT * FROM a LEFT JOIN b ON a.id = b.a_id LEFT JOIN c ON c.b_id = b.id WHERE c.x = 1", ""},
		{"SELECT * FROM a LEFT JOIN b ON a.id = b.a_id LEFT JOIN c ON c.b_id = b.id WHERE b.x = 1", "c"},
		{"SELECT * FROM a LEFT JOIN b ON a.id = b.a_id JOIN c ON c.b_id = b.id", ""},
		{"SELECT * FROM a LEFT JOIN (b LEFT JOIN c ON c.b_id = b.id) ON c.a_id = a.id", "b c"},
		{"SELECT * FROM a LEFT JOIN b ON a.id = b.a_id WHERE b.x NOT IN (SELECT y FROM c)", "b"},
		{"SELECT * FROM a LEFT JOIN b ON a.id = b.a_id WHERE b.x NOT IN (1, 2)", ""},
		{"SELECT * FROM a LEFT JOIN b ON a.id = b.a_id WHERE b.x IS NOT NULL AND NOT (b.x = 3)", ""},
		{"SELECT * FROM a LEFT JOIN b ON a.id = b.a_id WHERE b.x NOT BETWEEN a.x AND 9", ""},
		{"SELECT * FROM a LEFT JOIN b ON a.id = b.a_id WHERE a.x NOT BETWEEN b.x AND 9", "b"},
		{"UPDATE a LEFT JOIN b ON a.id = b.a_id SET a.x = 1 WHERE b.x LIKE 'y%'", ""},
		{"DELETE a FROM a LEFT JOIN b ON a.id = b.a_id WHERE b.a_id IS NULL", "b"},
	} {
		if got := strings.Join(dependent(t, c.sql), " "); got != c.want {
			t.Errorf("%s: outer joins of %q, want %q", c.sql, got, c.want)
		}
	}
}

// dependent are the tables of a statement that must come after others.
func dependent(t *testing.T, sql string) (out []string) {
	t.Helper()
	var tables []evidence.Table
	for _, name := range []string{"a", "b", "c"} {
		tables = append(tables, define(name, 1000, "id:int(11):1000 a_id:int(11):500 b_id:int(11):500 x:int(11):90", "PRIMARY(id)"))
	}
	tables[2] = define("c", 1000, "id:int(11):1000 a_id:int(11):500 b_id:int(11):500 x:int(11):90 y:int(11):90", "PRIMARY(id)")
	s := newStatement(run(sql, 100, second, 1000, 1), 0, newCatalog(tables), false)
	if s.root == nil {
		t.Fatalf("%s was not read: %v", sql, s.notes)
	}
	for _, a := range s.root.accesses {
		if len(a.after) > 0 {
			out = append(out, a.alias)
		}
	}
	return out
}
