package remedy

import (
	"regexp"
	"strings"
	"testing"
)

func TestStaticGoesToNginxAndTheRestToTheApplication(t *testing.T) {
	in := world(map[string]string{
		ngxPath: ngx("        include site/*.conf;"),
		"/etc/nginx/site/app.conf": strings.Replace(passAll, "fastcgi_param SCRIPT", "add_header X-Frame-Options DENY;\n            include params;\n            fastcgi_param SCRIPT", 1) +
			"\nlocation ~ ^/private/ { return 403; }\n",
		"/etc/nginx/params": "fastcgi_param QUERY_STRING $query_string;\nfastcgi_param HTTPS \"$https\" if_not_empty;\n",
	})
	in.asset("/srv/app", "/css/site.css", "text/css; charset=utf-8")
	in.asset("/srv/app", "/favicon.ico", "image/x-icon")
	in.asset("/srv/other", "/img/a.png", "image/png")
	in.Snapshot.Files["local"]["/etc/nginx/params"] = in.Snapshot.Files["local"]["/etc/nginx/params"]
	text := after(want(t, in, "nginx.static"), "")
	has(t, text, "root /srv/app;", "root /srv/other;", "try_files $uri @kasoku_app0;", "location @kasoku_app0", "@kasoku_app1",
		"error_page 405 = @kasoku_app0;", "text/css css;", "charset utf-8;", "charset_types text/css;", "charset off;",
		"fastcgi_param SCRIPT_FILENAME $document_root/index.php;", "fastcgi_param QUERY_STRING $query_string;", "fastcgi_param HTTPS $https if_not_empty;")
	if n := strings.Count(text, "add_header X-Frame-Options DENY;"); n != 4 { // two locations for files, two named
		t.Errorf("add_header is there %d times", n)
	}
	if strings.Contains(text, "include params") {
		t.Error("the include is written beside what it holds")
	}
}

func TestStaticPatternIsNarrow(t *testing.T) {
	re := regexp.MustCompile(staticPattern([]string{"/favicon.ico", "/img/a.png", "/img/b.jpg", "/a+b/x.css"}))
	for path, want := range map[string]bool{"/favicon.ico": true, "/other.ico": true, "/img/z.jpg": true, "/a+b/y.css": true,
		"/x.png": false, "/img/x.ico": false, "/img/.git.png": false, "/img/sub/x.png": false, "/.env": false, "/img/x.php": false,
		"/img/xpng": false, "/aab/y.css": false, "/img/": false, "/img/a.png/x.php": false} {
		if re.MatchString(path) != want {
			t.Errorf("%s: matches %v, want %v (%s)", path, !want, want, re)
		}
	}
}

func TestStaticKeepsOrderOfRegularExpressions(t *testing.T) {
	in := world(map[string]string{ngxPath: ngx(passAll + "\n        location ~ ^/img/private { deny all; }\n")})
	in.asset("/srv/app", "/img/a.png", "image/png")
	text := after(want(t, in, "nginx.static"), "")
	if strings.Index(text, "private") > strings.Index(text, "^(?:/img/") {
		t.Errorf("the new location overtakes a guard:\n%s", text)
	}
	in = world(map[string]string{ngxPath: ngx("        location ~ \\.png$ { fastcgi_pass 127.0.0.1:9000; }")})
	in.asset("/srv/app", "/img/a.png", "image/png")
	text = after(want(t, in, "nginx.static"), "")
	if strings.Index(text, `\.png$ {`) < strings.Index(text, "^(?:/img/") {
		t.Errorf("the old regular expression still wins:\n%s", text)
	}
}

func TestStaticRefusals(t *testing.T) {
	inside := func(s string) string {
		return ngx("        location / { fastcgi_pass 127.0.0.1:9000; " + s + " }")
	}
	for name, c := range map[string]struct{ conf, why string }{
		"try_files":     {inside("try_files $uri /index.php;"), "uses try_files"},
		"alias":         {inside("alias /srv/x/;"), "uses alias"},
		"if":            {inside("if ($arg_x) { return 403; }"), "uses if"},
		"rewrite":       {inside("rewrite ^ /index.php break;"), "uses rewrite"},
		"guard":         {inside("auth_basic x;"), "obey"},
		"guard by ip":   {inside("deny all;"), "obey"},
		"exact":         {ngx("        location = /img/a.png { fastcgi_pass 127.0.0.1:9000; }"), "no room"},
		"no regex":      {ngx("        location ^~ /img/ { fastcgi_pass 127.0.0.1:9000; }"), "no room"},
		"nested":        {ngx("        location /img/ { location ~ png { fastcgi_pass 127.0.0.1:9000; } }"), "inside another"},
		"proxy to path": {ngx("        location / { proxy_pass http://127.0.0.1:81/x/; }"), "proxy_pass"},
	} {
		t.Run(name, func(t *testing.T) {
			in := world(map[string]string{ngxPath: c.conf})
			in.asset("/srv/app", "/img/a.png", "image/png")
			wantNone(t, in, "nginx.static", c.why)
		})
	}
	t.Run("types", func(t *testing.T) {
		in := world(nil)
		in.asset("/srv/app", "/a.js", "text/javascript")
		in.asset("/srv/app", "/b/b.js", "application/javascript")
		wantNone(t, in, "nginx.static", "are sent as")
	})
	t.Run("elsewhere", func(t *testing.T) {
		in := world(nil)
		in.asset("/srv/app", "/a.js", "text/javascript")
		f := in.Snapshot.StaticFiles["/a.js"]
		f.Path = "/srv/app/other.js"
		in.Snapshot.StaticFiles["/a.js"] = f
		wantNone(t, in, "nginx.static", "no file's place")
	})
}

func TestStaticSecondRoundTakesNewNames(t *testing.T) {
	in := world(nil)
	in.asset("/srv/app", "/img/a.png", "image/png")
	put(in, want(t, in, "nginx.static").Changes)
	in.asset("/srv/app", "/css/a.css", "text/css")
	text := after(want(t, in, "nginx.static"), "")
	for _, name := range []string{"location @kasoku_app0", "location @kasoku_app1"} {
		if strings.Count(text, name) != 1 {
			t.Errorf("%s is there %d times", name, strings.Count(text, name))
		}
	}
}

// A snippet that two servers include is not changed for both of them.
func TestStaticLeavesSharedSnippetsAlone(t *testing.T) {
	two := strings.Replace(ngx("        include app.conf;"), "    server {", "    server { listen 127.0.0.1:8081; include app.conf; }\n    server {", 1)
	in := world(map[string]string{ngxPath: two, "/etc/nginx/app.conf": "location ~ \\.png$ { fastcgi_pass 127.0.0.1:9000; }\n"})
	in.asset("/srv/app", "/img/a.png", "image/png")
	wantNone(t, in, "nginx.static", "included in 2 places")
	in = world(map[string]string{ngxPath: two, "/etc/nginx/app.conf": passAll})
	in.asset("/srv/app", "/img/a.png", "image/png")
	p := want(t, in, "nginx.static")
	if after(p, "/etc/nginx/app.conf") != "" || strings.Count(after(p, ngxPath), "location @kasoku_app0") != 1 {
		t.Errorf("the location is not in the front server alone:\n%s", after(p, ""))
	}
}
