package remedy_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/remedytest"
	"kasoku/internal/stack"
)

// page is one that every stranger gets alike.
func strangersPage(url string) load.PageSample {
	return load.PageSample{URL: url, Route: "GET " + url, Status: 200, Count: 200, Total: 10 * time.Second, Confirmed: true}
}

func pagesWorld(pages ...load.PageSample) remedy.Input {
	in := remedytest.World(nil)
	in.Evidence.Load.Pages = pages
	in.Stack.Regulation.Staleness = 5 * time.Minute
	return in
}

func TestNginxKeepsWhatIsTheSameForAll(t *testing.T) {
	in := pagesWorld(strangersPage("/"), strangersPage("/list?sort=a.b"))
	in.Evidence.Load.TellingHeaders = []string{"x-api-key", "x-tenant"}
	in.Evidence.Load.Assets = []load.StaticSample{{Path: "/logo.png", Status: 200, Count: 100, Total: time.Second, Headers: []string{"Cache-Control: public, max-age=100"}}}
	p := remedytest.Want(t, in, "nginx.page-cache")
	text := remedytest.After(p, "")
	remedytest.Has(t, text, `~^/list\?sort=a\.b$ 1;`, `~^/logo\.png(?:\?.*)?$`, "|$http_authorization|$http_x_original_url|", "|$http_x_tenant|$http_cookie\"",
		"fastcgi_cache_valid 200 99s;", "fastcgi_cache_use_stale off;", "|$http_host|$request_uri|", "fastcgi_no_cache $kasoku_private $kasoku_dated;", "/dev/shm/kasoku-pages-web")
	if len(p.Trades) != 1 || p.Trades[0] != regulation.Staleness || p.Fresh == nil || p.Fresh.MaxAge != 5*time.Minute {
		t.Errorf("trades %v, fresh %+v", p.Trades, p.Fresh)
	}
	// In force, it is not asked for again; another page is added to the map.
	remedytest.Put(in, p.Changes)
	remedytest.WantNone(t, in, "nginx.page-cache", "")
	in.Evidence.Load.Pages = append(in.Evidence.Load.Pages, strangersPage("/news"))
	again := remedytest.After(remedytest.Want(t, in, "nginx.page-cache"), "")
	if strings.Count(again, "fastcgi_cache_path") != 1 || strings.Count(again, "fastcgi_cache_key") != 1 || strings.Count(again, "/news$") != 1 {
		t.Errorf("not one cache:\n%s", again)
	}
}

func TestNginxKeepsNothingElse(t *testing.T) {
	change := func(f func(*load.PageSample)) remedy.Input {
		p := strangersPage("/")
		f(&p)
		return pagesWorld(p)
	}
	for name, in := range map[string]remedy.Input{
		"a cookie":    change(func(p *load.PageSample) { p.SetsCookie = true }),
		"private":     change(func(p *load.PageSample) { p.Private = "it is another for another Accept-Language" }),
		"not asked":   change(func(p *load.PageSample) { p.Confirmed = false }),
		"always new":  change(func(p *load.PageSample) { p.Changes = 150 }),
		"an error":    change(func(p *load.PageSample) { p.Status = 404 }),
		"asked once":  change(func(p *load.PageSample) { p.Count = 1 }),
		"hardly used": change(func(p *load.PageSample) { p.Count, p.Total = 3, time.Millisecond }),
	} {
		t.Run(name, func(t *testing.T) { remedytest.WantNone(t, in, "nginx.page-cache", "") })
	}
	for name, c := range map[string]struct{ inside, why string }{
		"a cache of its own": {"fastcgi_cache other; fastcgi_pass 127.0.0.1:9000;", ""},
		"no buffering":       {"fastcgi_buffering off; fastcgi_pass 127.0.0.1:9000;", "buffering off"},
		"a rest of one":      {"fastcgi_cache_valid 1m; fastcgi_pass 127.0.0.1:9000;", "fastcgi_cache_valid already"},
	} {
		t.Run(name, func(t *testing.T) {
			in := remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx("location / { " + c.inside + " }")})
			in.Evidence.Load.Pages = []load.PageSample{strangersPage("/")}
			remedytest.WantNone(t, in, "nginx.page-cache", c.why)
		})
	}
	in := pagesWorld(strangersPage("/"))
	in.Stack.Regulation.Staleness = 1500 * time.Millisecond
	remedytest.WantNone(t, in, "nginx.page-cache", "below 2s")
}

// Where something else says who may have a page, it may also say to the application
// who asks. What nginx itself decides, it decides for each request anew.
func TestNginxAndWhoMayAsk(t *testing.T) {
	const pass = "fastcgi_pass 127.0.0.1:9000;"
	for name, c := range map[string]struct {
		locations string
		refused   bool
	}{
		"a subrequest":               {"location / { auth_request /auth; " + pass + " }", true},
		"where it comes in":          {"location / { auth_request /auth; try_files $uri @app; } location @app { " + pass + " }", true},
		"in the server":              {"auth_request /auth; location / { " + pass + " }", true},
		"code":                       {"location / { access_by_lua_file /srv/who.lua; " + pass + " }", true},
		"switched off":               {"auth_request /auth; location / { auth_request off; " + pass + " }", false},
		"somewhere else":             {"location / { " + pass + " } location /admin { auth_request /auth; " + pass + " }", false},
		"addresses and passwords":    {"satisfy any; allow 10.0.0.0/8; deny all; auth_basic x; location / { " + pass + " }", false},
		"addresses, in the location": {"location / { deny 10.0.0.1; " + pass + " }", false},
	} {
		t.Run(name, func(t *testing.T) {
			in := remedytest.World(map[string]string{remedytest.NginxPath: remedytest.Nginx(c.locations)})
			in.Evidence.Load.Pages = []load.PageSample{strangersPage("/")}
			in.Stack.Regulation.Staleness = 5 * time.Minute
			if c.refused {
				remedytest.WantNone(t, in, "nginx.page-cache", "lets something else say who")
			} else {
				remedytest.Want(t, in, "nginx.page-cache")
			}
		})
	}
}

// An Apache behind the cache that gives pages by address is not asked for a kept
// one. Rules for other URLs do no harm.
func TestKeptPagesAndAddressRulesBehind(t *testing.T) {
	const site = apachePorts + "<VirtualHost *:80>\nDocumentRoot /srv/www\nAlias /lists /srv/lists\n</VirtualHost>\n"
	for name, c := range map[string]struct {
		conf, access, where string // a .htaccess, where it is refused
	}{
		"a folder of all":               {conf: "<Directory /srv>\nRequire ip 10.0.0.0/8\n</Directory>\n", where: "apache2.conf:10: Require ip 10.0.0.0/8"},
		"the folder":                    {conf: "<Directory /srv/www>\nDeny from 10.1.2.3\n</Directory>\n", where: "Deny from 10.1.2.3"},
		"inside a container":            {conf: "<Directory /srv/www>\n<RequireAny>\n<Files *.php>\nRequire local\n</Files>\n</RequireAny>\n</Directory>\n", where: "Require local"},
		"a location":                    {conf: "<Location /item>\nRequire host example.org\n</Location>\n", where: "Require host"},
		"an expression":                 {conf: "<LocationMatch \"^/item/a$\">\nRequire ip 10.0.0.1\n</LocationMatch>\n", where: "Require ip"},
		"below a route":                 {conf: "<Directory /srv/www/item/near>\nRequire ip 10.0.0.1\n</Directory>\n", where: "Require ip"},
		"an alias":                      {conf: "<Directory /srv/lists>\nRequire ip 10.0.0.1\n</Directory>\n", where: "Require ip"},
		"a file of the folder":          {access: "Require ip 10.0.0.1\n", where: "/srv/www/.htaccess:1: Require ip"},
		"an expression in a file":       {access: "<If \"%{REMOTE_ADDR} != '10.0.0.1'\">\nRequire all denied\n</If>\n", where: "REMOTE_ADDR"},
		"quotes in a file":              {access: "RewriteRule \"^item/\" \"/far/x.php\"\n", conf: "<Location /far>\nRequire ip 10.0.0.1\n</Location>\n", where: "Require ip"},
		"a file that is not understood": {access: "<If true>\nRequire all denied\n", where: "whether /srv/www/.htaccess decides"},
		"in brackets":                   {conf: "<If \"! (-R '10.0.0.0/8')\">\nRequire all denied\n</If>\n", where: "If ! (-R"},
		"not a variable":                {conf: "SetEnvIf Remote_Addr ^10[.] near=1\n<Directory /srv/www>\nDeny from env=!near\n</Directory>\n", where: "Deny from env=!near"},
		"a variable of a variable":      {conf: "SetEnvIf far 1 out\nSetEnvIf Remote_Addr ^10[.] far=1\n<Directory /srv/www>\nRequire expr \"reqenv('out') == '1'\"\n</Directory>\n", where: "reqenv"},
		"a country":                     {conf: "SetEnvIf MM_COUNTRY_CODE ^XX bad\n<Directory /srv/www>\nDeny from env=bad\n</Directory>\n", where: "Deny from env=bad"},
		"a provider's alias":            {conf: "<AuthzProviderAlias ip office 10.0.0.0/8>\n</AuthzProviderAlias>\n<Directory /srv/www>\nRequire office\n</Directory>\n", where: "Require office"},
		"the index of a folder":         {conf: "DirectoryIndex index.php\n<Location /lists/new/index.php>\nRequire ip 10.0.0.1\n</Location>\n", where: "Require ip"},
		"rewritten to a file":           {conf: "RewriteRule ^/item/(.*) /opt/x/$1\n<Directory /opt/x>\nRequire ip 10.0.0.1\n</Directory>\n", where: "Require ip"},
		"rewritten below a folder":      {conf: "<Directory /srv/www/app>\nRewriteRule ^item/ far/x.php\n</Directory>\n<Location /app/far>\nRequire ip 10.0.0.1\n</Location>\n", where: "Require ip"},
		"a folder by a variable":        {conf: "<Directory ${NOWHERE}/x>\nRequire ip 10.0.0.1\n</Directory>\n", where: "Require ip"},
		"rewritten by a variable, and the server's status": {access: "RewriteRule ^ %1 [L,R=301]\nRewriteRule ^(.*)$ $1.php [L]\n", conf: "<Location /server-status>\nSetHandler server-status\nRequire local\n</Location>\n"},
		"a redirect":                   {access: "RewriteRule ^far/(.*) /$1 [R=301,L]\n", conf: "<Location /far>\nRequire ip 10.0.0.1\n</Location>\n"},
		"other methods":                {conf: "<Directory /srv/www>\n<LimitExcept GET POST>\nRequire ip 10.0.0.1\n</LimitExcept>\n<Limit PUT DELETE>\nRequire ip 10.0.0.1\n</Limit>\n</Directory>\n"},
		"a second alias":               {conf: "Alias /item /srv/both\nAlias /far /srv/both\n<Directory /srv/both>\nRequire ip 10.0.0.1\n</Directory>\n", where: "Require ip"},
		"a root that is not plain":     {conf: "DocumentRoot htdocs\n<Directory /srv/www/far>\nRequire ip 10.0.0.1\n</Directory>\n", where: "Require ip"},
		"a rewritten URL, elsewhere":   {conf: "RewriteRule ^/item/ /index.php\n<Directory /srv/www/far>\nRequire ip 10.0.0.1\n</Directory>\n<Location /server-status>\nRequire local\n</Location>\n"},
		"rewritten to a location":      {conf: "RewriteRule ^/item/(.*) /far/$1\n<Location /far/off>\nRequire ip 10.0.0.1\n</Location>\n", where: "Require ip"},
		"rewritten in a folder":        {access: "RewriteRule ^item/ far/x.php?id=$0\n", conf: "<Directory /srv/www/far>\nRequire ip 10.0.0.1\n</Directory>\n", where: "Require ip"},
		"the index":                    {conf: "DirectoryIndex index.php\n<Location /index.php>\nRequire ip 10.0.0.1\n</Location>\n", where: "Require ip"},
		"a variable that is set later": {conf: "<Directory /srv/www>\nRequire env near\n</Directory>\nSetEnvIf Remote_Addr ^10[.] near\n", where: "Require env near"},
		"a rewritten URL":              {conf: "RewriteRule ^/item/ /far/x.php\n<Directory /srv/www/far>\nRequire ip 10.0.0.1\n</Directory>\n", where: "Require ip"},
		"a condition":                  {conf: "RewriteCond %{REMOTE_ADDR} !^10[.]\nRewriteRule ^/item/ - [F]\n", where: "RewriteCond"},
		"a condition by a header":      {conf: "RewriteCond %{HTTP:X-Forwarded-For} !^10[.]\nRewriteRule ^/item/ - [F]\n", where: "RewriteCond"},
		"a condition by the scheme":    {conf: "RewriteCond %{HTTP:X-Forwarded-Proto} !https\nRewriteRule ^ https://example.org/ [R]\n"},
		"an If":                        {conf: "<If \"! -R '10.0.0.0/8'\">\nRequire all denied\n</If>\n", where: "If ! -R"},
		"a variable":                   {conf: "SetEnvIf Remote_Addr ^10[.] near=1\n<Directory /srv/www>\nRequire env near\n</Directory>\n", where: "Require env near"},
		"a variable for the log":       {conf: "SetEnvIf Remote_Addr ^10[.] near=1\n<Directory /srv/www>\nDeny from env=bad\n</Directory>\n"},
		"of unknown condition":         {conf: "<IfDirective X>\n<Location />\nRequire ip 10.0.0.1\n</Location>\n</IfDirective>\n", where: "Require ip"},
		"another folder":               {conf: "<Directory /srv/www/far>\nRequire ip 10.0.0.1\n</Directory>\n"},
		"a folder of no URL":           {conf: "<Directory /opt/x>\nRequire ip 10.0.0.1\n</Directory>\n"},
		"the server's status":          {conf: "<Location /server-status>\nRequire local\n</Location>\n"},
		"another expression":           {conf: "<LocationMatch ^/lists/far>\nRequire ip 10.0.0.1\n</LocationMatch>\n<LocationMatch ^/far>\nRequire all granted\n</LocationMatch>\n", where: "Require ip"},
		"everybody":                    {conf: "<Directory /srv/www>\nRequire all granted\nAllow from all\nDeny from env=bad\n</Directory>\n"},
		"a condition that fails":       {conf: "<IfModule mod_none.c>\n<Location />\nRequire ip 10.0.0.1\n</Location>\n</IfModule>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			in := frontWorld(site+c.conf, nil)
			in.Evidence.Logs = nil
			in.Evidence.Load.Pages = append(itemPages(), strangersPage("/"), strangersPage("/lists/new"))
			if c.access != "" {
				in.Snapshot.Files["local"]["/srv/www/.htaccess"] = evidence.File{Content: []byte(c.access)}
				a := in.Snapshot.Apache["httpd"]
				a.AccessFiles = []string{"/srv/www/.htaccess"}
				in.Snapshot.Apache["httpd"] = a
			}
			if c.where != "" {
				remedytest.WantNone(t, in, inFront, c.where)
			} else {
				remedytest.Want(t, in, inFront)
			}
		})
	}
}

// So with an nginx behind a Varnish.
func TestKeptPagesAndNginxBehind(t *testing.T) {
	const pass = "fastcgi_pass 127.0.0.1:9000;"
	for name, c := range map[string]struct{ server, where string }{
		"for all":              {"allow 10.0.0.0/8; deny all; location / { " + pass + " }", "allow 10.0.0.0/8 decides by the client's address"},
		"the page":             {"location / { " + pass + " } location = /about { deny 10.0.0.1; " + pass + " }", "deny 10.0.0.1"},
		"an expression":        {"location / { " + pass + " } location ~* ^/ABOUT { deny 10.0.0.1; " + pass + " }", "deny 10.0.0.1"},
		"a named location":     {"location / { try_files $uri @app; } location @app { deny 10.0.0.1; " + pass + " }", "deny 10.0.0.1"},
		"a test":               {"set $who $remote_addr; location / { if ($who = 10.0.0.1) { return 403; } " + pass + " }", "if ($who"},
		"a test of a header":   {"location / { if ($http_x_forwarded_for ~ 10.0.0.1) { return 403; } " + pass + " }", "if ($http_x_forwarded_for"},
		"a test of Forwarded":  {"location / { if ($http_forwarded ~ 10.0.0.1) { return 403; } " + pass + " }", "if ($http_forwarded"},
		"a scheme's header":    {"location / { if ($http_x_forwarded_proto = http) { return 301 https://example.org/; } " + pass + " }", ""},
		"another place":        {"set $pool a; set $pool ${remote_addr}; location / { proxy_pass http://$pool; }", "proxy_pass"},
		"a subrequest":         {"location / { auth_request /who; " + pass + " }", "auth_request"},
		"an index":             {"index index.php; location / { " + pass + " } location = /about/index.php { allow 10.0.0.1; deny all; " + pass + " }", "allow 10.0.0.1"},
		"a suffix":             {"location / { try_files $uri.php =404; } location ~ \\.php$ { allow 10.0.0.1; deny all; " + pass + " }", "allow 10.0.0.1"},
		"the server's status":  {"rewrite ^/(.*)/$ /$1 permanent; location / { try_files $uri/index.html $uri.html $uri @app; } location @app { " + pass + " } location = /nginx_status { stub_status; allow 127.0.0.1; deny all; }", ""},
		"another method":       {"location / { limit_except GET { allow 10.0.0.1; deny all; } " + pass + " }", ""},
		"what it leads to":     {"location / { try_files $uri /index.php?$args; " + pass + " } location ~ \\.php$ { deny 10.0.0.1; " + pass + " }", "deny 10.0.0.1"},
		"what it rewrites to":  {"rewrite ^ /x/y; location / { " + pass + " } location /x { deny 10.0.0.1; " + pass + " }", "deny 10.0.0.1"},
		"another page":         {"location / { " + pass + " } location = /status { allow 127.0.0.1; deny all; " + pass + " }", ""},
		"another expression":   {"location / { " + pass + " } location ~ ^/(status|ping)$ { allow 127.0.0.1; deny all; " + pass + " }", ""},
		"nobody":               {"location / { " + pass + " } location ~ /\\. { deny all; }", ""},
		"a test of the method": {"location / { if ($request_method = POST) { return 405; } " + pass + " }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := varnished(plainVCL)
			f := in.Snapshot.Files["local"][remedytest.NginxPath]
			f.Content = []byte(remedytest.Nginx(c.server))
			in.Snapshot.Files["local"][remedytest.NginxPath] = f
			if c.where != "" {
				remedytest.WantNone(t, in, "varnish.pages", c.where)
			} else {
				remedytest.Want(t, in, "varnish.pages")
			}
		})
	}
}

// Without the trade it is refused, and says which.
func TestStrictRefusesPageCaches(t *testing.T) {
	in := pagesWorld(strangersPage("/"))
	in.Stack.Regulation = regulation.Regulation{}
	_, res := remedytest.Plan(t, in)
	for _, r := range res.Refusals {
		if r.Plan.Remedy == "nginx.page-cache" && strings.Contains(r.Why, "staleness") {
			return
		}
	}
	t.Errorf("not refused: %+v", res.Refusals)
}

// What an application lets live shorter than it would be kept is not kept.
func TestShorterLivesAreNotKept(t *testing.T) {
	in := pagesWorld(strangersPage("/"))
	in.Stack.Regulation.Staleness = 302 * time.Second
	text := remedytest.After(remedytest.Want(t, in, "nginx.page-cache"), "")
	_, private, _ := strings.Cut(text, "$kasoku_private {")
	private, _, _ = strings.Cut(private, "map ")
	lines := regexp.MustCompile(`"~\*(.*)" ([01]);`).FindAllStringSubmatch(private, -1)
	if len(lines) != 4 {
		t.Fatalf("no expressions:\n%s", text)
	}
	keeps := func(value string) bool { // as nginx: the first that matches
		for _, m := range lines {
			if regexp.MustCompile("(?i)" + strings.ReplaceAll(m[1], `\"`, `"`)).MatchString(value) {
				return m[2] == "0"
			}
		}
		return true
	}
	for value, kept := range map[string]bool{"max-age=0": false, "max-age=7": false, "max-age=99": false, "max-age=300": false, "public, s-maxage=299": false,
		"s-maxage=18000, must-revalidate, max-age=0": true, "max-age=0, s-maxage=301": true, "s-maxage=7, max-age=1000": false, "private, s-maxage=400": false,
		"max-age=301": true, "max-age=1000": true, "max-age=00300": false, "max-age=3000": true, "public": true, "stale-if-error=5": true} {
		if keeps(value) != kept {
			t.Errorf("%s: kept %v, by %v", value, !kept, lines)
		}
	}
}

const plainVCL = "vcl 4.1;\nbackend app { .host = \"127.0.0.1\"; }\n"

func varnished(vcl string) remedy.Input {
	in := pagesWorld(strangersPage("/"), strangersPage("/about"))
	in.Evidence.Load.Pages[1].Known = 50
	in.Stack.Load.URL = "http://127.0.0.1:6081"
	in.Stack.Services = append(in.Stack.Services, stack.Service{Name: "front", Kind: stack.Varnish, Config: "/etc/varnish/default.vcl", Listen: []string{"127.0.0.1:6081"},
		Control: stack.Control{Start: []string{"sh", "/srv/start"}}})
	in.Snapshot.Files["local"]["/etc/varnish/default.vcl"] = evidence.File{Content: []byte(vcl), Service: "front", Writable: true}
	in.Snapshot.Files["local"]["/srv/start"] = evidence.File{Content: []byte("#!/bin/sh\nexec varnishd -a :6081 \\\n  -s file,/v/x,1g -F\n"), Service: "front", Writable: true}
	return in
}

func TestVarnishKeepsPages(t *testing.T) {
	in := varnished(plainVCL)
	text := remedytest.After(remedytest.Want(t, in, "varnish.pages"), "")
	remedytest.Has(t, text, `req.url ~ {"(?:^/$|^/about$)"}`, `if (req.url ~ {"(?:^/about$)"})`, "set beresp.ttl = 300.000s;", "set beresp.grace = 0s;", "req.http.Authorization || req.http.x-original-url")
	text = remedytest.After(remedytest.Want(t, in, "varnish.storage"), "")
	remedytest.Has(t, text, "-s malloc,1024m -F\n")
	remedytest.WantNone(t, varnished(plainVCL+"sub vcl_recv { set req.backend_hint = app; }\n"), "varnish.pages", "backend_hint")
	in = varnished(plainVCL)
	for i := range in.Evidence.Load.Pages {
		in.Evidence.Load.Pages[i].Hit, in.Evidence.Load.Pages[i].Known = true, 0
	}
	remedytest.WantNone(t, in, "varnish.pages", "")
}

// Clients say who they are by headers that the scenario does not send, too.
func TestIdentifyingHeadersAreBarred(t *testing.T) {
	nginx := remedytest.After(remedytest.Want(t, pagesWorld(strangersPage("/")), "nginx.page-cache"), "")
	varnish := remedytest.After(remedytest.Want(t, varnished(plainVCL), "varnish.pages"), "")
	for _, h := range []string{"x-api-key", "x-auth-token", "x-access-token", "x-session-id", "x-user-id", "x-remote-user", "remote-user",
		"x-forwarded-user", "x-forwarded-email", "x-client-cert", "ssl-client-cert"} {
		remedytest.Has(t, nginx, "|$http_"+strings.ReplaceAll(h, "-", "_")+"|")
		if !regexp.MustCompile(`\|\| req\.http\.` + h + `( \|\| .*)?\) \{\s*return \(pass\);`).MatchString(varnish) {
			t.Errorf("a request with %s is not passed on:\n%s", h, varnish)
		}
	}
	nginxTakes(t, nginx)
}

// ownRules are VCLs whose own rules kept pages would be sent before, each with
// what a refusal says.
var ownRules = map[string]struct{ vcl, says string }{
	"a password":               {"sub vcl_recv {\n    if (req.http.Authorization != \"Basic eA==\") {\n        return (synth(401));\n    }\n}\n", "default.vcl:5: sub vcl_recv decides who is answered (return ( synth)"},
	"a password, elsewhere":    {"sub vcl_recv {\n    if (req.http.authorization !~ \"^Basic\") { return (pass); }\n}\n", "default.vcl:4: sub vcl_recv decides by who asks"},
	"an address in a header":   {"acl inner { \"10.0.0.0\"/8; }\nsub vcl_recv {\n    if (std.ip(req.http.X-Real-IP, \"0.0.0.0\") !~ inner) { return (pass); }\n}\n", "default.vcl:5: sub vcl_recv asks a list of addresses (~ inner)"},
	"an address as text":       {"sub vcl_recv { if (req.http.X-Forwarded-For ~ \"^10[.]\") { return (pass); } }\n", "decides by who asks"},
	"the door":                 {"sub vcl_recv { if (local.socket != \"inner\") { return (pass); } }\n", "decides by addresses (local.socket)"},
	"to HTTPS":                 {"sub vcl_recv { if (req.http.X-Forwarded-Proto != \"https\") { return(synth(750, \"\")); } }\n", "return ( synth"},
	"to HTTPS, in a sub":       {"sub tls { return (synth (301)); }\nsub vcl_recv { call tls; }\n", "default.vcl:3: sub tls decides who is answered"},
	"the built-in one's":       {"sub vcl_req_authorization { return (synth(401)); }\n", "sub vcl_req_authorization decides who is answered"},
	"a pipe":                   {"sub vcl_recv { if (req.http.Upgrade) { return ( /* as is */ pipe); } }\n", "return ( pipe"},
	"another VCL":              {"sub vcl_recv { return (vcl(other)); }\n", "return ( vcl"},
	"an end":                   {"sub vcl_recv { return (fail(\"no\")); }\n", "return ( fail"},
	"a header is believed":     {"sub vcl_recv { unset req.http.X-Remote-User; }\n", "unset req.http.X-Remote-User"},
	"another host, as written": {"sub vcl_recv { set req.http.Host = \"a\"; }\n", "set req.http.Host"},
	"statements of a file":     {"sub vcl_recv { include \"rules.vcl\"; }\n", "includes what is not read"},
	"a file":                   {"include \"./rules.vcl\";\n", "/etc/varnish/rules.vcl:2: sub vcl_recv decides who is answered"},
}

const rulesVCL = "sub vcl_recv {\n    return (synth(403)); }\n"

// ordinaryVCL decides nothing, whatever its comments and strings say.
const ordinaryVCL = plainVCL + `sub vcl_recv {
    # return (synth(401)); set req.backend_hint = app;
    /* if (client.ip ~ inner) { return (pipe); } */
    set req.http.Cookie = regsuball(req.http.Cookie, "return (synth(1))", "");
    unset req.http.accept-encoding;
    if (req.http.Authorization || req.http.Cookie ~ "session") {
        return (pass);
    }
}
sub vcl_deliver {
    if (resp.status == 503 && req.restarts == 0) {
        return (restart);
    }
    set resp.http.X-Served-By = "edge";
}
sub vcl_purge {
    return (synth(200, "Purged"));
}
`

func TestVarnishWithRulesOfItsOwn(t *testing.T) {
	for name, c := range ownRules {
		t.Run(name, func(t *testing.T) {
			in := varnished(plainVCL + c.vcl)
			in.Snapshot.Files["local"]["/etc/varnish/rules.vcl"] = evidence.File{Content: []byte(rulesVCL), Service: "front", Writable: true}
			remedytest.WantNone(t, in, "varnish.pages", c.says)
		})
	}
	in := varnished(ordinaryVCL)
	p := remedytest.Want(t, in, "varnish.pages")
	remedytest.Has(t, remedytest.After(p, ""), "kasoku:begin kasoku-pages")
	// A rule that is written after the pages were kept counts, too.
	remedytest.Put(in, p.Changes)
	in.Evidence.Load.Pages = append(in.Evidence.Load.Pages, strangersPage("/news"))
	remedytest.Want(t, in, "varnish.pages")
	f := in.Snapshot.Files["local"]["/etc/varnish/default.vcl"]
	f.Content = append(f.Content, "sub vcl_recv { return (synth(403)); }\n"...)
	in.Snapshot.Files["local"]["/etc/varnish/default.vcl"] = f
	remedytest.WantNone(t, in, "varnish.pages", "decides who is answered")
}

// itemPages are so many of a route that they stand for it.
func itemPages() []load.PageSample {
	var pages []load.PageSample
	for _, id := range strings.Split("a b c d e f g h i j", " ") {
		p := strangersPage("/item/" + id)
		p.Route = "GET /item/${item.id}"
		pages = append(pages, p)
	}
	return pages
}

// Many URLs of a route that are all the same for strangers stand for it.
func TestPagesOfARoute(t *testing.T) {
	pages := itemPages()
	text := remedytest.After(remedytest.Want(t, pagesWorld(pages...), "nginx.page-cache"), "")
	remedytest.Has(t, text, `~^/item/[^/?]+$`)
	bad := strangersPage("/item/mine")
	bad.Route, bad.Private = pages[0].Route, "it sets a cookie"
	text = remedytest.After(remedytest.Want(t, pagesWorld(append(pages, bad)...), "nginx.page-cache"), "")
	remedytest.Has(t, text, `~^/item/a$`)
	remedytest.HasNot(t, text, "[^/?]+", "mine")
}

// Varnish gets twice its threads while pools are at the limit, as far as memory
// goes, and more that wait where only the queue ran over.
func TestVarnishThreads(t *testing.T) {
	world := func(args string, counters map[string]float64) remedy.Input {
		in := varnished(plainVCL)
		in.Snapshot.Files["local"]["/srv/start"] = evidence.File{Content: []byte("#!/bin/sh\nexec varnishd -a :6081 " + args + " \\\n  -F\n"), Service: "front", Writable: true}
		in.Evidence.Counters["front"] = evidence.CounterDelta{Delta: counters}
		return in
	}
	limited, dropped := map[string]float64{"MAIN.threads_limited": 9}, map[string]float64{"MAIN.sess_dropped": 9}
	for name, c := range map[string]struct {
		args     string
		counters map[string]float64
		spare    int64 // MiB beyond the headroom of 20 % of 8 GiB
		want     string
	}{
		"as written":        {"-p thread_pool_max=200 -p thread_pools=1", limited, 1000, "varnishd -a :6081 -p thread_pool_max=400 -p thread_pools=1 \\\n  -F\n"},
		"by default":        {"-p vcl_path=/x", limited, 8000, "-p vcl_path=/x -p thread_pool_max=10000 "},
		"as memory goes":    {"-p thread_pool_max=200", limited, 34, "-p thread_pool_max=232 "},         // 34 MiB / 2 / 2 pools / 272 KiB
		"with larger parts": {"-p thread_pool_max=200 -p workspace_backend=864k", limited, 34, "=208 "}, // 1040 KiB each
		"the queue":         {"", dropped, 1000, "-F -p thread_pool_min=200\n"},
		"up to the most":    {"-p thread_pool_max=150", dropped, 1000, "-p thread_pool_max=150 -p thread_pool_min=150 "},
	} {
		t.Run(name, func(t *testing.T) {
			in := world(c.args, c.counters)
			in.Snapshot.Memory = 8 << 30
			in.Evidence.System.MemoryAvailable = in.Snapshot.Memory*20/100 + c.spare<<20
			remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "varnish.threads"), "/srv/start"), c.want)
		})
	}
	in := world("", limited)
	in.Evidence.System.MemoryAvailable = 1 << 30
	remedytest.WantNone(t, in, "varnish.threads", "no memory to spare for more threads of 272 KiB")
	remedytest.WantNone(t, world("-p thread_pool_min=300 -p thread_pool_max=300", dropped), "varnish.threads", "no room for more")
	remedytest.WantNone(t, world("", map[string]float64{"MAIN.threads_failed": 3}), "varnish.threads", "LimitNPROC=")
	in = world("", limited)
	delete(in.Snapshot.Files["local"], "/srv/start")
	remedytest.WantNone(t, in, "varnish.threads", "no script that control.start names")
	// A unit gets a drop-in.
	in = world("", limited)
	in.Stack.Service("front").Control = stack.Control{Unit: "varnish"}
	in.Snapshot.Files["local"]["/lib/systemd/system/varnish.service"] = evidence.File{Content: []byte("[Service]\nExecStart=/usr/sbin/varnishd -a :6081 -p thread_pool_max=300\n"), Service: "front"}
	remedytest.Has(t, remedytest.After(remedytest.Want(t, in, "varnish.threads"), ""), "ExecStart=/usr/sbin/varnishd -a :6081 -p thread_pool_max=600")
}
