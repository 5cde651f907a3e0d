package php

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

// modeConf is a pool of at most eight processes, of which one is there when
// nobody asks.
const modeConf = `[global]
pid = %DIR%/fpm.pid
error_log = %DIR%/fpm.log
[www]
user = www-data
group = www-data
listen = %DIR%/fpm.sock
listen.owner = www-data
pm.status_path = /status
pm.max_children = 8
`

const modeNginx = `user www-data;
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
            fastcgi_param SCRIPT_NAME $uri;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param QUERY_STRING $query_string;
        }
    }
}
`

const modeYAML = `version: 1
name: mode
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
    control: {pid_file: fpm.pid}
evidence: {profile: "off"}
load:
  scenario: scenario.yaml
  url: http://127.0.0.1:PORT
`

// Eight users ask for a page that waits 10 ms, so that each needs a process.
const modeScenario = `version: 1
name: wait
workload: 8
duration: 500ms
sessions:
  - name: visit
    steps:
      - name: page
        request: GET /
        expect: {contains: ["done"]}
`

// fpmStatus is what PHP-FPM says of the pool when nobody else asks.
type fpmStatus struct {
	Manager string `json:"process manager"`
	Total   int    `json:"total processes"`
}

func statusOf(t *testing.T, url string) fpmStatus {
	t.Helper()
	var s fpmStatus
	text := bed.Output(t, "curl", "-fsS", url+"/status?json")
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return s
}

// A pool whose processes come and go keeps as many alive as it may have.
func TestMode(t *testing.T) {
	for mode, own := range map[string]string{
		"dynamic":  "pm = dynamic\npm.start_servers = 1\npm.min_spare_servers = 1\npm.max_spare_servers = 1\n",
		"ondemand": "pm = ondemand\npm.process_idle_timeout = 1s\n",
	} {
		t.Run(mode, func(t *testing.T) {
			dir, fpm := bed.Folder(t), bed.PHPFPM(t)
			port := fmt.Sprint(bed.FreePort(t))
			url := "http://127.0.0.1:" + port
			bed.Write(t, dir, "app/index.php", "<?php\nusleep(10000);\necho 'done';\n")
			bed.Write(t, dir, "php.ini", "[PHP]\n")
			for name, content := range map[string]string{"fpm.conf": modeConf + own, "nginx.conf": modeNginx, "kasoku.yaml": modeYAML, "scenario.yaml": modeScenario} {
				bed.Write(t, dir, name, strings.NewReplacer("PORT", port, "FPM", fpm).Replace(content))
			}
			bed.StopByPIDFile(t, filepath.Join(dir, "fpm.pid"))
			bed.StopByPIDFile(t, filepath.Join(dir, "nginx.pid"))
			bed.Output(t, fpm, "-y", filepath.Join(dir, "fpm.conf"), "-c", filepath.Join(dir, "php.ini"), "-D")
			bed.Output(t, "/usr/sbin/nginx", "-c", filepath.Join(dir, "nginx.conf"))
			bed.Await(t, "127.0.0.1:"+port)
			if s := statusOf(t, url); s.Manager != mode || s.Total > 2 {
				t.Fatalf("as found: %+v, want one or two processes", s)
			}
			b := bed.Open(t, dir)
			b.Show(t, func(t *testing.T, p remedy.Plan) {
				t.Log(p.Title, "-", p.Why)
				// All stand there at once, idle, and a static pool ends none of them.
				if s := statusOf(t, url); s.Manager != "static" || s.Total != 8 {
					t.Errorf("in force: %+v, want 8 static processes", s)
				}
			}, "php.mode")
		})
	}
}
