package sqllog

import "testing"

func TestSkeleton(t *testing.T) {
	cases := []struct{ why, sql, want string }{
		{"values", "SELECT a1, 5 FROM t WHERE x='it''s' AND y = \"b\\\"\" AND z=-7", "SELECT a1, 0 FROM t WHERE x='' AND y = \"\" AND z=-0"},
		{"other numbers stay", "SELECT 1.5, 0xFF, 1e5, t.1a, 2fa, 1.2.3", "SELECT 0, 0xFF, 1e5, t.1a, 2fa, 1.2.3"},
		{"lists", "SELECT a FROM t WHERE b IN (1, 2,'c') AND c in(3)", "SELECT a FROM t WHERE b IN (0) AND c in(0)"},
		{"not a list", "SELECT min(1, 2) WHERE a IN (SELECT 1, 2)", "SELECT min(0, 0) WHERE a IN (SELECT 0, 0)"},
		{"rows", "INSERT INTO t VALUES (1,'a'), (2,'b'),(3,'c') ON DUPLICATE KEY UPDATE a = VALUES(a)", "INSERT INTO t VALUES (0,'') ON DUPLICATE KEY UPDATE a = VALUES(a)"},
		{"rows with calls", "INSERT INTO t VALUES (1,f(2)),(2,f(3)),(4,g(3)),(2,f(3))", "INSERT INTO t VALUES (0,f(0)),(0,g(0)),(0,f(0))"},
		{"comments", "SELECT a/* id: '7 */ FROM t -- it's\nWHERE b = 1 # c", "SELECT a  FROM t  WHERE b = 0  "},
	}
	for _, c := range cases {
		got, ok := Skeleton(nil, c.sql)
		if !ok || string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
	if _, ok := Skeleton(nil, "SELECT /*!40001 SQL_NO_CACHE */ 1"); ok {
		t.Error("an executable comment")
	}
}

// What the cache of fingerprints rests on.
func checkSkeleton(t *testing.T, sql string) {
	t.Helper()
	skeleton, ok := Skeleton(nil, sql)
	if !ok {
		return
	}
	if a, b := Fingerprint(sql), Fingerprint(string(skeleton)); a != b {
		t.Fatalf("%q has the fingerprint\n%q, its skeleton %q\n%q", sql, a, skeleton, b)
	}
}

func TestSkeletonKeepsTheFingerprint(t *testing.T) {
	for _, name := range []string{"mariadb-10.11-verbose.slow.log", "mariadb-10.11-full.slow.log"} {
		for _, e := range parseAll(t, fixture(t, name)) {
			checkSkeleton(t, e.SQL)
		}
	}
	for _, sql := range []string{"select 1 in (1,2", "insert into t values (1),(2), 3", "a in (b) in (1,1)", "values(1),values(1)", "VALUES (1) (1),(1)",
		"in (1, (2), 3)", "SELECT 'a' 'b', 'a'\"b\"", "1in (0,0)", "`in`(1,2)", "t.in (1,2)", "values ((1),(1)),((1),(1))", "x'AB', X'0', _utf8'a'", "n''in(0,0)", "--#0", ";#0", "a; -- b", "a-/**/-b"} {
		checkSkeleton(t, sql)
	}
}
