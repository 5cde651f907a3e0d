// Package php shows the remedies of PHP and PHP-FPM on the real programs:
// nginx in front of PHP-FPM with OPcache and Xdebug, found badly configured.
package php

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

// The pool may start as many processes as no machine has memory for, and they
// end after a few requests.
const fpmConf = `[global]
pid = %DIR%/fpm.pid
error_log = %DIR%/fpm.log
[www]
user = www-data
group = www-data
listen = %DIR%/fpm.sock
listen.owner = www-data
listen.mode = 0660
pm = dynamic
pm.max_children = 100000
pm.start_servers = 2
pm.min_spare_servers = 2
pm.max_spare_servers = 2
pm.max_requests = 40
`

// OPcache has 8 MiB, of which strings take 4, and looks at each file at each
// request.
const phpIni = `[PHP]
zend_extension = xdebug.so
xdebug.mode = develop
realpath_cache_size = 16K
opcache.enable = 1
opcache.memory_consumption = 8
opcache.interned_strings_buffer = 4
opcache.validate_timestamps = 1
opcache.revalidate_freq = 0
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
        listen 127.0.0.1:PORT;
        location / {
            fastcgi_pass unix:%DIR%/fpm.sock;
            fastcgi_param SCRIPT_FILENAME %DIR%/app/index.php;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param QUERY_STRING $query_string;
        }
        location = /opcache {
            fastcgi_pass unix:%DIR%/fpm.sock;
            fastcgi_param SCRIPT_FILENAME %DIR%/app/opcache.php;
            fastcgi_param REQUEST_METHOD $request_method;
        }
    }
}
`

const kasokuYAML = `version: 1
name: php
services:
  - name: web
    kind: nginx
    binary: /usr/sbin/nginx
    config: nginx.conf
    listen: ["127.0.0.1:PORT"]
    talks_to: [php]
    control: {pid_file: nginx.pid}
  - name: php
    kind: php-fpm
    binary: FPM
    config: fpm.conf
    php_ini: php.ini
    status: http://127.0.0.1:PORT/opcache
    control: {pid_file: fpm.pid}
evidence: {profile: "off"}
load:
  scenario: scenario.yaml
  url: http://127.0.0.1:PORT
`

const scenario = `version: 1
name: page
workload: 2
duration: 500ms
sessions:
  - name: visit
    steps:
      - name: page
        request: GET /
        expect: {contains: ["sum=279939"]}
`

// site starts the servers on a page that includes fourteen files, whose compiled
// code is more than OPcache has room for.
func site(t *testing.T) *bed.Bed {
	dir := bed.Folder(t)
	fpm := bed.PHPFPM(t)
	port := fmt.Sprint(bed.FreePort(t))
	write := func(name, content string) {
		bed.Write(t, dir, name, strings.NewReplacer("PORT", port, "FPM", fpm).Replace(content))
	}
	var page strings.Builder
	page.WriteString("<?php\n$sum = 0;\n")
	for i := range 14 {
		var part strings.Builder
		part.WriteString("<?php\nreturn [")
		for n := range 20000 {
			fmt.Fprintf(&part, "%d,", n*(i+1))
		}
		part.WriteString("];\n")
		bed.Write(t, dir, fmt.Sprintf("app/part%d.php", i), part.String())
		fmt.Fprintf(&page, "$sum += (include __DIR__ . '/part%d.php')[%d];\n", i, 19999/(i+1))
	}
	page.WriteString("echo 'sum=', $sum;\n")
	bed.Write(t, dir, "app/index.php", page.String())
	bed.Write(t, dir, "app/opcache.php", "<?php\necho json_encode(opcache_get_status(false));\n")
	// OPcache does not keep a file that was written in the last two seconds
	// (opcache.file_update_protection).
	parts, err := filepath.Glob(filepath.Join(dir, "app/*.php"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if err := os.Chtimes(part, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	bed.Write(t, dir, "fpm.conf", fpmConf)
	bed.Write(t, dir, "php.ini", phpIni)
	write("nginx.conf", nginxConf)
	write("kasoku.yaml", kasokuYAML)
	write("scenario.yaml", scenario)
	bed.StopByPIDFile(t, filepath.Join(dir, "fpm.pid"))
	bed.StopByPIDFile(t, filepath.Join(dir, "nginx.pid"))
	bed.Output(t, fpm, "-y", filepath.Join(dir, "fpm.conf"), "-c", filepath.Join(dir, "php.ini"), "-D")
	bed.Output(t, "/usr/sbin/nginx", "-c", filepath.Join(dir, "nginx.conf"))
	bed.Await(t, "127.0.0.1:"+port)
	return bed.Open(t, dir)
}

func TestPHPRemedies(t *testing.T) {
	b := site(t)
	page := b.Stack.Service("php").Status
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		t.Log(p.Title)
		if p.Remedy == "php.opcache-room" {
			if status := bed.Output(t, "curl", "-fsS", page); !strings.Contains(status, `"cache_full":false`) {
				t.Errorf("OPcache says %s", status)
			}
		}
	},
		"php.opcache-room", "php.timestamps", "php.realpath", "php.debugger", "php.max-requests", "php.fewer")
}
