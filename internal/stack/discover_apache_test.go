package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/confedit/apache"
)

// apacheConf is a server of the lab with the modules that tests need.
func (l *lab) apacheConf(port, mpm, rest string) string {
	need(l.t, "apache2")
	var b strings.Builder
	mods := []string{mpm, "authz_core", "dir", "proxy", "proxy_http", "proxy_fcgi", "rewrite"}
	for _, m := range mods {
		fmt.Fprintf(&b, "LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n", m, m)
	}
	fmt.Fprintf(&b, `ServerRoot %[1]s
PidFile run/apache.pid
DefaultRuntimeDir %[1]s/run
ErrorLog %[1]s/error.log
User www-data
Group www-data
ServerName lab.test
Listen 127.0.0.1:%[2]s
<Directory %[1]s>
    Require all granted
</Directory>
%[3]s`, l.dir, port, rest)
	must(l.t, os.MkdirAll(l.path("run"), 0o755))
	return b.String()
}

func (l *lab) apacheServer(port, conf string) *Controller {
	return l.add(Service{Name: "apache", Kind: Apache, Binary: need(l.t, "apache2"), Config: l.write("apache.conf", conf), Prefix: l.dir,
		Listen: []string{"127.0.0.1:" + port}, Control: Control{Method: MethodProcess, PIDFile: l.path("run/apache.pid")}})
}

// Discovery reads a real Apache's sites through includes, definitions and
// macros, and a real Varnish's VCL through its includes.
func TestDiscoverApacheAndVarnish(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newLab(t)
	webPort, frontPort, apiPort := freePort(t), freePort(t), freePort(t)
	l.write("site/public/index.php", "<?php echo 'php ' . getmypid();")
	l.write("site/lib/x.php", "<?php")
	l.write("api/server.sh", "exec php -S 127.0.0.1:"+apiPort+"\n")
	l.write("api/index.php", "<?php echo 'api';")
	l.write("sites/a.conf", fmt.Sprintf(`<VirtualHost *:%[2]s>
    DocumentRoot "${site}/public"
    DirectoryIndex index.php
    <FilesMatch "\.php$">
        SetHandler "proxy:unix:%[1]s/php.sock|fcgi://localhost"
    </FilesMatch>
    <IfModule mod_jk.c>
        ProxyPass /no http://127.0.0.1:1/
    </IfModule>
    Use API /api %[3]s
</VirtualHost>
`, l.dir, webPort, apiPort))
	l.write("sites/off.disabled", "ProxyPass /off http://127.0.0.1:2/\n")
	conf := l.apacheConf(webPort, "mpm_event", `LoadModule macro_module /usr/lib/apache2/modules/mod_macro.so
Define site `+l.dir+`/site
<Macro API $path $port>
    ProxyPass $path \
        http://127.0.0.1:$port/
</Macro>
IncludeOptional sites/*.conf
`)
	web := l.apacheServer(webPort, conf)
	l.write("backend.vcl", "# .host = \"no\"\nbackend default { .host = \"127.0.0.1\"; .port = \""+webPort+"\"; }\n")
	vcl := l.write("main.vcl", "vcl 4.1;\ninclude \"./backend.vcl\";\nsub vcl_recv { return (pass); }\n")
	varnish := l.add(Service{Name: "varnish", Kind: Varnish, Config: vcl, Listen: []string{"127.0.0.1:" + frontPort}, Binary: need(t, "varnishd"), Control: Control{
		Method: MethodProcess, PIDFile: l.path("v.pid"),
		Start: []string{need(t, "varnishd"), "-a", "127.0.0.1:" + frontPort, "-f", vcl, "-n", l.path("v"), "-P", l.path("v.pid"), "-s", "malloc,16m", "-j", "none"}}})
	for _, c := range []*Controller{
		l.fpm(l.path("php.sock")), web, varnish,
		l.add(Service{Name: "api", Kind: App, Root: l.path("api"), Listen: []string{"127.0.0.1:" + apiPort}, Binary: need(t, "php"), Control: Control{
			Start: []string{"sh", "server.sh"}}}),
	} {
		must(t, c.Start(ctx))
	}
	for path, want := range map[string]string{"/": "php ", "/api/": "api"} {
		if got := string(get(t, "http://127.0.0.1:"+frontPort+path)); !strings.HasPrefix(got, want) {
			t.Fatalf("%s answers %q", path, got)
		}
	}

	s, notes, err := Discover(ctx, l.h)
	must(t, err)
	find := func(what string, ok func(Service) bool) Service {
		t.Helper()
		i := slices.IndexFunc(s.Services, ok)
		if i < 0 {
			t.Fatalf("%s was not found in %+v\nnotes: %q", what, s.Services, notes)
		}
		return s.Services[i]
	}
	front := find("varnish", func(x Service) bool { return x.Config == vcl })
	ap := find("apache", func(x Service) bool { return x.Config == l.path("apache.conf") })
	php := find("php-fpm", func(x Service) bool { return x.Config == l.path("fpm.conf") })
	app := find("the PHP app", func(x Service) bool { return x.Root == l.path("site") })
	api := find("the app server", func(x Service) bool { return x.Root == l.path("api") })
	for _, c := range []struct{ what, got, want string }{
		{"varnish listens", fmt.Sprint(front.Listen), fmt.Sprintf("[127.0.0.1:%s]", frontPort)},
		{"varnish talks to", fmt.Sprint(front.TalksTo), fmt.Sprint([]string{ap.Name})},
		{"apache kind", string(ap.Kind), "apache"},
		{"apache version", ap.Version[:4], "2.4."},
		{"apache prefix", ap.Prefix, "/etc/apache2"},
		{"apache pid file", ap.Control.PIDFile, l.path("run/apache.pid")},
		{"apache talks to", fmt.Sprint(ap.TalksTo), fmt.Sprint([]string{php.Name, api.Name})},
		{"app runs in", app.RunsIn, php.Name},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
	for _, n := range notes {
		if strings.Contains(n, ap.Name+" passes requests to 127.0.0.1:1") || strings.Contains(n, "127.0.0.1:2,") {
			t.Errorf("an inactive directive was taken: %s", n)
		}
	}
	for _, name := range []string{ap.Name, front.Name} {
		c, err := NewController(l.h, s, s.Service(name))
		must(t, err)
		must(t, c.Check(ctx))
	}
}

func TestProxyEndpoint(t *testing.T) {
	tests := []struct {
		directive, target, endpoint string
		ok                          bool
	}{
		{`ProxyPass /a http://10.0.0.1/b retry=0`, "http://10.0.0.1/b", "10.0.0.1:80", true},
		{`ProxyPass https://[::1]:8443/`, "https://[::1]:8443/", "[::1]:8443", true},
		{`ProxyPass /a !`, "", "", false},
		{`ProxyPassMatch "^/(.*\.php)$" fcgi://127.0.0.1:9000/srv/$1`, "fcgi://127.0.0.1:9000/srv/$1", "127.0.0.1:9000", true},
		{`ProxyPass / balancer://pool/`, "balancer://pool/", "", true},
		{`BalancerMember ajp://app1 loadfactor=2`, "ajp://app1", "app1:8009", true},
		{`SetHandler "proxy:unix:/run/p.sock|fcgi://x/"`, "unix:/run/p.sock|fcgi://x/", "unix:/run/p.sock", true},
		{`SetHandler server-status`, "", "", false},
		{`RewriteRule ^/(.*)$ http://127.0.0.1:3000/$1 [P,L]`, "http://127.0.0.1:3000/$1", "127.0.0.1:3000", true},
		{`RewriteRule ^/(.*)$ http://%{HTTP_HOST}/$1 [P]`, "http://%{HTTP_HOST}/$1", "", false},
		{`RewriteRule ^/(.*)$ http://example.org/$1 [R]`, "", "", false},
	}
	for _, tt := range tests {
		cfg, err := apache.Load("/a", apache.Options{}, func(string) ([]byte, error) { return []byte(tt.directive), nil }, nil)
		must(t, err)
		target := proxyTarget(cfg.Root.Children[0])
		if target != tt.target {
			t.Errorf("%s: target %q, want %q", tt.directive, target, tt.target)
		}
		if target == "" {
			continue
		}
		if e, ok := proxyEndpoint(target); e != tt.endpoint || ok != tt.ok {
			t.Errorf("%s: %q, %v, want %q, %v", tt.directive, e, ok, tt.endpoint, tt.ok)
		}
	}
}

// PHP as a module of Apache: the application runs in Apache itself. As a known
// one it has its documented settings only, not code that names addresses.
// What a child of a server opened for itself is gone after a restart (Passenger's
// agent, application processes): init does not write it down, and where it stands in
// kasoku.yaml an Apache, whose configuration tells, is healthy without it. Of a
// server whose configuration is not read, the error tells the way out.
func TestSocketsOfChildrenAreNotRequired(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newLab(t)
	port, apiPort := freePort(t), freePort(t)
	need(t, "perl")
	opens := l.write("opens.pl", `use IO::Socket::INET; use IO::Socket::UNIX;
my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die $!;
my $u = IO::Socket::UNIX->new(Listen => 1, Local => "`+l.dir+`/agent.$$.sock") or die $!;
open my $f, '>', "`+l.path("opened")+`.new"; print $f $s->sockport; close $f;
rename "`+l.path("opened")+`.new", "`+l.path("opened")+`";
sleep 600 unless @ARGV == 0; while (<STDIN>) {}
`)
	opened := func() string {
		t.Helper()
		var b []byte
		await.For(t, "a child that listens", func() bool {
			var err error
			b, err = os.ReadFile(l.path("opened"))
			return err == nil && os.Remove(l.path("opened")) == nil
		})
		return "127.0.0.1:" + string(b)
	}
	web := l.apacheServer(port, l.apacheConf(port, "mpm_event", "CustomLog \"|/usr/bin/perl "+opens+"\" \"%r\"\nProxyPass /api http://127.0.0.1:"+apiPort+"/\n"))
	must(t, web.Start(ctx))
	child := opened()
	l.write("api/server.sh", "perl "+opens+" on &\nexec php -S 127.0.0.1:"+apiPort+"\n")
	l.write("api/index.php", "<?php echo 'api';")
	api := l.add(Service{Name: "api", Kind: App, Root: l.path("api"), Listen: []string{"127.0.0.1:" + apiPort}, Binary: need(t, "php"), Control: Control{
		Start: []string{"sh", "server.sh"}}})
	must(t, api.Start(ctx))
	agent := opened()

	s, notes, err := Discover(ctx, l.h)
	must(t, err)
	found := map[string][]string{}
	for _, svc := range s.Services {
		if svc.Config == l.path("apache.conf") || svc.Root == l.path("api") {
			found[string(svc.Kind)] = svc.Listen
		}
	}
	if want := map[string][]string{"apache": {"127.0.0.1:" + port}, "app": {"127.0.0.1:" + apiPort}}; !reflect.DeepEqual(found, want) {
		t.Errorf("found %v, want %v; notes %q", found, want, notes)
	}

	web.svc.Listen = append(web.svc.Listen, child) // as an earlier init wrote it
	must(t, web.Restart(ctx))
	must(t, web.WaitHealthy(ctx))
	opened() // most likely another port

	api.svc.Listen = append(api.svc.Listen, agent)
	api.svc.Health.Timeout = 2 * time.Second
	must(t, api.WaitHealthy(ctx))
	must(t, api.Stop(ctx))
	l.write("api/server.sh", "exec php -S 127.0.0.1:"+apiPort+"\n")
	err = api.Start(ctx)
	if err == nil || !strings.Contains(err.Error(), "its main process now listens at 127.0.0.1:"+apiPort+": if that is right, write it as listen of api in kasoku.yaml, then run `kasoku recover`") {
		t.Errorf("the way out is not told: %v", err)
	}
}

func TestDiscoverModPHP(t *testing.T) {
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	loads, err := filepath.Glob("/etc/apache2/mods-available/php*.load")
	must(t, err)
	if len(loads) == 0 {
		t.Fatal("Apache's PHP module is not installed; run `make deps-test`")
	}
	found, err := os.ReadFile(loads[0])
	must(t, err)
	l.write("shop/web/index.php", "<?php echo 'php ' . getmypid();")
	l.write("shop/composer.json", "{}")
	l.write("shop/load.php", "<?php")
	l.write("shop/includes/Defines.php", "<?php define( 'MW_VERSION', '1.39.17' );")
	l.write("shop/includes/installer/MysqlInstaller.php", "<?php $server = 'mysql:host=localhost;port=3306'; $db_name = 'wiki';")
	settings := l.write("shop/LocalSettings.php", "<?php\n$wgDBserver = \"127.0.0.1:3306\";\n$wgDBname = \"wiki\";\n")
	ini := l.write("php/php.ini", "[PHP]\n")
	c := l.apacheServer(port, l.apacheConf(port, "mpm_prefork", string(found)+"PHPIniDir "+l.path("php")+"\nDocumentRoot "+l.path("shop/web")+"\nDirectoryIndex index.php\n<FilesMatch \\.php$>\n  SetHandler application/x-httpd-php\n</FilesMatch>\n"))
	must(t, c.Start(ctx))
	if got := string(get(t, "http://127.0.0.1:"+port+"/")); !strings.HasPrefix(got, "php ") {
		t.Fatalf("/ answers %q", got)
	}
	s, notes, err := Discover(ctx, l.h)
	must(t, err)
	web := slices.IndexFunc(s.Services, func(x Service) bool { return x.Config == l.path("apache.conf") })
	app := slices.IndexFunc(s.Services, func(x Service) bool { return x.Root == l.path("shop") })
	if web < 0 || app < 0 || s.Services[app].RunsIn != s.Services[web].Name {
		t.Fatalf("found %+v\nnotes: %q", s.Services, notes)
	}
	if got := fmt.Sprint(s.Services[app].Settings); got != "["+settings+"]" {
		t.Errorf("settings are %s, want %s", got, settings)
	}
	if got := s.Services[web].PHPIni; got != ini {
		t.Errorf("php_ini is %q, want %q", got, ini)
	}
}

// What varnishd is started with decides whether its VCL compiles, and an edit
// that Apache does not take is told in Apache's words.
func TestCheckApacheAndVarnish(t *testing.T) {
	ctx := context.Background()
	l := newLab(t)
	must(t, os.Mkdir(l.path("vcl"), 0o755))
	l.write("vcl/part.vcl", "backend spare { .host = \"127.0.0.1\"; }\n")
	conf := l.write("main.vcl", "vcl 4.1;\nbackend default none;\ninclude \"part.vcl\";\n")
	start := []string{need(t, "varnishd"), "-f", conf, "-p", "vcl_path=" + l.path("vcl")}
	svc := Service{Name: "v", Kind: Varnish, Config: conf, Binary: start[0], Control: Control{Method: MethodProcess, Start: start}}
	if err := l.add(svc).Check(ctx); err == nil || !strings.Contains(err.Error(), "Unused backend spare") {
		t.Errorf("an unused backend: %v", err)
	}
	svc.Control.Start = append(start, "-pvcc_err_unref=off")
	must(t, l.add(svc).Check(ctx))

	port := freePort(t)
	l.write("rel.conf", "Timeout 5\n")
	text := strings.Replace(l.apacheConf(port, "mpm_event", "Include rel.conf\n"), "ServerRoot "+l.dir+"\n", "", 1)
	web := l.apacheServer(port, text)
	must(t, web.Check(ctx)) // the relative include is below the prefix
	l.write("rel.conf", "Bogus 5\n")
	if err := web.Check(ctx); err == nil || !strings.Contains(err.Error(), "Bogus") {
		t.Errorf("an unknown directive: %v", err)
	}
}
