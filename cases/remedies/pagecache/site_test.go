// Package pagecache shows the caches of whole pages on the real nginx, PHP-FPM
// and Varnish, and that the check of their answers sees what goes wrong.
package pagecache

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/load"
)

const nginxProgram, fpmProgram = "/usr/sbin/nginx", "/usr/sbin/php-fpm8.2"

// sitePHP is a site with a front page that every stranger gets alike, a greeting
// for users, and pages that no cache may keep. made counts what PHP makes.
const sitePHP = `<?php
$dir = '%DIR%/data';
$path = strtok($_SERVER['REQUEST_URI'], '?');
$user = $_COOKIE['user'] ?? '';
$version = (int)@file_get_contents("$dir/version");
if ($path !== '/made') { file_put_contents("$dir/made", '.', FILE_APPEND | LOCK_EX); }
for ($x = 0, $i = 0; $i < 40000; $i++) { $x += $i; }
switch ($path) {
case '/': case '/item':
	echo "<html><p>version $version of ", htmlspecialchars($_SERVER['REQUEST_URI']), " at ", htmlspecialchars($_SERVER['HTTP_X_FORWARDED_HOST'] ?? $_SERVER['HTTP_HOST']), "</p>";
	if ($user !== '') { echo "<p>hello $user</p>"; }
	break;
case '/about': echo "about version $version at ", htmlspecialchars($_SERVER['HTTP_X_FORWARDED_HOST'] ?? $_SERVER['HTTP_HOST']); break;
case '/login': setcookie('user', $_POST['name'], 0, '/'); echo 'welcome'; break;
case '/private': header('Cache-Control: private, max-age=60'); echo 'yours'; break;
case '/token': echo bin2hex(random_bytes(8)); break;
case '/made': header('Cache-Control: no-store'); echo filesize("$dir/made"); break;
default: http_response_code(404); }
`

const siteNginx = `user www-data;
worker_processes 2;
pid %DIR%/nginx.pid;
error_log %DIR%/nginx-error.log warn;
events { worker_connections 512; }
http {
    access_log off;
    client_body_temp_path %DIR%/t1; proxy_temp_path %DIR%/t2; fastcgi_temp_path %DIR%/t3; uwsgi_temp_path %DIR%/t4; scgi_temp_path %DIR%/t5;
    server {
        listen %ADDRESS%;
        root %DIR%/public;
        location / {
            try_files $uri /index.php?$args;
        }
        location ~ \.php$ {
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME %DIR%/app/index.php;
            fastcgi_pass unix:%DIR%/fpm.sock;
        }
    }
}
`

const siteSteps = `version: 1
name: pages
workload: 4
sessions:
  - name: stranger
    weight: 4
    steps:
      - {@PAUSE@name: top, request: GET /, expect: {contains: [version], not_contains: [hello]}}
      - {@PAUSE@name: item, request: "GET /item?id=3", expect: {contains: ["id=3"], not_contains: [hello]}}
      - {@PAUSE@name: about, request: GET /about}
      - {@PAUSE@name: private, request: GET /private}
      - {@PAUSE@name: token, request: GET /token}
  - name: user
    weight: 1
    steps:
      - {@PAUSE@name: login, request: POST /login, form: {name: ann}}
      - {@PAUSE@name: mine, request: GET /, expect: {contains: [hello ann]}}
      - {@PAUSE@name: about, request: GET /about}
`

// site is nginx with PHP-FPM behind it in a private folder.
type site struct {
	dir, address string
	bed          *bed.Bed
}

// startSite starts the servers; more are services of kasoku.yaml, front is what
// the load is sent to, "" nginx.
func startSite(t *testing.T, more, front string) site {
	t.Helper()
	dir := bed.Folder(t)
	x := site{dir: dir, address: fmt.Sprintf("127.0.0.1:%d", bed.FreePort(t))}
	bed.Write(t, dir, "nginx.conf", strings.ReplaceAll(siteNginx, "%ADDRESS%", x.address))
	bed.Write(t, dir, "app/index.php", sitePHP)
	bed.Write(t, dir, "public/robots.txt", "User-agent: *\n")
	bed.Write(t, dir, "data/version", "1")
	for _, d := range []string{"data", "data/version"} {
		if err := os.Chmod(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	bed.Write(t, dir, "fpm.conf", "[global]\npid = %DIR%/fpm.pid\nerror_log = %DIR%/fpm.log\n[www]\nuser = www-data\ngroup = www-data\nlisten = %DIR%/fpm.sock\nlisten.owner = www-data\npm = static\npm.max_children = 4\n")
	bed.Write(t, dir, "scenario.yaml", strings.ReplaceAll(siteSteps, "@PAUSE@", bed.Pause()))
	if front == "" {
		front = x.address
	}
	bed.Write(t, dir, "kasoku.yaml", `version: 1
name: pages
services:
  - name: web
    kind: nginx
    binary: `+nginxProgram+`
    config: %DIR%/nginx.conf
    prefix: %DIR%
    listen: ["`+x.address+`"]
    talks_to: [php]
    control: {method: process, pid_file: %DIR%/nginx.pid}
  - name: php
    kind: php-fpm
    binary: `+fpmProgram+`
    config: %DIR%/fpm.conf
    control: {method: process, pid_file: %DIR%/fpm.pid}
  - {name: app, kind: app, root: %DIR%/app, runs_in: php}
`+more+`load: {scenario: scenario.yaml, url: "http://`+front+`"}
`)
	bed.Start(t, dir, "fpm", fpmProgram, "-F", "-y", dir+"/fpm.conf")
	bed.Start(t, dir, "nginx", nginxProgram, "-p", dir, "-c", dir+"/nginx.conf", "-g", "daemon off;")
	bed.Await(t, dir+"/fpm.sock")
	bed.Await(t, x.address)
	return x
}

// get asks for a URL with headers "Name: value".
func get(t *testing.T, address, url string, headers ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// made is how many answers PHP has made.
func (x site) made(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(get(t, x.address, "/made"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fresh expects that no answer is wrong of at least so many, of which one in unknown may
// be one that nothing can be said of. How many are asked in a time is the machine's
// affair: where they are too few it asks again, for longer.
func (x site) fresh(t *testing.T, url string, maxAge time.Duration, least, unknown int) {
	t.Helper()
	var report load.FreshReport
	for try := time.Duration(1); try <= 3; try++ {
		report = x.compare(t, url, maxAge, try*longer)
		t.Logf("%+v", report)
		if len(report.Wrong) > 0 || report.Compared >= least && report.Unknown <= report.Compared/unknown {
			break
		}
	}
	if len(report.Wrong) > 0 || report.Compared < least || report.Unknown > report.Compared/unknown {
		t.Errorf("%+v", report)
	}
}

// compare asks the page past the cache and through it, while somebody writes
// every 600 ms, for a time, and returns the report.
func (x site) compare(t *testing.T, url string, maxAge, during time.Duration) load.FreshReport {
	t.Helper()
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for n := 100; ; n++ {
			if err := os.WriteFile(filepath.Join(x.dir, "data/version"), []byte(strconv.Itoa(n)), 0o666); err != nil {
				t.Error(err)
			}
			select {
			case <-done:
				return
			case <-time.After(600 * time.Millisecond):
			}
		}
	}()
	report, err := load.CheckFresh(t.Context(), load.Options{URL: url}, load.FreshCheck{URLs: []string{"/", "/about"}, MaxAge: maxAge, For: during,
		Cookies: []string{"user=ann", "user=bob"}})
	close(done)
	<-over
	if err != nil {
		t.Fatal(err)
	}
	return report
}
