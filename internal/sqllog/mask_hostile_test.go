package sqllog

import (
	"strings"
	"testing"
)

// hostileStatements fill the longest text that is masked with what brackets,
// names of secrets and lists of values can be nested and repeated to.
func hostileStatements() map[string]string {
	fill := func(s string) string { return strings.Repeat(s, MaxStatement/len(s)) }
	return map[string]string{
		"calls in calls":     "SELECT " + fill("MD5(") + "'secret'",
		"calls":              "SELECT " + fill("MD5('secret'),"),
		"one long call":      "SELECT SHA2(" + fill("'secret',") + "1)",
		"names":              "SELECT " + fill("password ") + "= 'secret'",
		"names in brackets":  "SELECT " + fill("(password,") + "'secret'",
		"comparisons":        "SELECT " + fill("(password)=") + "'secret'",
		"values in values":   "INSERT INTO t (password) " + fill("VALUES (") + "'secret'",
		"rows without names": "INSERT INTO t VALUES " + fill("('secret'),"),
		"inserts":            fill("INSERT INTO t (password) VALUES ('secret') "),
		"lists of names":     "INSERT INTO t " + fill("(password) VALUES ('secret'),"),
		"identified":         fill("IDENTIFIED BY 'secret' "),
		"brackets":           "SELECT password = " + fill("(") + "'secret'",
		"cases in cases":     "SELECT password = " + fill("CASE WHEN ") + "'secret'",
	}
}

// Masking takes steps in proportion to a statement's length, whatever it is, and
// no secret stays.
func TestMaskIsLinear(t *testing.T) {
	for name, sql := range hostileStatements() {
		for _, d := range []Dialect{MySQL, Postgres} {
			if masked := d.Mask(sql); strings.Contains(masked, "secret") {
				t.Errorf("%s: a secret stays at %d of %d", name, strings.Index(masked, "secret"), len(masked))
			}
		}
		toks := lex(sql)
		m := newMasking(toks)
		given := m.left
		m.calls()
		m.comparisons()
		m.inserts()
		// Each loop that goes on after the last step ends at once.
		if steps := given - m.left; steps > 2*given+len(toks) {
			t.Errorf("%s: %d steps for %d tokens", name, steps, len(toks))
		}
	}
}

// What people write is far from the bound, also if it is long.
func TestMaskOfLongStatements(t *testing.T) {
	for name, sql := range map[string]string{
		"rows":   "INSERT INTO users (id, name, password) VALUES " + strings.Repeat("(17, 'ann', 'secret'), ", 2500) + "(18, 'ann', 'secret')",
		"list":   "SELECT id, name FROM users WHERE name = 'ann' AND id IN (" + strings.Repeat("17, ", 12000) + "18)",
		"cases":  "UPDATE users SET token = CASE " + strings.Repeat("WHEN id = 17 THEN 'secret' ", 2000) + "END WHERE name = 'ann'",
		"nested": "SELECT name FROM users WHERE name = 'ann' AND password = " + strings.Repeat("CONCAT(", 60) + "'secret'" + strings.Repeat(")", 60),
	} {
		masked := Mask(sql)
		if strings.Contains(masked, "secret") || !strings.Contains(masked, "'ann'") {
			t.Errorf("%s: %.200s", name, masked)
		}
	}
}
