package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"kasoku/internal/foreign"
)

const goodYAML = `version: 1
name: shop
services:
  - name: web
    kind: nginx
    binary: /usr/sbin/nginx
    config: nginx/nginx.conf
    prefix: nginx
    listen: ["127.0.0.1:8080"]
    talks_to: [php]
    control: {method: process, pid_file: run/nginx.pid, start: [/usr/sbin/nginx, -c, nginx.conf]}
    health: {url: "http://127.0.0.1:8080/", timeout: 5s}
  - name: php
    kind: php-fpm
    config: fpm.conf
    listen: ["unix:run/php.sock"]
  - name: app
    kind: app
    root: app
    settings: [app/config.ini]
    runs_in: php
    talks_to: [db]
  - name: db
    kind: mariadb
    config: /etc/mysql/my.cnf
    control: {method: command, start: [./db.sh, start], stop: [./db.sh, stop]}
    login: {user: root, password_file: secret/db}
load:
  scenario: scenario.yaml
  url: http://127.0.0.1:8080
  reset: [./reset.sh]
  allow: [10.0.0.0/24]
regulation:
  allow: [durability]
  no_restart: [db]
`

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kasoku.yaml")
	if err := os.WriteFile(path, []byte(goodYAML), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	web, php, app, db := s.Service("web"), s.Service("php"), s.Service("app"), s.Service("db")
	for _, c := range []struct{ what, got, want string }{
		{"path", s.Path, path},
		{"scenario", s.Load.Scenario, dir + "/scenario.yaml"},
		{"reset", s.Load.Reset[0], dir + "/reset.sh"},
		{"config", web.Config, dir + "/nginx/nginx.conf"},
		{"absolute config", db.Config, "/etc/mysql/my.cnf"},
		{"pid file", web.Control.PIDFile, dir + "/run/nginx.pid"},
		{"program", db.Control.Start[0], dir + "/db.sh"},
		{"argument stays", web.Control.Start[2], "nginx.conf"},
		{"unix socket", php.Listen[0], "unix:" + dir + "/run/php.sock"},
		{"settings", app.Settings[0], dir + "/app/config.ini"},
		{"password file", db.Login.PasswordFile, dir + "/secret/db"},
		{"host default", web.Host, "local"},
		{"given timeout", web.Health.Timeout.String(), "5s"},
		{"default timeout", db.Health.Timeout.String(), "30s"},
		{"inferred method", php.ControlMethod(), MethodProcess},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	if s.Tune.Effect() != 0.01 || s.Tune.FalseKeepRate() != 0.01 || s.Tune.Pairs() != 400 {
		t.Errorf("tune defaults: %v %v %v", s.Tune.Effect(), s.Tune.FalseKeepRate(), s.Tune.Pairs())
	}
	if (Health{}).Wait() != 30*time.Second {
		t.Error("health default")
	}
	if got := s.OfKind(MariaDB, MySQL); len(got) != 1 || got[0].Name != "db" {
		t.Errorf("OfKind: %v", got)
	}
}

func TestLoadErrors(t *testing.T) {
	// Each row changes the good file once; want is the place and the words that
	// tell a person what to write.
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key with a near one", "    config: fpm.conf", "    confg: fpm.conf", `k.yaml:15:5: services[1].confg: unknown key; did you mean "config"?`},
		{"unknown key without", "name: shop", "name: shop\ncolour: red", `k.yaml:3:1: colour: unknown key; known here: version, name`},
		{"unknown nested key", "  no_restart: [db]", "  no_restarts: [db]", `k.yaml:35:3: regulation.no_restarts: unknown key; did you mean "no_restart"?`},
		{"text for a list", `listen: ["127.0.0.1:8080"]`, "listen: 127.0.0.1:8080", `k.yaml:9:5: services[0].listen: must be a list; write [127.0.0.1:8080]`},
		{"list for text", "kind: php-fpm", "kind: [php-fpm]", `k.yaml:14:5: services[1].kind: [php-fpm] must be text`},
		{"number for text", "name: shop", "name: 12", `k.yaml:2:1: name: 12 must be text; put it in quotes`},
		{"text for a section", "load:\n", "load: fast\nload2:\n", `k.yaml:28:1: load: must be a section`},
		{"duplicate service", "name: php", "name: web", `k.yaml:13:5: services[1].name: "web" is already the name of another service`},
		{"bad service name", "name: php\n", "name: a/b\n", `services[1].name: "a/b" may only have letters`},
		{"unknown kind", "kind: php-fpm", "kind: php", `k.yaml:14:5: services[1].kind: unknown kind "php"; write one of nginx, apache, php-fpm`},
		{"missing kind", "    kind: php-fpm\n", "", `services[1].kind: missing; write one of`},
		{"missing config", "    config: fpm.conf\n", "", `services[1].config: missing; write the path of php-fpm's main configuration file`},
		{"talks to nobody", "talks_to: [db]", "talks_to: [dbs]", `k.yaml:22:16: services[2].talks_to[0]: there is no service "dbs"; did you mean "db"?`},
		{"talks to itself", "talks_to: [db]", "talks_to: [app]", `is this service itself`},
		{"runs in nobody", "runs_in: php", "runs_in: fpm", `services[2].runs_in: there is no service "fpm"; services are web, php, app, db`},
		{"runs in itself", "runs_in: php", "runs_in: app", `"app" has no processes of its own`},
		{"app in another with control", "    runs_in: php\n", "    runs_in: php\n    control: {method: process}\n", `services[2].control: the app runs in "php"`},
		{"unknown trade", "allow: [durability]", "allow: [durabilty]", `k.yaml:34:11: regulation.allow[0]: unknown trade "durabilty"; write any of durability`},
		{"staleness without its trade", "  no_restart: [db]", "  staleness: 5m", `k.yaml:35:3: regulation.staleness: 5m0s limits a trade`},
		{"headroom", "  no_restart: [db]", "  memory_headroom_percent: 95", `k.yaml:35:3: regulation.memory_headroom_percent: 95 is outside`},
		{"regulation names nobody", "no_restart: [db]", "no_restart: [sql]", `regulation.no_restart[0]: there is no service "sql"`},
		{"duration without unit", "timeout: 5s", "timeout: 5", `k.yaml:12:45: services[0].health.timeout: 5 is not a duration; write a number with its unit`},
		{"bad duration", "timeout: 5s", "timeout: soon", `services[0].health.timeout: "soon" is not a duration`},
		{"negative duration", "timeout: 5s", "timeout: -5s", `"-5s" is not a duration`},
		{"no scenario", "  scenario: scenario.yaml\n", "", `k.yaml:28:1: load.scenario: missing; write the path`},
		{"scenario and command", "  scenario: scenario.yaml\n", "  scenario: scenario.yaml\n  command: {argv: [wrk]}\n", `k.yaml:30:3: load.command: there is a scenario too; keep one of scenario and command`},
		{"command as a list that is empty", "  scenario: scenario.yaml\n", "  command: []\n", `load.command.argv: missing; write [program, argument, …]`},
		{"command as a list with a number", "  scenario: scenario.yaml\n", "  command: [wrk, 4]\n", `load.command[1]: 4 must be text`},
		{"command as a line for a shell", "  scenario: scenario.yaml\n", "  command: wrk -c4 | tail\n", `k.yaml:29:3: load.command: "|" at character 9 needs a shell: write [sh, -c, '…']`},
		{"argv as a line for a shell", "  scenario: scenario.yaml\n", "  command: {argv: 'a && b', format: custom, score: {regexp: a}}\n", `k.yaml:29:13: load.command.argv: "&&" at character 3 needs a shell`},
		{"command as two lines", "  scenario: scenario.yaml\n", "  command: |\n    cd bench\n    ./bench\n", `load.command: a second line at character 9 needs a shell`},
		{"command as an open quote", "  scenario: scenario.yaml\n", "  command: wrk 'a\n", `load.command: the ' at character 5 is not closed`},
		{"command as a number", "  scenario: scenario.yaml\n", "  command: 5\n", `load.command`},
		{"command without a program", "  scenario: scenario.yaml\n", "  command: {timeout: 1m}\n", `load.command.argv: missing; write [program, argument, …]`},
		{"command with an unknown key", "  scenario: scenario.yaml\n", "  command: {argv: [b], scores: {json: $.a}}\n", `k.yaml:29:24: load.command.scores: unknown key; did you mean "score"?`},
		{"command with an unknown format", "  scenario: scenario.yaml\n", "  command: {argv: [b], format: wrk3}\n", `k.yaml:29:24: load.command.format: unknown format "wrk3"; write one of wrk, ab, k6`},
		{"command with a bad pattern", "  scenario: scenario.yaml\n", "  command: {argv: [b], score: {regexp: '('}}\n", `k.yaml:29:24: load.command.score: regexp: error parsing`},
		{"command with a bad path", "  scenario: scenario.yaml\n", "  command: {argv: [b], latency: {p99: {json: p99}}}\n", `load.command.latency.p99: json: path "p99" does not begin with $`},
		{"command with a bad time limit", "  scenario: scenario.yaml\n", "  command: {argv: [b], timeout: 5}\n", `load.command.timeout: 5 is not a duration`},
		{"command with a number in the environment", "  scenario: scenario.yaml\n", "  command: {argv: [b], environment: {N: 5}}\n", `load.command.environment.N: 5 must be text`},
		{"spans from elsewhere", "name: shop\n", "name: shop\nevidence: {otlp: \"10.0.0.1:4318\"}\n", `k.yaml:3:12: evidence.otlp: "10.0.0.1:4318" is not on this machine's loopback`},
		{"spans without a port", "name: shop\n", "name: shop\nevidence: {otlp_grpc: \"127.0.0.1\"}\n", `evidence.otlp_grpc: "127.0.0.1" is not an endpoint`},
		{"route that is none", "name: shop\n", "name: shop\nevidence: {routes: [users]}\n", `evidence.routes: route pattern "users"`},
		{"profile that is none", "name: shop\n", "name: shop\nevidence: {profile: always}\n", `evidence.profile: "always" is not known; write auto or off`},
		{"profiles of a database", "    kind: mariadb\n", "    kind: mariadb\n    pprof: http://127.0.0.1:6060/\n", `services[3].pprof: belongs to an app service, this one is mariadb`},
		{"status that is no URL", "    kind: mariadb\n", "    kind: mariadb\n    status: /status\n", `services[3].status: "/status" is not a URL`},
		{"no url", "  url: http://127.0.0.1:8080\n", "", `load.url: missing`},
		{"bad url", "url: http://127.0.0.1:8080\n", "url: 127.0.0.1:8080\n", `load.url: "127.0.0.1:8080" is not a URL`},
		{"bad allow", "10.0.0.0/24", "10.0.0/24", `load.allow[0]: "10.0.0/24" is not an address range`},
		{"bad endpoint", `"127.0.0.1:8080"`, `"8080"`, `services[0].listen[0]: "8080" is not an endpoint`},
		{"bad port", `"127.0.0.1:8080"`, `"127.0.0.1:80800"`, `has no port from 1 to 65535`},
		{"password in the file", "password_file: secret/db", "password: geheim", `services[3].login.password: unknown key; the password itself is never written in kasoku.yaml`},
		{"two passwords", "password_file: secret/db", "password_file: a, password_env: B", `names both password_file and password_env`},
		{"login of a non-database", "    config: fpm.conf", "    config: fpm.conf\n    login: {user: root}", `services[1].login: belongs to a mariadb, mysql or redis service`},
		{"unknown method", "method: process", "method: upstart", `unknown method "upstart"; write one of systemd, supervisor, process, command`},
		{"systemd without unit", "method: process, pid_file: run/nginx.pid, start: [/usr/sbin/nginx, -c, nginx.conf]", "method: systemd", `control.unit: missing`},
		{"supervisor without program", "method: process, pid_file: run/nginx.pid, start: [/usr/sbin/nginx, -c, nginx.conf]", "method: supervisor", `control.program: missing`},
		{"supervisor with a unit", "method: process, pid_file: run/nginx.pid, start: [/usr/sbin/nginx, -c, nginx.conf]", "unit: a.service, program: web", `program and config belong to method supervisor`},
		{"empty drain", "method: process, pid_file: run/nginx.pid", "method: process, drain: [], pid_file: run/nginx.pid", `control.drain: is empty`},
		{"command without stop", ", stop: [./db.sh, stop]", "", `method command needs both start and stop`},
		{"no version", "version: 1\n", "", `version: missing; write "version: 1"`},
		{"newer version", "version: 1", "version: 2", `k.yaml:1:1: version: 2 is not known`},
		{"other host", "    kind: php-fpm", "    kind: php-fpm\n    host: db1", `services[1].host: "db1" is not under hosts`},
		{"hosts section", "name: shop", "name: shop\nhosts: {db1: {address: 10.0.0.2}}", `hosts.db1.address: unknown key`},
		{"key twice", "name: shop", "name: shop\nname: shop2", `k.yaml:3:1: not valid YAML: mapping key "name" already defined`},
		{"broken YAML", "    kind: php-fpm", "   kind: php-fpm", `k.yaml:14:`},
		{"tab", "    kind: php-fpm", "\tkind: php-fpm", `k.yaml:1`},
		{"open bracket", "talks_to: [php]", "talks_to: [php", `not valid YAML`},
		{"alias", "talks_to: [db]", "talks_to: *x", `YAML aliases are not read here`},
		{"two documents", "load:\n", "---\nload:\n", `has 2 YAML documents`},
		{"tune", "regulation:\n", "tune: {alpha: 2}\nregulation:\n", `tune.alpha: 2 is outside`},
		{"a false-keep rate without a test", "regulation:\n", "tune: {alpha: 0.2}\nregulation:\n", `0.2 is outside 1e-05–0.1`},
		{"too few pairs", "regulation:\n", "tune: {max_pairs: 2}\nregulation:\n", `tune.max_pairs: 2 is outside 3–400`},
		{"more pairs than were calibrated", "regulation:\n", "tune: {max_pairs: 401}\nregulation:\n", `tune.max_pairs: 401 is outside 3–400`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(goodYAML, c.old) {
				t.Fatalf("the good file has no %q", c.old)
			}
			_, err := parse("k.yaml", []byte(strings.Replace(goodYAML, c.old, c.new, 1)), "/srv")
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got:  %v\nwant: %s", err, c.want)
			}
			if n := strings.Count(err.Error(), "\n"); n > maxProblems {
				t.Errorf("%d lines", n)
			}
		})
	}
}

func TestLoadCommand(t *testing.T) {
	y := strings.Replace(goodYAML, "  scenario: scenario.yaml\n", `  command:
    argv: [./bench, -target, "127.0.0.1:8080"]
    format: isucon
    score: {regexp: 'score: (\d+)'}
    errors: {json: "$.fail"}
    requests: {json: "$.success"}
    latency: {unit: s, p99: {regexp: 'p99=(\S+)'}}
    fail_if: {regexp: 'pass: false'}
    timeout: 2m
    environment: {GOGC: "200"}
    warmup: 10s
`, 1)
	s, err := parse("k.yaml", []byte(y), "/srv")
	if err != nil {
		t.Fatal(err)
	}
	want := &foreign.Command{Argv: []string{"/srv/bench", "-target", "127.0.0.1:8080"}, Format: "isucon",
		Score: &foreign.Value{Regexp: `score: (\d+)`}, Errors: &foreign.Value{JSON: "$.fail"}, Requests: &foreign.Value{JSON: "$.success"},
		Latency: &foreign.Latency{Unit: "s", P99: &foreign.Value{Regexp: `p99=(\S+)`}}, FailIf: &foreign.Pattern{Regexp: "pass: false"},
		Timeout: 2 * time.Minute, Environment: map[string]string{"GOGC": "200"}, Warmup: 10 * time.Second}
	if !reflect.DeepEqual(s.Load.Command, want) || s.Load.Scenario != "" {
		t.Fatalf("%+v", s.Load.Command)
	}
}

// TestCommandAsAList: a list is the program with its arguments, as in build and reset.
func TestCommandAsAList(t *testing.T) {
	y := strings.Replace(goodYAML, "  scenario: scenario.yaml\n", "  command: [./bench, -target, \"127.0.0.1:8080\"]\n", 1)
	s, err := parse("k.yaml", []byte(y), "/srv")
	if err != nil {
		t.Fatal(err)
	}
	if want := (&foreign.Command{Argv: []string{"/srv/bench", "-target", "127.0.0.1:8080"}}); !reflect.DeepEqual(s.Load.Command, want) {
		t.Fatalf("%+v", s.Load.Command)
	}
}

// Every key that holds a command takes a text, too, in all forms of YAML's.
func TestCommandsAsATextAreSplit(t *testing.T) {
	for _, text := range []string{`./x -a "b c" 'd'`, `"./x -a 'b c' d"`, `'./x -a "b c" d'`, ">\n          ./x -a\n          'b c' d\n", "|\n          ./x -a \\\n          'b c' d\n", "[./x, -a, b c, d]"} {
		y := fmt.Sprintf(`version: 1
services:
  - name: app
    kind: app
    listen: ["127.0.0.1:8080"]
    root: /srv/app
    control: {method: command}
    build:
        dir: src
        command: %[1]s
        products: [app]
load:
  url: http://127.0.0.1:8080
  command: %[1]s
  reset: %[1]s
`, text)
		if block := strings.HasPrefix(text, ">") || strings.HasPrefix(text, "|"); block {
			control := ""
			for _, key := range []string{"start", "stop", "reload", "check", "drain"} {
				control += "        " + key + ": " + text
			}
			y = strings.Replace(y, "    control: {method: command}\n", "    control:\n        method: command\n"+control, 1)
		} else {
			control := ""
			for _, key := range []string{"start", "stop", "reload", "check", "drain"} {
				control += "        " + key + ": " + text + "\n"
			}
			y = strings.Replace(y, "    control: {method: command}\n", "    control:\n        method: command\n"+control, 1)
		}
		s, err := parse("k.yaml", []byte(y), "/srv")
		if err != nil {
			t.Errorf("%s: %v\n%s", text, err, y)
			continue
		}
		c := s.Services[0].Control
		for key, argv := range map[string][]string{"start": c.Start, "stop": c.Stop, "reload": c.Reload, "check": c.Check, "drain": c.Drain,
			"build.command": s.Services[0].Build.Command, "load.command": s.Load.Command.Argv, "load.reset": s.Load.Reset} {
			if len(argv) != 4 || filepath.Base(argv[0]) != "x" || argv[1] != "-a" || argv[2] != "b c" || argv[3] != "d" {
				t.Errorf("%s: %s is %q", text, key, argv)
			}
		}
	}
	y := strings.Replace(goodYAML, "  scenario: scenario.yaml\n", "  command: {argv: ./bench -t 60, timeout: 2m}\n", 1)
	s, err := parse("k.yaml", []byte(y), "/srv")
	if err != nil {
		t.Fatal(err)
	}
	if want := (&foreign.Command{Argv: foreign.Argv{"/srv/bench", "-t", "60"}, Timeout: 2 * time.Minute}); !reflect.DeepEqual(s.Load.Command, want) {
		t.Errorf("%+v", s.Load.Command)
	}
}

func TestLoadTellsAllProblems(t *testing.T) {
	y := strings.NewReplacer("kind: php-fpm", "kind: php", "talks_to: [db]", "talks_to: [x]", "url: http", "url: ftp").Replace(goodYAML)
	_, err := parse("k.yaml", []byte(y), "/srv")
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Fatalf("want three lines, got: %v", err)
	}
}

func TestLoadFileErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir + "/none.yaml"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "there is no such file") {
		t.Errorf("absent: %v", err)
	}
	for name, data := range map[string]string{
		"is empty":    "",
		"section":     "just words",
		"larger than": strings.Repeat("# a line\n", 40000),
	} {
		if _, err := parse("k.yaml", []byte(data), dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %q, got %v", name, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(goodYAML))
	f.Add([]byte("services: [{name: a, kind: nginx, listen: [unix:]}]\nload: {allow: [x]}"))
	f.Add([]byte("a: &x [*x]\n<<: *x\n"))
	f.Add([]byte("? [a]\n: - b\n---\n!!str x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse("k.yaml", data, "/srv")
		if (s == nil) == (err == nil) {
			t.Fatalf("stack %v, error %v", s, err)
		}
	})
}

// TestStalenessWithItsTrade: a file may say how old an answer may be.
func TestStalenessWithItsTrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kasoku.yaml")
	text := strings.Replace(goodYAML, "allow: [durability]", "allow: [staleness]\n  staleness: 5m", 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Regulation.MaxAge(); got != 5*time.Minute {
		t.Errorf("MaxAge is %s, want 5m", got)
	}
}
