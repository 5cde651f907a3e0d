package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kasoku/internal/confedit/apache"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/host"
)

// moved is a host whose /usr/share and /etc lie below a folder.
type moved struct {
	*host.Local
	dir string
}

func (m moved) at(p string) string {
	if strings.HasPrefix(p, "/usr/share/") || strings.HasPrefix(p, "/etc/") {
		return filepath.Join(m.dir, p)
	}
	return p
}

func (m moved) Stat(ctx context.Context, p string) (host.FileInfo, error) {
	return m.Local.Stat(ctx, m.at(p))
}

func (m moved) ReadFile(ctx context.Context, p string) ([]byte, error) {
	return m.Local.ReadFile(ctx, m.at(p))
}

func (m moved) List(ctx context.Context, p string) ([]host.FileInfo, error) {
	return m.Local.List(ctx, m.at(p))
}

// tree writes files below a folder; a value that begins with -> is where a link leads.
func tree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		if to, ok := strings.CutPrefix(text, "->"); ok {
			must(t, os.Symlink(to, p))
			continue
		}
		must(t, os.WriteFile(p, []byte(text), 0o644))
	}
}

// Applications that a web server starts are found: by the folder whose public part it
// shows, also through a link or below an alias, by what names the folder, and by their
// script; not what only has files, nor what a module that is not loaded would run.
func TestEmbeddedApplications(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, map[string]string{
		"tracker/config.ru": "run App", "tracker/public/a.css": "a", "www/tracker": "->../tracker/public",
		"node/app.js": "x", "node/public/a.css": "a", "plain/public/index.html": "x", "named/Gemfile": "x",
		"lists/manage.py": "x", "lists/lists/wsgi.py": "x", "small/small.wsgi": "x",
		"site/htdocs/a.wsgi": "# '" + dir + "/small'\nsys.path.insert(0, '" + dir + "/env/lib')\nos.environ['HOME_OF_IT'] = '" + dir + "/site'\n", "env/pyvenv.cfg": "x",
		"site/conf/settings_local.py": "x", "wsgi/b.wsgi": "site.addsitedir('" + dir + "/env')\nsys.path.append(\"" + dir + "/far/src\")\n", "far/src/b.py": "x",
		"wsgi2/c.wsgi": "import c", "home/c/c.py": "x",
	})
	d := &discovery{h: host.NewLocal()}
	conf := strings.ReplaceAll(`LoadModule passenger_module p.so
LoadModule wsgi_module w.so
DocumentRoot %/plain/public
Alias /node %/node/public
WSGIScriptAlias /lists %/lists/lists/wsgi.py
WSGIScriptAlias /small "%/small/small.wsgi" process-group=small
WSGIScriptAlias /a %/site/htdocs/a.wsgi
WSGIScriptAlias /b %/wsgi/b.wsgi
<VirtualHost *:80>
  DocumentRoot %/www/tracker
</VirtualHost>
<VirtualHost *:81>
  DocumentRoot /nowhere
  PassengerAppRoot %/named
</VirtualHost>
`, "%", dir)
	load := func(text string) *apache.Config {
		file := filepath.Join(dir, "apache.conf")
		must(t, os.WriteFile(file, []byte(text), 0o644))
		cfg, err := apache.Load(file, apache.Options{Root: dir}, os.ReadFile, filepath.Glob)
		must(t, err)
		return cfg
	}
	under := func(names ...string) string {
		for i := range names {
			names[i] = filepath.Join(dir, names[i])
		}
		slices.Sort(names)
		return fmt.Sprint(names)
	}
	sorted := func(roots []string) string { slices.Sort(roots); return fmt.Sprint(roots) }
	if got, want := sorted(d.apachePassenger(t.Context(), load(conf))), under("tracker", "node", "named"); got != want {
		t.Errorf("Passenger in Apache: %s, want %s", got, want)
	}
	if got, want := sorted(d.wsgiRoots(t.Context(), load(conf))), under("lists", "small", "site", "far/src"); got != want {
		t.Errorf("mod_wsgi: %s, want %s", got, want)
	}
	// Where the script names nothing, the directive may: its last one is that of c.
	of := load(strings.ReplaceAll("LoadModule wsgi_module w.so\nWSGIDaemonProcess c python-home=%/env python-path=%/env:%/home/c\nWSGIScriptAlias / %/wsgi2/c.wsgi\n", "%", dir))
	if got, want := sorted(d.wsgiRoots(t.Context(), of)), under("home/c"); got != want {
		t.Errorf("mod_wsgi with a python-path: %s, want %s", got, want)
	}
	without := load(strings.ReplaceAll(conf, "LoadModule", "# LoadModule"))
	if got := append(d.apachePassenger(t.Context(), without), d.wsgiRoots(t.Context(), without)...); len(got) > 0 {
		t.Errorf("no module is loaded: %v", got)
	}

	file := filepath.Join(dir, "nginx.conf")
	must(t, os.WriteFile(file, []byte(strings.ReplaceAll(`http {
	server { root %/tracker/public; passenger_enabled on; location /files { passenger_enabled off; } }
	server { root %/plain/public; passenger_enabled on; passenger_app_root %/named; }
	server { root %/node/public; }
}`, "%", dir)), 0o644))
	cfg, err := nginx.Load(file, "", os.ReadFile, filepath.Glob)
	must(t, err)
	if got, want := sorted(d.nginxPassenger(t.Context(), &Service{Kind: Nginx}, cfg)), under("tracker", "named"); got != want {
		t.Errorf("Passenger in nginx: %s, want %s", got, want)
	}
}

// What a package ships is no settings where an operator's are in /etc: the source may
// hold the words of a database. A link to /etc is.
func TestSourceOfAPackageIsNoSettings(t *testing.T) {
	dir := t.TempDir()
	dsn := "<?php $db = 'mysql:host=127.0.0.1;port=3399';\n"
	tree(t, dir, map[string]string{"usr/share/shop/include/CSetup.php": dsn, "usr/share/shop/conf.php": "->" + filepath.Join(dir, "etc/shop/conf.php"), "etc/shop/conf.php": dsn,
		"usr/share/kiosk/config.php": dsn})
	db := &instance{svc: Service{Name: "db", Kind: MariaDB, Listen: []string{"127.0.0.1:3399"}}}
	for root, want := range map[string][]string{
		"/usr/share/shop":  {"/etc/shop/conf.php", "/usr/share/shop/conf.php"},
		"/usr/share/kiosk": {"/usr/share/kiosk/config.php"}, // nothing in /etc
	} {
		d := &discovery{h: moved{host.NewLocal(), dir}, found: []*instance{db}}
		app := &instance{svc: Service{Name: "app", Kind: App, Root: root, RunsIn: "php"}}
		d.settings(t.Context(), app)
		if slices.Sort(app.svc.Settings); !slices.Equal(app.svc.Settings, want) || !slices.Equal(app.svc.TalksTo, []string{"db"}) {
			t.Errorf("%s: settings %v, talks to %v; want %v", root, app.svc.Settings, app.svc.TalksTo, want)
		}
	}
}

// An application that its package shows by an alias, beside the distribution's page of
// welcome, is the one that runs; a folder of pictures is none.
func TestApplicationsBelowAnAlias(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, map[string]string{"html/index.html": "x", "reader/www/index.php": "<?php", "icons/a.gif": "x", "site/index.php": "<?php"})
	d := &discovery{h: host.NewLocal()}
	roots := func(text string) string {
		file := filepath.Join(dir, "apache.conf")
		must(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, "%", dir)), 0o644))
		cfg, err := apache.Load(file, apache.Options{Root: dir}, os.ReadFile, filepath.Glob)
		must(t, err)
		return strings.ReplaceAll(fmt.Sprint(d.apacheRoots(t.Context(), cfg, nil)), dir+"/", "")
	}
	const alias = "DocumentRoot %/html\nAlias /icons %/icons\nAlias /reader %/reader/www\n"
	if got := roots(alias); got != "[reader/www]" {
		t.Errorf("folders of applications: %s, want the alias alone", got)
	}
	if got := roots(alias + "<VirtualHost *:80>\nDocumentRoot %/site\n</VirtualHost>\n"); got != "[site reader/www]" {
		t.Errorf("folders of applications: %s, want the site's and the alias", got)
	}
	if got := roots("DocumentRoot %/html\nAlias /icons %/icons\n"); got != "[html]" {
		t.Errorf("folders of applications: %s, want the document root where nothing has PHP", got)
	}
}

// A store whose address stands in the program alone is one that it talks to, but the program
// is none of its settings: nothing is edited there. Comments and other ports name nobody.
func TestStoresThatTheProgramNames(t *testing.T) {
	stores := []*instance{
		{svc: Service{Name: "db", Kind: MariaDB, Listen: []string{"127.0.0.1:3399", "unix:/run/d/d.sock"}}},
		{svc: Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:11999"}}},
		{svc: Service{Name: "redis", Kind: Redis, Listen: []string{"127.0.0.1:6999"}}},
	}
	for text, want := range map[string][]string{
		"const cache = new Memcached('localhost:11999', {});\n":                                 {"cache"},
		"client, err := redis.Dial(\"tcp\", \"127.0.0.1:6999\")\n":                              {"redis"},
		"c = connect(`redis://localhost:6999/1`)\n":                                             {"redis"},
		"dsn := \"u:p@tcp(127.0.0.1:3399)/shop\" // all\n":                                      {"db"},
		"dsn := \"u:p@unix(/run/d/d.sock)/shop\"\nm := memcache.New(\"localhost:11999\")\n":     {"db", "cache"},
		"// was: new Memcached('localhost:11999')\n * 'localhost:11999'\n# 'localhost:11999'\n": nil,
		"const db = { host: process.env.DB_HOST || 'localhost' };\n":                            {"db"},
		"listen('localhost:1199')\nsee('cache.example:11999')\nx = 'localhost:119990'\n":        nil,
	} {
		dir := t.TempDir()
		tree(t, dir, map[string]string{"app/lib/main.js": text, "app/node_modules/x/index.js": "'127.0.0.1:3399' '127.0.0.1:11999' '127.0.0.1:6999'"})
		d := &discovery{h: host.NewLocal(), found: stores}
		app := &instance{svc: Service{Name: "app", Kind: App, Root: filepath.Join(dir, "app")}}
		d.settings(t.Context(), app)
		d.takeDefaults(app)
		if !slices.Equal(app.svc.TalksTo, want) || len(app.svc.Settings) > 0 {
			t.Errorf("%q: talks to %v, settings %v; want %v and none", text, app.svc.TalksTo, app.svc.Settings, want)
		}
	}
	dir := t.TempDir()
	tree(t, dir, map[string]string{"app/index.php": "<?php\n$db = new PDO('mysql:host=' . (getenv('SHOP_DB_HOST') ?: 'localhost'));\n"})
	d := &discovery{h: host.NewLocal(), found: stores}
	app := &instance{svc: Service{Name: "app", Kind: App, Root: filepath.Join(dir, "app")}}
	d.settings(t.Context(), app)
	d.takeDefaults(app)
	if !slices.Equal(app.svc.TalksTo, []string{"db"}) || len(app.svc.Settings) > 0 {
		t.Errorf("a program in PHP: talks to %v, settings %v; want db and none", app.svc.TalksTo, app.svc.Settings)
	}
}
