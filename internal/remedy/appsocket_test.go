package remedy_test

import (
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

const proxyAll = "        location / {\n            proxy_pass http://127.0.0.1:9090;\n        }"

// behind is an application server that nginx asks at a port of loopback.
func behind(nginx string, start []string, files map[string]string) remedy.Input {
	in := appServer(start, files, nil)
	in.Snapshot.Files["local"][remedytest.NginxPath] = evidence.File{Content: []byte(nginx), Mode: 0o644, Service: "web", Writable: true}
	in.Snapshot.Users["local/api"] = evidence.ProcessUser{UID: 900, GID: 901, Name: "api", Group: "apis"}
	in.Stack.Regulation.ApplicationSettings = true
	return in
}

// byUnit is the same, started by a unit.
func byUnit(unit string) remedy.Input {
	in := behind(remedytest.Nginx(proxyAll), nil, map[string]string{unitPath: unit})
	in.Stack.Service("api").Control = stack.Control{Unit: "api"}
	return in
}

// A process gets a folder that stays, owned by its user; nginx is switched
// after it listens there, and tells it the same Host.
func TestAppSocket(t *testing.T) {
	in := behind(remedytest.Nginx(proxyAll+"\n        location /b { proxy_pass http://127.0.0.1:9090; }\n        location /c { proxy_pass http://127.0.0.1:9091; }"),
		[]string{"puma", "config.ru"}, map[string]string{envPath: "", "/srv/api/config/puma.rb": "port 9090\n"})
	p := remedytest.Want(t, in, "nginx.app-socket")
	if len(p.Changes) != 3 || p.EditsSettings {
		t.Fatalf("%+v", p.Changes)
	}
	mk := p.Changes[0]
	if mk.Kind != change.KindDir || mk.Path != "/var/lib/kasoku-api" || mk.After.UID != 900 || mk.After.GID != 901 || mk.After.Mode != 0o755 {
		t.Errorf("%+v", mk)
	}
	if got, want := remedytest.After(p, "/srv/api/config/puma.rb"), "port 9090\nbind \"unix:///var/lib/kasoku-api/kasoku-api.sock?backlog=4096\"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i, want := range []struct {
		phase int
		act   change.Activation
	}{{0, change.None}, {1, change.Restart}, {2, change.Reload}} {
		if c := p.Changes[i]; c.Phase != want.phase || c.Activate != want.act {
			t.Errorf("change %d: phase %d, %s", i, c.Phase, c.Activate)
		}
	}
	if c := p.Changes[1]; c.Accepts != "/var/lib/kasoku-api/kasoku-api.sock" {
		t.Errorf("nginx is switched without a look at %q", c.Accepts)
	}
	conf := remedytest.After(p, remedytest.NginxPath)
	remedytest.Has(t, conf, "upstream kasoku_http0 {\n", "server unix:/var/lib/kasoku-api/kasoku-api.sock;", "proxy_set_header Host 127.0.0.1:9090;", "proxy_pass http://127.0.0.1:9091;")
	if n := strings.Count(conf, "proxy_pass http://kasoku_http0;"); n != 2 || strings.Count(conf, "upstream ") != 1 {
		t.Errorf("%d places lead to the socket, want 2:\n%s", n, conf)
	}
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "nginx.app-socket", "")
}

// In a block the other servers stay, and what is said of each.
func TestAppSocketBlock(t *testing.T) {
	conf := strings.Replace(remedytest.Nginx("location / { proxy_pass http://api/v1/; }"), "    server {", "    upstream api { server 127.0.0.1:9090 weight=2; server 10.0.0.2:9090; keepalive 8; }\n    server {", 1)
	in := behind(conf, []string{"gunicorn", "app:app"}, map[string]string{envPath: "GUNICORN_CMD_ARGS='--bind=127.0.0.1:9090'\n"})
	p := remedytest.Want(t, in, "nginx.app-socket")
	remedytest.Has(t, remedytest.After(p, remedytest.NginxPath), "server unix:/var/lib/kasoku-api/kasoku-api.sock weight=2; server 10.0.0.2:9090; keepalive 8;", "proxy_pass http://api/v1/;")
	if got, want := remedytest.After(p, envPath), "GUNICORN_CMD_ARGS='--bind=127.0.0.1:9090 --bind=unix:/var/lib/kasoku-api/kasoku-api.sock'\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !p.EditsSettings || !strings.Contains(p.Why, "REMOTE_ADDR") || !strings.Contains(p.Title, "REMOTE_ADDR") {
		t.Errorf("the application sees another address, and that is not told: %s", p.Why)
	}
	in.Stack.Regulation.ApplicationSettings = false
	_, res := remedytest.Plan(t, in)
	if strings.Contains(remedytest.IDs(res.Plans), "nginx.app-socket") {
		t.Error("planned without the regulation's permission")
	}
}

// A unit has a folder in /run, or gets one that is made at each boot.
func TestAppSocketUnit(t *testing.T) {
	const exec = "ExecStart=/usr/bin/gunicorn --bind 127.0.0.1:9090 app:app\n"
	p := remedytest.Want(t, byUnit("[Service]\n"+exec), "nginx.app-socket")
	remedytest.Has(t, remedytest.After(p, unitPath), "--bind 127.0.0.1:9090 app:app --bind=unix:/run/kasoku-api/kasoku-api.sock\n")
	if got := remedytest.After(p, "/etc/tmpfiles.d/kasoku-api.conf"); got != "d /run/kasoku-api 0755 api apis -\n" || len(p.Changes) != 4 || p.Changes[2].Phase != 1 {
		t.Errorf("%q: %+v", got, p.Changes)
	}
	p = remedytest.Want(t, byUnit("[Service]\nRuntimeDirectory=api more\nRuntimeDirectoryMode=0711\n"+exec), "nginx.app-socket")
	remedytest.Has(t, remedytest.After(p, unitPath), "RuntimeDirectory=api more\n", "unix:/run/api/kasoku-api.sock\n")
	if len(p.Changes) != 2 {
		t.Errorf("%+v", p.Changes)
	}
	remedytest.Want(t, byUnit("[Service]\nRestrictAddressFamilies=AF_INET AF_UNIX\nDynamicUser=no\n"+exec), "nginx.app-socket")
	for line, why := range map[string]string{"RuntimeDirectory=api\nRuntimeDirectoryMode=0750": "could not enter", "DynamicUser=yes": "may not meet", "RootDirectory=/srv/root": "may not meet",
		"RestrictAddressFamilies=AF_INET": "may not meet", "ProtectSystem=strict": "may write nowhere in /run", "RuntimeDirectory=%p": "signs that settings"} {
		remedytest.WantNone(t, byUnit("[Service]\n"+line+"\n"+exec), "nginx.app-socket", why)
	}
}

func TestAppSocketRefusals(t *testing.T) {
	files := map[string]string{envPath: "", "/srv/api/config/puma.rb": "port 9090\n"}
	ok := func() remedy.Input { return behind(remedytest.Nginx(proxyAll), []string{"puma", "config.ru"}, files) }
	in := ok()
	in.Snapshot.Root = false
	remedytest.WantNone(t, in, "nginx.app-socket", "only root may")
	in = ok()
	delete(in.Snapshot.Users, "local/api")
	remedytest.WantNone(t, in, "nginx.app-socket", "not known")
	in = ok()
	in.Stack.Service("api").Variants = []stack.Variant{{Name: "other"}}
	remedytest.WantNone(t, in, "nginx.app-socket", "other implementations")
	remedytest.WantNone(t, behind(remedytest.Nginx(proxyAll), []string{"puma", "-b", "tcp://127.0.0.1:9090"}, files), "nginx.app-socket", "control.start in kasoku.yaml")
	remedytest.WantNone(t, behind(remedytest.Nginx(proxyAll), []string{"rails", "server"}, files), "nginx.app-socket", "not known here")
	remedytest.WantNone(t, behind(remedytest.Nginx(strings.Replace(proxyAll, "9090;", "9090/api;", 1)), []string{"puma"}, files), "nginx.app-socket", "has a path")
	remedytest.WantNone(t, behind(remedytest.Nginx(strings.Replace(proxyAll, "http:", "https:", 1)), []string{"puma"}, files), "nginx.app-socket", "")
	remedytest.WantNone(t, behind(remedytest.Nginx(strings.Replace(proxyAll, "proxy_pass", "proxy_bind 127.0.0.2; proxy_pass", 1)), []string{"puma"}, files), "nginx.app-socket", "proxy_bind")
	in = byUnit("[Service]\nExecStart=/usr/bin/gunicorn --bind 127.0.0.1:9090 app:app --bind=unix:/run/kasoku-api/kasoku-api.sock\n")
	remedytest.WantNone(t, in, "nginx.app-socket", "listens on /run/kasoku-api/kasoku-api.sock already")
	in = ok()
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "second", Kind: stack.App, Control: stack.Control{Start: []string{"puma"}, EnvFile: envPath}})
	remedytest.WantNone(t, in, "nginx.app-socket", "both would listen")
	in = ok()
	in.Stack.Service("api").Listen = []string{"10.0.0.1:9090"}
	remedytest.WantNone(t, in, "nginx.app-socket", "")
}

// Rails' own command says itself where Puma listens, whatever the file says.
func TestAppSocketHidden(t *testing.T) {
	files := map[string]string{envPath: "", "/srv/api/config/puma.rb": "port 9090\n"}
	in := behind(remedytest.Nginx(proxyAll), []string{"rails", "server", "-p", "9090"}, files)
	in.Snapshot.Apps["api"] = evidence.AppProcess{Argv: []string{"puma", "5.6.5", "(tcp://127.0.0.1:9090)"}, Dir: "/srv/api"}
	remedytest.WantNone(t, in, "nginx.app-socket", "another program starts it (rails server -p 9090)")
}
