package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/confedit/nginx"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

const (
	badNginx = "worker_processes 4; events { worker_connections 2; }\nhttp { server { listen 8080; keepalive_timeout 0; keepalive_requests 10; location / { fastcgi_pass localhost:9000; } } }\n"
	okNginx  = "worker_processes 2; events { worker_connections 512; }\nhttp { access_log /l main buffer=4k; sendfile on; tcp_nopush on; open_file_cache max=1;\n" +
		"upstream p { server unix:/run/p.sock; keepalive 2; } server { listen 8080; location / { fastcgi_pass p; fastcgi_keep_conn on; } location /css/ { root /srv; } } }\n"
)

// site is run with configuration, judged by rule.
func site(ngx string, change func(*Input)) Input {
	in := run()
	in.Stack = &stack.Stack{Load: stack.LoadConfig{URL: "http://127.0.0.1:8080"}, Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, Config: "/n"}, {Name: "php", Kind: stack.PHPFPM, Config: "/f"},
		{Name: "db", Kind: stack.MariaDB}, {Name: "app", Kind: stack.App, RunsIn: "php", Settings: []string{"/a"}}}}
	in.Evidence.Services["php"] = evidence.ServiceUse{CPU: 10}
	in.Evidence.Load.Assets = []load.StaticSample{{Path: "/css/a.css", Status: 200, Count: 400, Total: 20 * time.Second}}
	in.Snapshot = &evidence.Snapshot{Files: map[string]map[string]evidence.File{"local": {
		"/n": {Content: []byte(ngx)}, "/f": {Content: []byte("[www]\nlisten = 9000\npm = static\npm.max_children = 5\n")},
		"/a": {Content: []byte("mysql:host=127.0.0.1;port=3306")}}},
		StaticFiles: map[string]evidence.StaticFile{"/css/a.css": {Path: "/srv/css/a.css", Readable: true}},
		PHP: map[string]map[string]string{"php": {"opcache.enable": "Off", "opcache.jit_buffer_size": "0", "version": "8.2",
			"session.save_handler": "files", "session.save_path": "/var/lib/php"}},
		Databases: map[string]*evidence.Database{"db": {DataBytes: 300 << 20, Variables: map[string]string{"port": "3306",
			"innodb_buffer_pool_size": "134217728", "innodb_log_file_size": "10485760", "innodb_flush_log_at_trx_commit": "1"}}}}
	in.Evidence.Counters = map[string]evidence.CounterDelta{"db": {Delta: map[string]float64{"Innodb_buffer_pool_reads": 700,
		"INNODB_OS_LOG_WRITTEN": 10 << 20, "Handler_commit": 900, "Innodb_data_fsyncs": 950, "Connections": 1000}}}
	if change != nil {
		change(&in)
	}
	return in
}

// autoNginx has as many workers as it counts CPUs.
var autoNginx = strings.Replace(okNginx, "worker_processes 2", "worker_processes auto", 1)

// quota lets the machine's control group use that many CPUs.
func quota(cpus float64) func(*Input) {
	return func(in *Input) { in.Evidence.System.Cgroup = &evidence.CgroupUse{CPUs: cpus} }
}

func php(key, value string) func(*Input) {
	return func(in *Input) { in.Snapshot.PHP["php"][key] = value }
}

func variable(key, value string) func(*Input) {
	return func(in *Input) { in.Snapshot.Databases["db"].Variables[key] = value }
}

func count(key string, n float64) func(*Input) {
	return func(in *Input) { in.Evidence.Counters["db"].Delta[key] = n }
}

func asset(f func(*load.StaticSample)) func(*Input) {
	return func(in *Input) { f(&in.Evidence.Load.Assets[0]) }
}

func TestRulesOnConfiguration(t *testing.T) {
	noPHP := func(in *Input) { in.Snapshot.PHP = nil }
	noDB := func(in *Input) { in.Snapshot.Databases = nil }
	noCounters := func(in *Input) { in.Evidence.Counters = nil }
	elsewhere := func(in *Input) { in.Stack.Load.URL = "http://127.0.0.1:9999" }
	gaps := func(format string) func(in *Input) {
		return both(variable("transaction_isolation", "REPEATABLE-READ"), variable("log_bin", "ON"), variable("binlog_format", format), delta("db", "Innodb_row_lock_time", 400000))
	}
	for _, c := range []struct {
		name, rule, ngx string
		change          func(*Input)
		finds           string // part of title, text or evidence; "" nothing is found
		notJudged       string // part of the reason
	}{
		{"static", "web.static-through-app", badNginx, nil, "400 of 1000 requests (40 %)", ""},
		{"static by nginx", "web.static-through-app", okNginx, nil, "", ""},
		{"static varies", "web.static-through-app", badNginx, asset(func(a *load.StaticSample) { a.Varied = true }), "", ""},
		{"static sets a cookie for whoever has none", "web.static-through-app", badNginx, asset(func(a *load.StaticSample) { a.SetsCookie, a.CookieOnce = true, true }), "400 of 1000 requests (40 %)", ""},
		{"static sets a cookie", "web.static-through-app", badNginx, asset(func(a *load.StaticSample) { a.SetsCookie = true }), "", ""},
		{"static not found", "web.static-through-app", badNginx, asset(func(a *load.StaticSample) { a.Status = 404 }), "", ""},
		{"static unreadable", "web.static-through-app", badNginx, func(in *Input) { in.Snapshot.StaticFiles["/css/a.css"] = evidence.StaticFile{} }, "", ""},
		{"static elsewhere", "web.static-through-app", badNginx, elsewhere, "", "no server block"},
		{"static broken file", "web.static-through-app", "http {", nil, "", "web:"},
		{"loopback", "web.loopback-tcp", badNginx, nil, "fastcgi_pass is localhost:9000", ""},
		{"socket", "web.loopback-tcp", okNginx, nil, "", ""},
		{"delivery", "web.delivery", badNginx, nil, "connections are closed after 10 requests", ""},
		{"delivery right", "web.delivery", okNginx, nil, "", ""},
		{"delivery elsewhere", "web.delivery", badNginx, elsewhere, "", "no server block"},
		{"connections", "web.connections", badNginx, nil, "8 connections in all for 8 users", ""},
		{"connections right", "web.connections", okNginx, nil, "", ""},
		{"connections under a quota", "web.connections", autoNginx, quota(0.4), "", ""},
		{"workers", "web.workers", badNginx, nil, "4 workers on 2 CPUs", ""},
		{"workers under a quota", "web.workers", autoNginx, quota(0.4), "2 workers on 0.4 CPUs", ""}, // nginx counts the machine's
		{"file cache", "web.file-cache", strings.Replace(okNginx, "open_file_cache max=1;", "", 1), nil, "400 of 1000 requests", ""},
		{"file cache there", "web.file-cache", okNginx, nil, "", ""},
		{"access log", "web.access-log", badNginx, nil, "no buffer", ""},
		{"access log buffered", "web.access-log", okNginx, nil, "", ""},
		{"access log second", "web.access-log", strings.Replace(okNginx, "sendfile", "access_log /m; sendfile", 1), nil, "no buffer", ""},
		{"access log off", "web.access-log", strings.Replace(okNginx, "/l main buffer=4k", "off", 1), nil, "", ""},
		{"opcache", "php.opcache-off", "", nil, "opcache.enable is Off", ""},
		{"opcache on", "php.opcache-off", "", php("opcache.enable", "On"), "", ""},
		{"opcache unknown", "php.opcache-off", "", noPHP, "", "could not be read"},
		{"jit needs opcache", "php.jit-off", "", nil, "", ""},
		{"jit", "php.jit-off", "", php("opcache.enable", "1"), "jit_buffer_size is 0", ""},
		{"sessions", "php.session-files", "", nil, "save_path is /var/lib/php", ""},
		{"sessions in memory", "php.session-files", "", php("session.save_path", "/dev/shm/x"), "", ""},
		{"sessions in memory, deep", "php.session-files", "", php("session.save_path", "5;0600;/run/x"), "", ""},
		{"sessions in redis", "php.session-files", "", php("session.save_handler", "redis"), "", ""},
		{"sessions unknown", "php.session-files", "", noPHP, "", "could not be read"},
		{"fpm workers", "php.workers", "", nil, "at most 5 processes on 2 CPUs", ""},
		{"fpm mode static", "php.mode", "", nil, "", ""},
		{"memory", "db.memory", "", nil, "700 pages were read from files in 10 s; the pool holds 128 MiB, data and indexes are 300 MiB", ""},
		{"redo", "db.memory", "", nil, "the redo log of 10 MiB would be full after 10 s", ""},
		{"memory right", "db.memory", "", func(in *Input) {
			variable("innodb_buffer_pool_size", "1073741824")(in)
			variable("innodb_log_file_size", "1073741824")(in)
		}, "", ""},
		{"redo of two files", "db.memory", "", func(in *Input) {
			count("Innodb_buffer_pool_reads", 0)(in)
			variable("innodb_log_file_size", "314572800")(in)
			variable("innodb_log_files_in_group", "2")(in)
		}, "", ""},
		{"memory unknown", "db.memory", "", noDB, "", "variables could not be read"},
		{"memory uncounted", "db.memory", "", noCounters, "", "counters were not read"},
		{"flush", "db.commit-flush", "", nil, "900 commits and 950 fsyncs in 10 s", ""},
		{"flush relaxed", "db.commit-flush", "", variable("innodb_flush_log_at_trx_commit", "2"), "", ""},
		{"no commits", "db.commit-flush", "", count("Handler_commit", 0), "", ""},
		{"flush unknown", "db.commit-flush", "", noCounters, "", "counters were not read"},
		{"gap locks", "db.isolation", "", gaps("ROW"), "transaction_isolation is REPEATABLE-READ", ""},
		{"gap locks, a log of both", "db.isolation", "", gaps("MIXED"), "transaction_isolation is REPEATABLE-READ", ""},
		{"gap locks, a log of statements", "db.isolation", "", gaps("STATEMENT"), "", "with binlog_format = STATEMENT InnoDB writes nothing at READ-COMMITTED"},
		{"connects", "db.connect-per-request", "", nil, "1000 connections for 1000 right answers", ""},
		{"connects seldom", "db.connect-per-request", "", count("Connections", 9), "", ""},
		{"database loopback", "db.loopback-tcp", "", nil, "/a names 127.0.0.1:3306", ""},
		{"database port of another", "db.loopback-tcp", "", variable("port", "3307"), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Diagnose(site(c.ngx, c.change))
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, f := range d.Findings {
				if f.Rule != c.rule {
					continue
				}
				said += f.Title + "\n" + f.Text + "\n" + strings.Join(f.Evidence, "\n")
				if f.Bound < 1 || f.Formula == "" {
					t.Errorf("bound %g (%s)", f.Bound, f.Formula)
				}
			}
			if c.finds == "" && said != "" || !strings.Contains(said, c.finds) {
				t.Errorf("found %q, want %q", said, c.finds)
			}
			why := ""
			for _, n := range d.NotJudged {
				if n.Rule == c.rule {
					why += n.Why
				}
			}
			if (c.notJudged == "") != (why == "") || !strings.Contains(why, c.notJudged) {
				t.Errorf("not judged because %q, want %q", why, c.notJudged)
			}
		})
	}
}

func TestFrontServer(t *testing.T) {
	const text = `events {} http {
		server { listen 127.0.0.1:81; server_name first; }
		server { listen 81 default_server; server_name second; }
		server { listen 81; server_name named; }
		server { listen unix:/run/x:82; listen [::1]; server_name six; }
		server { listen 83 ; server_name only; }
	}`
	conf, err := nginx.Load("/n", "", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"named:81": "named", "other:81": "second", "127.0.0.1:83": "only", "x:80": "six", "x:82": "", "x": ""} {
		got := ""
		if s := FrontServer(conf, address); s != nil {
			got = s.First("server_name").Args[0]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestUnbuffered(t *testing.T) {
	for args, want := range map[string]bool{"/l": true, "/l main": true, "/l main if=$x": true, "off": false, "syslog:server=x main": false,
		"/l main buffer=1k": false, "/l main gzip": false, "/l main gzip=3": false, "": false} {
		if got := Unbuffered(&nginx.Directive{Args: strings.Fields(args)}); got != want {
			t.Errorf("%q: %v", args, got)
		}
	}
}

func TestReplaceAddresses(t *testing.T) {
	with := func(a DatabaseAddress) string {
		if a.Port == "1" {
			return a.WithSocket("/s")
		}
		return a.Text
	}
	for in, want := range map[string]string{
		"x mysql:host=127.0.0.1;port=1 y":                              "x mysql:unix_socket=/s y",
		"mysql:host=127.0.0.1;port=12\nmysql:host=127.0.0.1;port=1\n":  "mysql:host=127.0.0.1;port=12\nmysql:unix_socket=/s\n",
		"mysql:host=127.0.0.1;port=1 mysql:host=127.0.0.1;port=1":      "mysql:unix_socket=/s mysql:unix_socket=/s",
		"u@tcp(h:1)/a u@tcp(h:11)/a mysql:unix_socket=/q u@tcp(h:1)/b": "u@unix(/s)/a u@tcp(h:11)/a mysql:unix_socket=/q u@unix(/s)/b",
		"nothing": "nothing", "": "",
	} {
		if got := string(ReplaceAddresses([]byte(in), with)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A query cache whose results are thrown away about as often as they are used pays all
// the same where each use saves a slow statement.
func TestQueryCacheThatSavesSlowStatements(t *testing.T) {
	for mean, want := range map[time.Duration]int{50 * time.Microsecond: 1, 4 * time.Millisecond: 0} {
		in := healthy()
		both(variable("query_cache_type", "ON"), variable("query_cache_size", "134217728"), delta("db", "Qcache_inserts", 6500), delta("db", "Qcache_hits", 9700))(&in)
		in.Evidence.Statements = []evidence.Statement{{Service: "db", Fingerprint: "SELECT x", Count: 1000, Total: 1000 * mean, RowsSent: 5000}}
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range d.Findings {
			if f.Rule == "db.query-cache" {
				n++
			}
		}
		if n != want {
			t.Errorf("statements of %s: %d findings, want %d", mean, n, want)
		}
	}
}

// Where a write comes with every eighth read results are kept if statements take long.
func TestQueryCacheBesideWrites(t *testing.T) {
	for _, c := range []struct {
		reads float64
		mean  time.Duration
		want  bool
	}{{3200, 4 * time.Millisecond, true}, {3200, 100 * time.Microsecond, false}, {1200, 4 * time.Millisecond, false}, {24000, 100 * time.Microsecond, true}} {
		in := healthy() // 400 rows are written
		delta("db", "Com_select", c.reads)(&in)
		in.Evidence.Statements = []evidence.Statement{{Service: "db", Fingerprint: "SELECT x", Count: 1000, Total: 1000 * c.mean, RowsSent: 5000}}
		d, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Rule == "db.query-cache-unused" }); got != c.want {
			t.Errorf("%.0f reads of %s: %t", c.reads, c.mean, got)
		}
	}
}
