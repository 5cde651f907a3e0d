package index

import (
	"strings"
	"testing"

	"kasoku/internal/evidence"
)

func TestNotes(t *testing.T) {
	users := define("users", 200000, "id:int(11):200000 login:varchar(255):200000 phone:varchar(20):190000 age:int(11):80 created_at:datetime:150000", "PRIMARY(id)")
	tests := []struct{ sql, want string }{
		{"SELECT * FROM users WHERE DATE(created_at) = '2024-01-01'", "range of times"},
		{"SELECT * FROM users WHERE LOWER(login) = 'x'", "case-insensitive"},
		{"SELECT * FROM users WHERE age + 1 = 20", "arithmetic"},
		{"SELECT * FROM users WHERE age + 1 = 20", "generated column"},
		{"SELECT * FROM users WHERE JSON_VALUE(phone, '$.area') = '3'", "generated column"},
		{"SELECT * FROM users WHERE phone->>'$.area' = '3'", "generated column"},
		{"SELECT * FROM users WHERE login LIKE '%part%'", "answers otherwise"},
		{"SELECT * FROM users WHERE login LIKE '%x'", "leading wildcard"},
		{"SELECT * FROM users WHERE phone = 12345", "compared with a number"},
		{"SELECT * FROM users ORDER BY RAND() LIMIT 1", "RAND()"},
		{"SELECT * FROM users ORDER BY age ASC, created_at DESC LIMIT 5", "mixes ASC and DESC"},
		{"SELECT * FROM users FORCE INDEX (PRIMARY) WHERE login = 'x'", "names its index"},
		{"SELECT FROM WHERE", "not judged"},
	}
	for _, tt := range tests {
		advice, notes := Advise([]evidence.Statement{run(tt.sql, 1000, 60*second, 200000, 1)}, []evidence.Table{users}, Options{})
		if len(advice) != 0 {
			t.Errorf("%s: advised %v", tt.sql, columnsOf(advice))
		}
		if len(notes) != 1 || !strings.Contains(notes[0].Text, tt.want) {
			t.Errorf("%s: notes %+v, want one with %q", tt.sql, notes, tt.want)
		}
	}
}

// An index of the same name with other columns must not collide, and a long
// name is cut to the 64 characters that servers allow.
func TestNames(t *testing.T) {
	long := strings.Repeat("long_name_", 5)
	tables := []evidence.Table{
		define("u", 100000, "id:int:100000 a:int:50000 b:int:50000", "PRIMARY(id)", "kasoku_u_a(b)"),
		define(long, 100000, "id:int:100000 "+long+":int:50000", "PRIMARY(id)"),
	}
	advice, _ := Advise([]evidence.Statement{
		run("SELECT * FROM u WHERE a = 5", 1000, 60*second, 100000, 2),
		run("SELECT * FROM "+long+" WHERE "+long+" = 5", 1000, 60*second, 100000, 2),
	}, tables, Options{})
	if len(advice) != 2 {
		t.Fatalf("advice %+v", advice)
	}
	for _, a := range advice {
		if len(a.Name) > 64 || a.Name == "kasoku_u_a" || !strings.HasPrefix(a.Name, "kasoku_") {
			t.Errorf("name %q", a.Name)
		}
	}
}

// A longer index makes the existing one on its first column redundant.
func TestCovers(t *testing.T) {
	tables := []evidence.Table{define("u", 100000, "id:int:100000 a:int:600 b:int:500", "PRIMARY(id)", "old(a)")}
	advice, _ := Advise([]evidence.Statement{run("SELECT * FROM u WHERE a = 5 AND b = 6", 1000, 60*second, 2000, 2)}, tables, Options{})
	if len(advice) != 1 || strings.Join(advice[0].Columns, ",") != "a,b" || !strings.Contains(strings.Join(advice[0].Covers, " "), "old") {
		t.Fatalf("advice %+v", advice)
	}
}

// FuzzStatement: whatever the log holds, the advisor answers.
func FuzzStatement(f *testing.F) {
	for _, s := range []string{"SELECT * FROM u WHERE a = 5", "UPDATE u SET a=1 WHERE b IN (...)", "DELETE FROM u", "INSERT INTO u SELECT * FROM u",
		"WITH RECURSIVE q AS (SELECT 1 UNION SELECT n+1 FROM q) SELECT * FROM q", "SELECT 1 FROM (SELECT a FROM u) x NATURAL JOIN u", "SELECT a FROM u GROUP BY 9 ORDER BY 0",
		"SELECT MAX(DISTINCT a) FROM u WHERE (a,b) IN ((1,2))", "SELECT a FROM u WHERE a IN (SELECT a FROM u WHERE b IN (SELECT b FROM u))"} {
		f.Add(s)
	}
	tables := []evidence.Table{define("u", 100000, "id:int:100000 a:int:500 b:int:50000", "PRIMARY(id)", "old(a)")}
	f.Fuzz(func(t *testing.T, sql string) {
		Advise([]evidence.Statement{run(sql, 10, second, 100000, 1)}, tables, Options{})
	})
}
