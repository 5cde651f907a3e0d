package database_test

import (
	"database/sql"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kasoku/cases/remedies/bed"
)

// server is a private MariaDB or MySQL with the given lines in [mysqld], filled
// by statements, and an application in front of it.
type server struct {
	*bed.Bed
	root *sql.DB
	port int
}

// product is a server's program and what is its own: the kind in kasoku.yaml,
// whom root runs it as, lines in [mysqld], and how a data folder is made.
type product struct {
	kind, program, user, lines string
	install                    func(t *testing.T, p product, data, user string)
}

var mariaDB = product{kind: "mariadb", program: "/usr/sbin/mariadbd", user: "mysql", install: installMariaDB}

func installMariaDB(t *testing.T, _ product, data, user string) {
	t.Helper()
	bed.InstallMariaDB(t, data, user, "4M")
}

const paths = `[mysqld]
%USER%
port = %PORT%
bind-address = 127.0.0.1
socket = %DIR%/db/s.sock
pid-file = %DIR%/db/p.pid
datadir = %DIR%/db
tmpdir = %DIR%/db
log_error = %DIR%/db/error.log
`

const stackFile = `version: 1
name: settings
services:
  - name: db
    kind: %KIND%
    binary: %PROGRAM%
    config: %DIR%/my.cnf
    listen: ["127.0.0.1:%PORT%", "unix:%DIR%/db/s.sock"]
    control:
      method: process
      pid_file: %DIR%/db/p.pid
      start: ["%PROGRAM%", "--defaults-file=%DIR%/my.cnf"]
    login: {user: kasoku, password_file: %DIR%/secret}
load:
  scenario: %DIR%/scenario.yaml
  url: %URL%
`

// start makes and starts a MariaDB. Each route of the application is asked for
// as often as its weight says.
func start(t *testing.T, settings string, fill []string, routes map[string]route) *server {
	t.Helper()
	return startProduct(t, mariaDB, settings, fill, routes)
}

func startProduct(t *testing.T, p product, settings string, fill []string, routes map[string]route) *server {
	t.Helper()
	dir := bed.Folder(t)
	s := &server{port: bed.FreePort(t)}
	user := ""
	if os.Getuid() == 0 {
		user = p.user
	}
	replace := strings.NewReplacer("%USER%", userLine(user), "%PORT%", fmt.Sprint(s.port), "%KIND%", p.kind, "%PROGRAM%", p.program)
	bed.Write(t, dir, "my.cnf", replace.Replace(paths)+p.lines+settings)
	data := filepath.Join(dir, "db")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if user != "" {
		bed.Output(t, "chown", user+":", data)
	}
	p.install(t, p, data, user)
	bed.StopByPIDFile(t, filepath.Join(data, "p.pid"))
	bed.Start(t, dir, p.kind, p.program, "--defaults-file="+dir+"/my.cnf")
	bed.Await(t, data+"/s.sock")
	s.root = s.open(t, "root", "", "unix", data+"/s.sock", "")
	password := "kasoku-" + filepath.Base(dir)
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"localhost", "127.0.0.1"} {
		fill = append(fill, fmt.Sprintf("CREATE USER kasoku@'%s' IDENTIFIED BY '%s'", at, password), fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO kasoku@'%s' WITH GRANT OPTION", at))
	}
	for _, statement := range append([]string{"CREATE DATABASE app", "USE app", "CREATE USER app@127.0.0.1 IDENTIFIED BY 'app'", "GRANT ALL ON app.* TO app@127.0.0.1"}, fill...) {
		if _, err := s.root.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	url := s.serve(t, routes)
	bed.Write(t, dir, "kasoku.yaml", replace.Replace(strings.ReplaceAll(stackFile, "%URL%", url)))
	scenario := "version: 1\nname: settings\nworkload: 6\nsessions:\n"
	for _, path := range sorted(routes) {
		scenario += fmt.Sprintf("  - name: %s\n    weight: %d\n    steps:\n      - {name: %s, request: GET %s, expect: {contains: [done]}}\n", path[1:], routes[path].weight, path[1:], path)
	}
	bed.Write(t, dir, "scenario.yaml", scenario)
	s.Bed = bed.Open(t, dir)
	return s
}

func userLine(user string) string {
	if user == "" {
		return ""
	}
	return "user = " + user
}

// open is one connection at a time, and none that is kept.
func (s *server) open(t *testing.T, user, password, network, address, schema string) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName, cfg.InterpolateParams = user, password, network, address, schema, true
	cfg.Logger = log.New(io.Discard, "", 0) // restarts break its connections
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// variable is a global variable as the server reports it.
func (s *server) variable(t *testing.T, name string) string {
	t.Helper()
	var key, value string
	if err := s.root.QueryRowContext(t.Context(), "SHOW GLOBAL VARIABLES LIKE ?", name).Scan(&key, &value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}
