package remedy_test

import (
	"strings"
	"testing"

	"kasoku/internal/diagnose"
	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// textAsset is an asset large enough to be compressed.
func textAsset(in remedy.Input) {
	remedytest.Asset(in, "/srv", "/files/a.css", "text/css; charset=utf-8")
	in.Evidence.Load.Assets[len(in.Evidence.Load.Assets)-1].Size = 5000
}

func nginxSite(server string) remedy.Input {
	return remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx(server)})
}

func nginxConf(t *testing.T, in remedy.Input, id string) string {
	t.Helper()
	return remedytest.After(remedytest.Want(t, in, id), remedytest.NginxPath)
}

func TestGzip(t *testing.T) {
	in := nginxSite("        gzip off;\n        gzip_types text/csv;\n" + remedytest.PassAll)
	textAsset(in)
	text := nginxConf(t, in, "nginx.gzip")
	remedytest.Has(t, text, "        gzip on;", "gzip_vary on;", "gzip_types text/plain text/css", "gzip_comp_level 4;")
	remedytest.HasNot(t, text, "gzip off", "text/csv", "gzip_static", "brotli", "text/html")
	if p := remedytest.Want(t, in, "nginx.gzip"); len(p.Trades) != 0 {
		t.Errorf("trades %v", p.Trades)
	}

	in = remedytest.World(map[string]string{remedytest.NginxPath: "load_module modules/ngx_http_brotli_filter_module.so;\n" + strings.Replace(remedytest.Nginx(remedytest.PassAll), "listen 127.0.0.1:8080", "listen 127.0.0.1:8080 ssl", 1)})
	textAsset(in)
	f := in.Snapshot.StaticFiles["/files/a.css"]
	f.Gzip = true
	in.Snapshot.StaticFiles["/files/a.css"] = f
	in.Snapshot.Nginx = map[string]evidence.NginxBuild{"web": {Version: "1.22.1", Modules: []string{"--with-http_gzip_static_module"}}}
	remedytest.Has(t, nginxConf(t, in, "nginx.gzip"), "gzip_static on;", "brotli on;", "brotli_types text/plain")
	if p := remedytest.Want(t, in, "nginx.gzip"); len(p.Trades) != 1 || p.Trades[0] != "security" {
		t.Errorf("over TLS it trades %v", p.Trades)
	}
	// gzip_static is for all files, and would send what lies beside this one.
	in.Snapshot.StaticFiles["/files/old.css"] = evidence.StaticFile{Readable: true, GzipOther: true}
	remedytest.HasNot(t, nginxConf(t, in, "nginx.gzip"), "gzip_static")
	// On, but for other types: those are added, and the rest is as somebody chose it.
	in = nginxSite("        gzip on;\n        gzip_comp_level 7;\n        gzip_types text/csv text/plain;\n" + remedytest.PassAll)
	textAsset(in)
	p := remedytest.Want(t, in, "nginx.gzip")
	text = remedytest.After(p, remedytest.NginxPath)
	remedytest.Has(t, text, "gzip_comp_level 7;", "gzip_vary on;", "gzip_types text/csv text/plain text/css text/xml")
	remedytest.HasNot(t, text, "brotli")
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "nginx.gzip", "")
	for _, types := range []string{"gzip_types *;", "gzip_types text/css;"} {
		in = nginxSite("        gzip on;\n        " + types + "\n" + remedytest.PassAll)
		textAsset(in)
		remedytest.WantNone(t, in, "nginx.gzip", "")
	}
	// In the server alone, where it is on for all: others may be encrypted.
	in = remedytest.World(map[string]string{remedytest.NginxPath: strings.Replace(remedytest.Nginx(remedytest.PassAll), "    server {", "    gzip on;\n    server { listen 443 ssl; }\n    server {", 1)})
	textAsset(in)
	p = remedytest.Want(t, in, "nginx.gzip")
	if text = remedytest.After(p, remedytest.NginxPath); len(p.Trades) != 0 || strings.Index(text, "gzip_types") < strings.Index(text, "listen 127.0.0.1:8080") {
		t.Errorf("trades %v:\n%s", p.Trades, text)
	}
	// Off for all and turned on for all: the encrypted one too.
	in = remedytest.World(map[string]string{remedytest.NginxPath: strings.Replace(remedytest.Nginx(remedytest.PassAll), "    server {", "    server { listen 443 ssl; }\n    server {", 1)})
	textAsset(in)
	if p = remedytest.Want(t, in, "nginx.gzip"); len(p.Trades) != 1 {
		t.Errorf("an encrypted server beside it: trades %v", p.Trades)
	}
	// What the application compresses itself is left alone.
	in = nginxSite(remedytest.PassAll)
	textAsset(in)
	in.Evidence.Load.Assets[0].Headers = []string{"Content-Encoding: gzip"}
	remedytest.WantNone(t, in, "nginx.gzip", "")
}

func TestBrotliBesideGzip(t *testing.T) {
	const inside = "        gzip on;\n        gzip_types text/css application/json;\n        gzip_comp_level 6;\n        gzip_min_length 400;\n        location /login { gzip off; return 200; }\n" + remedytest.PassAll
	site := func(top, server string, takes bool) remedy.Input {
		in := remedytest.World(map[string]string{remedytest.NginxPath: top + remedytest.Nginx(server)})
		textAsset(in)
		in.Evidence.Load.TakesBrotli = takes
		return in
	}
	const module = "load_module modules/ngx_http_brotli_filter_module.so;\n"
	in := site(module, inside, true)
	p := remedytest.Want(t, in, "nginx.brotli")
	text := remedytest.After(p, remedytest.NginxPath)
	remedytest.Has(t, text, "gzip on;", "brotli on;", "brotli_types text/css application/json;", "brotli_comp_level 4;", "brotli_min_length 400;", "gzip_vary on;", "gzip off; return 200; brotli off;")
	if len(p.Trades) != 0 {
		t.Errorf("trades %v", p.Trades)
	}
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "nginx.brotli", "")
	// gzip's default level.
	remedytest.Has(t, nginxConf(t, site(module, strings.Replace(inside, "gzip_comp_level 6;", "", 1), true), "nginx.brotli"), "brotli_comp_level 1;")
	for name, none := range map[string]remedy.Input{
		"no module":             site("", inside, true),
		"no client takes it":    site(module, inside, false),
		"another type":          site(module, strings.Replace(inside, "text/css ", "", 1), true),
		"gzip is off":           site(module, strings.Replace(inside, "gzip on", "gzip off", 1), true),
		"brotli is on":          site(module, "brotli on;\n"+inside, true),
		"it lies there as .gz":  site(module, "gzip_static on;\n"+inside, true),
		"too short to be worth": site(module, inside, true),
	} {
		switch name {
		case "it lies there as .gz":
			none.Snapshot.StaticFiles["/files/a.css"] = evidence.StaticFile{Readable: true, Gzip: true}
		case "too short to be worth":
			none.Evidence.Load.Assets[0].Size = 500
		}
		t.Run(name, func(t *testing.T) { remedytest.WantNone(t, none, "nginx.brotli", "") })
	}
	// A location's own types hold, and over TLS it tells more than gzip did.
	in = site(module, strings.Replace(inside, "location /login", "location /api { gzip_types text/css; return 200; }\n location /login", 1), true)
	remedytest.Has(t, nginxConf(t, in, "nginx.brotli"), "gzip_types text/css; return 200; brotli_types text/css;")
	in = remedytest.World(map[string]string{remedytest.NginxPath: module + strings.Replace(remedytest.Nginx(inside), "listen 127.0.0.1:8080", "listen 127.0.0.1:8080 ssl", 1)})
	textAsset(in)
	in.Evidence.Load.TakesBrotli = true
	if p := remedytest.Want(t, in, "nginx.brotli"); len(p.Trades) != 1 || p.Trades[0] != "security" {
		t.Errorf("over TLS it trades %v", p.Trades)
	}
	// A page is text/html, which needs no type.
	in = site(module, strings.Replace(inside, "text/css ", "", 1), true)
	in.Evidence.Load.Pages = []load.PageSample{{URL: "/", Status: 200, ContentType: "text/html; charset=UTF-8", Size: 9000, Count: 50}}
	remedytest.Want(t, in, "nginx.brotli")
}

// checkedSite is a site whose health check is asked for, with its answer.
func checkedSite(server string, a load.ConstantAnswer, more ...digest.Route) remedy.Input {
	in := nginxSite(server)
	a.Path = "/healthz"
	in.Evidence.Routes = append([]digest.Route{{Method: "GET", Route: "/healthz", Count: 300, Share: 0.3}}, more...)
	in.Evidence.Answers = []load.ConstantAnswer{a}
	return in
}

func TestHealthCheck(t *testing.T) {
	ok := load.ConstantAnswer{Status: 200, ContentType: "text/plain", Body: []byte(`say "ok"` + "\n"), Headers: []string{"Cache-Control: no-store"}}
	p := remedytest.Want(t, checkedSite(remedytest.PassAll, ok), "nginx.health-check")
	remedytest.Has(t, remedytest.After(p, ""), "location = /healthz {", "access_log off;", "types { }", "default_type text/plain;", `return 200 "say \"ok\"\n";`, "add_header Cache-Control no-store;")
	if len(p.Trades) != 1 || p.Trades[0] != "observability" {
		t.Errorf("trades %v", p.Trades)
	}
	own := "        location = /healthz { fastcgi_pass 127.0.0.1:9000; add_header X-A 1; }\n"
	text := nginxConf(t, checkedSite(own+remedytest.PassAll, ok), "nginx.health-check")
	if strings.Count(text, "location = /healthz") != 1 || strings.Count(text, "X-A") != 1 || !strings.Contains(text, "return 200") {
		t.Error(text)
	}
	for name, c := range map[string]struct {
		in  remedy.Input
		why string
	}{
		"varies":   {checkedSite(remedytest.PassAll, load.ConstantAnswer{Status: 200, Varies: "other bytes"}), "other bytes"},
		"sick":     {checkedSite(remedytest.PassAll, load.ConstantAnswer{Status: 503}), "status 503"},
		"variable": {checkedSite(remedytest.PassAll, load.ConstantAnswer{Status: 200, Body: []byte("$5")}), "as they are"},
		"guard":    {checkedSite("        allow 10.0.0.0/8; deny all;\n"+remedytest.PassAll, ok), "guards"},
		"posted":   {checkedSite(remedytest.PassAll, ok, digest.Route{Method: "POST", Route: "/healthz", Count: 1}), "POST"},
	} {
		t.Run(name, func(t *testing.T) { remedytest.WantNone(t, c.in, "nginx.health-check", c.why) })
	}
	in := checkedSite(remedytest.PassAll, ok)
	in.Evidence.Answers = nil
	remedytest.WantNone(t, in, "nginx.health-check", "not asked")
}

func TestKeepProxy(t *testing.T) {
	in := nginxSite("        proxy_set_header X-Real-IP $remote_addr;\n        location / { proxy_pass http://127.0.0.1:8000; }")
	text := nginxConf(t, in, "nginx.keep-proxy")
	remedytest.Has(t, text, "upstream kasoku_http0 {", "server 127.0.0.1:8000;", "keepalive 32;", "proxy_pass http://kasoku_http0;", "proxy_http_version 1.1;", `proxy_set_header Connection "";`,
		"proxy_set_header Host 127.0.0.1:8000;", "proxy_redirect http://127.0.0.1:8000/ /;")
	if strings.Count(text, "X-Real-IP") != 2 {
		t.Errorf("the server's headers are lost in the location:\n%s", text)
	}
	// A named upstream keeps its name, so Host and redirects stay as they are.
	in = nginxSite("        location / { proxy_pass http://app/x/; proxy_set_header Connection close; }")
	f := in.Snapshot.Files["local"][remedytest.NginxPath]
	f.Content = []byte(strings.Replace(string(f.Content), "    server {", "    upstream app { least_conn; server 127.0.0.1:8000; }\n    server {", 1))
	in.Snapshot.Files["local"][remedytest.NginxPath] = f
	text = nginxConf(t, in, "nginx.keep-proxy")
	remedytest.Has(t, text, "keepalive 32;", `proxy_set_header Connection "";`)
	remedytest.HasNot(t, text, "proxy_redirect", "Host", "close")

	for name, c := range map[string][2]string{
		"tls":  {"location / { proxy_pass https://127.0.0.1:8443; }", "TLS"},
		"path": {"location / { proxy_pass http://127.0.0.1:8000/x/; }", "path"},
		"host": {"location / { proxy_pass http://127.0.0.1:8000; proxy_set_header Host $proxy_host; }", "$proxy_host"},
		"if":   {"location / { if ($arg_x) { proxy_pass http://127.0.0.1:8000; } }", `inside "if"`},
	} {
		t.Run(name, func(t *testing.T) { remedytest.WantNone(t, nginxSite("        "+c[0]), "nginx.keep-proxy", c[1]) })
	}
	t.Run("websocket", func(t *testing.T) {
		remedytest.WantNone(t, nginxSite("        location / { proxy_pass http://127.0.0.1:8000; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }"), "nginx.keep-proxy", "")
	})
	in = nginxSite("        location / { proxy_pass http://127.0.0.1:8000; }")
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "perl", Kind: stack.App})
	in.Evidence.Services["perl"] = evidence.ServiceUse{CPU: 1, Processes: 6}
	remedytest.Has(t, nginxConf(t, in, "nginx.keep-proxy"), "keepalive 2;", "keepalive_timeout 200ms;")
}

// What was put in place after the run is no error without a reason.
func TestKeepProxyKeepsAlready(t *testing.T) {
	in := nginxSite("        location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection \"\"; }")
	f := in.Snapshot.Files["local"][remedytest.NginxPath]
	f.Content = []byte(strings.Replace(string(f.Content), "    server {", "    upstream app { server 127.0.0.1:8000; keepalive 8; }\n    server {", 1))
	in.Snapshot.Files["local"][remedytest.NginxPath] = f
	for _, r := range remedy.Table {
		if r.ID != "nginx.keep-proxy" {
			continue
		}
		if _, err := r.Plan(in, diagnose.Finding{Service: "web", Rule: r.Rules[0]}); err == nil || !strings.Contains(err.Error(), "kept as far as its files say") {
			t.Errorf("%v", err)
		}
	}
}

// Connections that are kept to a server which holds a process for each must leave
// processes to everybody else: the main process answers nothing, each upstream keeps
// its own, and a number that had no effect so far must not take effect as it stands.
func TestKeepProxyToPrefork(t *testing.T) {
	site := func(block, command string, processes int) remedy.Input {
		in := nginxSite("        location / { proxy_pass http://app; }")
		f := in.Snapshot.Files["local"][remedytest.NginxPath]
		f.Content = []byte(strings.Replace(string(f.Content), "    server {", "    upstream app { server 127.0.0.1:8000; "+block+" }\n    server {", 1))
		in.Snapshot.Files["local"][remedytest.NginxPath] = f
		words := strings.Fields(command)
		in.Stack.Services = append(in.Stack.Services,
			stack.Service{Name: "app2", Kind: stack.App, Listen: []string{"127.0.0.1:8000"}, Control: stack.Control{Method: stack.MethodProcess, Start: words}},
			// Another application, that nothing is passed to here, is no limit.
			stack.Service{Name: "other", Kind: stack.App, Listen: []string{"127.0.0.1:9999"}})
		in.Evidence.Services["app2"], in.Evidence.Services["other"] = evidence.ServiceUse{CPU: 1, Processes: processes}, evidence.ServiceUse{Processes: 2}
		in.Snapshot.Apps = map[string]evidence.AppProcess{"app2": {Argv: words, Dir: "/srv"}}
		return in
	}
	for name, c := range map[string]struct {
		block, command string
		processes      int
		want           []string
		why            string // it is not planned
	}{
		"a great number that had no effect": {"keepalive 64;", "/usr/bin/starman --workers 5 app.psgi", 6, []string{"keepalive 2;", "keepalive_timeout 200ms;"}, ""},
		"a small one is kept":               {"keepalive 1; keepalive_timeout 5s;", "/usr/bin/starman --workers 8 app.psgi", 9, []string{"keepalive 1;", "keepalive_timeout 5s;"}, ""},
		"the default of five":               {"", "/usr/bin/starman app.psgi", 6, []string{"keepalive 2;"}, ""},
		"too few":                           {"", "/usr/bin/starman --workers 1 app.psgi", 2, nil, "too few for kept connections"},
		"unknown, one of two is the parent": {"", "/srv/server", 2, nil, "too few for kept connections"},
		"one process serves all":            {"", "/srv/server", 1, []string{"keepalive 32;"}, ""},
		"it closes them itself":             {"", "/usr/bin/gunicorn -w 4 site.wsgi", 5, nil, "closes each connection itself"},
		"threads wait for all":              {"", "/usr/bin/gunicorn -w 4 --threads 4 site.wsgi", 5, []string{"keepalive 32;"}, ""},
		"an event loop in each worker":      {"keepalive 64;", "/usr/bin/gunicorn -w 4 -k gevent site.wsgi", 5, []string{"keepalive 64;"}, ""},
		"a reactor":                         {"", "/usr/bin/puma -w 2 -t 5:5", 3, []string{"keepalive 32;"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := site(c.block, c.command, c.processes)
			if c.why != "" {
				remedytest.WantNone(t, in, "nginx.keep-proxy", c.why)
			} else {
				remedytest.Has(t, nginxConf(t, in, "nginx.keep-proxy"), c.want...)
			}
			if why := unplanned(t, in, "web.proxy-keepalive"); c.why != "" && !strings.Contains(why, c.why) || c.why == "" && why != "" {
				t.Errorf("the finding says %q, want %q", why, c.why)
			}
		})
	}
}

func TestBuffersAndLimits(t *testing.T) {
	in := nginxSite(remedytest.PassAll)
	in.Evidence.Routes = []digest.Route{{Method: "GET", Route: "/", Count: 100, Bytes: 100 * 400 << 10}}
	in.Evidence.Logs = []evidence.LogLine{{Service: "web", Level: "warn", Text: "an upstream response is buffered to a temporary file /t/1", Count: 9}}
	remedytest.Has(t, nginxConf(t, in, "nginx.buffers"), "fastcgi_buffers 50 16k;", "fastcgi_buffer_size 16k;")
	in.Evidence.Load.Workload = 50000
	remedytest.WantNone(t, in, "nginx.buffers", "do not fit")

	body := evidence.LogLine{Service: "web", Level: "warn", Text: "a client request body is buffered to a temporary file /t/1", Count: 9}
	in = nginxSite(remedytest.PassAll)
	in.Evidence.Logs = []evidence.LogLine{body}
	remedytest.Has(t, nginxConf(t, in, "nginx.body-buffers"), "client_body_buffer_size 512k;")
	remedytest.WantNone(t, in, "nginx.buffers", "")
	in.Evidence.Load.Workload = 50000
	remedytest.WantNone(t, in, "nginx.body-buffers", "do not fit")
	in = nginxSite("client_body_buffer_size 1m;\n" + remedytest.PassAll)
	in.Evidence.Logs = []evidence.LogLine{body}
	remedytest.WantNone(t, in, "nginx.body-buffers", "")

	in = nginxSite(remedytest.PassAll)
	in.Evidence.Services["web"] = evidence.ServiceUse{CPU: 2, OpenFiles: 1000, FileLimit: 1024}
	remedytest.Has(t, nginxConf(t, in, "nginx.file-limit"), "worker_rlimit_nofile 8192;")
	in.Snapshot.Root = false
	remedytest.WantNone(t, in, "nginx.file-limit", "LimitNOFILE")
}

func TestStaticLogOnlyForFiles(t *testing.T) {
	in := nginxSite(remedytest.PassAll + "\n        location /files/ { root /srv; }\n")
	remedytest.Asset(in, "/srv", "/files/a.png", "image/png")
	text := nginxConf(t, in, "nginx.static-log")
	if strings.Count(text, "access_log off;") != 1 || !strings.Contains(text[strings.Index(text, "location /files/"):], "access_log off;") {
		t.Error(text)
	}
}

// unplanned is what the finding of a rule says of why nothing is planned for it.
func unplanned(t *testing.T, in remedy.Input, rule string) string {
	t.Helper()
	in, _ = remedytest.Plan(t, in)
	remedy.Explain(in)
	for _, f := range in.Diagnosis.Findings {
		if f.Rule == rule {
			return f.Unplanned
		}
	}
	t.Fatalf("no finding of %s", rule)
	return ""
}
