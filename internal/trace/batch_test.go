package trace

import (
	"strings"
	"testing"
)

func TestForm(t *testing.T) {
	for _, c := range []struct {
		why  string
		p    Pattern
		want string // lines
		note string // part of the notes
	}{
		{"by primary key", Pattern{Kind: NPlusOne, What: "SELECT * FROM users WHERE id = ?"}, "SELECT * FROM users WHERE id IN (?, ?, …)", "map"},
		{"the key is not selected", Pattern{Kind: NPlusOne, What: "SELECT name FROM users WHERE id = ?"}, "SELECT id, name FROM users WHERE id IN (?, ?, …)", "id is selected too"},
		{"the key that differs", Pattern{Kind: NPlusOne, What: "SELECT * FROM users WHERE gone = ? AND `order` = ?", Keys: []string{"order"}}, "SELECT * FROM users WHERE gone = ? AND `order` IN (?, ?, …)", ""},
		{"without known keys a column named id is one", Pattern{Kind: NPlusOne, What: "SELECT * FROM users u WHERE u.gone = ? AND u.id = ?"}, "SELECT * FROM users AS u WHERE u.gone = ? AND u.id IN (?, ?, …)", ""},
		{"two keys", Pattern{Kind: NPlusOne, What: "SELECT * FROM likes WHERE user_id = ? AND post_id = ?", Keys: []string{"user_id", "post_id"}}, "SELECT * FROM likes WHERE (user_id, post_id) IN ((?, ?), (?, ?), …)", ""},
		{"a count", Pattern{Kind: NPlusOne, What: "SELECT COUNT(*) AS n FROM comments WHERE post_id = ?"}, "SELECT post_id, COUNT(*) AS n FROM comments WHERE post_id IN (?, ?, …) GROUP BY post_id", "its count is 0"},
		{"the newest of each", Pattern{Kind: NPlusOne, What: "SELECT * FROM comments WHERE post_id = ? ORDER BY created_at DESC LIMIT ?"},
			"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY post_id ORDER BY created_at DESC) AS row_of_key FROM comments WHERE post_id IN (?, ?, …)) AS ranked WHERE row_of_key <= ?", "MariaDB 10.2"},
		{"a limit without an order", Pattern{Kind: NPlusOne, What: "SELECT * FROM users WHERE login = ? LIMIT ?"}, "SELECT * FROM users WHERE login IN (?, ?, …)", "LIMIT held for each key"},
		{"an OR has no list", Pattern{Kind: NPlusOne, What: "SELECT * FROM users WHERE id = ? OR name = ?"}, "", ""},
		{"a join", Pattern{Kind: NPlusOne, What: "SELECT p.title FROM posts p JOIN tags t ON t.post_id = p.id WHERE t.name = ?"}, "SELECT t.name, p.title FROM posts AS p JOIN tags AS t ON t.post_id = p.id WHERE t.name IN (?, ?, …)", ""},
		{"rows inserted", Pattern{Kind: RowWrites, What: "INSERT INTO i(a, b) VALUES (?, NOW()) ON DUPLICATE KEY UPDATE a = VALUES (a)"}, "INSERT INTO i (a, b) VALUES (?, NOW()), (?, NOW()), … ON DUPLICATE KEY UPDATE a = VALUES(a)", "primary key"},
		{"rows replaced", Pattern{Kind: RowWrites, What: "REPLACE INTO i SET a = ?, b = ?"}, "REPLACE INTO i (a, b) VALUES (?, ?), (?, ?), …", ""},
		{"rows deleted", Pattern{Kind: RowWrites, What: "DELETE FROM i WHERE id = ?"}, "DELETE FROM i WHERE id IN (?, ?, …)", ""},
		{"rows updated", Pattern{Kind: RowWrites, What: "UPDATE p SET seen = ?, n = n + 1 WHERE id = ?"}, "UPDATE p SET seen = CASE id WHEN ? THEN ? WHEN ? THEN ? … END, n = CASE id WHEN ? THEN n + 1 WHEN ? THEN n + 1 … END WHERE id IN (?, ?, …)", "needs no CASE"},
		{"columns apart", Pattern{Kind: SameTable, Statements: []string{"SELECT name FROM users WHERE id = ?", "SELECT email, name FROM users WHERE id = ?"}}, "SELECT name, email FROM users WHERE id = ?", ""},
		{"all columns and some", Pattern{Kind: SameTable, Statements: []string{"SELECT name FROM users WHERE id = ?", "SELECT * FROM users WHERE id = ?"}}, "SELECT * FROM users WHERE id = ?", "all columns already"},
		{"a loop's body", Pattern{Kind: QueriesInLoop, Statements: []string{"SELECT stock FROM books WHERE id = ?", "UPDATE books SET stock = ? WHERE id = ?"}},
			"SELECT id, stock FROM books WHERE id IN (?, ?, …)\nUPDATE books SET stock = CASE id WHEN ? THEN ? WHEN ? THEN ? … END WHERE id IN (?, ?, …)", "one transaction"},
		{"gets", Pattern{Kind: SingleGets, System: Memcached, What: "get user:*"}, "get user:* user:* …", "getMulti"},
		{"Redis gets", Pattern{Kind: SingleRedis, System: Redis, What: "GET u:*"}, "MGET u:* u:* …", ""},
		{"Redis others", Pattern{Kind: SingleRedis, System: Redis, What: "HGET u:*"}, "HGET u:*\nHGET u:*\n…", "pipeline"},
		{"prepared once", Pattern{Kind: PrepareOnce, What: "SELECT * FROM t WHERE id = ?"}, "SELECT * FROM t WHERE id = ?", "interpolateParams"},
		{"no SQL", Pattern{Kind: NPlusOne, What: "SELECT FROM WHERE ((("}, "", ""},
		{"connects have no statement", Pattern{Kind: RowConnects, What: "a new connection"}, "", ""},
	} {
		got := c.p.Form()
		if got.Text != c.want || !strings.Contains(strings.Join(got.Notes, "; "), c.note) {
			t.Errorf("%s:\n got %s %q\nwant %s %q", c.why, got.Text, got.Notes, c.want, c.note)
		}
		// What was made of SQL is SQL.
		for line := range strings.Lines(got.Text) {
			if c.p.System == "" && parseSQL(filled(line)) == nil {
				t.Errorf("%s: the form is no statement: %s", c.why, filled(line))
			}
		}
	}
}

// filled makes a form a statement: what "…" stands for is left out.
func filled(form string) string {
	return strings.NewReplacer(", …", "", " …", "").Replace(form)
}

// TestKeysThatDiffer: the loop's key is what differs, not what comes first.
func TestKeysThatDiffer(t *testing.T) {
	s := Summarize(times(3, db("SELECT * FROM users WHERE shop = 'a b' AND id = 1", "SELECT * FROM users WHERE shop = 'a b' AND id = 2", "SELECT * FROM users WHERE shop = 'a b' AND id = 3")), Options{})
	if len(s.Patterns) != 1 || strings.Join(s.Patterns[0].Keys, " ") != "id" {
		t.Fatalf("%+v", s.Patterns)
	}
	if got := s.Patterns[0].Form().Text; got != "SELECT * FROM users WHERE shop = ? AND id IN (?, ?, …)" {
		t.Error(got)
	}
	s = Summarize(times(3, db("SELECT name FROM users WHERE id = 7", "SELECT email FROM users WHERE id = 7")), Options{})
	if got := s.Patterns[0].Form().Text; got != "SELECT name, email FROM users WHERE id = ?" {
		t.Error(got)
	}
}

func FuzzForm(f *testing.F) {
	f.Add("SELECT a FROM t WHERE id = ? ORDER BY b LIMIT ?")
	f.Add("UPDATE t SET a = ? WHERE id = ?")
	f.Add("INSERT INTO t VALUES (?)")
	f.Fuzz(func(t *testing.T, sql string) {
		for _, kind := range []string{NPlusOne, RowWrites, SameTable, QueriesInLoop} {
			form := Pattern{Kind: kind, What: sql, Statements: []string{sql, sql}}.Form()
			if strings.Contains(form.Text, "kasoku_more") && !strings.Contains(sql, "kasoku_more") {
				t.Errorf("%s: %q became %q", kind, sql, form.Text)
			}
		}
	})
}
