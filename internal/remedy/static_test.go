package remedy_test

import (
	"kasoku/internal/remedy/remedytest"
	"strings"
	"testing"
)

func TestStaticGoesToNginxAndTheRestToTheApplication(t *testing.T) {
	in := remedytest.World(map[string]string{
		remedytest.NginxPath: remedytest.Nginx("        include site/*.conf;"),
		"/etc/nginx/site/app.conf": strings.Replace(remedytest.PassAll, "fastcgi_param SCRIPT", "add_header X-Frame-Options DENY;\n            include params;\n            fastcgi_param SCRIPT", 1) +
			"\nlocation ~ ^/private/ { return 403; }\n",
		"/etc/nginx/params": "fastcgi_param QUERY_STRING $query_string;\nfastcgi_param HTTPS \"$https\" if_not_empty;\n",
	})
	remedytest.Asset(in, "/srv/app", "/css/site.css", "text/css; charset=utf-8")
	remedytest.Asset(in, "/srv/app", "/favicon.ico", "image/x-icon")
	remedytest.Asset(in, "/srv/other", "/img/a.png", "image/png")
	text := remedytest.After(remedytest.Want(t, in, "nginx.static"), "")
	remedytest.Has(t, text, "root /srv/app;", "root /srv/other;", "try_files $uri @kasoku_app0;", "location @kasoku_app0", "@kasoku_app1",
		"error_page 405 = @kasoku_app0;", "text/css css;", "charset utf-8;", "charset_types text/css;", "charset off;",
		"fastcgi_param SCRIPT_FILENAME $document_root/index.php;", "fastcgi_param QUERY_STRING $query_string;", "fastcgi_param HTTPS $https if_not_empty;")
	if n := strings.Count(text, "add_header X-Frame-Options DENY;"); n != 4 { // two locations for files, two named
		t.Errorf("add_header is there %d times", n)
	}
	if strings.Contains(text, "include params") {
		t.Error("the include is written beside what it holds")
	}
}

func TestStaticKeepsOrderOfRegularExpressions(t *testing.T) {
	in := remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx(remedytest.PassAll + "\n        location ~ ^/img/private { deny all; }\n")})
	remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
	text := remedytest.After(remedytest.Want(t, in, "nginx.static"), "")
	if strings.Index(text, "private") > strings.Index(text, "^(?:/img/") {
		t.Errorf("the new location overtakes a guard:\n%s", text)
	}
	in = remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx("        location ~ \\.png$ { fastcgi_pass 127.0.0.1:9000; }")})
	remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
	text = remedytest.After(remedytest.Want(t, in, "nginx.static"), "")
	if strings.Index(text, `\.png$ {`) < strings.Index(text, "^(?:/img/") {
		t.Errorf("the old regular expression still wins:\n%s", text)
	}
}

func TestStaticRefusals(t *testing.T) {
	inside := func(s string) string {
		return remedytest.Nginx("        location / { fastcgi_pass 127.0.0.1:9000; " + s + " }")
	}
	for name, c := range map[string]struct{ conf, why string }{
		"try_files":     {inside("try_files $uri /index.php;"), "uses try_files"},
		"alias":         {inside("alias /srv/x/;"), "uses alias"},
		"if":            {inside("if ($arg_x) { return 403; }"), "uses if"},
		"rewrite":       {inside("rewrite ^ /index.php break;"), "uses rewrite"},
		"guard":         {inside("auth_basic x;"), "obey"},
		"guard by ip":   {inside("deny all;"), "obey"},
		"exact":         {remedytest.Nginx("        location = /img/a.png { fastcgi_pass 127.0.0.1:9000; }"), "no room"},
		"no regex":      {remedytest.Nginx("        location ^~ /img/ { fastcgi_pass 127.0.0.1:9000; }"), "no room"},
		"nested":        {remedytest.Nginx("        location /img/ { location ~ png { fastcgi_pass 127.0.0.1:9000; } }"), "inside another"},
		"proxy to path": {remedytest.Nginx("        location / { proxy_pass http://127.0.0.1:81/x/; }"), "proxy_pass"},
	} {
		t.Run(name, func(t *testing.T) {
			in := remedytest.World(map[string]string{remedytest.NginxPath: c.conf})
			remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
			remedytest.WantNone(t, in, "nginx.static", c.why)
		})
	}
	t.Run("types", func(t *testing.T) {
		in := remedytest.World(nil)
		remedytest.Asset(in, "/srv/app", "/a.js", "text/javascript")
		remedytest.Asset(in, "/srv/app", "/b/b.js", "application/javascript")
		remedytest.WantNone(t, in, "nginx.static", "are sent as")
	})
	t.Run("elsewhere", func(t *testing.T) {
		in := remedytest.World(nil)
		remedytest.Asset(in, "/srv/app", "/a.js", "text/javascript")
		f := in.Snapshot.StaticFiles["/a.js"]
		f.Path = "/srv/app/other.js"
		in.Snapshot.StaticFiles["/a.js"] = f
		remedytest.WantNone(t, in, "nginx.static", "no file's place")
	})
}

func TestStaticSecondRoundTakesNewNames(t *testing.T) {
	in := remedytest.World(nil)
	remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
	remedytest.Put(in, remedytest.Want(t, in, "nginx.static").Changes)
	remedytest.Asset(in, "/srv/app", "/css/a.css", "text/css")
	text := remedytest.After(remedytest.Want(t, in, "nginx.static"), "")
	for _, name := range []string{"location @kasoku_app0", "location @kasoku_app1"} {
		if strings.Count(text, name) != 1 {
			t.Errorf("%s is there %d times", name, strings.Count(text, name))
		}
	}
}

// A snippet that two servers include is not changed for both of them.
func TestStaticLeavesSharedSnippetsAlone(t *testing.T) {
	two := strings.Replace(remedytest.Nginx("        include app.conf;"), "    server {", "    server { listen 127.0.0.1:8081; include app.conf; }\n    server {", 1)
	in := remedytest.World(map[string]string{remedytest.NginxPath: two, "/etc/nginx/app.conf": "location ~ \\.png$ { fastcgi_pass 127.0.0.1:9000; }\n"})
	remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
	remedytest.WantNone(t, in, "nginx.static", "included in 2 places")
	in = remedytest.World(map[string]string{remedytest.NginxPath: two, "/etc/nginx/app.conf": remedytest.PassAll})
	remedytest.Asset(in, "/srv/app", "/img/a.png", "image/png")
	p := remedytest.Want(t, in, "nginx.static")
	if remedytest.After(p, "/etc/nginx/app.conf") != "" || strings.Count(remedytest.After(p, remedytest.NginxPath), "location @kasoku_app0") != 1 {
		t.Errorf("the location is not in the front server alone:\n%s", remedytest.After(p, ""))
	}
}

// Where the application writes each file's own name into a header, nginx does as well:
// one location for a folder, whatever it holds.
func TestStaticWithTheFilesName(t *testing.T) {
	in := remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx(remedytest.PassAll)})
	for _, f := range []string{"/js/a.js", "/js/b.js", "/css/a.css"} {
		kind := "text/javascript"
		if strings.HasSuffix(f, ".css") {
			kind = "text/css"
		}
		remedytest.Asset(in, "/srv/app", f, kind)
		for i := range in.Evidence.Load.Assets {
			if a := &in.Evidence.Load.Assets[i]; a.Path == f {
				a.Headers = []string{"Cache-Control: public", "Content-Disposition: inline; filename=" + f[strings.LastIndex(f, "/")+1:]}
			}
		}
	}
	text := remedytest.After(remedytest.Want(t, in, "nginx.static"), "")
	remedytest.Has(t, text, `^(?:/js/(?<kasoku_file>[^/.][^/]*\.(?:js)))$`, `^(?:/css/(?<kasoku_file>[^/.][^/]*\.(?:css)))$`,
		`add_header Content-Disposition "inline; filename=$kasoku_file";`, "add_header Cache-Control public;")
	if n := strings.Count(text, "location @kasoku_app"); n != 2 {
		t.Errorf("%d groups:\n%s", n, text)
	}
}
