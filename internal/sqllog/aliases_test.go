package sqllog

import "testing"

func TestUnaliased(t *testing.T) {
	same := func(a, b string) {
		t.Helper()
		if x, y := Unaliased(Fingerprint(a)), Unaliased(Fingerprint(b)); x != y {
			t.Errorf("differ:\n%s\n%s", x, y)
		}
	}
	other := func(a, b string) {
		t.Helper()
		if x, y := Unaliased(Fingerprint(a)), Unaliased(Fingerprint(b)); x == y {
			t.Errorf("are one: %s and %s (%s)", a, b, x)
		}
	}
	same("select `lgaye`.`id` from `articles` as `lgaye` left join `authors` as `bqvur` on `bqvur`.`id` = `lgaye`.`author` where `bqvur`.`name` = 'x'",
		"select `aaaaa`.`id` from `articles` as `aaaaa` left join `authors` as `zzzzz` on `zzzzz`.`id` = `aaaaa`.`author` where `zzzzz`.`name` = 'y'")
	same("SELECT x.a FROM (SELECT id a FROM t) x JOIN db.u AS y ON y.id = x.a", "SELECT q.a FROM (SELECT id a FROM t) q JOIN db.u AS r ON r.id = q.a")
	same("SELECT u.* FROM users u WHERE u.id = 1", "SELECT v.* FROM users v WHERE v.id = 2")
	other("SELECT a.id FROM t a JOIN t b ON a.p = b.id", "SELECT b.id FROM t a JOIN t b ON a.p = b.id")
	other("SELECT id FROM a", "SELECT id FROM b")
	other("SELECT u.x FROM a u", "SELECT u.x FROM b u")
	other("SELECT x.id AS y FROM t x ORDER BY y", "SELECT x.id AS z FROM t x ORDER BY z") // what an answer calls a column
	for _, sql := range []string{"SELECT 1", "SELECT id FROM t WHERE a = ? LIMIT ?", "SELECT a FROM t FORCE INDEX (x) WHERE b = ?", "DELETE FROM t", "SELECT f FROM", "SELECT EXTRACT(YEAR FROM d)", "SELECT * FROM t USE INDEX (a)"} {
		if fp := Fingerprint(sql); Unaliased(fp) != fp {
			t.Errorf("%q became %q", fp, Unaliased(fp))
		}
	}
}

func FuzzUnaliased(f *testing.F) {
	f.Add("select a.b from c as a join d")
	f.Add("FROM (")
	f.Add("join x.")
	f.Fuzz(func(t *testing.T, sql string) {
		_ = Unaliased(sql)
	})
}
