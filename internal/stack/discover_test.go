package stack

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/await"
)

// Discovery on real servers: it finds them, their configuration, who talks to
// whom, and what it writes can be loaded and starts them again.
func TestDiscover(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newLab(t)
	webPort, dbPort, cachePort, apiPort := freePort(t), freePort(t), freePort(t), freePort(t)
	l.write("site/public/index.php", "<?php echo getmypid();")
	l.write("site/conf/settings.ini", "[database]\nhost = 127.0.0.1\nport = "+dbPort+"\npassword = geheim\n")
	l.write("site/lib/db.php", "<?php $dsn = \"mysql:host=$host;port=$port\";")
	l.write("site/vendor/x/config.ini", "host = 127.0.0.1\nport = "+dbPort+"\n")
	l.write("api/server.sh", "exec php -S 127.0.0.1:"+apiPort+"\n")
	l.write("conf.d/site.inc", fmt.Sprintf(`root %s/site/public;
location / { fastcgi_pass php; fastcgi_param SCRIPT_FILENAME $document_root/index.php; fastcgi_param REQUEST_METHOD $request_method; }
location /api { proxy_pass http://127.0.0.1:%s/; }
`, l.dir, apiPort))
	web := l.nginx(webPort, "include "+l.path("conf.d")+"/*.inc;")
	conf, err := os.ReadFile(l.path("nginx.conf"))
	must(t, err)
	l.write("nginx.conf", strings.Replace(string(conf), "access_log off;", "access_log off;\nupstream php { server unix:"+l.path("run/current.sock")+"; }", 1))
	must(t, os.MkdirAll(l.path("var/sockets"), 0o755))
	must(t, os.Symlink("var/sockets", l.path("run")))
	must(t, os.Symlink("../../php.sock", l.path("var/sockets/current.sock")))
	for _, c := range []*Controller{
		l.mariadb(dbPort), l.fpm(l.path("php.sock")), web,
		l.add(Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:" + cachePort}, Control: Control{
			Start: []string{need(t, "memcached"), "-u", "nobody", "-l", "127.0.0.1", "-p", cachePort}}}),
		l.add(Service{Name: "api", Kind: App, Root: l.path("api"), Listen: []string{"127.0.0.1:" + apiPort}, Binary: need(t, "php"), Control: Control{
			Start: []string{"sh", "server.sh"}}}),
	} {
		must(t, c.Start(ctx))
	}

	s, notes, err := Discover(ctx, l.h)
	must(t, err)
	find := func(what string, ok func(*Service) bool) *Service {
		t.Helper()
		i := slices.IndexFunc(s.Services, func(x Service) bool { return ok(&x) })
		if i < 0 {
			t.Fatalf("%s was not found in %+v\nnotes: %q", what, s.Services, notes)
		}
		own := s.Services[i]
		return &own
	}
	byConfig := func(path string) func(*Service) bool { return func(x *Service) bool { return x.Config == path } }
	nginx := find("nginx", byConfig(l.path("nginx.conf")))
	php := find("php-fpm", byConfig(l.path("fpm.conf")))
	db := find("mariadb", byConfig(l.path("my.cnf")))
	cache := find("memcached", func(x *Service) bool { return slices.Contains(x.Listen, "127.0.0.1:"+cachePort) })
	app := find("the PHP app", func(x *Service) bool { return x.Root == l.path("site") })
	api := find("the app server", func(x *Service) bool { return x.Root == l.path("api") })
	for _, c := range []struct{ what, got, want string }{
		{"nginx kind", string(nginx.Kind), "nginx"},
		{"nginx version", nginx.Version[:2], "1."},
		{"nginx binary", nginx.Binary, "/usr/sbin/nginx"},
		{"nginx prefix", nginx.Prefix, l.dir},
		{"nginx listen", fmt.Sprint(nginx.Listen), fmt.Sprintf("[127.0.0.1:%s]", webPort)},
		{"nginx pid file", nginx.Control.PIDFile, l.path("nginx.pid")},
		{"nginx talks to", fmt.Sprint(nginx.TalksTo), fmt.Sprint([]string{php.Name, api.Name})},
		{"php ini", php.PHPIni, l.path("php.ini")},
		{"php listen", fmt.Sprint(php.Listen), fmt.Sprintf("[unix:%s unix:%s]", l.path("php.sock"), l.path("run/current.sock"))},
		{"php pid file", php.Control.PIDFile, l.path("fpm.pid")},
		{"db kind", string(db.Kind), "mariadb"},
		{"db version", db.Version[:2], "10"},
		{"db pid file", db.Control.PIDFile, l.path("db/my.pid")},
		{"db login", fmt.Sprintf("%+v", *db.Login), fmt.Sprintf("%+v", Login{User: "root", Socket: l.path("db/my.sock")})},
		{"cache start", fmt.Sprint(cache.Control.Start), fmt.Sprintf("[/usr/bin/memcached -u nobody -l 127.0.0.1 -p %s]", cachePort)},
		{"app runs in", app.RunsIn, php.Name},
		{"app settings", fmt.Sprint(app.Settings), fmt.Sprintf("[%s]", l.path("site/conf/settings.ini"))},
		{"app talks to", fmt.Sprint(app.TalksTo), fmt.Sprintf("[%s]", db.Name)},
		{"api start", fmt.Sprint(api.Control.Start[1:]), fmt.Sprintf("[-S 127.0.0.1:%s]", apiPort)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}

	// It can be written, loaded, and used: the found services restart.
	// What else runs on this machine is none of the test's business.
	s.Services = slices.DeleteFunc(s.Services, func(x Service) bool {
		return !slices.Contains([]string{nginx.Name, php.Name, db.Name, cache.Name, app.Name, api.Name}, x.Name)
	})
	s.Name, s.Dir = "found", l.dir
	text, err := s.Render()
	must(t, err)
	if strings.Contains(string(text), "geheim") {
		t.Error("a password was copied")
	}
	s, err = Load(l.write("kasoku.yaml", string(text)))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, name := range []string{nginx.Name, php.Name, db.Name, cache.Name, api.Name} {
		c, err := NewController(l.h, s, s.Service(name))
		must(t, err)
		before, err := c.PIDs(ctx)
		must(t, err)
		must(t, c.Check(ctx))
		must(t, c.Restart(ctx))
		after, err := c.PIDs(ctx)
		if err != nil || after[0] == before[0] {
			t.Errorf("%s: restart %v → %v, %v", name, before, after, err)
		}
	}
	if got := get(t, "http://127.0.0.1:"+webPort+"/"); len(got) == 0 || len(got) > 8 {
		t.Errorf("the site answers %q after the restarts", got)
	}
}
