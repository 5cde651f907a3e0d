// Package checks shows the regulation checks on a real MariaDB and a real
// Varnish with an application between them, and that each of them fails when
// the service is sabotaged.
package checks

import (
	"database/sql"
	"fmt"
	"html"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/load"
	"kasoku/internal/prove"
	"kasoku/internal/tune"
)

const myConf = `[mysqld]
%USER%
port = %DBPORT%
bind-address = 127.0.0.1
socket = %DATA%/s.sock
pid-file = %DATA%/p.pid
datadir = %DATA%
tmpdir = %DATA%
log_error = %DATA%/error.log
innodb_buffer_pool_size = 32M
innodb_log_file_size = 4M
`

// vcl keeps notes for ten minutes, unless they are purged. %MORE% is for what a
// hurried person adds.
const vcl = `vcl 4.1;

backend app {
    .host = "127.0.0.1";
    .port = "%APPPORT%";
}

sub vcl_recv {
    if (req.method == "PURGE") {
        return (purge);
    }
    if (req.url ~ "^/note[?]") {
        unset req.http.Cookie;
        return (hash);
    }
    %MORE%
}

sub vcl_backend_response {
    if (bereq.url ~ "^/note[?]") {
        set beresp.ttl = 10m;
        set beresp.grace = 0s;
    }
}
`

const kasokuYAML = `version: 1
name: notes
services:
  - name: front
    kind: varnish
    binary: /usr/sbin/varnishd
    config: %DIR%/site.vcl
    listen: ["127.0.0.1:%PORT%"]
    talks_to: [app]
    control: {method: process, pid_file: %DIR%/varnish.pid, start: [sh, %DIR%/start-varnish]}
  - name: app
    kind: app
    root: %DIR%
    listen: ["127.0.0.1:%APPPORT%"]
    talks_to: [db]
    control: {method: command, start: ["true"], stop: ["true"]}
  - name: db
    kind: mariadb
    binary: /usr/sbin/mariadbd
    config: %DIR%/my.cnf
    listen: ["127.0.0.1:%DBPORT%", "unix:%DATA%/s.sock"]
    control: {method: process, pid_file: %DATA%/p.pid, start: [/usr/sbin/mariadbd, "--defaults-file=%DIR%/my.cnf"]}
    login: {user: kasoku, password_file: %DIR%/secret}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:%PORT%", reset: ["true"]}
checks: {scenario: checks.yaml, writes: 2, kill: [db], back_within: 1m}
`

const scenarioYAML = `version: 1
name: notes
workload: 2
pools:
  people: {generate: {from: 1, to: 1000}, fields: {name: "user${n}"}}
sessions:
  - name: member
    draw: {who: people}
    steps:
      - {name: login, request: POST /login, form: {name: "${who.name}"}, expect: {status: 302}}
      - {name: me, request: GET /me, think: 5ms}
  - name: visitor
    steps:
      - {name: about, request: GET /about, think: 5ms}
`

const checksYAML = `version: 1
name: checks
pools:
  notes: {generate: {from: 100000, to: 999999}, fields: {text: "note-${n}"}}
setup:
  - {name: write, request: POST /notes, draw: {note: notes}, form: {text: "${note.text}"}, expect: {status: 201}}
sessions:
  - name: stranger
    steps: [{request: "GET /note?text=${note.text}", expect: {contains: "yes, ${note.text}"}}]
  - name: member
    steps: [{request: "GET /note?text=${note.text}", headers: {Cookie: user=ann}, expect: {contains: "yes, ${note.text}"}}]
`

// site is Varnish, an application and MariaDB in a private folder.
type site struct {
	*bed.Bed
	front  string
	db     *sql.DB
	purges atomic.Bool // the application tells Varnish what changed
	rows   load.Rows   // that writes have drawn
}

// startDB makes and starts a MariaDB with its files in data, and fills
// placeholders.
func startDB(t *testing.T, dir, data string) (root *sql.DB, fill *strings.Replacer) {
	t.Helper()
	owner, user := "", ""
	if err := os.MkdirAll(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		owner, user = "mysql", "user = mysql"
	}
	bed.InstallMariaDB(t, data, owner, "4M")
	fill = strings.NewReplacer("%USER%", user, "%DBPORT%", fmt.Sprint(bed.FreePort(t)), "%DATA%", data)
	bed.Write(t, dir, "my.cnf", fill.Replace(myConf))
	bed.StopByPIDFile(t, filepath.Join(data, "p.pid"))
	bed.Start(t, dir, "mariadbd", "/usr/sbin/mariadbd", "--defaults-file="+dir+"/my.cnf")
	bed.Await(t, data+"/s.sock")
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.Logger = "root", "unix", data+"/s.sock", log.New(io.Discard, "", 0)
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	root = sql.OpenDB(connector)
	t.Cleanup(func() { root.Close() })
	password := "kasoku-" + filepath.Base(dir)
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(password), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"CREATE USER kasoku@localhost IDENTIFIED BY '" + password + "'", "GRANT ALL ON *.* TO kasoku@localhost",
		"CREATE USER kasoku@127.0.0.1 IDENTIFIED BY '" + password + "'", "GRANT ALL ON *.* TO kasoku@127.0.0.1",
		"CREATE DATABASE app", "CREATE TABLE app.notes (text VARCHAR(40) PRIMARY KEY) ENGINE=InnoDB"} {
		exec1(t, root, s)
	}
	return root, fill
}

func exec1(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func startSite(t *testing.T) *site {
	t.Helper()
	dir := bed.Folder(t)
	x := &site{}
	x.purges.Store(true)
	var fill *strings.Replacer
	x.db, fill = startDB(t, dir, filepath.Join(dir, "db"))
	app := httptest.NewServer(x)
	t.Cleanup(app.Close)
	port := bed.FreePort(t)
	x.front = fmt.Sprintf("http://127.0.0.1:%d", port)
	more := strings.NewReplacer("%PORT%", fmt.Sprint(port), "%APPPORT%", app.URL[strings.LastIndex(app.URL, ":")+1:])
	for name, text := range map[string]string{"kasoku.yaml": kasokuYAML, "scenario.yaml": scenarioYAML, "checks.yaml": checksYAML,
		"good.vcl": strings.ReplaceAll(vcl, "%MORE%", ""),
		// Whoever comes first: the page is kept by its address alone.
		"leaking.vcl":   strings.ReplaceAll(vcl, "%MORE%", `if (req.url ~ "^/me") { return (hash); }`) + "sub vcl_backend_response { if (bereq.url ~ \"^/me\") { set beresp.ttl = 10m; } }\n",
		"start-varnish": "#!/bin/sh\nexec /usr/sbin/varnishd -n %DIR%/v -a 127.0.0.1:%PORT% -f %DIR%/good.vcl -s malloc,16m -p default_ttl=0 -P %DIR%/varnish.pid\n"} {
		bed.Write(t, dir, name, more.Replace(fill.Replace(text)))
	}
	bed.Write(t, dir, "site.vcl", more.Replace(strings.ReplaceAll(vcl, "%MORE%", "")))
	bed.StopByPIDFile(t, dir+"/varnish.pid")
	bed.Output(t, "sh", dir+"/start-varnish")
	bed.Await(t, fmt.Sprintf("127.0.0.1:%d", port))
	x.Bed = bed.Open(t, dir)
	return x
}

// use makes Varnish take another VCL, and forget everything.
func (x *site) use(t *testing.T, name string) {
	t.Helper()
	adm := func(args ...string) { bed.Output(t, append([]string{"varnishadm", "-n", x.Dir + "/v"}, args...)...) }
	adm("vcl.load", name, x.Dir+"/"+name+".vcl")
	adm("vcl.use", name)
	adm("ban", "req.url", "~", ".")
}

// ServeHTTP is the application.
func (x *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch {
	case r.URL.Path == "/notes" && r.Method == http.MethodPost:
		text := r.FormValue("text")
		if _, err := x.db.ExecContext(r.Context(), "INSERT INTO app.notes VALUES (?)", text); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if x.purges.Load() {
			if err := purge(r, x.front+"/note?text="+text); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.WriteHeader(http.StatusCreated)
	case r.URL.Path == "/note":
		var text string
		switch err := x.db.QueryRowContext(r.Context(), "SELECT text FROM app.notes WHERE text = ?", r.FormValue("text")).Scan(&text); err {
		case nil:
			fmt.Fprintf(w, "yes, %s", html.EscapeString(text))
		case sql.ErrNoRows:
			fmt.Fprint(w, "no")
		default:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	case r.URL.Path == "/login":
		http.SetCookie(w, &http.Cookie{Name: "user", Value: r.FormValue("name")})
		http.Redirect(w, r, "/me", http.StatusFound)
	case r.URL.Path == "/me":
		c, err := r.Cookie("user")
		if err != nil {
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "<h1>Hello</h1>\n<p>You are %s.</p>\n", html.EscapeString(c.Value))
	default:
		fmt.Fprint(w, "<h1>About</h1>\n<p>What everybody may read.</p>\n")
	}
}

func purge(r *http.Request, url string) error {
	req, err := http.NewRequestWithContext(r.Context(), "PURGE", url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("purge: %s", res.Status)
	}
	return nil
}

type silent struct{}

func (silent) Step(string)         {}
func (silent) Info(string)         {}
func (silent) Warn(string, string) {}

// prove makes one check.
func (x *site) prove(t *testing.T, check string) prove.Result {
	t.Helper()
	p := &tune.Prover{Bench: x.Bench, UI: silent{}, Only: []string{check}}
	all, err := p.Run(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	t.Logf("%s: %s: %s %+v %v", check, all[0].Outcome, all[0].Text, all[0].Problems, all[0].Notes)
	return all[0]
}

// witness of the site's own checks, whose writes nobody made before.
func witness(x *site) (*load.Witness, error) {
	sc, err := load.LoadScenario(x.Stack.Checks.Scenario)
	if err != nil {
		return nil, err
	}
	if x.rows == nil {
		x.rows = load.Rows{}
	}
	return load.NewWitness(load.Options{Scenario: sc, URL: x.front, Rows: x.rows})
}

// startInMemory is a MariaDB alone, with its files in memory, that may not be
// killed.
func startInMemory(t *testing.T) *site {
	t.Helper()
	dir := bed.Folder(t)
	data, err := os.MkdirTemp("/dev/shm", "kc")
	if err != nil {
		t.Skipf("there is no folder in memory: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(data) })
	if err := os.Chmod(data, 0o755); err != nil { // the server's user must enter
		t.Fatal(err)
	}
	x := &site{}
	var fill *strings.Replacer
	x.db, fill = startDB(t, dir, filepath.Join(data, "db"))
	bed.Write(t, dir, "scenario.yaml", "version: 1\nname: none\nsessions: [{steps: [{request: GET /}]}]\n")
	_, db, _ := strings.Cut(kasokuYAML, "  - name: db\n")
	db, _, _ = strings.Cut(db, "load:")
	bed.Write(t, dir, "kasoku.yaml", fill.Replace("version: 1\nname: memory\nservices:\n  - name: db\n"+db+"load: {scenario: scenario.yaml, url: \"http://127.0.0.1:1\"}\n"))
	x.Bed = bed.Open(t, dir)
	return x
}
