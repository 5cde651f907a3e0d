package sqllog

import "testing"

func TestUnlocked(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a FROM t WHERE b = 1 ORDER BY c LIMIT 1 FOR UPDATE SKIP LOCKED":      "SELECT a FROM t WHERE b = 1 ORDER BY c LIMIT 1",
		"SELECT a FROM t lock in share mode":                                         "SELECT a FROM t",
		"SELECT a FROM t FOR SHARE":                                                  "SELECT a FROM t",
		"SELECT a FROM t USE INDEX FOR ORDER BY (x) WHERE b = 'FOR UPDATE'":          "SELECT a FROM t USE INDEX FOR ORDER BY (x) WHERE b = 'FOR UPDATE'",
		"SELECT a FROM t WHERE b IN (SELECT b FROM u FOR UPDATE) ORDER BY a LIMIT 3": "SELECT a FROM t WHERE b IN (SELECT b FROM u FOR UPDATE) ORDER BY a LIMIT 3",
		"UPDATE t SET a = 1": "UPDATE t SET a = 1",
	} {
		if got := Unlocked(sql); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}
