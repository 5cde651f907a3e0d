// Package indexes shows the remedies of indexes and hot rows on a small shop of
// real nginx, PHP-FPM and MariaDB.
package indexes

import (
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"kasoku/cases/remedies/bed"
)

// page is the shop. An order takes its number from a counter first and then, in
// the same transaction, asks somebody else about the payment (3 ms).
const page = `<?php
$db = new PDO('mysql:unix_socket=%DIR%/db.sock;dbname=shop', 'root', '', [PDO::ATTR_PERSISTENT => true, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
if ($_SERVER['DOCUMENT_URI'] === '/find') {
    $s = $db->prepare('SELECT id, total FROM orders WHERE customer = ? AND id <= 6000');
    $s->execute([$_GET['customer']]);
    echo 'found ', count($s->fetchAll());
    exit;
}
$db->beginTransaction();
$db->exec('UPDATE ids SET id = LAST_INSERT_ID(id + 1)');
$id = $db->lastInsertId();
$db->prepare('INSERT INTO audit (order_id, actor, at) VALUES (?, ?, NOW())')->execute([$id, $_GET['customer']]);
usleep(3000);
$db->prepare('INSERT INTO orders (id, customer, total) VALUES (?, ?, ?)')->execute([$id, $_GET['customer'], 5]);
$db->commit();
echo 'ordered ', $id;
`

// schema of the shop as found: no index that its statements need, one that they
// do not, and the counter.
var schema = []string{
	"CREATE DATABASE shop", "USE shop",
	"CREATE TABLE ids (id BIGINT UNSIGNED NOT NULL) ENGINE=InnoDB", "INSERT INTO ids VALUES (1000000)",
	"CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY, customer INT NOT NULL, total INT NOT NULL, note VARCHAR(200) NOT NULL DEFAULT '') ENGINE=InnoDB",
	"INSERT INTO orders SELECT seq, seq % 300, 5, REPEAT('x', 100) FROM seq_1_to_6000",
	"CREATE TABLE audit (id BIGINT PRIMARY KEY AUTO_INCREMENT, order_id BIGINT, actor INT, at DATETIME, KEY by_order (order_id), KEY by_order_and_actor (order_id, actor)) ENGINE=InnoDB",
	"ANALYZE TABLE ids, orders, audit",
}

const scenario = `version: 1
name: shop
workload: 8
warmup: 200ms
duration: 1s
timeout: 5s
seed: 1
pools:
  customers:
    generate: {from: 0, to: 299}
    fields: {n: "${n}"}
sessions:
  - name: buys
    weight: 3
    draw: {customer: customers}
    steps:
      - name: order
        request: GET /order?customer=${customer.n}
        expect: {status: 200, contains: ["ordered 1"]}
  - name: looks
    weight: 1
    draw: {customer: customers}
    steps:
      - name: find
        request: GET /find?customer=${customer.n}
        expect: {status: 200, contains: ["found 20"]}
`

const stackFile = `version: 1
name: shop
services:
  - name: web
    kind: nginx
    binary: /usr/sbin/nginx
    config: %DIR%/nginx.conf
    prefix: %DIR%
    listen: ["127.0.0.1:%PORT%"]
    talks_to: [php]
    control: {method: process, pid_file: %DIR%/nginx.pid, start: ["/usr/sbin/nginx", "-c", "%DIR%/nginx.conf"]}
  - name: php
    kind: php-fpm
    binary: %FPM%
    config: %DIR%/fpm.conf
    php_ini: %DIR%/php.ini
    listen: ["unix:%DIR%/fpm.sock"]
    talks_to: [db]
    control: {method: process, pid_file: %DIR%/fpm.pid, start: ["%FPM%", "-y", "%DIR%/fpm.conf", "-c", "%DIR%/php.ini"]}
  - name: db
    kind: mariadb
    binary: /usr/sbin/mariadbd
    config: %DIR%/my.cnf
    listen: ["unix:%DIR%/db.sock"]
    control: {method: process, pid_file: %DIR%/db.pid, start: ["/usr/sbin/mariadbd", "--defaults-file=%DIR%/my.cnf"]}
    login: {user: root}
load:
  scenario: %DIR%/scenario.yaml
  url: http://127.0.0.1:%PORT%
`

const myCnf = `[mysqld]
user = root
datadir = %DIR%/data
tmpdir = %DIR%/data
socket = %DIR%/db.sock
pid_file = %DIR%/db.pid
skip_networking
innodb_buffer_pool_size = 64M
innodb_log_file_size = 16M
performance_schema = OFF
`

// mariadb makes a data folder and starts a server on it; again starts it anew.
func mariadb(t *testing.T, dir string) (db *sql.DB, again func() *exec.Cmd) {
	t.Helper()
	bed.Write(t, dir, "my.cnf", myCnf)
	bed.InstallMariaDB(t, dir+"/data", "", "16M")
	again = func() *exec.Cmd {
		c := bed.Start(t, dir, "mariadbd", "/usr/sbin/mariadbd", "--defaults-file="+dir+"/my.cnf")
		bed.Await(t, dir+"/db.sock")
		return c
	}
	again()
	db, err := sql.Open("mysql", "root@unix("+dir+"/db.sock)/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxIdleConns(16)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, q := range schema {
		if _, err := conn.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return db, again
}

// shop starts the whole service.
func shop(t *testing.T) (*bed.Bed, *sql.DB) {
	t.Helper()
	dir := bed.Folder(t)
	db, _ := mariadb(t, dir)
	found, err := filepath.Glob("/usr/sbin/php-fpm[0-9]*")
	if err != nil || len(found) == 0 {
		t.Fatal("there is no php-fpm; run `make deps`")
	}
	fpm, port := found[len(found)-1], bed.FreePort(t)
	for name, text := range map[string]string{
		"index.php":     page,
		"php.ini":       "[PHP]\ndisplay_errors = Off\nopcache.enable = 1\n",
		"fpm.conf":      "[global]\npid = %DIR%/fpm.pid\nerror_log = %DIR%/fpm.log\n[www]\nlisten = %DIR%/fpm.sock\nlisten.mode = 0666\nuser = www-data\ngroup = www-data\npm = static\npm.max_children = 10\n",
		"nginx.conf":    fmt.Sprintf("worker_processes 1;\npid %%DIR%%/nginx.pid;\nerror_log %%DIR%%/nginx.log;\nevents { worker_connections 256; }\nhttp {\n  access_log off;\n  client_body_temp_path %%DIR%%/t1; proxy_temp_path %%DIR%%/t2; fastcgi_temp_path %%DIR%%/t3; uwsgi_temp_path %%DIR%%/t4; scgi_temp_path %%DIR%%/t5;\n  server {\n    listen 127.0.0.1:%d;\n    location / {\n      fastcgi_pass unix:%%DIR%%/fpm.sock;\n      include /etc/nginx/fastcgi_params;\n      fastcgi_param SCRIPT_FILENAME %%DIR%%/index.php;\n    }\n  }\n}\n", port),
		"scenario.yaml": scenario,
	} {
		bed.Write(t, dir, name, text)
	}
	bed.Write(t, dir, "kasoku.yaml", strings.NewReplacer("%PORT%", fmt.Sprint(port), "%FPM%", fpm).Replace(stackFile))
	bed.Start(t, dir, "php", fpm, "-F", "-y", dir+"/fpm.conf", "-c", dir+"/php.ini")
	bed.Await(t, dir+"/fpm.sock")
	bed.Start(t, dir, "nginx", "/usr/sbin/nginx", "-c", dir+"/nginx.conf", "-g", "daemon off;")
	bed.Await(t, fmt.Sprintf("127.0.0.1:%d", port))
	for _, pid := range []string{"fpm.pid", "nginx.pid"} {
		bed.StopByPIDFile(t, filepath.Join(dir, pid))
	}
	b := bed.Open(t, dir)
	b.Bench.Window = 1200 * time.Millisecond // ten looks at the lock waits; on a busy machine fewer
	return b, db
}
