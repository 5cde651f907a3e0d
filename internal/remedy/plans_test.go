package remedy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
)

func TestWebSocket(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:9000", "9000", "localhost:9000", "[::1]:9000"} {
		in := world(map[string]string{
			ngxPath: ngx(passAll + "\n location /b { fastcgi_pass 127.0.0.1:9000; }\n location /c { fastcgi_pass other; }\n location /d { fastcgi_pass pool; }"),
			fpmPath: "[www]\nlisten = " + listen + "\nlisten.acl_users = nobody\npm = static\npm.max_children = 4\n"})
		f := in.Snapshot.Files["local"][ngxPath]
		f.Content = []byte(strings.Replace(string(f.Content), "    server {", "    upstream other { server 127.0.0.1:9100; server 127.0.0.1:9101; }\n    upstream pool { server 127.0.0.1:9000 weight=2; }\n    server {", 1))
		in.Snapshot.Files["local"][ngxPath] = f
		p := want(t, in, "nginx.php-socket")
		has(t, after(p, fpmPath), "listen = /run/php/kasoku-php-www.sock", "listen.owner = www-data", "listen.mode = 0660", "listen.backlog = 4096")
		hasNot(t, after(p, fpmPath), "acl_users", "listen = "+listen+"\n")
		if n := strings.Count(after(p, ngxPath), "unix:/run/php/kasoku-php-www.sock"); n != 3 {
			t.Errorf("listen %s: %d places point to the socket, want 3", listen, n)
		}
		has(t, after(p, ngxPath), "sock weight=2;", "127.0.0.1:9100")
	}
}

func TestWebSocketRefusals(t *testing.T) {
	in := world(map[string]string{fpmPath: "[global]\npid = /" + strings.Repeat("d", 90) + "/fpm.pid\n[www]\nlisten = 9000\n"})
	wantNone(t, in, "nginx.php-socket", "too long")
	in = world(nil)
	in.Snapshot.Root = false
	u := in.Snapshot.Users["local/php"]
	u.UID = 1000
	in.Snapshot.Users["local/php"] = u
	wantNone(t, in, "nginx.php-socket", "only root")
	in = world(nil)
	delete(in.Snapshot.Users, "local/web")
	wantNone(t, in, "nginx.php-socket", "not known")
	in = world(map[string]string{"/etc/nginx/second.conf": ngx(passAll)})
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "web2", Kind: stack.Nginx, Config: "/etc/nginx/second.conf"})
	wantNone(t, in, "nginx.php-socket", "too")
	in = world(map[string]string{fpmPath: "[www]\nlisten = /run/php.sock\n"})
	wantNone(t, in, "nginx.php-socket", "")
}

func TestDatabaseSocket(t *testing.T) {
	in := world(map[string]string{appPath: "a=mysql:host=127.0.0.1;port=3306\nb=mysql:host=127.0.0.1;port=33060\nc=u:p@tcp(127.0.0.1:3306)/x\nd=mysql:host=127.0.0.1;dbname=z;port=3306\n"})
	p := want(t, in, "app.db-socket")
	if got, want := after(p, appPath), "a=mysql:unix_socket=/run/mysqld.sock\nb=mysql:host=127.0.0.1;port=33060\nc=u:p@unix(/run/mysqld.sock)/x\nd=mysql:unix_socket=/run/mysqld.sock;dbname=z\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if p.Changes[0].Activate != change.Reload {
		t.Errorf("activated by %s", p.Changes[0].Activate)
	}
	in.Snapshot.Databases["db"].Variables["socket"] = ""
	wantNone(t, in, "app.db-socket", "no socket")
}

func TestOPcachePlaces(t *testing.T) {
	if p := want(t, world(nil), "php.opcache"); len(p.Changes) != 1 {
		t.Errorf("%d changes", len(p.Changes))
	} else {
		has(t, after(p, iniPath), "opcache.enable = 1")
	}
	p := want(t, world(map[string]string{"/etc/php/conf.d/10-a.ini": "opcache.enable=0\n", "/etc/php/conf.d/20-b.ini": "opcache.enable=0\n"}), "php.opcache")
	if len(p.Changes) != 1 || p.Changes[0].Path != "/etc/php/conf.d/20-b.ini" {
		t.Errorf("changed %s", ids([]Plan{p}))
	}
	p = want(t, world(map[string]string{fpmPath: "[www]\nlisten = 9000\nphp_admin_value[opcache.enable] = 0\n"}), "php.opcache")
	has(t, after(p, fpmPath), "php_admin_value[opcache.enable] = 1")
	has(t, after(p, iniPath), "opcache.enable = 1") // a pool cannot turn it on alone
	in := world(nil)
	in.Snapshot.PHP["php"]["opcache.validate_timestamps"] = "0"
	if p := want(t, in, "php.opcache"); !slices.Contains(p.Trades, regulation.Staleness) {
		t.Errorf("scripts that are never looked at again trade %v", p.Trades)
	}
}

func TestWorkers(t *testing.T) {
	p := want(t, world(nil), "php.workers")
	if !slices.Equal(p.Search.Values, []int{2, 4, 8, 16}) {
		t.Errorf("values %v", p.Search.Values)
	}
	has(t, after(p, fpmPath), "pm = static", "pm.max_children = 2")
	in := world(nil)
	for _, c := range []struct {
		name      string
		available int64
		static    bool
		current   int
		want      []int
	}{
		{"static already", 4 << 30, true, 8, []int{2, 4, 16}},
		{"memory bound", 8<<30/5 + 100<<20, false, 5, []int{2, 4, 8}}, // three more of 30 MiB fit
		{"no room, but fewer are always possible", 1 << 30, true, 16, []int{2, 4}},
	} {
		in.Evidence.System.MemoryAvailable = c.available
		if got := workerCounts(in, "php", c.current, c.static); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	in.Evidence.System.MemoryAvailable = 4 << 30
	in.Snapshot.Databases["db"].Variables["max_connections"] = "10"
	if got := workerCounts(in, "php", 2, false); !slices.Equal(got, []int{2, 4, 8}) {
		t.Errorf("ten connections to the database: %v", got)
	}
}

func TestSessions(t *testing.T) {
	in := world(nil)
	p := want(t, in, "php.session-memory")
	has(t, after(p, iniPath), "session.save_path = /dev/shm/kasoku-sessions-php\n", "session.gc_probability = 1")
	if p.Changes[0].Kind != change.KindDir || p.Changes[0].After.Mode != 0o700 || p.Changes[0].After.UID != 33 {
		t.Errorf("folder: %+v", p.Changes[0])
	}
	in.Stack.Service("php").Control.Unit = "php8.2-fpm"
	has(t, after(want(t, in, "php.session-memory"), "/etc/tmpfiles.d/kasoku-sessions-php.conf"), "d /dev/shm/kasoku-sessions-php 0700 www-data www-data")
	p = want(t, world(map[string]string{fpmPath: "[www]\nlisten = 9000\nphp_value[session.save_path] = \"/var/x\"\n"}), "php.session-memory")
	has(t, after(p, fpmPath), `php_value[session.save_path] = "/dev/shm/kasoku-sessions-php"`)
	in = world(nil)
	in.Snapshot.SharedMemory = ""
	wantNone(t, in, "php.session-memory", "no memory file system")
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
		p := want(t, world(map[string]string{ngxPath: ngx(strings.Replace(right, c.old, bad, 1) + passAll)}), "nginx.delivery")
		has(t, after(p, ngxPath), c.new)
		hasNot(t, after(p, ngxPath), bad+";")
		if n := strings.Count(after(p, ngxPath), key); n != 1 {
			t.Errorf("%s: %s is written %d times", name, key, n)
		}
	}
	wantNone(t, world(map[string]string{ngxPath: ngx(right + passAll)}), "nginx.delivery", "only the connection")
}

func TestKeepUpstream(t *testing.T) {
	p := want(t, world(nil), "nginx.keep-php")
	has(t, after(p, ngxPath), "upstream kasoku_php0 {", "server 127.0.0.1:9000;", "keepalive 8;", "fastcgi_pass kasoku_php0;", "fastcgi_keep_conn on;")
	four := strings.Replace(ngx(passAll), "worker_processes 1", "worker_processes 4", 1)
	has(t, after(want(t, world(map[string]string{ngxPath: four}), "nginx.keep-php"), ngxPath), "keepalive 4;") // 4 × 4 ≤ 32 / 2
	small := "[www]\nlisten = 9000\npm.max_children = 5\n"
	wantNone(t, world(map[string]string{ngxPath: four, fpmPath: small}), "nginx.keep-php", "too few")
	wantNone(t, world(map[string]string{ngxPath: ngx("        location / { fastcgi_pass $backend; }")}), "nginx.keep-php", "fixed address")
	// Fewer processes or more workers than the kept connections allow are not tried.
	in := world(nil)
	put(in, p.Changes)
	if got := workerCounts(in, "php", 32, false); !slices.Equal(got, []int{16}) {
		t.Errorf("with 8 kept connections: %v", got)
	}
	in = world(map[string]string{fpmPath: "[www]\nlisten = 9000\npm.max_children = 16\n"})
	put(in, p.Changes)
	wantNone(t, in, "nginx.workers", "would keep")
}

func TestFileCacheAccessLogAndWorkers(t *testing.T) {
	in := world(map[string]string{ngxPath: ngx("        open_file_cache_valid 10s;\n        location /img/ { root /srv/app; }\n" + passAll)})
	in.asset("/srv/app", "/img/a.png", "image/png")
	has(t, after(want(t, in, "nginx.file-cache"), ngxPath), "open_file_cache max=10000 inactive=20s;")

	logs := func(s string) Input {
		return world(map[string]string{ngxPath: strings.Replace(ngx(passAll), "access_log /tmp/a.log combined buffer=64k;", s, 1)})
	}
	has(t, after(want(t, logs("access_log /l;"), "nginx.access-log"), ngxPath), "access_log /l combined buffer=64k flush=1s;")
	has(t, after(want(t, logs("access_log /l main if=$x; access_log /m; access_log syslog:server=x main;\n server { listen 81; access_log /l main; }"), "nginx.access-log"), ngxPath),
		"access_log /l main if=$x buffer=64k flush=1s;", "access_log /m combined buffer=64k flush=1s;", "syslog:server=x main;", "access_log /l main buffer=64k flush=1s;")
	wantNone(t, logs("access_log off;"), "nginx.access-log", "")
	wantNone(t, logs("access_log /l main gzip;"), "nginx.access-log", "")
	wantNone(t, logs("access_log /l/$host main;"), "nginx.access-log", "variable")
	wantNone(t, logs(""), "nginx.access-log", "compiled-in")

	for conf, n := range map[string]string{"worker_processes 1;": "2", "worker_processes auto;": "1", "": "2"} {
		in := world(map[string]string{ngxPath: strings.Replace(ngx(passAll), "worker_processes 1;", conf, 1)})
		has(t, after(want(t, in, "nginx.workers"), ngxPath), "worker_processes "+n+";")
	}
}

func TestConnections(t *testing.T) {
	few := strings.Replace(ngx(passAll), "4096", "8", 1)
	in := world(map[string]string{ngxPath: few})
	has(t, after(want(t, in, "nginx.connections"), ngxPath), "worker_connections 1024;", "worker_rlimit_nofile 2048;")
	in = world(map[string]string{ngxPath: "worker_rlimit_nofile 65536;\n" + few})
	has(t, after(want(t, in, "nginx.connections"), ngxPath), "worker_rlimit_nofile 65536;")
}

func TestMemory(t *testing.T) {
	in := world(nil)
	p := want(t, in, "mariadb.memory")
	has(t, after(p, cnfPath), "innodb_buffer_pool_size = 640M", "innodb_log_file_size = 320M")
	if len(p.Changes) != 3 || p.Changes[0].Activate != change.None {
		t.Errorf("%d changes, %s", len(p.Changes), p.Changes[0].Activate)
	}
	in.Snapshot.Databases["db"].Version = "10.6.1-MariaDB"
	if p = want(t, in, "mariadb.memory"); p.Changes[0].Activate != change.Restart {
		t.Error("10.6 cannot resize the redo log while it runs")
	}
	in.Evidence.System.MemoryAvailable = 8<<30/5 + 200<<20 // one step of 128 MiB is free
	has(t, after(want(t, in, "mariadb.memory"), cnfPath), "innodb_buffer_pool_size = 256M")
	in.Evidence.System.MemoryAvailable = 1 << 30
	in.Evidence.Counters["db"].Delta["Innodb_os_log_written"] = 0
	wantNone(t, in, "mariadb.memory", "headroom")
	in.Snapshot.Databases["db"].DataBytes = 1 << 20
	wantNone(t, in, "mariadb.memory", "")
}

func TestCommitFlush(t *testing.T) {
	in := world(map[string]string{cnfPath: "[mysqld_safe]\ninnodb_flush_log_at_trx_commit=1\n[mysqld]\nport=1\n"})
	p := want(t, in, "mariadb.commit-flush")
	if fmt.Sprint(p.Trades) != "[durability]" {
		t.Errorf("trades %v", p.Trades)
	}
	has(t, after(p, cnfPath), "[mysqld_safe]\ninnodb_flush_log_at_trx_commit=1\n[mysqld]\n")
	has(t, strings.SplitAfter(after(p, cnfPath), "[mysqld]")[1], "innodb_flush_log_at_trx_commit=2")
}

func TestRegulationRefuses(t *testing.T) {
	in := world(nil)
	in.Stack.Regulation = regulation.Regulation{NoTouch: []string{"web"}, NoRestart: []string{"php"}}
	_, res := plan(t, in)
	for _, p := range res.Plans {
		touched, restarted := services(p.Changes)
		if len(p.Trades) > 0 || slices.Contains(touched, "web") || slices.Contains(restarted, "php") {
			t.Errorf("%s trades %v, touches %v, restarts %v", p.ID, p.Trades, touched, restarted)
		}
	}
	if len(res.Plans) == 0 || len(res.Refusals) < 5 {
		t.Errorf("%d plans, %d refusals", len(res.Plans), len(res.Refusals))
	}
}

func TestUnreadableSnapshotPlansNothing(t *testing.T) {
	in := world(nil)
	in.Snapshot = &evidence.Snapshot{CPUs: 2}
	if _, res := plan(t, in); len(res.Plans) > 1 { // the workload needs no file
		t.Errorf("planned %s", ids(res.Plans))
	}
	in = world(nil)
	for p, f := range in.Snapshot.Files["local"] {
		f.Writable = false
		in.Snapshot.Files["local"][p] = f
	}
	_, res := plan(t, in)
	for _, p := range res.Plans {
		if after(p, "") != "" {
			t.Errorf("%s writes what may not be written", p.ID)
		}
	}
}
