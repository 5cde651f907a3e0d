package index

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
)

// define makes a table of schema app: "name:type:distinct" columns, then
// indexes as "PRIMARY(id)", "UNIQUE name(a,b)" or "name(a,b)".
func define(name string, rows int64, columns string, indexes ...string) evidence.Table {
	t := evidence.Table{Schema: "app", Name: name, Engine: "InnoDB", Rows: rows}
	for _, c := range strings.Fields(columns) {
		part := strings.SplitN(c, ":", 3)
		col := evidence.Column{Name: part[0], Type: part[1]}
		if len(part) == 3 {
			fmt.Sscan(part[2], &col.Distinct)
		}
		t.Columns = append(t.Columns, col)
	}
	form := regexp.MustCompile(`^(UNIQUE )?(\w+)\((.*)\)$`)
	for _, ix := range indexes {
		m := form.FindStringSubmatch(ix)
		t.Indexes = append(t.Indexes, evidence.TableIndex{Name: m[2], Unique: m[1] != "" || m[2] == "PRIMARY", Columns: strings.Split(m[3], ",")})
	}
	return t
}

// prefixed is the table with what a sample says of a column's prefixes.
func prefixed(t evidence.Table, column string, length int) evidence.Table {
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		if t.Columns[i].Name == column {
			t.Columns[i].Prefix = length
		}
	}
	return t
}

// run makes a statement: per execution it examined and sent so many rows.
func run(sql string, count int64, total time.Duration, examined, sent float64) evidence.Statement {
	s := evidence.Statement{Schema: "app", Example: sql, Fingerprint: sql, Count: count, Total: total,
		RowsExamined: int64(examined * float64(count)), RowsSent: int64(sent * float64(count))}
	if examined >= 1000 {
		s.FullScans = count
	}
	return s
}

func columnsOf(advice []Advice) []string {
	var out []string
	for _, a := range advice {
		out = append(out, a.Table+"("+strings.Join(a.Columns, ",")+")")
	}
	sort.Strings(out)
	return out
}

const second = time.Second

func loginLog() evidence.Table {
	return define("login_log", 100000, "id:bigint(20):100000 created_at:datetime:50000 user_id:int(11):30000 login:varchar(255):40000 ip:varchar(255):20000 succeeded:tinyint(4):2", "PRIMARY(id)")
}

func TestAdvise(t *testing.T) {
	users := define("users", 200000, "id:int(11):200000 login:varchar(255):200000 email:varchar(191):200000 age:int(11):80 active:tinyint(1):2 bio:text:100000 created_at:datetime:150000 team_id:int(11):500", "PRIMARY(id)")
	posts := define("posts", 500000, "id:int(11):500000 user_id:int(11):20000 status:varchar(20):5 created_at:datetime:400000 title:varchar(200):400000 body:text:400000 category_id:int(11):50", "PRIMARY(id)")
	comments := define("comments", 800000, "id:int(11):800000 post_id:int(11):100000 user_id:int(11):20000 body:text:700000", "PRIMARY(id)")
	tiny := define("settings", 40, "name:varchar(50):40 value:varchar(50):30")
	composite := define("grants", 300000, "user_id:int(11):30000 item_id:int(11):1000 kind:int(11):30 at:datetime:200000", "PRIMARY(user_id,item_id)")
	tests := []struct {
		name       string
		tables     []evidence.Table
		statements []evidence.Statement
		want       string
	}{
		{"one equality", []evidence.Table{users},
			[]evidence.Statement{run("SELECT * FROM users WHERE login = 'x'", 1000, 60*second, 200000, 1)},
			"users(login)"},
		{"the login service: by user and by address, newest success, failures since", []evidence.Table{users, loginLog()},
			[]evidence.Statement{
				run("SELECT * FROM users WHERE login = 'x'", 1000, 60*second, 200000, 1),
				run("SELECT COUNT(1) AS failures FROM login_log WHERE user_id = 5 AND id > IFNULL((SELECT id FROM login_log WHERE user_id = 5 AND succeeded = 1 ORDER BY id DESC LIMIT 1), 0)", 1000, 80*second, 200000, 1),
				run("SELECT COUNT(1) AS failures FROM login_log WHERE ip = '10.0.0.1' AND id > IFNULL((SELECT id FROM login_log WHERE ip = '10.0.0.1' AND succeeded = 1 ORDER BY id DESC LIMIT 1), 0)", 1000, 80*second, 200000, 1),
				run("SELECT * FROM login_log WHERE succeeded = 1 AND user_id = 5 ORDER BY id DESC LIMIT 2", 500, 20*second, 100000, 2),
				run("INSERT INTO login_log (created_at, user_id, login, ip, succeeded) VALUES (NOW(), 5, 'x', '10.0.0.1', 1)", 1000, second/2, 0, 0),
			},
			"login_log(ip,succeeded) login_log(user_id,succeeded) users(login)"},
		{"existing index is enough", []evidence.Table{define("u", 100000, "id:int:100000 login:varchar(50):100000", "PRIMARY(id)", "UNIQUE l(login)")},
			[]evidence.Statement{run("SELECT * FROM u WHERE login = 'x'", 1000, 60*second, 100000, 1)}, ""},
		{"existing longer index is enough", []evidence.Table{define("u", 100000, "id:int:100000 a:int:50000 b:int:50", "PRIMARY(id)", "ab(a,b)")},
			[]evidence.Statement{run("SELECT * FROM u WHERE a = 5", 1000, 60*second, 100000, 2)}, ""},
		{"primary key counts as an index", []evidence.Table{composite},
			[]evidence.Statement{run("SELECT * FROM grants WHERE user_id = 7", 1000, 60*second, 300000, 10)}, ""},
		{"second column of the primary key alone", []evidence.Table{composite},
			[]evidence.Statement{run("SELECT * FROM grants WHERE item_id = 7", 1000, 60*second, 300000, 300)}, "grants(item_id)"},
		{"small table", []evidence.Table{tiny},
			[]evidence.Statement{run("SELECT value FROM settings WHERE name = 'x'", 100000, 60*second, 40, 1)}, ""},
		{"a flag alone is not selective", []evidence.Table{users},
			[]evidence.Statement{run("SELECT * FROM users WHERE active = 1", 10, 60*second, 200000, 100000)}, ""},
		{"a flag with few rows, as the counts prove", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT * FROM posts WHERE status = 'pending'", 100, 60*second, 500000, 12)}, "posts(status)"},
		{"most selective column first", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT * FROM posts WHERE status = 'draft' AND category_id = 7 AND user_id = 5", 1000, 60*second, 500000, 1)},
			"posts(user_id,category_id,status)"},
		{"statements share a prefix against selectivity", []evidence.Table{posts},
			[]evidence.Statement{
				run("SELECT * FROM posts WHERE category_id = 7 AND user_id = 5", 1000, 60*second, 500000, 1),
				run("SELECT id FROM posts WHERE category_id = 7 LIMIT 100000", 10, 60*second, 500000, 10000),
			}, "posts(category_id,user_id)"},
		{"equality then range", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT * FROM posts WHERE created_at > '2024-01-01' AND user_id = 5", 1000, 60*second, 500000, 3)},
			"posts(user_id,created_at)"},
		{"equality then order, with a limit", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT * FROM posts WHERE category_id = 5 ORDER BY created_at DESC LIMIT 10", 1000, 60*second, 500000, 10)},
			"posts(category_id,created_at)"},
		{"order alone, with a limit", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT * FROM posts ORDER BY created_at DESC LIMIT 20", 1000, 60*second, 500000, 20)},
			"posts(created_at)"},
		{"order by the primary key needs no column", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT * FROM posts WHERE user_id = 5 ORDER BY id DESC LIMIT 1", 1000, 60*second, 500000, 1)},
			"posts(user_id)"},
		{"MAX after an equality", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT MAX(created_at) FROM posts WHERE user_id = 5", 1000, 60*second, 500000, 1)},
			"posts(user_id,created_at)"},
		{"MIN alone", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT MIN(created_at) FROM posts", 1000, 60*second, 500000, 1)},
			"posts(created_at)"},
		{"join: the inner side's column", []evidence.Table{posts, comments},
			[]evidence.Statement{run("SELECT c.* FROM posts p JOIN comments c ON c.post_id = p.id WHERE p.id = 9", 1000, 60*second, 800000, 8)},
			"comments(post_id)"},
		{"join: both sides", []evidence.Table{users, posts},
			[]evidence.Statement{run("SELECT p.title FROM users u JOIN posts p ON p.user_id = u.id WHERE u.login = 'x'", 1000, 60*second, 700000, 8)},
			"posts(user_id) users(login)"},
		{"left join", []evidence.Table{posts, comments},
			[]evidence.Statement{run("SELECT p.id, c.body FROM posts p LEFT JOIN comments c ON c.post_id = p.id WHERE p.id IN (1,2,3)", 1000, 60*second, 800000, 20)},
			"comments(post_id)"},
		{"IN subquery", []evidence.Table{users, posts},
			[]evidence.Statement{run("SELECT title FROM posts WHERE user_id IN (SELECT id FROM users WHERE login = 'x')", 1000, 60*second, 700000, 8)},
			"posts(user_id) users(login)"},
		{"EXISTS, correlated", []evidence.Table{users, comments},
			[]evidence.Statement{run("SELECT login FROM users u WHERE u.id < 50 AND EXISTS (SELECT 1 FROM comments c WHERE c.user_id = u.id)", 100, 60*second, 800000, 20)},
			"comments(user_id)"},
		{"UPDATE by an unindexed column", []evidence.Table{users},
			[]evidence.Statement{run("UPDATE users SET age = 5 WHERE email = 'a@b'", 1000, 60*second, 200000, 0)},
			"users(email)"},
		{"DELETE by age", []evidence.Table{posts},
			[]evidence.Statement{run("DELETE FROM posts WHERE created_at < '2020-01-01' LIMIT 10", 1000, 60*second, 500000, 0)},
			"posts(created_at)"},
		{"text column gets a prefix", []evidence.Table{users},
			[]evidence.Statement{run("SELECT id FROM users WHERE bio = 'x'", 1000, 60*second, 200000, 1)},
			"users(bio(64))"},
		{"a sample says which prefix", []evidence.Table{prefixed(users, "bio", 16)},
			[]evidence.Statement{run("SELECT id FROM users WHERE bio = 'x'", 1000, 60*second, 200000, 1)},
			"users(bio(16))"},
		{"writes outweigh reads", []evidence.Table{loginLog()},
			[]evidence.Statement{
				run("SELECT * FROM login_log WHERE ip = '10.0.0.1'", 2, 40*time.Millisecond, 100000, 5),
				run("INSERT INTO login_log (ip) VALUES ('x')", 100000, 3*second, 0, 0),
			}, ""},
		{"fingerprint instead of a truncated example", []evidence.Table{users},
			[]evidence.Statement{{Schema: "app", Example: "SELECT * FROM users WHERE login = 'x", Fingerprint: "SELECT * FROM `users` WHERE `email` IN (...)",
				Count: 1000, Total: 60 * second, FullScans: 1000, RowsExamined: 200000000, RowsSent: 1000}},
			"users(email)"},
		{"few rows examined: nothing to gain", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT * FROM posts WHERE user_id = 5", 100000, 60*second, 3, 2)}, ""},
		{"OR on one column is a list", []evidence.Table{users},
			[]evidence.Statement{run("SELECT * FROM users WHERE (login = 'x' OR login = 'y')", 1000, 60*second, 200000, 2)},
			"users(login)"},
		{"LIKE with a fixed beginning", []evidence.Table{users},
			[]evidence.Statement{run("SELECT * FROM users WHERE login LIKE 'abc%'", 1000, 60*second, 200000, 20)},
			"users(login)"},
		{"derived table", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT t.n FROM (SELECT COUNT(*) AS n FROM posts WHERE user_id = 5) t", 1000, 60*second, 500000, 1)},
			"posts(user_id)"},
		{"UNION: each part", []evidence.Table{users},
			[]evidence.Statement{run("SELECT id FROM users WHERE login = 'x' UNION SELECT id FROM users WHERE email = 'y'", 1000, 60*second, 400000, 2)},
			"users(email) users(login)"},
		{"prefix of another is merged", []evidence.Table{posts},
			[]evidence.Statement{
				run("SELECT * FROM posts WHERE user_id = 5", 1000, 60*second, 500000, 25),
				run("SELECT * FROM posts WHERE user_id = 5 AND created_at > '2024-01-01'", 1000, 60*second, 500000, 3),
			}, "posts(user_id,created_at)"},
		{"covering where thousands of rows would be fetched", []evidence.Table{posts},
			[]evidence.Statement{run("SELECT SUM(user_id) FROM posts WHERE category_id = 5", 1000, 60*second, 500000, 1)},
			"posts(category_id,user_id)"},
		{"memory tables and views are left alone", []evidence.Table{func() evidence.Table { x := users; x.Engine = "MEMORY"; return x }()},
			[]evidence.Statement{run("SELECT * FROM users WHERE login = 'x'", 1000, 60*second, 200000, 1)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			advice, notes := Advise(tt.statements, tt.tables, Options{})
			if got := strings.Join(columnsOf(advice), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s\nnotes %v", got, tt.want, notes)
			}
			for _, a := range advice {
				if a.Benefit <= 0 || a.Benefit > 1 || a.Size <= 0 || a.Reason == "" || len(a.Statements) == 0 || a.RowsAfter >= a.RowsBefore {
					t.Errorf("incomplete advice %+v", a)
				}
			}
		})
	}
}
