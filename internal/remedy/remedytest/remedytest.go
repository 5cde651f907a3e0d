// Package remedytest builds a small site as found badly configured, for tests of
// what is planned for it.
package remedytest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
)

const (
	NginxPath  = "/etc/nginx/nginx.conf"
	FPMPath    = "/etc/php/fpm.conf"
	PHPIniPath = "/etc/php/php.ini"
	MyCnfPath  = "/etc/mysql/my.cnf"
	AppPath    = "/srv/app/config.ini"
)

// ngx wraps the inside of a server in a whole configuration.
func Nginx(server string) string {
	return "worker_processes 1;\nevents {\n    worker_connections 4096;\n}\nhttp {\n    access_log /tmp/a.log combined buffer=64k;\n    server {\n        listen 127.0.0.1:8080;\n        root /srv/public;\n" + server + "\n    }\n}\n"
}

const PassAll = `        location / {
            fastcgi_pass 127.0.0.1:9000;
            fastcgi_param SCRIPT_FILENAME $document_root/index.php;
            fastcgi_param REQUEST_URI $request_uri;
        }`

// world is a small site on one host, as found badly configured.
func World(files map[string]string) remedy.Input {
	have := map[string]string{
		NginxPath:  Nginx(PassAll),
		FPMPath:    "[global]\npid = /run/fpm.pid\n[www]\nlisten = 127.0.0.1:9000\npm = dynamic\npm.max_children = 32\n",
		PHPIniPath: "[PHP]\nmemory_limit = 128M\n",
		MyCnfPath:  "[mysqld]\nport = 3306\n",
		AppPath:    "dsn = \"mysql:host=127.0.0.1;port=3306;dbname=app\"\n",
	}
	for p, c := range files {
		have[p] = c
	}
	snap := &evidence.Snapshot{
		Files: map[string]map[string]evidence.File{"local": {}}, Root: true, Memory: 8 << 30, CPUs: 2, SharedMemory: "/dev/shm",
		PHP: map[string]map[string]string{"php": {"version": "8.2.0", "opcache.enable": "0", "opcache.jit_buffer_size": "0",
			"session.save_handler": "files", "session.save_path": "/var/lib/php", "session.gc_probability": "0"}},
		Users: map[string]evidence.ProcessUser{"local/web": {UID: 33, GID: 33, Name: "www-data", Group: "www-data"}, "local/php": {UID: 33, GID: 33, Name: "www-data", Group: "www-data"}},
		Databases: map[string]*evidence.Database{"db": {Version: "10.11.6-MariaDB", MariaDB: true, DataBytes: 512 << 20, Variables: map[string]string{
			"innodb_buffer_pool_size": "134217728", "innodb_log_file_size": "67108864", "innodb_flush_log_at_trx_commit": "1", "sync_binlog": "0",
			"port": "3306", "socket": "/run/mysqld.sock", "max_connections": "151", "tx_isolation": "REPEATABLE-READ"}}},
		StaticFiles: map[string]evidence.StaticFile{},
	}
	for p, c := range have {
		svc := "app"
		switch {
		case strings.HasPrefix(p, "/etc/nginx"):
			svc = "web"
		case strings.HasPrefix(p, "/etc/php"):
			svc = "php"
		case strings.HasPrefix(p, "/etc/mysql"):
			svc = "db"
		}
		snap.Files["local"][p] = evidence.File{Content: []byte(c), Mode: 0o644, Service: svc, Writable: true}
	}
	st := &stack.Stack{Load: stack.LoadConfig{URL: "http://127.0.0.1:8080"}, Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, Config: NginxPath, Prefix: "/etc/nginx"},
		{Name: "php", Kind: stack.PHPFPM, Config: FPMPath, PHPIni: PHPIniPath},
		{Name: "db", Kind: stack.MariaDB, Config: MyCnfPath},
		{Name: "app", Kind: stack.App, RunsIn: "php", Settings: []string{AppPath}},
	}}
	ev := &evidence.Evidence{
		Load: &load.Result{Workload: 8, Window: 10 * time.Second, Requests: 1000, Succeeded: 1000,
			Routes: []load.RouteResult{{Route: "GET /", Requests: 1000, Total: 80 * time.Second}}},
		System:   evidence.System{CPUs: 2, User: 14, Sys: 5, Idle: 1, MemoryTotal: 8 << 30, MemoryAvailable: 4 << 30},
		Services: map[string]evidence.ServiceUse{"web": {CPU: 2, FileLimit: 1024}, "php": {CPU: 10, Processes: 6, RSS: 180 << 20}, "db": {CPU: 4}},
		Counters: map[string]evidence.CounterDelta{"db": {Delta: map[string]float64{"Innodb_buffer_pool_reads": 5000, "Innodb_os_log_written": 5 << 20, "Handler_commit": 900}}},
	}
	return remedy.Input{Stack: st, Evidence: ev, Snapshot: snap}
}

// asset is a file that the application sends, below root.
func Asset(in remedy.Input, root, url, typ string) {
	in.Snapshot.StaticFiles[url] = evidence.StaticFile{Path: root + url, ContentType: typ, Readable: true}
	in.Evidence.Load.Assets = append(in.Evidence.Load.Assets, load.StaticSample{Path: url, Status: 200, ContentType: typ, Count: 100, Total: time.Second})
}

// plan diagnoses and plans; it fails the test if that is impossible.
func Plan(t testing.TB, in remedy.Input) (remedy.Input, remedy.Result) {
	t.Helper()
	d, err := diagnose.Diagnose(diagnose.Input{Stack: in.Stack, Evidence: in.Evidence, Snapshot: in.Snapshot})
	if err != nil {
		t.Fatal(err)
	}
	in.Diagnosis = d
	return in, remedy.PlanAll(in)
}

func AllTrades() []regulation.Trade {
	var out []regulation.Trade
	for _, t := range regulation.Trades {
		out = append(out, t.Trade)
	}
	return out
}

// want returns the one plan of a remedy with every trade allowed.
func Want(t testing.TB, in remedy.Input, id string) remedy.Plan {
	t.Helper()
	in.Stack.Regulation.Allow = AllTrades()
	_, res := Plan(t, in)
	for _, p := range res.Plans {
		if p.Remedy == id {
			return p
		}
	}
	t.Fatalf("%s is not planned; skipped: %v", id, res.Skipped)
	return remedy.Plan{}
}

// wantNone expects that a remedy is skipped with a reason holding text, or
// with text "" that nothing is said of it.
func WantNone(t testing.TB, in remedy.Input, id, text string) {
	t.Helper()
	in.Stack.Regulation.Allow = AllTrades()
	_, res := Plan(t, in)
	for _, p := range res.Plans {
		if p.Remedy == id {
			t.Fatalf("%s is planned: %s", id, After(p, ""))
		}
	}
	said := ""
	for _, s := range res.Skipped {
		if strings.HasPrefix(s, id+":") {
			said += s
		}
	}
	if text == "" && said != "" || !strings.Contains(said, text) {
		t.Errorf("%s: skipped because %q, want %q", id, said, text)
	}
}

// after is the bytes that a plan gives a file, or all of its files.
func After(p remedy.Plan, file string) string { return AfterChanges(p.Changes, file) }

func AfterChanges(cs []change.Change, file string) string {
	out := ""
	for _, c := range cs {
		if c.Kind == change.KindFile && (file == "" || c.Path == file) {
			out += string(c.After.Content)
		}
	}
	return out
}

// put applies a plan to the snapshot, as a later snapshot would show it.
func Put(in remedy.Input, cs []change.Change) {
	for _, c := range cs {
		switch c.Kind {
		case change.KindFile:
			f := in.Snapshot.Files["local"][c.Path]
			f.Content, f.Writable = c.After.Content, true
			in.Snapshot.Files["local"][c.Path] = f
		case change.KindVariable:
			in.Snapshot.Databases[c.Service].Variables[c.Variable] = c.AfterValue
		default: // a snapshot shows nothing of it, or the test puts it there itself
		}
	}
	for path, f := range in.Snapshot.Files["local"] {
		if path != PHPIniPath {
			continue
		}
		for line := range strings.Lines(string(f.Content)) {
			if k, v, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, ";") {
				in.Snapshot.PHP["php"][strings.TrimSpace(k)] = strings.Trim(strings.TrimSpace(v), `"`)
			}
		}
	}
}

func Has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

func HasNot(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("%q is in:\n%s", p, text)
		}
	}
}

func IDs(ps []remedy.Plan) string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprint(p.ID, p.Trades))
	}
	return strings.Join(out, "\n")
}
