package remedy_test

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

const (
	inFront    = "apache.nginx-in-front"
	frontSite  = "/etc/nginx/conf.d/kasoku-front.conf"
	debianMain = "events {\n}\nhttp {\n    gzip on;\n    include /etc/nginx/conf.d/*.conf;\n    include /etc/nginx/sites-enabled/*;\n}\n"
)

const apachePorts = "Listen 80\n<IfModule ssl_module>\nListen 443\n</IfModule>\n"

// frontWorld is an Apache of prefork whose workers are all in use, and an nginx
// of kasoku.yaml that is not installed. conf is what Apache's main file says
// beside its modules.
func frontWorld(conf string, edit map[string]string) remedy.Input {
	files := map[string]string{
		"apache2.conf":                 conf + "IncludeOptional mods-enabled/*.load\nIncludeOptional mods-enabled/*.conf\n",
		"mods-available/remoteip.load": "LoadModule remoteip_module x.so\n",
	}
	for name, text := range edit {
		files[name] = text
	}
	in := apacheWorld(false, files)
	delete(in.Snapshot.Files["local"], remedytest.NginxPath)
	front := stack.Service{Name: "front", Kind: stack.Nginx, FrontFor: "httpd", Config: remedytest.NginxPath, Prefix: "/usr/share/nginx", Binary: "/usr/sbin/nginx", Control: stack.Control{Unit: "nginx.service"}}
	in.Stack.Services = append(in.Stack.Services, front)
	in.Stack.Load.URL = "http://www.example.org"
	in.Stack.Regulation.Install = true
	in.Snapshot.Fronts = map[string]stack.FrontState{"front": {Service: front, Taken: []string{"127.0.0.1:8080", "[::]:80"}}}
	in.Evidence.Logs = []evidence.LogLine{{Service: "httpd", Level: "error", Text: "AH00161: server reached MaxRequestWorkers setting", Count: 1}}
	return in
}

// installed is the front with Debian's files, not running.
func installed(in remedy.Input, main string, sites map[string]string) remedy.Input {
	f := in.Snapshot.Fronts["front"]
	f.Program = true
	in.Snapshot.Fronts["front"] = f
	put := func(p, text string) {
		in.Snapshot.Files["local"][p] = evidence.File{Content: []byte(text), Mode: 0o644, Service: "front", Writable: true}
	}
	put(remedytest.NginxPath, main)
	for p, text := range sites {
		put(p, text)
	}
	return in
}

const oneHost = "<VirtualHost *:80>\nDocumentRoot /srv/www\n</VirtualHost>\n"

func TestNginxInFrontByItsPackage(t *testing.T) {
	in := frontWorld(apachePorts+oneHost, nil)
	p := remedytest.Want(t, in, inFront)
	if len(p.Prepare) != 2 || p.Prepare[0][0].Package == nil || p.Prepare[0][0].Package.Name != "nginx" || p.Prepare[0][0].Package.Start {
		t.Fatalf("it is not installed first: %+v", p.Prepare)
	}
	if l, u := p.Prepare[1][0], p.Prepare[1][1]; l.Path != "/etc/nginx/sites-enabled/default" || !l.Link.Remove || u.Unit.After != (change.UnitState{Enabled: "enabled", Active: "active"}) {
		t.Errorf("it does not run without the package's site before the switch: %+v", p.Prepare[1])
	}
	if got := changeKinds(p); got != "file +remoteip.load file" || p.Changes[0].Phase != 0 || p.Changes[0].Activate != change.Restart || p.Changes[2].Phase != 1 || p.Changes[2].Activate != change.Reload {
		t.Errorf("%s: %+v", got, p.Changes)
	}
	// 8080 is taken.
	remedytest.Has(t, remedytest.After(p, "/etc/apache2/apache2.conf"), "Listen 127.0.0.1:8081\n", "Listen 443\n", "<VirtualHost *:80 127.0.0.1:8081>", "RemoteIPHeader X-Real-IP\nRemoteIPInternalProxy 127.0.0.1")
	remedytest.Has(t, remedytest.After(p, frontSite), "server 127.0.0.1:8081;", "listen 80;\n    listen [::]:80;", "keepalive 16;\n    keepalive_timeout 3s;", "client_max_body_size 0;", "proxy_set_header Host $kasoku_httpd_host;", "proxy_set_header X-Real-IP $remote_addr;")
	if len(p.Trades) > 0 || p.Fresh != nil {
		t.Errorf("trades %v, fresh %v", p.Trades, p.Fresh)
	}
	in.Stack.Regulation.Install = false
	_, res := remedytest.Plan(t, in)
	for _, r := range res.Refusals {
		if r.Plan.Remedy == inFront && strings.Contains(r.Why, "install: true") {
			return
		}
	}
	t.Errorf("not refused without the right to install: %+v", res.Refusals)
}

// TestNginxInFrontKeepsPages: pages of strangers are kept from the start, in the
// one file that is the site; that is a trade.
func TestNginxInFrontKeepsPages(t *testing.T) {
	in := frontWorld(apachePorts+oneHost, nil)
	in.Evidence.Logs = nil
	in.Evidence.Load.Pages = []load.PageSample{strangersPage("/")}
	p := remedytest.Want(t, in, inFront)
	if got := changeKinds(p); got != "file +remoteip.load dir file" || p.Fresh == nil || len(p.Trades) != 1 || p.Trades[0] != regulation.Staleness {
		t.Errorf("%s, fresh %v, trades %v", got, p.Fresh, p.Trades)
	}
	text := remedytest.After(p, frontSite)
	remedytest.Has(t, text, "proxy_cache_path /dev/shm/kasoku-pages-front", "~^/$ 1;", "proxy_cache_valid 200 1s;", "proxy_pass http://kasoku_httpd;")
	if strings.Index(text, "proxy_cache_path") > strings.Index(text, "server {\n") {
		t.Errorf("the cache is not beside the server:\n%s", text)
	}
	// Pages are counted in a diagnostic run, whose window is another one.
	asked := *in.Evidence.Load
	asked.Requests, asked.Succeeded, asked.Window = 100*asked.Requests, 100*asked.Succeeded, 100*asked.Window
	asked.Routes = []load.RouteResult{{Route: "GET /", Requests: asked.Requests, Total: 8000 * time.Second}}
	in.Evidence.Asked = &asked
	remedytest.WantNone(t, in, inFront, "")
}

// besideFront is frontWorld with a spare Apache on app1, where nothing runs; the
// first uses 10 of its host's 20 CPU seconds.
func besideFront() remedy.Input {
	in := frontWorld(apachePorts+oneHost, nil)
	in.Evidence.Logs = nil
	in.Stack.Service("httpd").Listen = []string{"0.0.0.0:80"}
	in.Stack.Services = append(in.Stack.Services,
		stack.Service{Name: "pages", Kind: stack.App, RunsIn: "httpd", Root: "/srv/www"},
		stack.Service{Name: "httpd2", Kind: stack.Apache, Host: "app1", Config: apacheConf, Listen: []string{"0.0.0.0:80"}, SpareFor: "httpd", Control: stack.Control{Unit: "apache2"}})
	in.Snapshot.Spares = map[string]evidence.Spare{"httpd2": {Program: true, Code: map[string]evidence.CodeState{"/srv/www": evidence.CodeAbsent}}}
	in.Snapshot.Addresses = map[string][]string{"local": {"10.0.0.1"}, "app1": {"10.0.0.2"}}
	in.Snapshot.Machines = map[string]evidence.Machine{"app1": {CPUs: 2, Memory: 4 << 30}}
	in.Snapshot.Files["app1"] = map[string]evidence.File{
		apacheConf: {Content: []byte("Listen 80\n"), Mode: 0o644, Service: "httpd2", Writable: true},
		"/etc/apache2/mods-available/remoteip.load": {Content: []byte("LoadModule remoteip_module x.so\n"), Mode: 0o644, Service: "httpd2", Writable: true},
	}
	in.Evidence.System.Host = "local"
	in.Evidence.Hosts = map[string]*evidence.System{"app1": {Host: "app1", CPUs: 2, Idle: 20, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30}}
	return in
}

// TestNginxInFrontForAnotherHost: where a spare host could take work off a busy
// one, nginx passes requests to both from the start, and what that host needs is
// there before.
func TestNginxInFrontForAnotherHost(t *testing.T) {
	in := besideFront()
	p := remedytest.Want(t, in, inFront)
	if !strings.Contains(p.ID, "nginx.spare-host") || !strings.Contains(p.Title, "httpd2") || p.Bound < 1.2 || len(p.Trades) > 0 {
		t.Fatalf("%s: %s, at most ×%.2f, trades %v", p.ID, p.Title, p.Bound, p.Trades)
	}
	if shown := change.Redact(p.Title); shown != p.Title {
		t.Errorf("reports take a word of the title for a secret: %s", shown)
	}
	if got := changeKinds(p); got != "file +remoteip.load file" {
		t.Errorf("the switch: %s", got)
	}
	for _, c := range p.Changes {
		if c.Host == "app1" {
			t.Errorf("the spare host changes with each switch: %s", c.Title())
		}
	}
	remedytest.Has(t, remedytest.After(p, frontSite), "upstream kasoku_httpd {\n    server 127.0.0.1:8081 weight=", "    server 10.0.0.2:80 weight=", "proxy_pass http://kasoku_httpd;", "proxy_set_header X-Real-IP $remote_addr;")
	var kinds []string
	clients := ""
	for _, changes := range p.Prepare {
		for _, c := range changes {
			if c.Host == "app1" {
				kinds = append(kinds, string(c.Kind))
				if c.Path == apacheConf {
					clients = string(c.After.Content)
				}
			}
		}
	}
	if got := strings.Join(kinds, " "); got != "ready file link unit" {
		t.Errorf("before, on the spare host: %s", got)
	}
	remedytest.Has(t, clients, "RemoteIPHeader X-Real-IP\nRemoteIPInternalProxy 10.0.0.1")

	// Both are busy alike.
	even := besideFront()
	even.Evidence.Hosts["app1"] = &evidence.System{Host: "app1", CPUs: 2, User: 19, Idle: 1, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30}
	remedytest.WantNone(t, even, inFront, "")
	// An application whose pages each host would keep for itself.
	keeps, _ := remedytest.Plan(t, mediawiki(besideFront(), "$wgUseFileCache = true;\n"))
	told := false
	for _, n := range keeps.Diagnosis.NotJudged {
		told = told || n.Rule == "apache.front" && strings.Contains(n.Why, "does not throw away the files of another")
	}
	remedytest.WantNone(t, keeps, inFront, "")
	if !told {
		t.Errorf("nothing tells why: %+v", keeps.Diagnosis.NotJudged)
	}
}

// TestAfterNginxIsInFront: later rounds find nginx before Apache, know whom it
// asks, and plan for it; nothing is put in front of that.
func TestAfterNginxIsInFront(t *testing.T) {
	in := installed(frontWorld(apachePorts+oneHost, nil), debianMain, nil)
	p := remedytest.Want(t, in, inFront)
	if len(p.Prepare) != 1 || p.Prepare[0][0].Kind != change.KindUnit {
		t.Errorf("installed already, it is only started: %+v", p.Prepare)
	}
	remedytest.Put(in, p.Changes)
	site := in.Snapshot.Files["local"][frontSite]
	site.Service = "front"
	in.Snapshot.Files["local"][frontSite] = site
	f := in.Snapshot.Fronts["front"]
	f.InUse, f.Listen, f.Behind = true, []string{"0.0.0.0:80", "[::]:80"}, []string{"127.0.0.1:8081"}
	in.Snapshot.Fronts["front"] = f
	in.Evidence.Load.Pages = []load.PageSample{strangersPage("/")}
	remedytest.WantNone(t, in, inFront, "")
	if p := remedytest.Want(t, in, "nginx.page-cache"); p.Changes[len(p.Changes)-1].Service != "front" {
		t.Errorf("%+v", p.Changes)
	}
	st := in.Snapshot.StackInUse(in.Stack)
	conf, err := diagnose.NginxConfig(in.Snapshot, st.Service("front"))
	if err != nil {
		t.Fatal(err)
	}
	passes := diagnose.Passes(st, in.Snapshot, st.Service("front"), conf)
	if len(passes) != 1 || passes[0].Block == nil || passes[0].Backends[0].Service != "httpd" {
		t.Errorf("whom nginx asks: %+v", passes)
	}
}

// Pages are a reason whatever the MPM; workers of event hold no PHP.
func TestNginxInFrontOfEvent(t *testing.T) {
	event := map[string]string{"mods-enabled/mpm_prefork.load": "LoadModule mpm_event_module x.so\n", "mods-enabled/php8.2.load": "", "mods-enabled/php8.2.conf": ""}
	in := frontWorld(apachePorts+oneHost, event)
	remedytest.WantNone(t, in, inFront, "")
	in.Evidence.Load.Pages = []load.PageSample{strangersPage("/")}
	if p := remedytest.Want(t, in, inFront); p.Fresh == nil {
		t.Errorf("%+v", p)
	}
}

func TestNginxInFrontOfAddressRules(t *testing.T) {
	for line, trade := range map[string]bool{"Require ip 10.0.0.0/8": true, "Require not host example.org": true, "Deny from 10.1.2.3": true, "Require local": false, "Allow from all": false, "Require all granted": false} {
		in := frontWorld(apachePorts+oneHost+"<Directory /srv/www/near>\n"+line+"\n</Directory>\n", nil)
		if p := remedytest.Want(t, in, inFront); (len(p.Trades) == 1 && p.Trades[0] == regulation.Security) != trade {
			t.Errorf("%s: trades %v", line, p.Trades)
		}
	}
	for text, trade := range map[string]bool{
		"Require ip \\\n 10.0.0.0/8\n":                          true,
		"SetEnvIf Remote_Addr ^10 near\nRequire env near\n":     true,
		"<If \"-R '10.0.0.0/8'\">\nRequire all denied\n</If>\n": true,
		"<If true>\n": true, // not understood
		"# Require ip 10.0.0.0/8\nRequire local\n": false,
	} {
		in := frontWorld(apachePorts+oneHost, map[string]string{"www/.htaccess": text})
		if p := remedytest.Want(t, in, inFront); (len(p.Trades) == 1 && p.Trades[0] == regulation.Security) != trade {
			t.Errorf("%q: trades %v", text, p.Trades)
		}
	}
}

// moreAccessFiles has 7 .htaccess files that were not read.
func moreAccessFiles(in *remedy.Input) {
	b := in.Snapshot.Apache["httpd"]
	b.AccessFilesLeft = 7
	in.Snapshot.Apache["httpd"] = b
}

func TestNginxInFrontRefusals(t *testing.T) {
	for name, c := range map[string]struct{ conf, why string }{
		"TLS":                   {"Listen 80\nListen 443\n" + oneHost, "listens at 0.0.0.0:80, 0.0.0.0:443"},
		"TLS at the port":       {"Listen 80\n<VirtualHost *:80>\nSSLEngine on\n</VirtualHost>\n", "over TLS"},
		"several hosts":         {apachePorts + oneHost + "<VirtualHost *:80>\nServerName other.example\n</VirtualHost>\n", "2 virtual hosts (*:80, other.example)"},
		"a host elsewhere":      {apachePorts + "<VirtualHost *:81>\n</VirtualHost>\n", "is for *:81"},
		"behind another":        {apachePorts + oneHost + "RemoteIPHeader X-Forwarded-For\n", "something else stands in front"},
		"not where clients ask": {"Listen 81\n", "load.url asks www.example.org:80"},
		"WebSockets":            {apachePorts + "ProxyPass /ws ws://127.0.0.1:9\n", "WebSockets"},
		"its own address":       {apachePorts + "RewriteCond %{SERVER_ADDR} ^10\n", "RewriteCond depends on the address"},
	} {
		t.Run(name, func(t *testing.T) { remedytest.WantNone(t, frontWorld(c.conf, nil), inFront, c.why) })
	}
	ok := apachePorts + oneHost
	remedytest.WantNone(t, frontWorld(ok, map[string]string{"www/.htaccess": "RewriteCond %{REMOTE_PORT} 1\n"}), inFront, "www/.htaccess: REMOTE_PORT")
	for name, c := range map[string]struct {
		edit func(in *remedy.Input)
		why  string
	}{
		"none is named": {func(in *remedy.Input) { in.Stack.Services, in.Snapshot.Fronts = in.Stack.Services[:1], nil }, "front_for: httpd"},
		"not root":      {func(in *remedy.Input) { in.Snapshot.Root = false }, "only be installed by root"},
		"half installed": {func(in *remedy.Input) {
			f := in.Snapshot.Fronts["front"]
			f.Program = true
			in.Snapshot.Fronts["front"] = f
		}, "only a part is there"},
		"sockets not known": {func(in *remedy.Input) {
			f := in.Snapshot.Fronts["front"]
			f.Taken = nil
			in.Snapshot.Fronts["front"] = f
		}, "which ports are free"},
		"in use for others": {func(in *remedy.Input) {
			*in = installed(*in, strings.Replace(debianMain, "gzip on;", "server { listen 81; }", 1), nil)
		}, "has a server of its own"},
		"includes no conf.d":              {func(in *remedy.Input) { *in = installed(*in, "events {}\nhttp {\n}\n", nil) }, "does not include"},
		"more access files than are read": {func(in *remedy.Input) { moreAccessFiles(in) }, "7 .htaccess files of httpd were not read"},
		"another package's": {func(in *remedy.Input) {
			f := in.Snapshot.Fronts["front"]
			f.Service.Config = "/opt/n/nginx.conf"
			in.Snapshot.Fronts["front"] = f
		}, "what Debian's package brings"},
	} {
		t.Run(name, func(t *testing.T) {
			in := frontWorld(ok, nil)
			c.edit(&in)
			remedytest.WantNone(t, in, inFront, c.why)
		})
	}
}
