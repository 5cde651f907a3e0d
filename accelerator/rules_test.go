package accelerator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A read that may be answered from memory is one table by one key, and nothing in it
// changes with time, session or order.
func TestTake(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT id, name FROM users WHERE id = ?":                                              "SELECT id, name, id FROM users WHERE id IN (?, ?)",
		"select * from `users` where `id`=? limit 1":                                           "SELECT *, `id` FROM `users` WHERE `id` IN (?, ?)",
		"SELECT u.name AS n, 1 FROM users AS u WHERE u.id = ? AND u.gone IS NULL AND kind = 2": "SELECT u.name AS n, 1, u.id FROM users AS u WHERE u.id IN (?, ?) AND u.gone IS NULL AND kind = 2",
		"SELECT u.* FROM users u WHERE id = ? AND state IS NOT NULL AND k = 'a''b' LIMIT 1":    "SELECT u.*, id FROM users u WHERE id IN (?, ?) AND state IS NOT NULL AND k = 'a''b'",
	} {
		s, err := take(statement)
		if err != nil {
			t.Errorf("%s: %v", statement, err)
			continue
		}
		if got, args := s.in([]int64{1, 2}); got != want || len(args) != 2 || s.table != "users" {
			t.Errorf("%s:\n got %s\nwant %s", statement, got, want)
		}
	}
	for _, statement := range []string{
		"", "SELECT", "DELETE FROM users WHERE id = ?", "SELECT id FROM users", "SELECT id FROM users WHERE id > ?",
		"SELECT id FROM users WHERE id = ? FOR UPDATE", "SELECT id FROM users WHERE id = ? LOCK IN SHARE MODE", "SELECT id FROM users WHERE id = ? OR 1 = 1",
		"SELECT COUNT(*) FROM users WHERE id = ?", "SELECT DISTINCT id FROM users WHERE id = ?", "SELECT id FROM users WHERE id = ? ORDER BY id",
		"SELECT id FROM users WHERE id = ? LIMIT 2", "SELECT id FROM users WHERE id = ? LIMIT 1 OFFSET 1", "SELECT id FROM users, posts WHERE id = ?",
		"SELECT id FROM users JOIN posts WHERE id = ?", "SELECT id FROM app.users WHERE id = ?", "SELECT NOW() FROM users WHERE id = ?",
		"SELECT current_timestamp FROM users WHERE id = ?", "SELECT @n FROM users WHERE id = ?", "SELECT id FROM users WHERE id = ? AND name = ?",
		"SELECT id FROM users WHERE id = ? AND a = b", "SELECT id FROM users WHERE id = ? AND a = 'x\\'", "SELECT id FROM users /*! USE INDEX (a) */ WHERE id = ?",
		"SELECT \"id\" FROM users WHERE id = ?", "SELECT id FROM users WHERE id = ?; DELETE FROM users", "SELECT id FROM users WHERE id = ? + 1",
		"SELECT id INTO @a FROM users WHERE id = ?", "SELECT id FROM users FOR SYSTEM_TIME ALL WHERE id = ?", "SELECT id FROM users WHERE id = ? UNION SELECT 1",
		"SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE id = ?", "SELECT id FROM users PARTITION (p0) WHERE id = ?", "SELECT id FROM (SELECT 1) x WHERE id = ?",
	} {
		if _, err := take(statement); err == nil {
			t.Errorf("taken: %s", statement)
		}
	}
}

// What is wrong with a file is said, and nothing of it is used.
func TestRulesRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                               "EOF",
		`{"format": 2}`:                  "format 2; this version understands 1",
		`{"format": 1, "cache": []}`:     "unknown field",
		`{"format": 1} {}`:               "something after",
		`{"format": 1, "rules": [{}]}`:   "each rule has one of its own",
		with(`"id": "users"`, `"id": 1`): "cannot unmarshal",
		with("prefetch", "guess"):        `rule users: kind "guess"; there is: prefetch`,
		with(`"user_id"`, `""`):          "column is missing",
		with("WHERE id = ?", ""):         "is expected at",
		with("SELECT id, user_id FROM posts ORDER BY id", "CALL p()"): "after:",
		with(`"kind"`, `"most": 1, "kind"`):                           "most 1; it may be 2 to 5000",
		with(`"kind"`, `"staleness": "a bit", "kind"`):                `staleness "a bit"; there is: allowed`,
	} {
		file := filepath.Join(t.TempDir(), "rules.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := Load(file); err == nil || r != nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "rules.json") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if r := loadOrSay(filepath.Join(t.TempDir(), "none")); r != nil {
		t.Error("rules of no file")
	}
}

func with(old, new string) string { return strings.Replace(oneRule, old, new, 1) }

// Statements are known by their words: spaces and comments do not count, all else does.
func TestRole(t *testing.T) {
	r := rulesOf(t, oneRule)
	for _, q := range []string{"SELECT id, name FROM users WHERE id = ?", "SELECT id,name\n\tFROM users -- by key\n WHERE id=?", "/* page */ SELECT id, name FROM users WHERE id = ?"} {
		if got := r.role(q); got == nil || got.target != 0 {
			t.Errorf("not known: %s", q)
		}
	}
	for _, q := range []string{"SELECT id, name FROM Users WHERE id = ?", "SELECT id, name FROM users WHERE id = ? FOR UPDATE", "SELECT id, name FROM users WHERE id = 5", "SELECT /*! HIGH_PRIORITY */ id, name FROM users WHERE id = ?"} {
		if r.role(q) != nil {
			t.Errorf("known: %s", q)
		}
	}
}

// What is not plainly a read ends memory; what may change the session ends it for good.
func TestEffects(t *testing.T) {
	for query, want := range map[string]effect{
		"SELECT 1": reads, " ( SELECT a FROM b WHERE c IN (1, 2) ) UNION (SELECT 'INSERT')": reads, "/* DELETE */ select count(*) from t": reads,
		"SHOW WARNINGS": reads, "EXPLAIN SELECT 1": reads, "WITH x AS (SELECT 1) SELECT * FROM x": reads, "SELECT 1;": reads, "SELECT `update` FROM t": reads,
		"INSERT INTO t VALUES (1)": writes, "update t set a = 1": writes, "DELETE FROM t": writes, "REPLACE t VALUES (1)": writes,
		"SELECT a FROM t FOR UPDATE": writes, "SELECT a FROM t LOCK IN SHARE MODE": writes, "SELECT f(1)": writes, "SELECT app.f (1)": writes, "SELECT `f`(1)": writes,
		"SELECT a INTO OUTFILE 'x' FROM t": writes, "WITH x AS (SELECT 1) DELETE FROM t": writes, "SELECT NEXT VALUE FOR s": writes, `SELECT 'a\'`: writes, "SELECT 'a": writes,
		"SAVEPOINT a": writes, "ROLLBACK TO a": writes, "RELEASE SAVEPOINT a": writes,
		"ROLLBACK": unknown, "COMMIT": unknown, "BEGIN": unknown, "SET autocommit = 0": unknown, "USE other": unknown, "CREATE TEMPORARY TABLE users (id INT)": unknown,
		"CALL p()": unknown, "DO f()": unknown, "LOCK TABLES t READ": unknown, "/*!50000 SELECT */ 1": unknown, "SELECT 1; DELETE FROM t": unknown, "SELECT /*! a */ 1": unknown, "": unknown, "?": unknown,
	} {
		if got := max(first(query), scan(query).effect); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	for query, want := range map[string]bool{"SELECT FOUND_ROWS()": true, "SHOW WARNINGS": true, "SELECT @@warning_count": true, "GET DIAGNOSTICS @a = NUMBER": true, "INSERT INTO t SELECT row_count()": true, "SELECT 'FOUND_ROWS'": false} {
		if got := scan(query).asks; got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}
