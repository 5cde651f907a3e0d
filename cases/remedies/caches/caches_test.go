// Package caches shows the remedies of memcached, Redis and of the sessions
// that PHP keeps in them, on the real programs.
package caches

import (
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

const fpmConf = `[global]
pid = %DIR%/@POOL@.pid
error_log = %DIR%/@POOL@.log
[www]
user = www-data
group = www-data
listen = %DIR%/@POOL@.sock
listen.owner = www-data
listen.mode = 0660
pm = static
pm.max_children = 1
`

const nginxConf = `user www-data;
pid %DIR%/nginx.pid;
error_log %DIR%/nginx.log;
worker_processes 1;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path %DIR%/body;
    fastcgi_temp_path %DIR%/fastcgi;
    server {
        listen 127.0.0.1:WEBPORT;
LOCATIONS    }
}
`

const location = `        location /@POOL@/ {
            fastcgi_pass unix:%DIR%/@POOL@.sock;
            fastcgi_param SCRIPT_FILENAME %DIR%/app/index.php;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param QUERY_STRING $query_string;
            fastcgi_param HTTP_COOKIE $http_cookie;
        }
`

// page keeps a number in the session, in a memcached that its settings name,
// and in Redis.
const page = `<?php
$set = parse_ini_file('%DIR%/app/settings.ini');
session_start();
$step = (int)($_GET['step'] ?? 0);
if ($step === 0) { $_SESSION = ['n' => 7]; }
$_SESSION['n'] += 1;

$pool = new Memcached();
[$host, $port] = explode(':', $set['cache'] . ':0');
$pool->addServer($host, (int)$port);
$pool->set('k' . getmypid(), 'right', 60);
$kept = $pool->get('k' . getmypid());

$redis = new Redis();
[$scheme, $at] = explode('://', $set['store']);
if ($scheme === 'unix') { $redis->connect($at); } else { $redis->connect(...explode(":", $at)); }
$redis->set('k', 'right');

// Values of 1.8 MB in all, which do not fit into a memcached of 2 MiB with what
// it needs itself, and do into one of 4, over 40 connections that are kept:
// the 120 of the three processes are close to its limit of 140. It refuses by
// the number of the file, of which it has some 12 for itself: of a limit that
// is nearer Kasoku could not read its counters.
for ($i = 0; $i < 40; $i++) {
    $small = new Memcached('kept' . $i);
    if (!count($small->getServerList())) { $small->addServer('127.0.0.1', (int)$set['small']); }
    $small->set('v' . mt_rand(0, 150), random_bytes(12000));
}
echo 'n=', $_SESSION['n'], ' cache=', $kept, ' store=', $redis->get('k');
`

// ports of the servers; fill puts them into a file.
type ports struct{ web, cache, store, small string }

func (p ports) fill(s string) string {
	return strings.NewReplacer("WEBPORT", p.web, "CACHEPORT", p.cache, "STOREPORT", p.store, "SMALLPORT", p.small).Replace(s)
}

// names of the PHP-FPM services: sessions in files, in memcached, in Redis.
var names = []string{"files", "inmc", "inkv"}

var inis = map[string]string{
	"files": "session.save_handler = files\nsession.save_path = %DIR%/sessions\n",
	"inmc":  "session.save_handler = memcached\nsession.save_path = 127.0.0.1:CACHEPORT\n",
	"inkv":  "session.save_handler = redis\nsession.save_path = tcp://127.0.0.1:STOREPORT\n",
}

// wrapper starts memcached as Debian's unit does, from a file of its options.
const wrapper = "/usr/share/memcached/scripts/systemd-memcached-wrapper"

// site starts nginx, three PHP-FPM, two memcached and a Redis.
func site(t *testing.T) *bed.Bed {
	dir := bed.Folder(t)
	if os.Getuid() != 0 {
		t.Skip("memcached's wrapper and the sockets' owners need root")
	}
	fpm := bed.PHPFPM(t)
	port := func() string { return fmt.Sprint(bed.FreePort(t)) }
	p := ports{port(), port(), port(), port()}
	write := func(name, content string) { bed.Write(t, dir, name, p.fill(content)) }

	services, locations, sessions := "", "", ""
	for _, name := range names {
		at := strings.NewReplacer("@POOL@", name, "@FPM@", fpm, "@PAUSE@", bed.Pause())
		write(name+".conf", at.Replace(fpmConf))
		write(name+".ini", "[PHP]\n"+inis[name])
		locations += at.Replace(location)
		services += at.Replace(`  - name: @POOL@
    kind: php-fpm
    binary: @FPM@
    config: @POOL@.conf
    php_ini: @POOL@.ini
    talks_to: [cache, store, small]
    control: {pid_file: @POOL@.pid}
  - {name: app-@POOL@, kind: app, root: app, runs_in: @POOL@, settings: [app/settings.ini], talks_to: [cache, store, small]}
`)
		sessions += at.Replace(`  - name: @POOL@
    steps:
      - {@PAUSE@name: @POOL@ first, request: GET /@POOL@/?step=0, expect: {contains: ["n=8 cache=right store=right"]}}
      - {@PAUSE@name: @POOL@ second, request: GET /@POOL@/?step=1, expect: {contains: ["n=9 cache=right store=right"]}}
`)
	}
	write("nginx.conf", strings.Replace(nginxConf, "LOCATIONS", locations, 1))
	write("app/index.php", page)
	write("app/settings.ini", "cache = \"127.0.0.1:CACHEPORT\"\nstore = \"tcp://127.0.0.1:STOREPORT\"\nsmall = SMALLPORT\n")
	write("cache.conf", "# options, one on a line\n-m 64\n-p CACHEPORT\n-l 127.0.0.1\n-u memcache\n-P %DIR%/run/cache.pid\n")
	write("small.conf", "-m 2\n-p SMALLPORT\n-l 127.0.0.1\n-c 140\n-t 1\n-u memcache\n-P %DIR%/run/small.pid\n")
	write("redis.conf", "bind 127.0.0.1\nport STOREPORT\ndir %DIR%/redis\npidfile %DIR%/redis/redis.pid\nsave \"\"\nappendonly yes\nappendfsync always\ndaemonize yes\nlogfile %DIR%/redis/redis.log\n")
	write("kasoku.yaml", `version: 1
name: caches
services:
  - {name: web, kind: nginx, binary: /usr/sbin/nginx, config: nginx.conf, listen: ["127.0.0.1:WEBPORT"], talks_to: [files, inmc, inkv], control: {pid_file: nginx.pid}}
`+services+`  - {name: cache, kind: memcached, binary: /usr/bin/memcached, config: cache.conf, listen: ["127.0.0.1:CACHEPORT"], control: {pid_file: run/cache.pid, start: [`+wrapper+`, %DIR%/cache.conf]}}
  - {name: small, kind: memcached, binary: /usr/bin/memcached, config: small.conf, listen: ["127.0.0.1:SMALLPORT"], control: {pid_file: run/small.pid, start: [`+wrapper+`, %DIR%/small.conf]}}
  - {name: store, kind: redis, binary: /usr/bin/redis-server, config: redis.conf, listen: ["127.0.0.1:STOREPORT"], control: {pid_file: redis/redis.pid}}
evidence: {profile: "off"}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:WEBPORT"}
`)
	write("scenario.yaml", "version: 1\nname: sessions\nworkload: 3\nduration: 500ms\nsessions:\n"+sessions)

	folder(t, filepath.Join(dir, "sessions"), "www-data")
	folder(t, filepath.Join(dir, "run"), "memcache")
	folder(t, filepath.Join(dir, "redis"), "root")
	for _, f := range []string{"nginx.pid", "files.pid", "inmc.pid", "inkv.pid", "run/cache.pid", "run/small.pid", "redis/redis.pid"} {
		bed.StopByPIDFile(t, filepath.Join(dir, f))
	}
	bed.Start(t, dir, "cache", wrapper, filepath.Join(dir, "cache.conf"))
	bed.Start(t, dir, "small", wrapper, filepath.Join(dir, "small.conf"))
	bed.Output(t, "/usr/bin/redis-server", filepath.Join(dir, "redis.conf"))
	for _, name := range names {
		bed.Output(t, fpm, "-y", filepath.Join(dir, name+".conf"), "-c", filepath.Join(dir, name+".ini"), "-D")
	}
	bed.Output(t, "/usr/sbin/nginx", "-c", filepath.Join(dir, "nginx.conf"))
	for _, port := range []string{p.cache, p.small, p.store, p.web} {
		bed.Await(t, "127.0.0.1:"+port)
	}
	// Each process opens its connections and the small memcached is full
	// before anything is looked at, however few requests a run then makes.
	for range 3 {
		for _, name := range names {
			bed.Output(t, "curl", "-fsS", "http://127.0.0.1:"+p.web+"/"+name+"/?step=0")
		}
	}
	return bed.Open(t, dir)
}

// folder makes a folder that a user owns and others may enter.
func folder(t *testing.T, path, owner string) {
	t.Helper()
	u, err := user.Lookup(owner)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
}

// TestCaches shows all of them from one look at the bad state.
func TestCaches(t *testing.T) {
	b := site(t)
	b.Bench.Window = 250 * time.Millisecond
	inForce := map[string]func(t *testing.T){
		"cache.socket:cache": func(t *testing.T) {
			if c, err := net.Dial("tcp", b.Stack.Service("cache").Listen[0]); err == nil {
				c.Close()
				t.Error("memcached still listens on its port")
			}
		},
		"cache.socket:store":            says(b, "get unixsocketperm", "777"),
		"redis.persistence:store":       says(b, "get appendfsync", "everysec"),
		"php.session-store:files:store": keys(b, "PHPREDIS_SESSION:*"),
		"php.session-persistent:inkv":   keys(b, "PHPREDIS_SESSION:*"),
	}
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		t.Log(p.Title)
		// The page gives its values no expiry (C07), which the source must.
		if p.Remedy == "cache.memory" && !strings.Contains(p.Why, "have no expiry") {
			t.Errorf("nothing is said of entries without expiry: %s", p.Why)
		}
		if look := inForce[p.ID]; look != nil {
			look(t)
		}
	},
		"cache.memory:small:2", "cache.connections:small:140", "redis.persistence:store",
		"cache.socket:cache", "cache.socket:store",
		"php.session-persistent:inmc", "php.session-persistent:inkv",
		"php.session-store:files:cache", "php.session-store:files:store")
}

// says expects the Redis to answer CONFIG GET with a value.
func says(b *bed.Bed, ask, value string) func(t *testing.T) {
	return func(t *testing.T) {
		if got := redisCLI(t, b, append([]string{"config"}, strings.Fields(ask)...)...); !strings.Contains(got, value) {
			t.Errorf("Redis says %q to %s, want %s", got, ask, value)
		}
	}
}

// keys expects the Redis to hold keys of a pattern.
func keys(b *bed.Bed, pattern string) func(t *testing.T) {
	return func(t *testing.T) {
		if redisCLI(t, b, "keys", pattern) == "" {
			t.Errorf("Redis holds no %s", pattern)
		}
	}
}

func redisCLI(t *testing.T, b *bed.Bed, words ...string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(b.Stack.Service("store").Listen[0])
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(bed.Output(t, append([]string{"redis-cli", "-p", port}, words...)...))
}
