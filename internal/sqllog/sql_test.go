package sqllog

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kasoku/internal/await"
	_ "kasoku/internal/rapidseed"
)

func TestFingerprint(t *testing.T) {
	cases := []struct{ why, sql, want string }{
		{"values", "select * from users where id = 5 and name='it''s' or x = \"a\\\"b\"", "SELECT * FROM users WHERE id = ? AND name = ? OR x = ?"},
		{"numbers of all kinds", "SELECT 1, -2, +3.5e-7, .5, 0xFF, x'AB', b'01', 1e5", "SELECT ?, ?, ?, ?, ?, ?, ?, ?"},
		{"a minus between operands stays", "SELECT a - 5, (a)-5, a=-5", "SELECT a - ?, (a) - ?, a = ?"},
		{"IN lists", "SELECT a FROM t WHERE id IN (1,2, 3) AND b in ('x')", "SELECT a FROM t WHERE id IN (?) AND b IN (?)"},
		{"IN with a subquery", "SELECT a FROM t WHERE id IN (SELECT b FROM u WHERE c=1)", "SELECT a FROM t WHERE id IN (SELECT b FROM u WHERE c = ?)"},
		{"rows of VALUES", "INSERT INTO t (a,b) VALUES (1,'x'),(2,'y') , (3,NULL)", "INSERT INTO t(a, b) VALUES (?, ?)"},
		{"rows with calls", "INSERT INTO t VALUES (1,NOW()),(2,NOW()) ON DUPLICATE KEY UPDATE a=VALUES(a)", "INSERT INTO t VALUES (?, NOW()) ON DUPLICATE KEY UPDATE a = VALUES (a)"},
		{"white space and comments", "SELECT /* id: 7 */ a -- b\n\tFROM # c\n t;\n", "SELECT a FROM t"},
		{"executable comment", "SELECT /*!40001 SQL_NO_CACHE */ a FROM t", "SELECT SQL_NO_CACHE a FROM t"},
		{"backticks", "SELECT `a`, `t`.`order` FROM `my table` t", "SELECT a, t.`order` FROM `my table` t"},
		{"names with digits", "SELECT c1, 2fa_code FROM t2 WHERE t2.1x = 3", "SELECT c1, 2fa_code FROM t2 WHERE t2.1x = ?"},
		{"NULL", "SELECT a FROM t WHERE b = NULL AND c IS NULL AND d IS NOT NULL", "SELECT a FROM t WHERE b = ? AND c IS NULL AND d IS NOT NULL"},
		{"case of names stays", "select Id from Users u where u.From = 1", "SELECT Id FROM Users u WHERE u.From = ?"},
		{"digest of performance_schema", "SELECT * FROM `users` WHERE `login` = ? AND `id` IN (...) LIMIT ?", "SELECT * FROM users WHERE login = ? AND id IN (?) LIMIT ?"},
		{"digest with rows", "INSERT INTO `t` ( `a` , `b` ) VALUES (...) , ...", "INSERT INTO t(a, b) VALUES (?)"},
		{"strings with introducer, adjacent strings", "SELECT _utf8mb4'x', N'y', 'a' 'b'", "SELECT ?, ?, ?"},
		{"functions", "SELECT COUNT(*), MAX(id) FROM t GROUP BY LEFT(a, 3)", "SELECT COUNT(*), MAX(id) FROM t GROUP BY LEFT(a, ?)"},
		{"variables", "SET @a := 5, @@session.sql_mode = ''", "SET @a := ?, @@session.sql_mode = ?"},
		{"limit with an offset", "SELECT a FROM t LIMIT 5, 10", "SELECT a FROM t LIMIT ?"},
		{"limit with OFFSET", "SELECT a FROM t LIMIT 5 OFFSET 10", "SELECT a FROM t LIMIT ?"},
		{"ascending is the rule", "SELECT asc FROM t ORDER BY a ASC, b DESC, t.asc asc", "SELECT ASC FROM t ORDER BY a, b DESC, t.asc"},
		{"a union of equal parts", "SELECT a FROM t WHERE b=1 UNION ALL SELECT a FROM t WHERE b=2 UNION ALL SELECT a FROM t WHERE b=3 ORDER BY a",
			"SELECT a FROM t WHERE b = ? UNION ALL SELECT a FROM t WHERE b = ? ORDER BY a"},
		{"a union of others", "SELECT a FROM t UNION SELECT a FROM u", "SELECT a FROM t UNION SELECT a FROM u"},
		{"a call", "call shop.pay(1, @x)", "CALL shop.pay"},
		{"use", "use `shop`", "USE ?"},
		{"open quote", "SELECT 'abc", "SELECT ?"},
		{"empty", " ; ", ""},
	}
	for _, c := range cases {
		if got := Fingerprint(c.sql); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, c.want)
		}
	}
}

// Statements of the longest kind must not take a time that grows with their
// square: a log may hold many.
func TestFingerprintOfLongStatements(t *testing.T) {
	await.SkipShort(t)
	for _, unit := range []string{"SELECT a%d UNION ", "SELECT a, a, a UNION ", "(", "VALUES (1),", "SELECT x IN (1", "'a' ", "password = f(", "-", "`a`.", "/* */", "CASE WHEN a IN (SELECT b FROM t%d UNION ALL "} {
		var b strings.Builder
		for i := 0; b.Len() < MaxStatement; i++ {
			b.WriteString(strings.ReplaceAll(unit, "%d", strings.Repeat("x", i%50)))
		}
		if took := await.CPU(t, func() { Fingerprint(b.String()); Skeleton(nil, b.String()) }); took > 5*time.Second {
			t.Errorf("%q: %v", unit, took)
		}
		if took := await.CPU(t, func() { Mask(b.String()); Tables(b.String()) }); took > 20*time.Second {
			t.Errorf("masking %q: %v", unit, took)
		}
	}
}

// Whatever the values are, the class is the same, and it is its own class.
func TestFingerprintIgnoresValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'" }
		value := rapid.OneOf(rapid.Map(rapid.String(), quote), rapid.StringMatching(`[0-9]{1,9}(\.[0-9]{1,4})?`), rapid.Just("NULL"),
			rapid.StringMatching(`0x[0-9a-f]{2,8}`), rapid.StringMatching(`-[0-9]{1,5}`))
		v := func() string { return value.Draw(t, "value") }
		list := func() string { return strings.Join(rapid.SliceOfN(value, 1, 5).Draw(t, "list"), ", ") }
		gap := func() string {
			return rapid.SampledFrom([]string{" ", "  ", "\n", "\t", " /* c */ ", " -- c\n"}).Draw(t, "gap")
		}
		sql := func() string {
			return "SELECT" + gap() + "a," + gap() + v() + " FROM t" + gap() + "WHERE b" + gap() + "= " + v() + " AND c IN (" + list() + ")" + gap() + "LIMIT 5"
		}
		a, b := Fingerprint(sql()), Fingerprint(sql())
		if a != b {
			t.Fatalf("%s\n%s", a, b)
		}
		if again := Fingerprint(a); again != a {
			t.Fatalf("fingerprint of %s is %s", a, again)
		}
	})
}

func TestMask(t *testing.T) {
	cases := []struct{ why, sql, want string }{
		{"comparison", "SELECT id FROM u WHERE login = 'bob' AND password_hash = 'abc' AND id > 5", "SELECT id FROM u WHERE login = 'bob' AND password_hash = 'x' AND id > 5"},
		{"turned round", "SELECT id FROM u WHERE 'abc' = u.password AND login = 'bob'", "SELECT id FROM u WHERE 'x' = u.password AND login = 'bob'"},
		{"list", "SELECT id FROM u WHERE salt IN ('a','b') OR x IN ('c')", "SELECT id FROM u WHERE salt IN ('x','x') OR x IN ('c')"},
		{"between", "SELECT id FROM u WHERE token BETWEEN 'a' AND 'b' AND x = 'c'", "SELECT id FROM u WHERE token BETWEEN 'x' AND 'x' AND x = 'c'"},
		{"pattern", "SELECT id FROM u WHERE token LIKE 'abc%' OR token LIKE '%z'", "SELECT id FROM u WHERE token LIKE 'x%' OR token LIKE '%x'"},
		{"function of the column", "SELECT id FROM u WHERE LOWER(password) = 'abc' AND a = 'b'", "SELECT id FROM u WHERE LOWER(password) = 'x' AND a = 'b'"},
		{"function of the value", "UPDATE u SET password = SHA2(CONCAT('pw', salt), 256), name = 'n' WHERE id = 3", "UPDATE u SET password = SHA2(CONCAT('x', salt), 0), name = 'n' WHERE id = 3"},
		{"hash of a text", "SELECT MD5('hunter2'), 'ok'", "SELECT MD5('x'), 'ok'"},
		{"rows", "INSERT INTO u (id, `pwd`, name) VALUES (1, 'a', 'n'), (2, CONCAT('b','c'), 'm')", "INSERT INTO u (id, `pwd`, name) VALUES (1, 'x', 'n'), (2, CONCAT('x','x'), 'm')"},
		{"rows without names", "INSERT INTO u VALUES (1, 'a', 'n')", "INSERT INTO u VALUES (1, 'x', 'x')"},
		{"insert set", "INSERT INTO u SET name = 'n', api_key = 'k'", "INSERT INTO u SET name = 'n', api_key = 'x'"},
		{"number", "SELECT 1 FROM u WHERE reset_token = 123456", "SELECT 1 FROM u WHERE reset_token = 0"},
		{"row constructor", "SELECT 1 FROM u WHERE (login, password) IN (('a', 'b'))", "SELECT 1 FROM u WHERE (login, password) IN (('x', 'x'))"},
		{"wordpress", "SELECT 1 FROM wp_users WHERE user_pass = 'p' AND user_login = 'l'", "SELECT 1 FROM wp_users WHERE user_pass = 'x' AND user_login = 'l'"},
		{"account", "CREATE USER a@'%' IDENTIFIED BY 'secret'", "CREATE USER a@'%' IDENTIFIED BY 'x'"},
		{"nothing", "SELECT 'a' FROM t WHERE compass = 'n'", "SELECT 'a' FROM t WHERE compass = 'n'"},
		{"open quote", "SELECT 1 FROM u WHERE password = 'abc", "SELECT 1 FROM u WHERE password = 'x'"},
	}
	for _, c := range cases {
		if got := Mask(c.sql); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, c.want)
		}
	}
}

func TestExplainable(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT 1": true, "  (SELECT 1) UNION (SELECT 2)": true, "/* c */ update t set a=1": true, "DELETE FROM t": true,
		"WITH x AS (SELECT 1) SELECT * FROM x": true, "INSERT INTO t VALUES (1)": false, "SELECT 1 INTO OUTFILE '/x'": false,
		"SELECT 1; DROP TABLE t": false, "SELECT ?": false, "CALL p()": false, "ANALYZE TABLE t": false, "": false, "SELECT 'a;b'": true,
	} {
		if got := Explainable(sql); got != want {
			t.Errorf("%q: %t, want %t", sql, got, want)
		}
	}
}

func FuzzSQL(f *testing.F) {
	f.Add("SELECT `a``b`, 'x\\'y', 0x1F, 1e-5 FROM t -- c\nWHERE (a, password) IN ((1,'s')) /*!50000 LIMIT 1 */")
	f.Add("INSERT INTO t (a, token) VALUES (...) , ...")
	f.Fuzz(func(t *testing.T, sql string) {
		end := 0
		for _, tok := range lex(sql) {
			if tok.from < end || tok.to <= tok.from || tok.to > len(sql) {
				t.Fatalf("token %+v of %q", tok, sql)
			}
			end = tok.to
		}
		Fingerprint(sql)
		checkSkeleton(t, sql)
		Mask(sql)
		Explainable(sql)
		Tables(sql)
		Verb(sql)
		InsertRows(sql)
	})
}
