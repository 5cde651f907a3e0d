package knownapp

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// folder is an application's files for a test.
func folder(files map[string]string) Reader {
	return Reader{Root: "/srv/app",
		Read: func(name string) ([]byte, error) {
			text, ok := files[name]
			if !ok {
				return nil, os.ErrNotExist
			}
			return []byte(text), nil
		},
		Glob: func(pattern string) []string {
			var out []string
			for name := range files {
				if ok, err := path.Match(pattern, name); err == nil && ok {
					out = append(out, name)
				}
			}
			slices.Sort(out)
			return out
		}}
}

// Each application as its own installer leaves it, and as it is when it is set
// as documented: then nothing is called for.
var folders = []struct {
	id, version string
	found       map[string]string // as found
	calls       string            // names, joined
	set         map[string]string // changed when set as documented
	left        string            // what is still called for then
}{
	{"mediawiki", "1.39.17", map[string]string{
		"includes/Defines.php": "define( 'MW_VERSION', '1.39.17' );", "load.php": "", "LocalSettings.php": "<?php\n## $wgCacheDirectory = \"$IP/cache\";\n$wgMainCacheType = CACHE_NONE;\n",
		"includes/WebRequest.php": "/** mysql:host=localhost */",
	}, "$wgMainCacheType $wgCacheDirectory $wgUseFileCache $wgUseCdn $wgJobRunRate", map[string]string{
		"LocalSettings.php": "<?php\n$wgMainCacheType = CACHE_ACCEL;\n$wgCacheDirectory = '/c';\n$wgUseCdn = true;\n$wgJobRunRate = 0;\n",
	}, ""},
	{"wordpress", "6.4.3", map[string]string{
		"wp-includes/version.php": "$wp_version = '6.4.3';", "wp-settings.php": "", "wp-config.php": "<?php\ndefine( 'DB_HOST', 'localhost' );\ndefine( 'WP_DEBUG', true );\n",
	}, "object-cache.php WP_CACHE DISABLE_WP_CRON WP_DEBUG", map[string]string{
		"wp-config.php": "<?php\ndefine( 'DISABLE_WP_CRON', true );\ndefine( 'WP_DEBUG', false );\n", "wp-content/object-cache.php": "", "wp-content/advanced-cache.php": "",
	}, ""},
	{"drupal", "10.2.1", map[string]string{
		"web/core/lib/Drupal.php": "const VERSION = '10.2.1';", "web/sites/default/settings.php": "<?php\n# $settings['cache']['default'] = 'cache.backend.redis';\n",
	}, "$settings['cache']['default']", map[string]string{"web/sites/default/settings.php": "$settings['cache']['default'] = 'cache.backend.redis';"}, ""},
	{"nextcloud", "28.0.1", map[string]string{
		"lib/base.php": "", "version.php": "$OC_Version = [28];\n$OC_VersionString = '28.0.1';", "config/config.php": "<?php $CONFIG = array ( 'dbhost' => 'localhost' );",
	}, "memcache.local memcache.locking", map[string]string{"config/config.php": `'memcache.local' => '\OC\Memcache\APCu', 'memcache.locking' => '\OC\Memcache\Redis'`}, ""},
	{"laravel", "11.0.7", map[string]string{
		"artisan": "", "bootstrap/app.php": "", "vendor/laravel/framework/src/Illuminate/Foundation/Application.php": "const VERSION = '11.0.7';", "bin/console": "",
		".env": "APP_DEBUG=true\nCACHE_STORE=database\nSESSION_DRIVER=file\nQUEUE_CONNECTION=sync\n",
	}, "CACHE_STORE SESSION_DRIVER QUEUE_CONNECTION config:cache APP_DEBUG", map[string]string{
		".env": "APP_DEBUG=false\nCACHE_STORE=redis\nSESSION_DRIVER=redis\nQUEUE_CONNECTION=redis\n", "bootstrap/cache/config.php": "",
	}, ""},
	{"symfony", "6.4.2", map[string]string{
		"bin/console": "", "config/bundles.php": "", "vendor/symfony/http-kernel/Kernel.php": "public const VERSION = '6.4.2';", ".env": "APP_ENV=dev\nMESSENGER_TRANSPORT_DSN=sync://\n",
	}, "APP_ENV dump-env MESSENGER_TRANSPORT_DSN", map[string]string{".env": "APP_ENV=prod\nMESSENGER_TRANSPORT_DSN=redis://r\n", ".env.local.php": ""}, ""},
	{"rails", "7.1.3", map[string]string{
		"config/application.rb": "class Application < Rails::Application", "Gemfile.lock": "GEM\n  specs:\n    rails (7.1.3)\n",
		"config/environments/production.rb": "  # config.cache_store = :mem_cache_store\n  config.action_controller.perform_caching = false\n  config.active_job.queue_adapter = :async\n",
	}, "config.cache_store config.action_controller.perform_caching config.active_job.queue_adapter", map[string]string{
		"config/environments/production.rb": "  config.cache_store = :mem_cache_store, 'localhost'\n  config.active_job.queue_adapter = :sidekiq\n",
	}, ""},
	{"django", "", map[string]string{
		"manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')", "shop/settings.py": "DEBUG = True\nDATABASES = {}\n",
	}, "CACHES SESSION_ENGINE CONN_MAX_AGE DEBUG", map[string]string{
		"shop/settings.py": "DEBUG = False\nCACHES = {'default': {'BACKEND': 'django.core.cache.backends.redis.RedisCache'}}\nSESSION_ENGINE = 'django.contrib.sessions.backends.cached_db'\nDATABASES = {'default': {'CONN_MAX_AGE': 60}}\n",
	}, ""},
}

// A script for opcache.preload counts where there is something that it loads.
func TestPreload(t *testing.T) {
	files := map[string]string{"bin/console": "", "config/bundles.php": "", "config/preload.php": "<?php"}
	if f := Find(folder(files)); f == nil || f.Preload != "" {
		t.Errorf("nothing was made for it to load, and it is %+v", f)
	}
	files["var/cache/prod/App_KernelProdContainer.preload.php"] = "<?php"
	if f := Find(folder(files)); f == nil || f.Preload != "/srv/app/config/preload.php" {
		t.Errorf("%+v", f)
	}
}

// Debian's WordPress has its settings and its content elsewhere: what is there is not
// called missing.
func TestDebianWordPress(t *testing.T) {
	files := map[string]string{"wp-includes/version.php": "$wp_version = '6.1.9';", "wp-settings.php": "",
		"wp-config.php": "<?php\nrequire_once($debian_file);\ndefine('ABSPATH', '/usr/share/wordpress/');\n",
		"../../../etc/wordpress/config-shop.example.php": "<?php\ndefine('DB_HOST', 'localhost');\ndefine('DISABLE_WP_CRON', true);\ndefine('WP_CONTENT_DIR', '/var/lib/wordpress/wp-content');\n"}
	read := func() *Found {
		r := folder(files)
		r.Root = "/usr/share/wordpress"
		return Find(r)
	}
	f := read()
	if f == nil || len(f.Settings) != 2 || f.Settings[0] != "/etc/wordpress/config-shop.example.php" || names(f) != "object-cache.php WP_CACHE" {
		t.Fatalf("%+v", f)
	}
	files["../../../var/lib/wordpress/wp-content/object-cache.php"], files["../../../var/lib/wordpress/wp-content/advanced-cache.php"] = "<?php", "<?php"
	files["../../../etc/wordpress/config-shop.example.php"] += "define('WP_DEBUG', true);\n"
	if f = read(); names(f) != "WP_DEBUG" || f.Calls[0].Where != "/etc/wordpress/config-shop.example.php" {
		t.Errorf("%+v", f)
	}
}

func names(f *Found) string {
	var out []string
	for _, c := range f.Calls {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

func TestFind(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range folders {
		t.Run(c.id, func(t *testing.T) {
			f := Find(folder(c.found))
			if f == nil || f.ID != c.id || f.Version != c.version {
				t.Fatalf("found %+v, want %s %s", f, c.id, c.version)
			}
			if names(f) != c.calls {
				t.Errorf("as found it calls for %s, want %s", names(f), c.calls)
			}
			for _, s := range f.Settings {
				if !strings.HasPrefix(s, "/srv/app/") || strings.Contains(s, "includes") || strings.Contains(s, "vendor") {
					t.Errorf("%s is taken for settings", s)
				}
			}
			if len(f.Settings) == 0 {
				t.Error("no settings")
			}
			for name, text := range c.set {
				c.found[name] = text
			}
			if f = Find(folder(c.found)); names(f) != c.left {
				t.Errorf("set as documented it calls for %s, want %q", names(f), c.left)
			}
			for mark := range c.found {
				without := map[string]string{}
				for name, text := range c.found {
					if name != mark {
						without[name] = text
					}
				}
				if isMark(c.id, mark) && Find(folder(without)) != nil && Find(folder(without)).ID == c.id && !optional(c.id, mark) {
					t.Errorf("told without %s", mark)
				}
			}
		})
		tested[c.id] = true
	}
	for _, a := range Applications {
		if !tested[a.ID] {
			t.Errorf("%s has no test", a.ID)
		}
	}
	if f := Find(folder(map[string]string{"index.php": "<?php", "includes/db.php": "", "config.php": ""})); f != nil {
		t.Errorf("an unknown application is told as %+v", f)
	}
}

// isMark reports whether a file is one of an application's marks.
func isMark(id, name string) bool {
	return slices.ContainsFunc(ByID(id).Marks, func(m Mark) bool { return slices.Contains(m.Files, name) })
}

// optional reports whether another file of the same mark is in the test's folder.
func optional(id, name string) bool { return id == "laravel" && strings.Contains(name, "/") }

// Now is the line that is called for, and it is taken from no comment.
func TestCall(t *testing.T) {
	f := Find(folder(map[string]string{"bin/console": "", "config/bundles.php": "", ".env": "# APP_ENV=prod\nSECRET=x\nAPP_ENV=dev\n"}))
	if c := f.Call("APP_ENV"); c == nil || c.Now != "APP_ENV=dev" || c.Where != "/srv/app/.env" {
		t.Errorf("%+v", c)
	}
}

func TestWithoutComments(t *testing.T) {
	const code = "<?php\n# host: a\n  // host: b\n$x = 1; /* host:\nc */ $y = 'http://d';\n"
	if got, want := string(WithoutComments([]byte(code))), "<?php\n\n\n$x = 1; \n $y = 'http://d';\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestIsCacheTable(t *testing.T) {
	for _, c := range []struct {
		id, table string
		want      bool
	}{
		{"mediawiki", "l10n_cache", true}, {"mediawiki", "`mw_objectcache`", true}, {"mediawiki", "wiki.objectcache", true},
		{"mediawiki", "page", false}, {"mediawiki", "myobjectcache", false},
		{"drupal", "cache_render", true}, {"drupal", "d_cache_page", true}, {"drupal", "cachetags", true}, {"drupal", "node", false},
		{"laravel", "cache", true}, {"laravel", "caches", false}, {"wordpress", "wp_options", false},
	} {
		if got := ByID(c.id).IsCacheTable(c.table); got != c.want {
			t.Errorf("%s: %s is %t", c.id, c.table, got)
		}
	}
}

// Every entry says what a reader of docs/reference/applications.md needs.
func TestTable(t *testing.T) {
	ids := map[string]bool{}
	for _, a := range Applications {
		if ids[a.ID] || a.Name == "" || len(a.Marks) == 0 || len(a.Settings) == 0 || len(a.Knobs) == 0 {
			t.Errorf("%s is incomplete or there twice", a.ID)
		}
		ids[a.ID] = true
		for _, m := range append(slices.Clone(a.Marks), a.Version) {
			if _, err := regexp.Compile(m.Holds); err != nil {
				t.Errorf("%s: %v", a.ID, err)
			}
		}
		for _, k := range a.Knobs {
			if !slices.Contains(Areas, k.Area) || k.Name == "" || k.In == "" || k.Default == "" || k.Propose == "" || k.Why == "" || k.Source == "" || len(k.Sign.Files) == 0 {
				t.Errorf("%s: %s is incomplete", a.ID, k.Name)
			}
			if !k.Sign.Absent && k.Sign.Holds == "" && k.Sign.Lacks == "" {
				t.Errorf("%s: %s is called for always", a.ID, k.Name)
			}
			for _, expr := range []string{k.Sign.Holds, k.Sign.Lacks} {
				if _, err := regexp.Compile(expr); err != nil {
					t.Errorf("%s: %s: %v", a.ID, k.Name, err)
				}
			}
		}
	}
}

func TestDocumentIsUpToDate(t *testing.T) {
	var want bytes.Buffer
	if err := WriteDocument(&want); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "applications.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/reference/applications.md is out of date: run `go generate ./internal/knownapp`")
	}
}
