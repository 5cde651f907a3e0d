package remedy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/php"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

func TestWebSocket(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:9000", "9000", "localhost:9000", "[::1]:9000"} {
		in := remedytest.World(map[string]string{
			remedytest.NginxPath: remedytest.Nginx(remedytest.PassAll + "\n location /b { fastcgi_pass 127.0.0.1:9000; }\n location /c { fastcgi_pass other; }\n location /d { fastcgi_pass pool; }"),
			remedytest.FPMPath:   "[www]\nlisten = " + listen + "\nlisten.acl_users = nobody\npm = static\npm.max_children = 4\n"})
		f := in.Snapshot.Files["local"][remedytest.NginxPath]
		f.Content = []byte(strings.Replace(string(f.Content), "    server {", "    upstream other { server 127.0.0.1:9100; server 127.0.0.1:9101; }\n    upstream pool { server 127.0.0.1:9000 weight=2; }\n    server {", 1))
		in.Snapshot.Files["local"][remedytest.NginxPath] = f
		p := remedytest.Want(t, in, "nginx.php-socket")
		if len(p.Changes) != 3 {
			t.Fatalf("%d changes, want both endpoints, the client, one endpoint", len(p.Changes))
		}
		for i, c := range p.Changes {
			if c.Phase != i || c.Activate != change.Reload {
				t.Errorf("change %d: phase %d, %s", i, c.Phase, c.Activate)
			}
		}
		both, last := string(p.Changes[0].After.Content), string(p.Changes[2].After.Content)
		remedytest.Has(t, both, "listen = "+listen+"\n", "[kasoku-www]", "pm = ondemand", "/run/php/kasoku-php-www.sock", "process_control_timeout = 10s")
		if p.Changes[2].Before.Hash != host.HashOf([]byte(both)) {
			t.Error("the last phase does not begin with what the first leaves")
		}
		remedytest.Has(t, last, "listen = /run/php/kasoku-php-www.sock", "listen.owner = www-data", "listen.mode = 0660", "listen.backlog = 4096")
		remedytest.HasNot(t, last, "acl_users", "listen = "+listen+"\n", "kasoku-www]")
		if n := strings.Count(remedytest.After(p, remedytest.NginxPath), "unix:/run/php/kasoku-php-www.sock"); n != 3 {
			t.Errorf("listen %s: %d places point to the socket, want 3", listen, n)
		}
		remedytest.Has(t, remedytest.After(p, remedytest.NginxPath), "sock weight=2;", "127.0.0.1:9100")
	}
}

// TestWebSocketKept: kept connections without an idle time get one first, and
// lose it last on the way back.
func TestWebSocketKept(t *testing.T) {
	for keep, phases := range map[string]int{"keepalive 4;": 4, "keepalive 4; keepalive_timeout 5s;": 3, "": 3} {
		conf := strings.Replace(remedytest.Nginx("location / { fastcgi_pass pool; fastcgi_keep_conn on; }\nlocation /b { fastcgi_pass pool; }"), "    server {", "    upstream pool { server 127.0.0.1:9000; "+keep+" }\n    server {", 1)
		p := remedytest.Want(t, remedytest.World(map[string]string{remedytest.NginxPath: conf}), "nginx.php-socket")
		if len(p.Changes) != phases {
			t.Fatalf("%q: %d changes, want %d", keep, len(p.Changes), phases)
		}
		for i, c := range p.Changes {
			if c.Phase != i || c.Activate != change.Reload {
				t.Errorf("%q: change %d: phase %d, %s", keep, i, c.Phase, c.Activate)
			}
		}
		if phases == 3 {
			continue
		}
		first := string(p.Changes[0].After.Content)
		remedytest.Has(t, first, "server 127.0.0.1:9000;", "keepalive_timeout 200ms;")
		if n := strings.Count(first, "keepalive_timeout"); n != 1 {
			t.Errorf("%q: keepalive_timeout is there %d times:\n%s", keep, n, first)
		}
		remedytest.Has(t, string(p.Changes[2].After.Content), "server unix:/run/kasoku-php-www.sock;", "keepalive_timeout 200ms;")
	}
}

func TestWebSocketRefusals(t *testing.T) {
	in := remedytest.World(map[string]string{remedytest.FPMPath: "[global]\npid = /" + strings.Repeat("d", 90) + "/fpm.pid\n[www]\nlisten = 9000\n"})
	remedytest.WantNone(t, in, "nginx.php-socket", "too long")
	in = remedytest.World(nil)
	in.Snapshot.Root = false
	u := in.Snapshot.Users["local/php"]
	u.UID = 1000
	in.Snapshot.Users["local/php"] = u
	remedytest.WantNone(t, in, "nginx.php-socket", "only root")
	in = remedytest.World(nil)
	delete(in.Snapshot.Users, "local/web")
	remedytest.WantNone(t, in, "nginx.php-socket", "not known")
	in = remedytest.World(map[string]string{"/etc/nginx/second.conf": remedytest.Nginx(remedytest.PassAll)})
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "web2", Kind: stack.Nginx, Config: "/etc/nginx/second.conf"})
	remedytest.WantNone(t, in, "nginx.php-socket", "too")
	in = remedytest.World(map[string]string{remedytest.FPMPath: "[www]\nlisten = /run/php.sock\n"})
	remedytest.WantNone(t, in, "nginx.php-socket", "")
}

func TestDatabaseSocket(t *testing.T) {
	in := remedytest.World(map[string]string{remedytest.AppPath: "a=mysql:host=127.0.0.1;port=3306\nb=mysql:host=127.0.0.1;port=33060\nc=u:p@tcp(127.0.0.1:3306)/x\nd=mysql:host=127.0.0.1;dbname=z;port=3306\n"})
	p := remedytest.Want(t, in, "app.db-socket")
	if got, want := remedytest.After(p, remedytest.AppPath), "a=mysql:unix_socket=/run/mysqld.sock\nb=mysql:host=127.0.0.1;port=33060\nc=u:p@unix(/run/mysqld.sock)/x\nd=mysql:unix_socket=/run/mysqld.sock;dbname=z\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if p.Changes[0].Activate != change.Reload {
		t.Errorf("activated by %s", p.Changes[0].Activate)
	}
	in.Snapshot.Databases["db"].Variables["socket"] = ""
	remedytest.WantNone(t, in, "app.db-socket", "no socket")
}

func TestOPcachePlaces(t *testing.T) {
	if p := remedytest.Want(t, remedytest.World(nil), "php.opcache"); len(p.Changes) != 1 {
		t.Errorf("%d changes", len(p.Changes))
	} else {
		remedytest.Has(t, remedytest.After(p, remedytest.PHPIniPath), "opcache.enable = 1")
	}
	p := remedytest.Want(t, remedytest.World(map[string]string{"/etc/php/conf.d/10-a.ini": "opcache.enable=0\n", "/etc/php/conf.d/20-b.ini": "opcache.enable=0\n"}), "php.opcache")
	if len(p.Changes) != 1 || p.Changes[0].Path != "/etc/php/conf.d/20-b.ini" {
		t.Errorf("changed %s", remedytest.IDs([]remedy.Plan{p}))
	}
	p = remedytest.Want(t, remedytest.World(map[string]string{remedytest.FPMPath: "[www]\nlisten = 9000\nphp_admin_value[opcache.enable] = 0\n"}), "php.opcache")
	remedytest.Has(t, remedytest.After(p, remedytest.FPMPath), "php_admin_value[opcache.enable] = 1")
	remedytest.Has(t, remedytest.After(p, remedytest.PHPIniPath), "opcache.enable = 1") // a pool cannot turn it on alone
	in := remedytest.World(nil)
	in.Snapshot.PHP["php"]["opcache.validate_timestamps"] = "0"
	if p := remedytest.Want(t, in, "php.opcache"); !slices.Contains(p.Trades, regulation.Staleness) {
		t.Errorf("scripts that are never looked at again trade %v", p.Trades)
	}
}

func TestWorkers(t *testing.T) {
	p := remedytest.Want(t, remedytest.World(nil), "php.workers")
	if !slices.Equal(p.Search.Values, []int{2, 4, 8, 16}) {
		t.Errorf("values %v", p.Search.Values)
	}
	remedytest.Has(t, remedytest.After(p, remedytest.FPMPath), "pm = static", "pm.max_children = 2")
	in := remedytest.World(nil)
	for _, c := range []struct {
		name      string
		available int64
		current   int
		want      []int
	}{
		{"all but what there is", 4 << 30, 8, []int{2, 4, 16}},
		{"memory bound", 8<<30/5 + 100<<20, 5, []int{2, 4, 8}}, // three more of 30 MiB fit
		{"no room, but fewer are always possible", 1 << 30, 16, []int{2, 4}},
	} {
		in.Evidence.System.MemoryAvailable = c.available
		if got := php.WorkerCounts(in, "php", "www", c.current); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	in.Evidence.System.MemoryAvailable = 4 << 30
	in.Snapshot.Databases["db"].Variables["max_connections"] = "10"
	if got := php.WorkerCounts(in, "php", "www", 2); !slices.Equal(got, []int{4, 8}) {
		t.Errorf("ten connections to the database: %v", got)
	}
}

func TestMode(t *testing.T) {
	pool := func(name, pm, children string) string {
		return "[" + name + "]\nlisten = /run/" + name + ".sock\npm = " + pm + "\npm.max_children = " + children + "\n"
	}
	for _, pm := range []string{"dynamic", "ondemand"} {
		in := remedytest.World(map[string]string{remedytest.FPMPath: pool("www", pm, "8")})
		p := remedytest.Want(t, in, "php.mode")
		remedytest.Has(t, remedytest.After(p, remedytest.FPMPath), "pm = static\n", "pm.max_children = 8\n")
		if p.ID != "php.mode:php:www" || p.Search != nil {
			t.Errorf("%s: %+v", pm, p)
		}
		remedytest.Put(in, p.Changes)
		remedytest.WantNone(t, in, "php.mode", "")
		// The number is another experiment.
		remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "php.workers"), remedytest.FPMPath), "pm = static\n")
	}
	const headroom = 8 << 30 / 5
	for _, c := range []struct {
		name, pools string
		available   int64
		why         string // "": it is planned
	}{
		{"more than memory holds", pool("www", "dynamic", "100000"), 4 << 30, "no room for all of its 100000"},
		{"those that run have theirs", pool("www", "dynamic", "5"), 1 << 30, ""},
		{"three more of 30 MiB", pool("www", "dynamic", "8"), headroom + 100<<20, ""},
		{"four more", pool("www", "dynamic", "9"), headroom + 100<<20, "no room for all of its 9"},
		{"those that run may be another pool's", pool("www", "ondemand", "5") + pool("admin", "static", "5"), headroom + 100<<20, "no room for all of its 5"},
		{"with what another one is to have", pool("www", "dynamic", "8") + pool("admin", "static", "8"), headroom + 300<<20, "no room for all of its 8"},
		{"no number", pool("www", "dynamic", "many"), 4 << 30, "no number"},
	} {
		in := remedytest.World(map[string]string{remedytest.FPMPath: c.pools})
		in.Evidence.System.MemoryAvailable = c.available
		if c.why == "" {
			remedytest.Want(t, in, "php.mode")
			continue
		}
		t.Log(c.name)
		remedytest.WantNone(t, in, "php.mode", c.why)
	}
}

func TestSessions(t *testing.T) {
	in := remedytest.World(nil)
	p := remedytest.Want(t, in, "php.session-memory")
	remedytest.Has(t, remedytest.After(p, remedytest.PHPIniPath), "session.save_path = /dev/shm/kasoku-sessions-php\n", "session.gc_probability = 1")
	if p.Changes[0].Kind != change.KindDir || p.Changes[0].After.Mode != 0o700 || p.Changes[0].After.UID != 33 {
		t.Errorf("folder: %+v", p.Changes[0])
	}
	in.Stack.Service("php").Control.Unit = "php8.2-fpm"
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "php.session-memory"), "/etc/tmpfiles.d/kasoku-sessions-php.conf"), "d /dev/shm/kasoku-sessions-php 0700 www-data www-data")
	p = remedytest.Want(t, remedytest.World(map[string]string{remedytest.FPMPath: "[www]\nlisten = 9000\nphp_value[session.save_path] = \"/var/x\"\n"}), "php.session-memory")
	remedytest.Has(t, remedytest.After(p, remedytest.FPMPath), `php_value[session.save_path] = "/dev/shm/kasoku-sessions-php"`)
	in = remedytest.World(nil)
	in.Snapshot.SharedMemory = ""
	remedytest.WantNone(t, in, "php.session-memory", "no memory file system")
}

func TestDelivery(t *testing.T) {
	right := "        sendfile on; tcp_nopush on; keepalive_timeout 65; keepalive_requests 10000;\n"
	for name, c := range map[string]struct{ old, new string }{
		"sendfile":  {"sendfile on", "sendfile on;"},
		"nopush":    {"tcp_nopush on", "tcp_nopush on;"},
		"keepalive": {"keepalive_timeout 65", "keepalive_timeout 65s;"},
		"requests":  {"keepalive_requests 10000", "keepalive_requests 10000;"},
	} {
		key, _, _ := strings.Cut(c.old, " ")
		bad := key + map[string]string{"keepalive_timeout": " 0", "keepalive_requests": " 100"}[key]
		if !strings.Contains(bad, " ") {
			bad += " off"
		}
		p := remedytest.Want(t, remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx(strings.Replace(right, c.old, bad, 1) + remedytest.PassAll)}), "nginx.delivery")
		remedytest.Has(t, remedytest.After(p, remedytest.NginxPath), c.new)
		remedytest.HasNot(t, remedytest.After(p, remedytest.NginxPath), bad+";")
		if n := strings.Count(remedytest.After(p, remedytest.NginxPath), key); n != 1 {
			t.Errorf("%s: %s is written %d times", name, key, n)
		}
	}
	remedytest.WantNone(t, remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx(right + remedytest.PassAll)}), "nginx.delivery", "only the connection")
}

// tcp_nopush holds back the end of an answer that is larger than a packet; over loopback
// that costs more than it saves.
func TestNoPushOverLoopback(t *testing.T) {
	world := func(settings string, size int64, at string) remedy.Input {
		in := remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx("        " + settings + "\n" + remedytest.PassAll)})
		in.Stack.Load.URL = at
		in.Evidence.Routes = []digest.Route{{Service: "web", Method: "GET", Route: "/", Count: 10, Bytes: 10 * size}}
		return in
	}
	const both, one = "sendfile off;", "sendfile on; tcp_nopush off;"
	p := remedytest.Want(t, world(both, 200<<10, "http://127.0.0.1:8080"), "nginx.delivery")
	remedytest.Has(t, remedytest.After(p, remedytest.NginxPath), "sendfile on;")
	remedytest.HasNot(t, remedytest.After(p, remedytest.NginxPath), "tcp_nopush on")
	remedytest.WantNone(t, world(one, 200<<10, "http://localhost:8080"), "nginx.delivery", "above 64 KiB over loopback")
	for _, in := range []remedy.Input{world(one, 20<<10, "http://127.0.0.1:8080"), world(one, 200<<10, "http://10.0.0.2:8080")} {
		remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "nginx.delivery"), remedytest.NginxPath), "tcp_nopush on;")
	}
}

func TestKeepUpstream(t *testing.T) {
	p := remedytest.Want(t, remedytest.World(nil), "nginx.keep-php")
	remedytest.Has(t, remedytest.After(p, remedytest.NginxPath), "upstream kasoku_php0 {", "server 127.0.0.1:9000;", "keepalive 8;", "keepalive_timeout 200ms;", "fastcgi_pass kasoku_php0;", "fastcgi_keep_conn on;")
	four := strings.Replace(remedytest.Nginx(remedytest.PassAll), "worker_processes 1", "worker_processes 4", 1)
	remedytest.Has(t, remedytest.After(remedytest.Want(t, remedytest.World(map[string]string{remedytest.NginxPath: four}), "nginx.keep-php"), remedytest.NginxPath), "keepalive 4;") // 4 × 4 ≤ 32 / 2
	// A block's own idle time stays.
	for own, want := range map[string]string{"": "keepalive_timeout 200ms;", " keepalive_timeout 5s;": "keepalive_timeout 5s;"} {
		named := strings.Replace(remedytest.Nginx("        location / { fastcgi_pass php; }"), "    server {", "    upstream php { server 127.0.0.1:9000;"+own+" }\n    server {", 1)
		after := remedytest.After(remedytest.Want(t, remedytest.World(map[string]string{remedytest.NginxPath: named}), "nginx.keep-php"), remedytest.NginxPath)
		if i := strings.Index(after, "upstream php"); i < 0 || strings.Count(after[i:i+strings.Index(after[i:], "}")], "keepalive_timeout") != 1 {
			t.Errorf("%q: keepalive_timeout is not there once:\n%s", own, after)
		}
		remedytest.Has(t, after, "keepalive 8;", want)
	}
	small := "[www]\nlisten = 9000\npm.max_children = 5\n"
	remedytest.WantNone(t, remedytest.World(map[string]string{remedytest.NginxPath: four, remedytest.FPMPath: small}), "nginx.keep-php", "too few")
	remedytest.WantNone(t, remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx("        location / { fastcgi_pass $backend; }")}), "nginx.keep-php", "fixed address")
	// Fewer processes or more workers than the kept connections allow are not tried.
	in := remedytest.World(nil)
	remedytest.Put(in, p.Changes)
	if got := php.WorkerCounts(in, "php", "www", 32); !slices.Equal(got, []int{16}) {
		t.Errorf("with 8 kept connections: %v", got)
	}
	in = remedytest.World(map[string]string{remedytest.FPMPath: "[www]\nlisten = 9000\npm.max_children = 16\n"})
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "nginx.workers", "would keep")
}

// Files that are kept open count in a worker's limit: it is raised with them where it
// is lower, or they are not planned at all.
func TestFileCacheNeedsFiles(t *testing.T) {
	world := func(limit int, root bool, top string) remedy.Input {
		conf := strings.Replace(remedytest.Nginx("        location /img/ { root /srv/app; }\n"+remedytest.PassAll), "worker_processes 1;", "worker_processes 1;"+top, 1)
		in := remedytest.World(map[string]string{remedytest.NginxPath: conf})
		remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
		in.Snapshot.Root = root
		use := in.Evidence.Services["web"]
		use.FileLimit = limit
		in.Evidence.Services["web"] = use
		return in
	}
	for _, c := range []struct {
		limit int
		root  bool
		top   string
		has   string // "": not planned
	}{
		{1024, true, "", "worker_rlimit_nofile 18192;"},
		{0, true, "", "worker_rlimit_nofile 18192;"}, // not known: the usual soft limit
		{1024, true, " worker_rlimit_nofile 4096;", "worker_rlimit_nofile 18192;"},
		{65536, false, "", "open_file_cache max=10000"},
		{1024, true, " worker_rlimit_nofile 65536;", "worker_rlimit_nofile 65536;"},
		{1024, false, "", ""},
	} {
		in := world(c.limit, c.root, c.top)
		if c.has == "" {
			remedytest.WantNone(t, in, "nginx.file-cache", "LimitNOFILE")
			continue
		}
		after := remedytest.After(remedytest.Want(t, in, "nginx.file-cache"), remedytest.NginxPath)
		remedytest.Has(t, after, c.has, "open_file_cache max=10000")
		if c.limit == 65536 && strings.Contains(after, "worker_rlimit_nofile") {
			t.Errorf("the limit was high enough:\n%s", after)
		}
	}
}

func TestFileCacheAccessLogAndWorkers(t *testing.T) {
	in := remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx("        open_file_cache_valid 10s;\n        location /img/ { root /srv/app; }\n" + remedytest.PassAll)})
	remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "nginx.file-cache"), remedytest.NginxPath), "open_file_cache max=10000 inactive=20s;")

	logs := func(s string) remedy.Input {
		return remedytest.World(map[string]string{remedytest.NginxPath: strings.Replace(remedytest.Nginx(remedytest.PassAll), "access_log /tmp/a.log combined buffer=64k;", s, 1)})
	}
	remedytest.Has(t, remedytest.After(remedytest.Want(t, logs("access_log /l;"), "nginx.access-log"), remedytest.NginxPath), "access_log /l combined buffer=64k flush=1s;")
	remedytest.Has(t, remedytest.After(remedytest.Want(t, logs("access_log /l main if=$x; access_log /m; access_log syslog:server=x main;\n server { listen 81; access_log /l main; }"), "nginx.access-log"), remedytest.NginxPath),
		"access_log /l main if=$x buffer=64k flush=1s;", "access_log /m combined buffer=64k flush=1s;", "syslog:server=x main;", "access_log /l main buffer=64k flush=1s;")
	remedytest.WantNone(t, logs("access_log off;"), "nginx.access-log", "")
	remedytest.WantNone(t, logs("access_log /l main gzip;"), "nginx.access-log", "")
	remedytest.WantNone(t, logs("access_log /l/$host main;"), "nginx.access-log", "variable")
	remedytest.WantNone(t, logs(""), "nginx.access-log", "compiled-in")

	for conf, n := range map[string]string{"worker_processes 1;": "2", "worker_processes auto;": "1", "": "2"} {
		in := remedytest.World(map[string]string{remedytest.NginxPath: strings.Replace(remedytest.Nginx(remedytest.PassAll), "worker_processes 1;", conf, 1)})
		remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "nginx.workers"), remedytest.NginxPath), "worker_processes "+n+";")
	}
}

func TestConnections(t *testing.T) {
	few := strings.Replace(remedytest.Nginx(remedytest.PassAll), "4096", "8", 1)
	in := remedytest.World(map[string]string{remedytest.NginxPath: few})
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "nginx.connections"), remedytest.NginxPath), "worker_connections 1024;", "worker_rlimit_nofile 2048;")
	in = remedytest.World(map[string]string{remedytest.NginxPath: "worker_rlimit_nofile 65536;\n" + few})
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "nginx.connections"), remedytest.NginxPath), "worker_rlimit_nofile 65536;")
}

func TestMemory(t *testing.T) {
	in := remedytest.World(nil)
	p := remedytest.Want(t, in, "mariadb.memory")
	remedytest.Has(t, remedytest.After(p, remedytest.MyCnfPath), "innodb_buffer_pool_size = 640M", "innodb_log_file_size = 320M")
	if len(p.Changes) != 3 || p.Changes[0].Activate != change.None {
		t.Errorf("%d changes, %s", len(p.Changes), p.Changes[0].Activate)
	}
	in.Snapshot.Databases["db"].Version = "10.6.1-MariaDB"
	if p = remedytest.Want(t, in, "mariadb.memory"); p.Changes[0].Activate != change.Restart {
		t.Error("10.6 cannot resize the redo log while it runs")
	}
	in.Evidence.System.MemoryAvailable = 8<<30/5 + 200<<20 // one step of 128 MiB is free
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "mariadb.memory"), remedytest.MyCnfPath), "innodb_buffer_pool_size = 256M")
	in.Evidence.System.MemoryAvailable = 1 << 30
	in.Evidence.Counters["db"].Delta["Innodb_os_log_written"] = 0
	remedytest.WantNone(t, in, "mariadb.memory", "headroom")
	in.Snapshot.Databases["db"].DataBytes = 1 << 20
	remedytest.WantNone(t, in, "mariadb.memory", "")
}

func TestCommitFlush(t *testing.T) {
	in := remedytest.World(map[string]string{remedytest.MyCnfPath: "[mysqld_safe]\ninnodb_flush_log_at_trx_commit=1\n[mysqld]\nport=1\n"})
	p := remedytest.Want(t, in, "mariadb.commit-flush")
	if fmt.Sprint(p.Trades) != "[durability]" {
		t.Errorf("trades %v", p.Trades)
	}
	remedytest.Has(t, remedytest.After(p, remedytest.MyCnfPath), "[mysqld_safe]\ninnodb_flush_log_at_trx_commit=1\n[mysqld]\n")
	remedytest.Has(t, strings.SplitAfter(remedytest.After(p, remedytest.MyCnfPath), "[mysqld]")[1], "innodb_flush_log_at_trx_commit=2")
}

func TestRegulationRefuses(t *testing.T) {
	in := remedytest.World(nil)
	in.Stack.Regulation = regulation.Regulation{NoTouch: []string{"web"}, NoRestart: []string{"php"}}
	_, res := remedytest.Plan(t, in)
	for _, p := range res.Plans {
		touched, restarted := remedy.Services(p.Changes)
		if len(p.Trades) > 0 || slices.Contains(touched, "web") || slices.Contains(restarted, "php") {
			t.Errorf("%s trades %v, touches %v, restarts %v", p.ID, p.Trades, touched, restarted)
		}
	}
	if len(res.Plans) == 0 || len(res.Refusals) < 5 {
		t.Errorf("%d plans, %d refusals", len(res.Plans), len(res.Refusals))
	}
}

func TestUnreadableSnapshotPlansNothing(t *testing.T) {
	in := remedytest.World(nil)
	in.Snapshot = &evidence.Snapshot{CPUs: 2}
	if _, res := remedytest.Plan(t, in); len(res.Plans) > 1 { // the workload needs no file
		t.Errorf("planned %s", remedytest.IDs(res.Plans))
	}
	in = remedytest.World(nil)
	for p, f := range in.Snapshot.Files["local"] {
		f.Writable = false
		in.Snapshot.Files["local"][p] = f
	}
	_, res := remedytest.Plan(t, in)
	for _, p := range res.Plans {
		if remedytest.After(p, "") != "" {
			t.Errorf("%s writes what may not be written", p.ID)
		}
	}
}
