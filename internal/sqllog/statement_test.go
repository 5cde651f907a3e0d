package sqllog

import (
	"slices"
	"testing"
)

func TestTables(t *testing.T) {
	for sql, want := range map[string][]string{
		"SELECT * FROM users WHERE id = 1":                                          {"users"},
		"select u.id from `users` u, shop.`orders` AS o where u.id=o.uid":           {"users", "shop.orders"},
		"SELECT 1 FROM a JOIN b ON a.x=b.x LEFT JOIN c USING (y) INNER JOIN a AS z": {"a", "b", "c"},
		"SELECT 1 FROM (SELECT id FROM inner_t) x JOIN (b, c)":                      {"inner_t", "b", "c"},
		"SELECT a FROM t WHERE id IN (SELECT b FROM u) FOR UPDATE":                  {"t", "u"},
		"INSERT INTO t (a, b) VALUES (1, 2) ON DUPLICATE KEY UPDATE a = 3":          {"t"},
		"insert ignore t values (1)":                                                {"t"},
		"REPLACE INTO s.t SELECT * FROM u":                                          {"s.t", "u"},
		"UPDATE LOW_PRIORITY a, b SET a.x = b.x":                                    {"a", "b"},
		"DELETE FROM t WHERE x = 1 LIMIT 1":                                         {"t"},
		"WITH c AS (SELECT * FROM t), d (x) AS (SELECT 1) SELECT * FROM c JOIN d":   {"t"},
		"SELECT EXTRACT(YEAR FROM created), TRIM(LEADING 'x' FROM n) FROM t":        {"t"},
		"SELECT NOW()":                            nil,
		"SELECT 1 FROM DUAL":                      nil,
		"TRUNCATE TABLE log":                      {"log"},
		"ALTER TABLE t ADD x INT":                 {"t"},
		"CREATE TABLE IF NOT EXISTS t (a INT)":    {"t"},
		"SELECT a.from FROM a ORDER BY a.from, b": {"a"},
		"":       nil,
		"COMMIT": nil,
	} {
		if got := Tables(sql); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

func TestVerb(t *testing.T) {
	for sql, want := range map[string]string{
		"select 1": "SELECT", " (SELECT 1) UNION (SELECT 2)": "SELECT", "/* c */ insert into t values (1)": "INSERT",
		"WITH a AS (SELECT 1) DELETE FROM t": "DELETE", "BEGIN": "BEGIN", "commit": "COMMIT", "SET NAMES utf8": "SET", "": "", "5": "",
	} {
		if got := Verb(sql); got != want {
			t.Errorf("%q: %q, want %q", sql, got, want)
		}
	}
}

func TestInsertRows(t *testing.T) {
	for sql, want := range map[string]int{
		"INSERT INTO t (a) VALUES (1)": 1, "INSERT INTO t VALUES (1, f(2)), (2, (3)),(4, 5) ON DUPLICATE KEY UPDATE a = VALUES(a)": 3,
		"REPLACE t VALUE (1)": 1, "INSERT INTO t SELECT 1": 0, "SELECT 1": 0, "INSERT INTO t SET a = 1": 0, "": 0,
	} {
		if got := InsertRows(sql); got != want {
			t.Errorf("%s: %d rows, want %d", sql, got, want)
		}
	}
}
