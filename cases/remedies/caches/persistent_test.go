package caches

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

// laravelPage reads its environment as Laravel's store does.
const laravelPage = `<?php
$env = parse_ini_file(dirname(__DIR__) . '/.env');
$pool = new Memcached($env['MEMCACHED_PERSISTENT_ID'] ?? null);
if (!$pool->getServerList()) { $pool->addServer($env['MEMCACHED_HOST'], (int)$env['MEMCACHED_PORT']); }
$pool->set('k', 'right', 60);
echo 'cache=', $pool->get('k');
`

// TestPersistent: an application whose environment gives its connections to
// memcached no name connects in each request, and has one for each process then.
func TestPersistent(t *testing.T) {
	dir, fpm := bed.Folder(t), bed.PHPFPM(t)
	if os.Getuid() != 0 {
		t.Skip("memcached's wrapper needs root")
	}
	p := ports{web: fmt.Sprint(bed.FreePort(t)), cache: fmt.Sprint(bed.FreePort(t))}
	at := strings.NewReplacer("@POOL@", "php", "@FPM@", fpm, "pm.max_children = 1", "pm.max_children = 3", "app/index.php", "app/public/index.php")
	write := func(name, content string) { bed.Write(t, dir, name, p.fill(at.Replace(content))) }
	write("php.conf", fpmConf)
	write("nginx.conf", strings.Replace(nginxConf, "LOCATIONS", location, 1))
	write("app/artisan", "")
	write("app/bootstrap/app.php", "<?php\n")
	write("app/public/index.php", laravelPage)
	write("app/.env", "# of the shop\nCACHE_STORE=memcached\nMEMCACHED_HOST=127.0.0.1\nMEMCACHED_PORT=CACHEPORT\n")
	write("cache.conf", "-m 64\n-p CACHEPORT\n-l 127.0.0.1\n-u memcache\n-P %DIR%/run/cache.pid\n")
	write("kasoku.yaml", `version: 1
name: laravel
services:
  - {name: web, kind: nginx, binary: /usr/sbin/nginx, config: nginx.conf, listen: ["127.0.0.1:WEBPORT"], talks_to: [php], control: {pid_file: nginx.pid}}
  - {name: php, kind: php-fpm, binary: @FPM@, config: php.conf, talks_to: [cache], control: {pid_file: php.pid}}
  - {name: app, kind: app, root: app, runs_in: php, settings: [app/.env], talks_to: [cache]}
  - {name: cache, kind: memcached, binary: /usr/bin/memcached, config: cache.conf, listen: ["127.0.0.1:CACHEPORT"], control: {pid_file: run/cache.pid, start: [`+wrapper+`, %DIR%/cache.conf]}}
evidence: {profile: "off"}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:WEBPORT"}
`)
	write("scenario.yaml", "version: 1\nname: page\nworkload: 3\nsessions:\n  - name: s\n    steps:\n      - {"+bed.Pause()+"name: page, request: GET /php/, expect: {contains: [cache=right]}}\n")
	folder(t, filepath.Join(dir, "run"), "memcache")
	for _, f := range []string{"nginx.pid", "php.pid", "run/cache.pid"} {
		bed.StopByPIDFile(t, filepath.Join(dir, f))
	}
	bed.Start(t, dir, "cache", wrapper, filepath.Join(dir, "cache.conf"))
	bed.Output(t, fpm, "-y", filepath.Join(dir, "php.conf"), "-D")
	bed.Output(t, "/usr/sbin/nginx", "-c", filepath.Join(dir, "nginx.conf"))
	bed.Await(t, "127.0.0.1:"+p.cache)
	bed.Await(t, "127.0.0.1:"+p.web)
	b := bed.Open(t, dir)

	each := func(label string) float64 {
		ev := b.Answers(t, label).Evidence
		return ev.Counters["cache"].Delta["total_connections"] / float64(ev.Load.Succeeded)
	}
	if n := each("as found"); n < 0.9 {
		t.Fatalf("%.2f connections for each answer as found", n)
	}
	b.Show(t, func(t *testing.T, _ remedy.Plan) {
		if n := each("kept"); n > 0.1 {
			t.Errorf("%.2f connections for each answer, of three processes", n)
		}
	}, "app.cache-persistent")
}
