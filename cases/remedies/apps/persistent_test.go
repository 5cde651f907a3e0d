package apps_test

import (
	"fmt"
	"strings"
	"testing"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

const itemPage = `<?php
$set = parse_ini_file(__DIR__ . '/settings.ini');
$db = new PDO($set['dsn'], 'shop', 'secret', [PDO::ATTR_PERSISTENT => (bool)$set['db_persistent']]);
echo $db->query('SELECT name FROM items WHERE id = 7')->fetchColumn();
`

// An application whose settings say that no connection to the database is kept
// connects in each request; told to keep them, it has one for each process.
func TestPersistent(t *testing.T) {
	fpm := bed.PHPFPM(t)
	dir, port := bed.Folder(t), bed.FreePort(t)
	database(t, dir)
	write(t, dir, "app/index.php", itemPage, port)
	write(t, dir, "app/settings.ini", "; of the shop\ndsn = \"mysql:unix_socket=%DIR%/db.sock;dbname=shop\"\ndb_persistent = 0 ; as it was set up\n", port)
	write(t, dir, "fpm.conf", "[global]\npid = %DIR%/fpm.pid\nerror_log = %DIR%/fpm.log\n[www]\nuser = www-data\ngroup = www-data\nlisten = %DIR%/fpm.sock\nlisten.owner = www-data\nlisten.mode = 0660\npm = static\npm.max_children = 3\n", port)
	write(t, dir, "nginx.conf", `user www-data;
pid %DIR%/nginx.pid;
error_log %DIR%/nginx.log;
worker_processes 1;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path %DIR%/body;
    fastcgi_temp_path %DIR%/fastcgi;
    server {
        listen 127.0.0.1:%PORT%;
        location / {
            fastcgi_pass unix:%DIR%/fpm.sock;
            fastcgi_param SCRIPT_FILENAME %DIR%/app/index.php;
            fastcgi_param REQUEST_METHOD $request_method;
        }
    }
}
`, port)
	write(t, dir, "kasoku.yaml", `version: 1
services:
  - {name: web, kind: nginx, binary: /usr/sbin/nginx, config: nginx.conf, listen: ["127.0.0.1:%PORT%"], talks_to: [php], control: {pid_file: nginx.pid}}
  - {name: php, kind: php-fpm, binary: `+fpm+`, config: fpm.conf, control: {pid_file: fpm.pid}}
  - {name: app, kind: app, root: app, runs_in: php, settings: [app/settings.ini], talks_to: [db]}
  - name: db
    kind: mariadb
    config: %DIR%/my.cnf
    listen: ["unix:%DIR%/db.sock"]
    login: {user: root, socket: %DIR%/db.sock}
evidence: {profile: "off"}
load: {scenario: scenario.yaml, url: "http://127.0.0.1:%PORT%"}
`, port)
	calm(t, dir, "GET /", "a lamp")
	bed.StopByPIDFile(t, dir+"/fpm.pid")
	bed.StopByPIDFile(t, dir+"/nginx.pid")
	bed.Output(t, fpm, "-y", dir+"/fpm.conf", "-D")
	bed.Output(t, "/usr/sbin/nginx", "-c", dir+"/nginx.conf")
	bed.Await(t, fmt.Sprintf("127.0.0.1:%d", port))
	b := bed.Open(t, dir)

	each := func(label string) float64 {
		ev := b.Answers(t, label).Evidence
		return ev.Counters["db"].Delta["Connections"] / float64(ev.Load.Succeeded)
	}
	if n := each("as found"); n < 0.9 {
		t.Fatalf("%.2f connections for each answer as found", n)
	}
	b.Show(t, func(t *testing.T, p remedy.Plan) {
		if n := each("kept"); n > 0.1 {
			t.Errorf("%.2f connections for each answer, of three processes", n)
		}
		if !strings.Contains(p.Why, "Up to 3 would be kept") {
			t.Error(p.Why)
		}
	}, "app.db-persistent")
}
