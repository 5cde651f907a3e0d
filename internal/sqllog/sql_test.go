package sqllog

import (
	"slices"
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
		if took := await.CPU(t, func() { Mask(b.String()); Postgres.Mask(b.String()); Tables(b.String()) }); took > 20*time.Second {
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
		{"names in double quotes (ANSI_QUOTES)", `SELECT "id" FROM "u" WHERE "u"."password" = 'abc' AND "login" = 'bob'`, `SELECT "id" FROM "u" WHERE "u"."password" = 'x' AND "login" = 'bob'`},
		{"rows, ANSI_QUOTES", `INSERT INTO u ("login", "pwd", id) VALUES ('a', 'b', 1)`, `INSERT INTO u ("login", "pwd", id) VALUES ('a', 'x', 1)`},
		{"rows, names with their table", "INSERT INTO u (u.login, u.pwd) VALUES ('a', 'b')", "INSERT INTO u (u.login, u.pwd) VALUES ('a', 'x')"},
		{"insert behind others", "BEGIN; INSERT INTO u (login, pwd) VALUES ('a', 'b')", "BEGIN; INSERT INTO u (login, pwd) VALUES ('a', 'x')"},
		{"insert of a selection", "WITH n AS (SELECT 'p' AS p) INSERT INTO u (pwd) SELECT p FROM n", "WITH n AS (SELECT 'x' AS p) INSERT INTO u (pwd) SELECT p FROM n"},
		{"alias", "SELECT 'abc' AS password, 'n' AS name", "SELECT 'x' AS password, 'n' AS name"},
		{"key of a document", "SELECT 1 FROM u WHERE doc->>'$.password' = 'abc' AND doc->'$.login' = 'bob'", "SELECT 1 FROM u WHERE doc->>'$.password' = 'x' AND doc->'$.login' = 'bob'"},
		{"a backslash that escapes elsewhere", `SELECT 1 FROM u WHERE name = 'O\'B' AND password = 'b' AND a = 'c'`, `SELECT 1 FROM u WHERE name = 'O\'B' AND password = 'x' AND a = 'c'`},
		{"what may be a secret under either setting", `SELECT 1 FROM u WHERE password = 'a\'bc' AND login = 'd'`, "SELECT 1 FROM u WHERE password = 'x'd'x'"},
		{"a backslash that does not (NO_BACKSLASH_ESCAPES)", `UPDATE u SET path = 'c:\', password = 'abc'`, `UPDATE u SET path = 'c:\', password = 'x'`},
		{"open quote", "SELECT 1 FROM u WHERE password = 'abc", "SELECT 1 FROM u WHERE password = 'x'"},
	}
	for _, c := range cases {
		if got := Mask(c.sql); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, c.want)
		}
	}
}

func TestMaskPostgres(t *testing.T) {
	cases := []struct{ why, sql, want string }{
		{"names in quotes", `SELECT * FROM "users" WHERE "users"."password_digest" = 'hunter2' AND "login" = 'bob'`, `SELECT * FROM "users" WHERE "users"."password_digest" = 'x' AND "login" = 'bob'`},
		{"set", `UPDATE "users" SET "reset_token" = 'abc', "name" = 'n' WHERE "users"."id" = 5`, `UPDATE "users" SET "reset_token" = 'x', "name" = 'n' WHERE "users"."id" = 5`},
		{"turned round", `SELECT 1 FROM u WHERE 'abc' = "pass word"."Token"`, `SELECT 1 FROM u WHERE 'x' = "pass word"."Token"`},
		{"rows", `INSERT INTO u ("email", password) VALUES ('a','b'), ('c','d') RETURNING "id"`, `INSERT INTO u ("email", password) VALUES ('a','x'), ('c','x') RETURNING "id"`},
		{"overriding", `INSERT INTO u ("id", "pwd") OVERRIDING SYSTEM VALUE VALUES (1, 'b')`, `INSERT INTO u ("id", "pwd") OVERRIDING SYSTEM VALUE VALUES (1, 'x')`},
		{"upsert", `INSERT INTO "u" ("a", "token") VALUES ('a', 'b') ON CONFLICT ("a") DO UPDATE SET "token" = 'c', "n" = 'd'`, `INSERT INTO "u" ("a", "token") VALUES ('a', 'x') ON CONFLICT ("a") DO UPDATE SET "token" = 'x', "n" = 'd'`},
		{"merge", `MERGE INTO u USING n ON u.id = n.id WHEN NOT MATCHED THEN INSERT ("id", "salt") VALUES (1, 'b')`, `MERGE INTO u USING n ON u.id = n.id WHEN NOT MATCHED THEN INSERT ("id", "salt") VALUES (1, 'x')`},
		{"values as a table", `UPDATE u SET password = v.p FROM (VALUES (1, 'b')) AS v (id, p) WHERE u.id = v.id`, `UPDATE u SET password = v.p FROM (VALUES (1, 'x')) AS v (id, p) WHERE u.id = v.id`},
		{"dollars", `UPDATE u SET password = $$a'b$$, name = $n$c$n$, x = $1`, `UPDATE u SET password = 'x', name = $n$c$n$, x = $1`},
		{"escapes", `SELECT 1 FROM u WHERE token = E'a\'b' AND login = 'c'`, `SELECT 1 FROM u WHERE token = 'x' AND login = 'c'`},
		{"a backslash is a letter", `SELECT 1 FROM u WHERE path = 'c:\' AND token = 'b'`, `SELECT 1 FROM u WHERE path = 'c:\' AND token = 'x'`},
		{"casts", `SELECT 1 FROM u WHERE "token"::text = 'a'::text AND (password)::text ~~* 'b' AND x = 'c'`, `SELECT 1 FROM u WHERE "token"::text = 'x'::text AND (password)::text ~~* 'x' AND x = 'c'`},
		{"any", `SELECT 1 FROM u WHERE "token" = ANY ('{a,b}'::text[])`, `SELECT 1 FROM u WHERE "token" = ANY ('x'::text[])`},
		{"key of a document", `SELECT 1 FROM u WHERE doc ->> 'password' = 'a' AND doc #>> '{login,secret}' = 'b' AND doc->>'n' = 'c'`, `SELECT 1 FROM u WHERE doc ->> 'password' = 'x' AND doc #>> '{login,secret}' = 'x' AND doc->>'n' = 'c'`},
		{"pgcrypto", `SELECT crypt('a', gen_salt('bf')), 'b'`, `SELECT crypt('x', gen_salt('x')), 'b'`},
		{"role", `CREATE ROLE a LOGIN ENCRYPTED PASSWORD 'b'`, `CREATE ROLE a LOGIN ENCRYPTED PASSWORD 'x'`},
		{"argument by name", `SELECT login(name => 'a', password => 'b')`, `SELECT login(name => 'a', password => 'x')`},
		{"comments", "SELECT 1 /* it's /* so */ */ FROM u -- it's\nWHERE token # 5 = '6' AND x = '7'", "SELECT 1 /* it's /* so */ */ FROM u -- it's\nWHERE token # 0 = 'x' AND x = '7'"},
		{"number", `SELECT 1 FROM u WHERE "pwd" = 1_000 AND id = 5`, `SELECT 1 FROM u WHERE "pwd" = 0 AND id = 5`},
		{"open quotes", `SELECT 1 FROM u WHERE "pwd" = $a$b$c`, `SELECT 1 FROM u WHERE "pwd" = 'x'`},
	}
	for _, c := range cases {
		if got := Postgres.Mask(c.sql); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.why, got, c.want)
		}
	}
}

func TestPostgresFingerprint(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT "a", 'x''y', E'b\'', $$c$$, $1 FROM "Odd name" WHERE a = 1_000 AND b2 = 0o17`: `SELECT a, ?, ?, ?, ? FROM "Odd name" WHERE a = ? AND b2 = ?`,
	} {
		if got := ToPostgres(Fingerprint(FromPostgres(sql))); got != want {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
	if got := Fingerprints.Tables(`SELECT doc # >> ? FROM "Odd name" JOIN users ON a = ?`); !slices.Equal(got, []string{"Odd name", "users"}) {
		t.Errorf("%q", got)
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
		readings := append(MySQL.readings(sql), Postgres.readings(sql)...)
		for _, toks := range append(readings, Fingerprints.lex(sql)) {
			end := 0
			for _, tok := range toks {
				if tok.from < end || tok.to <= tok.from || tok.to > len(sql) {
					t.Fatalf("token %+v of %q", tok, sql)
				}
				end = tok.to
			}
		}
		Postgres.Mask(sql)
		Fingerprints.Tables(ToPostgres(Fingerprint(FromPostgres(sql))))
		Fingerprint(sql)
		checkSkeleton(t, sql)
		Mask(sql)
		Explainable(sql)
		Tables(sql)
		Verb(sql)
		InsertRows(sql)
	})
}
