package php

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

const preloadFPM = `[global]
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

const preloadNginx = `user www-data;
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
            fastcgi_param SCRIPT_FILENAME %DIR%/app/public/index.php;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param REQUEST_URI $request_uri;
        }
    }
}
`

// framework is an application laid out as Symfony's: 200 classes, each in its
// file and the child of the one before, and the list of them that its
// deployment makes.
func framework(t *testing.T, dir string) {
	t.Helper()
	const last = 199
	var list strings.Builder
	list.WriteString("<?php\n")
	for i := range last + 1 {
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf(" extends Part%d", i-1)
		}
		bed.Write(t, dir, fmt.Sprintf("app/src/Part%d.php", i), fmt.Sprintf("<?php\nclass Part%d%s\n{\n    public function f%d() { return %d; }\n}\n", i, parent, i, i))
		fmt.Fprintf(&list, "require_once dirname(__DIR__, 3) . '/src/Part%d.php';\n", i)
	}
	bed.Write(t, dir, "app/bin/console", "")
	bed.Write(t, dir, "app/config/bundles.php", "<?php return [];\n")
	bed.Write(t, dir, "app/var/cache/prod/App_KernelProdContainer.preload.php", list.String())
	bed.Write(t, dir, "app/config/preload.php", "<?php\nif (file_exists(dirname(__DIR__) . '/var/cache/prod/App_KernelProdContainer.preload.php')) {\n    require dirname(__DIR__) . '/var/cache/prod/App_KernelProdContainer.preload.php';\n}\n")
	bed.Write(t, dir, "app/public/index.php", fmt.Sprintf(`<?php
if ($_SERVER['REQUEST_URI'] === '/there') { exit(class_exists('Part0', false) ? 'yes' : 'no'); }
spl_autoload_register(function ($class) { require dirname(__DIR__) . "/src/$class.php"; });
$last = new Part%[1]d();
$sum = 0;
for ($i = 0; $i <= %[1]d; $i++) { $sum += $last->{"f$i"}(); }
echo "sum=$sum";
`, last))
}

// TestPreload: classes that each request loaded are there from the start.
func TestPreload(t *testing.T) {
	dir, fpm := bed.Folder(t), bed.PHPFPM(t)
	port := fmt.Sprint(bed.FreePort(t))
	framework(t, dir)
	bed.Write(t, dir, "fpm.conf", preloadFPM)
	bed.Write(t, dir, "php.ini", "[PHP]\nopcache.enable = 1\n; timestamps are trusted\nopcache.validate_timestamps = 0\n")
	bed.Write(t, dir, "nginx.conf", strings.ReplaceAll(preloadNginx, "PORT", port))
	bed.Write(t, dir, "kasoku.yaml", strings.NewReplacer("PORT", port, "FPM", fpm).Replace(`version: 1
name: preload
services:
  - {name: web, kind: nginx, binary: /usr/sbin/nginx, config: nginx.conf, listen: ["127.0.0.1:PORT"], talks_to: [php], control: {pid_file: nginx.pid}}
  - {name: php, kind: php-fpm, binary: FPM, config: fpm.conf, php_ini: php.ini, control: {pid_file: fpm.pid}}
  - {name: app, kind: app, root: app, runs_in: php}
evidence: {profile: "off"}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:PORT"}
`))
	bed.Write(t, dir, "scenario.yaml", "version: 1\nname: page\nworkload: 2\nsessions:\n  - name: visit\n    steps:\n      - {"+bed.Pause()+"name: page, request: GET /, expect: {contains: [sum=19900]}}\n")
	bed.StopByPIDFile(t, filepath.Join(dir, "fpm.pid"))
	bed.StopByPIDFile(t, filepath.Join(dir, "nginx.pid"))
	bed.Output(t, fpm, "-y", filepath.Join(dir, "fpm.conf"), "-c", filepath.Join(dir, "php.ini"), "-D")
	bed.Output(t, "/usr/sbin/nginx", "-c", filepath.Join(dir, "nginx.conf"))
	bed.Await(t, "127.0.0.1:"+port)
	b := bed.Open(t, dir)

	there := func() string { return bed.Output(t, "curl", "-fsS", "http://127.0.0.1:"+port+"/there") }
	if there() != "no" {
		t.Fatal("classes are there before anything was preloaded")
	}
	b.Answers(t, "compiled once")
	was := b.Answers(t, "as found").Evidence.Load
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		if there() != "yes" {
			t.Error("the classes are not there when a request begins")
		}
		now := b.Answers(t, "preloaded").Evidence.Load
		t.Logf("%d right answers in %s, as found %d in %s", now.Succeeded, now.Window, was.Succeeded, was.Window)
	}, "php.preload")
	if there() != "no" {
		t.Error("classes are there although the plan was taken back")
	}
}
