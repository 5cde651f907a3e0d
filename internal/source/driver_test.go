package source

import (
	"fmt"
	"strings"
	"testing"
)

// Where a program puts its data source name together itself, the driver's option can be
// told to the line, whatever form that has; where it is set, nothing is told.
func TestDrivers(t *testing.T) {
	goFile := func(body string) program {
		return program{"main.go", "package main\n\nfunc connect() (*sql.DB, error) {\n" + body + "\n}\n"}
	}
	for _, c := range []struct {
		name string
		p    program
		want string // "file:line function: words of the edit", "" nothing
	}{
		{"a format", goFile(`	dsn := fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?parseTime=true&loc=Local", user, password, host, port, name)
	return sql.Open("mysql", dsn)`), "main.go:4 connect: “&interpolateParams=true” at the end"},
		{"a format without parameters", goFile(`	return sql.Open("mysql", fmt.Sprintf("%v:%v@tcp(%v:%v)/%v", user, password, host, port, name))`), "main.go:4 connect: “?interpolateParams=true” at the end"},
		{"joined", goFile("	dsn := user + \":\" + password +\n\t\t\"@tcp(\" + host + \")/\" + name"), "main.go:4 connect: “?interpolateParams=true”"},
		{"a socket", goFile("	dsn := user + `@unix(/run/mysqld/mysqld.sock)/app?charset=utf8mb4`"), "main.go:4 connect: “&interpolateParams=true”"},
		{"a configuration", goFile("	conf := mysql.NewConfig()\n\tconf.Net = \"tcp\"\n\tconf.Addr = net.JoinHostPort(host, port)"), "main.go:4 connect: conf.InterpolateParams = true"},
		{"a literal", goFile("	cfg := &mysql.Config{User: user, Addr: host}"), "main.go:4 connect: InterpolateParams: true among its fields"},
		{"a format that has it", goFile(`	dsn := fmt.Sprintf("%s@tcp(%s)/%s?interpolateParams=true", user, host, name)`), ""},
		{"a configuration that has it", goFile("	conf := mysql.NewConfig()\n\tconf.InterpolateParams = on"), ""},
		{"no database of MySQL", goFile(`	return sql.Open("pgx", fmt.Sprintf("postgres://%s:%s@%s:%s/%s", user, password, host, port, name))`), ""},
		{"a comment", program{"main.go", "package main\n\n// user:password@tcp(localhost:3306)/app\nvar a = 1\n"}, ""},
		{"PDO told to prepare", program{"db.php", "<?php\nfunction db() {\n  $o = [\n    PDO::ATTR_EMULATE_PREPARES => false,\n  ];\n}\n"}, "db.php:4 db: PDO::ATTR_EMULATE_PREPARES => true"},
		{"PDO told by a call", program{"db.php", "<?php\n$pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);\n"}, "db.php:2 : PDO::ATTR_EMULATE_PREPARES => true"},
		{"PDO told not to", program{"db.php", "<?php\n$o = [PDO::ATTR_EMULATE_PREPARES => true];\n"}, ""},
		{"mysql2", program{"db.js", "const mysql = require('mysql2/promise')\nasync function user(id) {\n  return pool.execute('SELECT * FROM users WHERE id = ?', [id])\n}\n"}, "db.js:3 user: query(…) in place of execute(…)"},
		{"something else that executes", program{"db.js", "const task = require('task')\ntask.execute()\n"}, ""},
		{"a prepared cursor", program{"db.py", "def user(db):\n    return db.cursor(prepared=True)\n"}, "db.py:2 user: a cursor without prepared=True"},
		{"JDBC", program{"Db.java", "class Db {\n  String url() {\n    return \"jdbc:mysql://\" + host + \"/app?useServerPrepStmts=true\";\n  }\n}\n"}, "Db.java:3 Db.url: useServerPrepStmts=false"},
		{"DBI", program{"Db.pm", "sub db {\n  DBI->connect(\"dbi:mysql:app;mysql_server_prepare=1\");\n}\n"}, "Db.pm:2 db: mysql_server_prepare=0"},
	} {
		var got []string
		for _, d := range index(t, c.p).Drivers() {
			got = append(got, fmt.Sprintf("%s:%d %s: %s", d.File, d.Line, d.Function, d.Edit))
		}
		switch {
		case c.want == "" && len(got) == 0, c.want != "" && len(got) == 1 && strings.HasPrefix(got[0], c.want):
		default:
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
