package topology_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/tune"
	"kasoku/lab"
	"kasoku/lab/labtest"
)

// oneHost is an application and its database on a host: each request adds an order
// and tells which server took it.
const oneHost = `
umask 022
mkdir -p /srv/shop
cat >/srv/shop/config.php <<'EOF'
<?php return ['dsn' => 'mysql:host=127.0.0.1;dbname=shop', 'user' => 'shop', 'password' => 'a-word-of-the-shop'];
EOF
cat >/srv/shop/index.php <<'EOF'
<?php
try {
    $c = require 'config.php';
    $db = new PDO($c['dsn'], $c['user'], $c['password'], [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    if (isset($_GET['order'])) $db->prepare('INSERT INTO orders (id) VALUES (?)')->execute([$_GET['order']]);
    echo $db->query('SELECT @@hostname')->fetchColumn();
} catch (Throwable $e) { http_response_code(503); echo $e->getMessage(); }
EOF
cat >/etc/nginx/nginx.conf <<'EOF'
user www-data;
pid /run/nginx.pid;
events {}
http {
    access_log off;
    server {
        listen 80;
        location / { fastcgi_pass unix:/run/php/php8.2-fpm.sock; fastcgi_param SCRIPT_FILENAME /srv/shop/index.php; fastcgi_param REQUEST_METHOD $request_method; fastcgi_param QUERY_STRING $query_string; }
    }
}
EOF
systemctl restart nginx.service
systemctl start mariadb.service php8.2-fpm.service
mariadb -e "CREATE DATABASE shop CHARACTER SET utf8mb4; USE shop; CREATE TABLE orders (id BIGINT PRIMARY KEY, at TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6));
CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60), KEY (name)); INSERT INTO items (name) SELECT CONCAT('item ', seq) FROM seq_1_to_5000;
CREATE USER shop@localhost IDENTIFIED BY 'a-word-of-the-shop'; GRANT ALL ON shop.* TO shop@localhost"
`

// shop is two hosts, of which the second has a MariaDB that nobody uses.
type shop struct {
	site
	dir string
	l   *lab.Lab
}

func openShop(t *testing.T) *shop {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("disposable hosts need root, and take too long for -short")
	}
	programs := sshtest.Programs(t)
	l := labtest.Up(t, lab.Options{Count: 2, Program: filepath.Join(programs, "kasoku-linux-"+runtime.GOARCH), Off: []string{"memcached", "redis-server", "supervisor"}})
	dir := t.TempDir()
	s := &shop{dir: dir, l: l, site: site{t: t, hosts: map[string]host.Host{}, stack: shopStack(dir)}}
	for _, h := range l.Hosts {
		c, err := ssh.Open(t.Context(), ssh.Options{Name: h.Name, Destination: h.SSHDestination, ConfigFile: l.SSHConfig, Programs: programs})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s.hosts[h.Name] = c
	}
	s.sh("h1", oneHost)
	s.sh("h2", "systemctl start mariadb.service")
	s.client = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return l.Dial(ctx, network, address)
	}}}
	return s
}

// shopStack is what kasoku.yaml says: db2 may take the data of db.
func shopStack(dir string) *stack.Stack {
	login := &stack.Login{User: "root", Socket: "/run/mysqld/mysqld.sock"}
	mariadb := func(name, host, spareFor string) stack.Service {
		return stack.Service{Name: name, Kind: stack.MariaDB, Host: host, Binary: "/usr/sbin/mariadbd", Config: "/etc/mysql/my.cnf", SpareFor: spareFor,
			Listen: []string{"127.0.0.1:3306"}, Login: login, Control: stack.Control{Unit: "mariadb.service"}}
	}
	s := &stack.Stack{Version: 1, Dir: dir, Path: filepath.Join(dir, "kasoku.yaml"), Regulation: bed.Relaxed(), Load: stack.LoadConfig{URL: "http://h1"},
		Services: []stack.Service{
			{Name: "web", Kind: stack.Nginx, Host: "h1", Binary: "/usr/sbin/nginx", Config: "/etc/nginx/nginx.conf", Prefix: "/usr/share/nginx",
				Listen: []string{"0.0.0.0:80"}, TalksTo: []string{"php"}, Control: stack.Control{Unit: "nginx.service"}},
			{Name: "php", Kind: stack.PHPFPM, Host: "h1", Binary: "/usr/sbin/php-fpm8.2", Config: "/etc/php/8.2/fpm/php-fpm.conf", PHPIni: "/etc/php/8.2/fpm/php.ini",
				Listen: []string{"unix:/run/php/php8.2-fpm.sock"}, TalksTo: []string{"db"}, Control: stack.Control{Unit: "php8.2-fpm.service"}},
			mariadb("db", "h1", ""), mariadb("db2", "h2", "db"),
			{Name: "shop", Kind: stack.App, Host: "h1", Root: "/srv/shop", Settings: []string{"/srv/shop/config.php"}, RunsIn: "php", TalksTo: []string{"db"}}}}
	s.Regulation.Install = false // or apt is asked on each host
	return s
}

// open opens the journal in a folder of the shop.
func (s *shop) open(name string, with ...func(*change.Options)) *change.Executor {
	s.t.Helper()
	x, err := tune.OpenExecutor(s.t.Context(), filepath.Join(s.dir, name, ".kasoku"), s.stack, s.hosts, with...)
	if err != nil {
		s.t.Fatal(err)
	}
	return x
}

// seen is all that undo must bring back.
func (s *shop) seen() string {
	var out []string
	for _, h := range []string{"h1", "h2"} {
		out = append(out, h, s.sh(h, `find /etc/mysql /etc/nginx /etc/php /srv -type f -exec sha256sum {} + | sort -k2
find /etc/mysql /srv /etc/systemd -printf '%p %m %u %g %l\n' | sort | sha256sum
stat -c '%n %Y' /etc/mysql/mariadb.conf.d/*
systemctl is-enabled mariadb.service; systemctl is-active mariadb.service
ls /var/lib/mysql | grep -v -e '^ib' -e '^aria' -e ddl_recovery | sort | tr '\n' ' '
mariadb -N -e "SHOW DATABASES; SELECT User, Host, authentication_string FROM mysql.user ORDER BY 1, 2; SELECT Db, User, Host FROM mysql.db ORDER BY 1, 2, 3;
SELECT @@read_only, @@log_bin, @@server_id, @@bind_address, @@gtid_slave_pos, @@gtid_current_pos; SHOW ALL SLAVES STATUS"`))
	}
	return strings.Join(out, "\n")
}

// look reads what the hosts really have, of a run in which PHP and the database
// used all of h1 together.
func (s *shop) look() remedy.Input {
	s.t.Helper()
	snap, err := evidence.Take(s.t.Context(), s.stack, s.hosts, evidence.TakeOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	use := func(name string, busy float64) *evidence.System {
		return &evidence.System{Host: name, CPUs: 2, User: busy, Idle: 20 - busy, ServicesCPU: busy, MemoryTotal: 4 << 30, MemoryAvailable: 3 << 30}
	}
	ev := &evidence.Evidence{System: *use("h1", 19.6), Hosts: map[string]*evidence.System{"h2": use("h2", 0)},
		Load:     &load.Result{Workload: 8, Window: 10 * time.Second, Requests: 1000, Succeeded: 1000, Routes: []load.RouteResult{{Route: "GET /", Requests: 1000, Total: 80 * time.Second}}},
		Services: map[string]evidence.ServiceUse{"web": {CPU: 0.6, Processes: 2}, "php": {CPU: 10, Processes: 5}, "db": {CPU: 9, Processes: 1}, "db2": {Processes: 1}}}
	d, err := diagnose.Diagnose(diagnose.Input{Stack: s.stack, Evidence: ev, Snapshot: snap})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, n := range d.NotJudged {
		if strings.HasPrefix(n.Rule, "topology.") {
			s.t.Logf("not judged: %s: %s", n.Rule, n.Why)
		}
	}
	return remedy.Input{Stack: s.stack, Evidence: ev, Snapshot: snap, Diagnosis: d}
}

// orders come all the time; what was acknowledged is remembered.
type orders struct {
	stop  chan struct{}
	wg    sync.WaitGroup
	acked map[int]string
	tried int
	gap   time.Duration // the longest time without an acknowledged order
	last  string        // what was said instead
}

// order orders, with numbers from some on.
func (s *shop) order(from int) *orders {
	o := &orders{stop: make(chan struct{}), acked: map[int]string{}}
	o.wg.Go(func() {
		since := time.Now()
		for n := from; ; n++ {
			select {
			case <-o.stop:
				return
			default:
			}
			o.tried++
			who, err := s.ask(fmt.Sprintf("/?order=%d", n))
			if err == nil && who != "" { // PHP-FPM that is reloaded may send an empty page
				o.acked[n] = who
				o.gap, since = max(o.gap, time.Since(since)), time.Now()
				continue
			}
			o.last = fmt.Sprint(err)
			time.Sleep(2 * time.Millisecond)
		}
	})
	return o
}

func (s *shop) ask(path string) (string, error) {
	res, err := s.client.Get("http://h1" + path)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, body)
	}
	return string(body), err
}

// end expects every acknowledged order on a host's server.
func (o *orders) end(s *shop, on string) {
	s.t.Helper()
	close(o.stop)
	o.wg.Wait()
	have := map[string]bool{}
	for id := range strings.SplitSeq(s.sh(on, "mariadb -N -e 'SELECT id FROM shop.orders'"), "\n") {
		have[id] = true
	}
	by, lost := map[string]int{}, 0
	for n, who := range o.acked {
		by[who]++
		if !have[fmt.Sprint(n)] {
			lost++
		}
	}
	s.t.Logf("%d orders tried, %d acknowledged (by %v), %d lost; none for %s at most; then it was said: %s", o.tried, len(o.acked), by, lost, o.gap.Round(time.Millisecond), o.last)
	if lost > 0 || len(by) != 2 {
		s.t.Errorf("of %d acknowledged orders %d are not on %s; acknowledged by %v", len(o.acked), lost, on, by)
	}
}
