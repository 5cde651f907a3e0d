package remedy_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// spread is the world with PHP on three hosts behind an upstream: on web1 with
// nginx and the database, on app1 and app2 alone. cpu is what PHP used on each
// of 20 CPU seconds, other what else ran on web1.
func spread(upstream string, cpu [3]float64, other float64) remedy.Input {
	conf := strings.Replace(remedytest.Nginx(strings.ReplaceAll(remedytest.PassAll, "127.0.0.1:9000", "app")), "    server {",
		"    upstream app {\n"+upstream+"    }\n    server {", 1)
	in := apart(remedytest.World(map[string]string{remedytest.NginxPath: conf}), nil)
	in.Snapshot.Addresses = map[string][]string{"web1": {"10.0.0.1", "web1"}, "app1": {"10.0.0.2"}, "app2": {"10.0.0.3"}}
	in.Evidence.Services = map[string]evidence.ServiceUse{"web": {CPU: other / 2}, "db": {CPU: other / 2}, "php": {CPU: cpu[0], Processes: 3}}
	in.Evidence.System = evidence.System{Host: "web1", CPUs: 2, User: cpu[0] + other, Idle: 20 - cpu[0] - other, MemoryTotal: 8 << 30, MemoryAvailable: 4 << 30}
	for i, host := range []string{"app1", "app2"} {
		name := fmt.Sprintf("php%d", i+2)
		in.Stack.Services = append(in.Stack.Services, stack.Service{Name: name, Kind: stack.PHPFPM, Host: host, Config: remedytest.FPMPath, PHPIni: remedytest.PHPIniPath})
		in.Snapshot.Files[host] = map[string]evidence.File{remedytest.FPMPath: {Content: []byte("[www]\nlisten = 9000\npm = static\npm.max_children = 32\n"), Service: name}}
		in.Snapshot.Machines[host] = evidence.Machine{CPUs: 2, Memory: 4 << 30}
		in.Evidence.Services[name] = evidence.ServiceUse{CPU: cpu[i+1], Processes: 3}
		in.Evidence.Hosts[host] = &evidence.System{Host: host, CPUs: 2, User: cpu[i+1], Idle: 20 - cpu[i+1], MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30}
	}
	return in
}

const threeServers = "        server 127.0.0.1:9000;\n        server 10.0.0.2:9000 max_fails=0;\n        server 10.0.0.3:9000 weight=1; # the new one\n"

// Weights follow from what each host has left: web1 spends 6 of its 20 CPU
// seconds on nginx and the database, and a third of the requests costs 6 s
// anywhere, so that all hosts are used alike with 1/9, 4/9 and 4/9 of them.
func TestBalanceByDemand(t *testing.T) {
	for _, c := range []struct {
		other, bound float64
		weights      map[int][3]string
	}{
		{6, 12.0 / 8, map[int][3]string{50: {" weight=22", " weight=39", " weight=39"}, 100: {" weight=11", " weight=44", " weight=44"}, 150: {" backup", " weight=50", " weight=50"}}},
		// 12 s are more than what the others would have without web1's help.
		{12, 18.0 / 12, map[int][3]string{50: {" weight=17", " weight=42", " weight=42"}, 100: {" backup", " weight=50", " weight=50"}}},
	} {
		p := remedytest.Want(t, spread(threeServers, [3]float64{6, 6, 6}, c.other), "nginx.balance")
		if p.Search == nil || p.Search.Current != 0 || len(p.Search.Values) != len(c.weights) {
			t.Fatalf("searches %+v", p.Search)
		}
		if p.Bound < c.bound-0.01 || p.Bound > c.bound+0.01 {
			t.Errorf("bound %.3f, want %.3f", p.Bound, c.bound)
		}
		if len(p.Trades) > 0 {
			t.Errorf("trades %v", p.Trades)
		}
		for way, w := range c.weights {
			changes, err := p.Search.At(way)
			if err != nil {
				t.Fatal(err)
			}
			if len(changes) != 1 || changes[0].Activate != change.Reload || changes[0].Host != "web1" {
				t.Errorf("%d %%: %+v", way, changes)
			}
			remedytest.Has(t, remedytest.AfterChanges(changes, remedytest.NginxPath),
				"        server 127.0.0.1:9000"+w[0]+";\n        server 10.0.0.2:9000 max_fails=0"+w[1]+";\n        server 10.0.0.3:9000"+w[2]+"; # the new one\n")
		}
	}
}

// What cannot be told is said, and even use asks for nothing.
func TestBalanceNotPlanned(t *testing.T) {
	even := spread(threeServers, [3]float64{14, 14, 14}, 0.4)
	remedytest.WantNone(t, even, "nginx.balance", "")
	idle := spread(threeServers, [3]float64{1, 1, 1}, 3)
	remedytest.WantNone(t, idle, "nginx.balance", "")
	for upstream, says := range map[string]string{
		"        ip_hash;\n" + threeServers:                                "ties clients to servers (ip_hash)",
		strings.Replace(threeServers, "10.0.0.3", "10.0.0.9", 1):           "server 10.0.0.9:9000 of upstream app is on no host of kasoku.yaml",
		strings.Replace(threeServers, "10.0.0.3:9000", "10.0.0.3:9001", 1): "no service of kasoku.yaml listens at 10.0.0.3:9001",
	} {
		in := spread(upstream, [3]float64{6, 6, 6}, 12)
		in, res := remedytest.Plan(t, in)
		said := ""
		for _, n := range in.Diagnosis.NotJudged {
			if n.Rule == "topology.balance" {
				said = n.Why
			}
		}
		if !strings.Contains(said, says) {
			t.Errorf("not judged: %q, want %q", said, says)
		}
		for _, p := range res.Plans {
			if p.Remedy == "nginx.balance" || p.Remedy == "nginx.fewer-hosts" {
				t.Errorf("planned %s", p.ID)
			}
		}
	}
}

// Where no host is saturated, fewer are tried: first without the last of those
// that need the network, never fewer than could do the work.
func TestFewerHosts(t *testing.T) {
	in := spread(threeServers, [3]float64{3, 3, 3}, 4)
	p := remedytest.Want(t, in, "nginx.fewer-hosts")
	if s := p.Search; s == nil || s.Current != 3 || fmt.Sprint(s.Values) != "[1 2]" {
		t.Fatalf("searches %+v", p.Search)
	}
	for hosts, want := range map[int]string{
		1: "        server 127.0.0.1:9000;\n        server 10.0.0.2:9000 max_fails=0 backup;\n        server 10.0.0.3:9000 backup; # the new one\n",
		2: "        server 127.0.0.1:9000;\n        server 10.0.0.2:9000 max_fails=0;\n        server 10.0.0.3:9000 backup; # the new one\n",
	} {
		changes, err := p.Search.At(hosts)
		if err != nil {
			t.Fatal(err)
		}
		remedytest.Has(t, remedytest.AfterChanges(changes, remedytest.NginxPath), want)
	}
	// 9 s of PHP and 12 s of the rest do not fit into one host's 20.
	in = spread(threeServers, [3]float64{3, 3, 3}, 12)
	if s := remedytest.Want(t, in, "nginx.fewer-hosts").Search; fmt.Sprint(s.Values) != "[2]" {
		t.Errorf("of 21 s of work %v hosts are tried, want 2", s.Values)
	}
	remedytest.WantNone(t, spread(threeServers, [3]float64{17, 17, 17}, 2), "nginx.fewer-hosts", "")
	// One that is a backup already counts for nothing, and stays one.
	in = spread(strings.Replace(threeServers, "weight=1;", "backup;", 1), [3]float64{4, 4, 0}, 4)
	changes, err := remedytest.Want(t, in, "nginx.fewer-hosts").Search.At(1)
	if err != nil {
		t.Fatal(err)
	}
	remedytest.Has(t, remedytest.AfterChanges(changes, remedytest.NginxPath), "server 127.0.0.1:9000;", "max_fails=0 backup;", "10.0.0.3:9000 backup; # the new one")
}

// nginx accepts what is planned.
func TestNginxAcceptsBalance(t *testing.T) {
	nginx, dir := program(t, "/usr/sbin/nginx"), openDir(t)
	for name, in := range map[string]remedy.Input{"nginx.balance": spread("        least_conn;\n"+threeServers, [3]float64{6, 6, 6}, 12), "nginx.fewer-hosts": spread(threeServers, [3]float64{3, 3, 3}, 4)} {
		s := remedytest.Want(t, in, name).Search
		for _, v := range s.Values {
			changes, err := s.At(v)
			if err != nil {
				t.Fatal(err)
			}
			conf := strings.ReplaceAll(remedytest.AfterChanges(changes, remedytest.NginxPath), "/tmp/a.log", dir+"/a.log")
			write(t, filepath.Join(dir, "nginx.conf"), conf)
			runs(t, conf, nginx, "-t", "-q", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-g", "pid "+dir+"/pid; error_log stderr;")
		}
	}
	in := spread("        random two;\n"+threeServers, [3]float64{3, 3, 3}, 4)
	remedytest.WantNone(t, in, "nginx.fewer-hosts", "no server can be a backup")
}

// aside is the world with PHP on web1, where it uses 10 of 20 CPU seconds and
// all else 6, and a spare PHP on app1, where nothing runs.
func aside(pass, upstream string, running bool) remedy.Input {
	conf := strings.Replace(remedytest.Nginx(pass), "    server {", upstream+"    server {", 1)
	in := apart(remedytest.World(map[string]string{remedytest.NginxPath: conf}), nil)
	in.Snapshot.Addresses = map[string][]string{"web1": {"172.17.0.1", "10.0.0.1", "web1"}, "app1": {"172.17.0.1", "192.168.7.2", "10.0.0.2"}}
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "php2", Kind: stack.PHPFPM, Host: "app1", SpareFor: "php", Config: remedytest.FPMPath, Control: stack.Control{Unit: "php8.2-fpm"}})
	in.Snapshot.Files["app1"] = map[string]evidence.File{remedytest.FPMPath: {Content: []byte("[www]\nlisten = 9000\npm = static\npm.max_children = 32\n"), Service: "php2"}}
	in.Snapshot.Machines["app1"] = evidence.Machine{CPUs: 2, Memory: 4 << 30}
	in.Snapshot.Files["web1"][remedytest.AppPath] = evidence.File{Content: []byte("dsn = \"mysql:host=10.0.0.1;port=3306;dbname=app\"\n"), Service: "app"}
	in.Evidence.Services = map[string]evidence.ServiceUse{"web": {CPU: 3}, "db": {CPU: 3}, "php": {CPU: 10, Processes: 3}, "php2": {}}
	if running {
		in.Evidence.Services["php2"] = evidence.ServiceUse{Processes: 3}
	}
	in.Evidence.System = evidence.System{Host: "web1", CPUs: 2, User: 16, Idle: 4, MemoryTotal: 8 << 30, MemoryAvailable: 4 << 30}
	in.Evidence.Hosts["app1"] = &evidence.System{Host: "app1", CPUs: 2, Idle: 20, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30}
	return in
}

// A spare host gets what makes both hosts equally busy: (20u − 6)/10 + 20u/10 = 1
// gives u = 0.4, a fifth for web1. Where nginx names an address in place, an
// upstream is made of it.
func TestSpareHost(t *testing.T) {
	nginx, dir := program(t, "/usr/sbin/nginx"), openDir(t)
	block := "    upstream app {\n        server 127.0.0.1:9000;\n    }\n"
	for _, c := range []struct {
		name, pass, upstream string
		want                 []string
	}{
		{"plain", remedytest.PassAll, "", []string{"    upstream kasoku_php0 {\n        server 127.0.0.1:9000 weight=20;\n        server 10.0.0.2:9000 weight=80;\n    }\n", "fastcgi_pass kasoku_php0;"}},
		{"block", strings.ReplaceAll(remedytest.PassAll, "127.0.0.1:9000", "app"), block, []string{"    upstream app {\n        server 127.0.0.1:9000 weight=20;\n        server 10.0.0.2:9000 weight=80;\n    }\n", "fastcgi_pass app;"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := remedytest.Want(t, aside(c.pass, c.upstream, true), "nginx.spare-host")
			if p.Bound < 1.99 || p.Bound > 2.01 || len(p.Prepare) > 0 || len(p.Trades) > 0 || fmt.Sprint(p.Search.Values) != "[50 100 150]" {
				t.Errorf("bound %.3f, prepare %v, trades %v, values %v", p.Bound, p.Prepare, p.Trades, p.Search.Values)
			}
			for _, way := range p.Search.Values {
				changes, err := p.Search.At(way)
				if err != nil {
					t.Fatal(err)
				}
				text := remedytest.AfterChanges(changes, remedytest.NginxPath)
				if way == 100 {
					remedytest.Has(t, text, c.want...)
				}
				write(t, filepath.Join(dir, "nginx.conf"), strings.ReplaceAll(text, "/tmp/a.log", dir+"/a.log"))
				runs(t, text, nginx, "-t", "-q", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-g", "pid "+dir+"/pid; error_log stderr;")
			}
		})
	}
}

// An application behind proxy_pass gets the same requests as before, to the
// byte: the Host header and redirects followed from the address.
func TestSpareApplication(t *testing.T) {
	nginx, dir := program(t, "/usr/sbin/nginx"), openDir(t)
	const pass = "        location / {\n            proxy_set_header X-Real-IP $remote_addr;\n            proxy_pass http://127.0.0.1:8000;\n        }"
	in := aside(pass, "", true)
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "api", Kind: stack.App, Host: "web1", Root: "/srv/api", Listen: []string{"127.0.0.1:8000"}},
		stack.Service{Name: "api2", Kind: stack.App, Host: "app1", Root: "/srv/api", Listen: []string{"0.0.0.0:8000"}, SpareFor: "api", Control: stack.Control{Unit: "api"}})
	in.Evidence.Services = map[string]evidence.ServiceUse{"web": {CPU: 3}, "db": {CPU: 3}, "api": {CPU: 10, Processes: 1}}
	in.Snapshot.Spares = map[string]evidence.Spare{"api2": {Program: true, Code: map[string]evidence.CodeState{"/srv/api": evidence.CodeAbsent}}}
	p := remedytest.Want(t, in, "nginx.spare-host")
	if len(p.Prepare) != 2 || p.Prepare[0][0].Ready.From != "web1:/srv" || len(p.Prepare[1]) != 1 || p.Prepare[1][0].Unit.Name != "api.service" {
		t.Errorf("prepare %+v", p.Prepare)
	}
	changes, err := p.Search.At(100)
	if err != nil {
		t.Fatal(err)
	}
	text := remedytest.AfterChanges(changes, remedytest.NginxPath)
	remedytest.Has(t, text, "    upstream kasoku_http0 {\n        server 127.0.0.1:8000 weight=20;\n        server 10.0.0.2:8000 weight=80;\n    }\n",
		"proxy_pass http://kasoku_http0;", "proxy_redirect http://127.0.0.1:8000/ /;", "proxy_set_header Host 127.0.0.1:8000;", "proxy_set_header X-Real-IP $remote_addr;")
	write(t, filepath.Join(dir, "nginx.conf"), strings.ReplaceAll(text, "/tmp/a.log", dir+"/a.log"))
	runs(t, text, nginx, "-t", "-q", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"), "-g", "pid "+dir+"/pid; error_log stderr;")
	in.Snapshot.Files["web1"][remedytest.NginxPath] = evidence.File{Content: []byte(strings.ReplaceAll(string(in.Snapshot.Files["web1"][remedytest.NginxPath].Content), "http://127", "https://127")), Mode: 0o644, Service: "web", Writable: true}
	remedytest.WantNone(t, in, "nginx.spare-host", "TLS")
}

// A unit that does not run is started beforehand, apart from the switch; what
// the operator keeps back is not touched.
func TestSpareHostIsPrepared(t *testing.T) {
	p := remedytest.Want(t, aside(remedytest.PassAll, "", false), "nginx.spare-host")
	if len(p.Prepare) != 1 || len(p.Prepare[0]) != 1 {
		t.Fatalf("prepare %+v", p.Prepare)
	}
	if c := p.Prepare[0][0]; c.Kind != change.KindUnit || c.Host != "app1" || c.Service != "php2" || c.Unit.Name != "php8.2-fpm.service" || c.Unit.After != (change.UnitState{Enabled: "enabled", Active: "active"}) {
		t.Errorf("prepare %+v", c)
	}
	for _, c := range p.Changes {
		if c.Kind != change.KindFile || c.Host != "web1" {
			t.Errorf("the switch changes %s %s on %s", c.Kind, c.Path, c.Host)
		}
	}
	in := aside(remedytest.PassAll, "", false)
	in.Stack.Regulation.NoTouch = []string{"php2"}
	_, res := remedytest.Plan(t, in)
	for _, q := range res.Plans {
		if q.Remedy == "nginx.spare-host" {
			t.Errorf("planned although php2 may not be touched: %s", q.ID)
		}
	}
}

// What a spare lacks is put in place before it is asked: the code, and a pool
// like the one that is asked now, for nginx's host alone.
func TestSpareHostGetsCodeAndPool(t *testing.T) {
	in := bare(false)
	p := remedytest.Want(t, in, "nginx.spare-host")
	if len(p.Prepare) != 2 || len(p.Prepare[0]) != 1 || len(p.Prepare[1]) != 2 {
		t.Fatalf("prepare %+v", p.Prepare)
	}
	if c := p.Prepare[0][0]; c.Kind != change.KindReady || c.Host != "app1" || c.Ready.Dir != "/srv" || c.Ready.From != "web1:/srv" || fmt.Sprint(c.Ready.Products) != "[app]" {
		t.Errorf("code: %+v %+v", c, c.Ready)
	}
	pool, unit := p.Prepare[1][0], p.Prepare[1][1]
	const want = "; web asks this pool from another host.\n[kasoku-www]\nlisten = 10.0.0.2:9000\nlisten.allowed_clients = 10.0.0.1\npm = dynamic\npm.max_children = 32\n"
	if got := string(pool.After.Content); pool.Path != "/etc/php/pool.d/kasoku-www.conf" || pool.Host != "app1" || strings.ReplaceAll(got, "\n\n", "\n") != want {
		t.Errorf("%s on %s:\n%s\nwant\n%s", pool.Path, pool.Host, got, want)
	}
	if pool.Activate != change.None || pool.Service != "" || unit.Kind != change.KindUnit {
		t.Errorf("the pool is to be %s by %q before the unit starts; then %s", pool.Activate, pool.Service, unit.Kind)
	}
	// One that runs reads the pool at a reload.
	p = remedytest.Want(t, bare(true), "nginx.spare-host")
	if len(p.Prepare) != 2 || len(p.Prepare[1]) != 1 || p.Prepare[1][0].Activate != change.Reload || p.Prepare[1][0].Service != "php2" {
		t.Errorf("prepare %+v", p.Prepare)
	}
}

// Where packages may be installed, those that are lacking come first, and what
// they bring is taken to be as Debian has it.
func TestSpareHostGetsPackages(t *testing.T) {
	in := bare(false)
	in.Stack.Regulation.Install = true
	in.Stack.Service("php2").Config = "/etc/php/8.2/fpm/php-fpm.conf"
	in.Snapshot.Files["app1"] = map[string]evidence.File{}
	in.Snapshot.Spares["php2"] = evidence.Spare{Packages: []string{"php8.2-common", "php8.2-fpm", "php8.2-mysql"}}
	p := remedytest.Want(t, in, "nginx.spare-host")
	if len(p.Prepare) != 2 || len(p.Prepare[0]) != 1 || len(p.Prepare[1]) != 2 {
		t.Fatalf("prepare %+v", p.Prepare)
	}
	if c := p.Prepare[0][0]; c.Kind != change.KindPackage || c.Host != "app1" || c.Service != "" || c.Package.Start || c.Package.Name != "php8.2-fpm" || fmt.Sprint(c.Package.With) != "[php8.2-common php8.2-mysql]" {
		t.Errorf("%+v %+v", c, c.Package)
	}
	if c := p.Prepare[1][0]; c.Path != "/etc/php/8.2/fpm/pool.d/kasoku-www.conf" {
		t.Errorf("the pool is written to %s", c.Path)
	}
	in.Stack.Regulation.Install = false
	_, res := remedytest.Plan(t, in)
	for _, q := range res.Plans {
		if q.Remedy == "nginx.spare-host" {
			t.Errorf("planned although nothing may be installed: %s", q.ID)
		}
	}
}

// bare is aside with a spare host that has PHP-FPM as its package brings it,
// and no code.
func bare(running bool) remedy.Input {
	in := aside(remedytest.PassAll, "", running)
	in.Stack.Service("php2").Listen = []string{"10.0.0.2:9000"}
	in.Snapshot.Files["app1"] = map[string]evidence.File{
		remedytest.FPMPath:         {Content: []byte("include=/etc/php/pool.d/*.conf\n"), Service: "php2"},
		"/etc/php/pool.d/www.conf": {Content: []byte("[www]\nlisten = /run/php.sock\n"), Service: "php2"}}
	in.Snapshot.Spares = map[string]evidence.Spare{"php2": {Program: true, Code: map[string]evidence.CodeState{"/srv/app": evidence.CodeAbsent}}}
	return in
}

// What only the operator can do is said.
func TestSpareHostCannotBePrepared(t *testing.T) {
	for says, change := range map[string]func(remedy.Input){
		"php2 does not run": func(in remedy.Input) { in.Stack.Service("php2").Control = stack.Control{} },
		"/usr/sbin/php-fpm is not on": func(in remedy.Input) {
			in.Stack.Service("php2").Binary = "/usr/sbin/php-fpm"
			in.Snapshot.Spares["php2"] = evidence.Spare{}
		},
		"are not those of php": func(in remedy.Input) { in.Snapshot.Spares["php2"].Code["/srv/app"] = evidence.CodeDifferent },
		"is another machine on app1": func(in remedy.Input) {
			in.Snapshot.Files["web1"][remedytest.AppPath] = evidence.File{Content: []byte("mysql:host=127.0.0.1;port=3306"), Service: "app"}
		},
		"listens at nothing that other":  func(in remedy.Input) { in.Stack.Service("php2").Listen = nil },
		"add one like www of php":        func(in remedy.Input) { delete(in.Snapshot.Files["app1"], "/etc/php/pool.d/www.conf") },
		"php2 is on web1, which answers": func(in remedy.Input) { in.Stack.Service("php2").Host = "web1" },
	} {
		in := bare(false)
		change(in)
		in, res := remedytest.Plan(t, in)
		for _, q := range res.Plans {
			if q.Remedy == "nginx.spare-host" {
				t.Errorf("%s: planned %s", says, q.ID)
			}
		}
		said := ""
		for _, n := range in.Diagnosis.NotJudged {
			if n.Rule == "topology.spare" {
				said = n.Why
			}
		}
		if !strings.Contains(said, says) {
			t.Errorf("not judged: %q, want %q", said, says)
		}
	}
}
