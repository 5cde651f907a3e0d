// Package locale_test shows PHP-FPM's start without the C library's archive of
// locales, on the real programs and in files of the test's own.
package locale_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

func TestMain(m *testing.M) { os.Exit(bed.Private(m)) }

const fpmConf = `[global]
pid = %DIR%/fpm.pid
error_log = %DIR%/fpm.log
[www]
user = www-data
group = www-data
listen = %DIR%/fpm.sock
listen.owner = www-data
listen.mode = 0660
pm = static
pm.max_children = 2
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
        listen 127.0.0.1:@PORT@;
        location / {
            fastcgi_pass unix:%DIR%/fpm.sock;
            fastcgi_param SCRIPT_FILENAME %DIR%/app/index.php;
            fastcgi_param REQUEST_METHOD $request_method;
        }
    }
}
`

// The page has one language of the archive, and the locale that PHP starts with.
const page = `<?php
echo 'ctype=', setlocale(LC_CTYPE, 0), ' time=', var_export(setlocale(LC_TIME, 'de_DE.utf8'), true), ' environment=', var_export(getenv('LOCPATH'), true);
`

const kasokuYAML = `version: 1
name: locale
services:
  - name: web
    kind: nginx
    binary: /usr/sbin/nginx
    config: nginx.conf
    listen: ["127.0.0.1:@PORT@"]
    talks_to: [php]
    control: {pid_file: nginx.pid}
  - name: php
    kind: php-fpm
    binary: @FPM@
    config: fpm.conf
    control: {pid_file: fpm.pid, env_file: fpm.env, start: ["@FPM@", -y, %DIR%/fpm.conf]}
evidence: {profile: "off"}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:@PORT@"}
`

const scenario = `version: 1
name: page
workload: 2
sessions:
  - name: visit
    steps:
      - {@PAUSE@name: page, request: GET /, expect: {contains: ["ctype=C.UTF-8 time='de_DE.utf8' environment=false"]}}
`

// makeArchive makes an archive of one language, as large as one of many: the C
// library maps the whole file, whatever it holds.
const makeArchive = `
cp -a /usr/lib/locale/C.utf8 "$1/de_DE.utf8"
localedef --add-to-archive "$1/de_DE.utf8"
truncate -s 64M /usr/lib/locale/locale-archive
`

func TestLocaleArchive(t *testing.T) {
	dir := bed.Folder(t)
	bed.NeedPrivate(t)
	bed.Output(t, "sh", "-ec", makeArchive, "sh", dir)
	fpm := bed.PHPFPM(t)
	replace := strings.NewReplacer("@PORT@", fmt.Sprint(bed.FreePort(t)), "@FPM@", fpm, "@PAUSE@", bed.Pause())
	for name, text := range map[string]string{"fpm.conf": fpmConf, "nginx.conf": nginxConf, "app/index.php": page, "kasoku.yaml": kasokuYAML, "scenario.yaml": scenario, "fpm.env": "SITE=x\n"} {
		bed.Write(t, dir, name, replace.Replace(text))
	}
	for _, server := range []string{"fpm", "nginx"} {
		bed.StopByPIDFile(t, filepath.Join(dir, server+".pid"))
	}
	bed.Output(t, "env", "-i", "SITE=x", fpm, "-y", dir+"/fpm.conf")
	bed.Output(t, "/usr/sbin/nginx", "-c", dir+"/nginx.conf")
	b := bed.Open(t, dir)
	bed.Await(t, dir+"/fpm.sock")
	mapped := func() bool {
		pid := strings.TrimSpace(bed.Output(t, "cat", dir+"/fpm.pid"))
		maps, status := bed.Output(t, "cat", "/proc/"+pid+"/maps"), bed.Output(t, "grep", "-E", "VmSize|VmPTE|RssFile", "/proc/"+pid+"/status")
		t.Logf("main process: %s", strings.Join(strings.Fields(status), " "))
		return strings.Contains(maps, "locale-archive")
	}
	if !mapped() {
		t.Fatal("the main process does not map the archive, so there is nothing to show")
	}
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		if mapped() {
			t.Error("the main process still maps the archive")
		}
		if len(p.Trades) > 0 {
			t.Errorf("it trades %v", p.Trades)
		}
	}, "php.locale")
	if !mapped() {
		t.Error("after undo the main process does not map the archive")
	}
}
