package trace

import (
	"strings"
	"testing"
)

// Statements of PostgreSQL are told apart by what its dialect says they are: # is
// an operator, a name stands in double quotes, $$ begins a text.
func TestPostgresStatements(t *testing.T) {
	classes := map[string]*class{}
	read := func(sql string, postgres bool) *statement { return readStatement(sql, postgres, classes) }

	a := read(`SELECT data #> '{a}' FROM "Orders" WHERE id = 7`, true)
	b := read(`SELECT data #> '{a}' FROM "Orders" WHERE id = 8`, true)
	if a.fingerprint != b.fingerprint || a.values == b.values || a.condition == b.condition {
		t.Errorf("two rows of one class are %q %q and %q %q", a.fingerprint, a.values, b.fingerprint, b.values)
	}
	if len(a.tables) != 1 || !strings.EqualFold(a.tables[0], "Orders") || !a.keyed {
		t.Errorf("the tables of %q are %q, by a key: %v", a.fingerprint, a.tables, a.keyed)
	}
	if m := read(`SELECT data #> '{a}' FROM "Orders" WHERE id = 7`, false); m.fingerprint == a.fingerprint {
		t.Error("the same text is one statement in both dialects")
	}
	one, two := read("UPDATE t SET x = $$it's a -- #$$ WHERE id = 7", true), read("UPDATE t SET x = $$it's a -- #$$ WHERE id = 8", true)
	if one.fingerprint != two.fingerprint || one.condition == two.condition || !one.keyed {
		t.Errorf("%q %q and %q %q", one.fingerprint, one.condition, two.fingerprint, two.condition)
	}
	if path := read(`SELECT id FROM t WHERE path = 'c:\' AND id = 9`, true); !strings.Contains(path.condition, "9") || strings.Contains(path.fingerprint, "9") {
		t.Errorf("a backslash before a quote: %q, %q", path.fingerprint, path.condition)
	}
}

// A span says which dialect its statement is in.
func TestSpanDialect(t *testing.T) {
	for system, want := range map[string]bool{"postgresql": true, "CockroachDB": true, "mysql": false, "mariadb": false, "other_sql": false} {
		s := span{attrs: map[string]string{"db.system": system}, kind: spanClient}
		if s.postgres() != want || s.system() != SQL {
			t.Errorf("%s: PostgreSQL's dialect %v, system %q", system, s.postgres(), s.system())
		}
	}
}
