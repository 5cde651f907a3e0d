package evidence

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/stack"
)

// live is a real nginx, PHP-FPM and MariaDB, started once for all tests.
type live struct {
	dir   string
	url   string
	st    *stack.Stack
	hosts map[string]host.Host
	db    *sql.DB
}

var (
	liveOnce sync.Once
	liveOne  *live
	liveErr  error
	liveStop []func()
)

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(liveStop) - 1; i >= 0; i-- {
		liveStop[i]()
	}
	os.Exit(code)
}

func startLive(t testing.TB) *live {
	t.Helper()
	liveOnce.Do(func() { liveOne, liveErr = newLive() })
	if liveErr != nil {
		t.Fatal(liveErr)
	}
	return liveOne
}

func program(name string) (string, error) {
	for _, dir := range []string{"/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"} {
		found, _ := filepath.Glob(filepath.Join(dir, name))
		if len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return "", fmt.Errorf("%s is not installed; run: make deps", name)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

const livePHP = `<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/css/site.css') { header('Content-Type: text/css'); readfile(__DIR__ . $path); exit; }
$p = new PDO('mysql:unix_socket=@DIR@/db.sock;dbname=shop', 'app', 'app', [PDO::ATTR_EMULATE_PREPARES => false]);
$s = $p->prepare('SELECT id, login FROM users WHERE login = ? AND password_hash <> ?');
$s->execute(['user' . ($_GET['n'] ?? 1), 'topsecret']);
echo count($s->fetchAll());
$p->exec("UPDATE users SET city = 'c' WHERE login = 'nobody'");
$p->prepare('INSERT INTO log (user_id, ip) VALUES (?, ?)')->execute([1, '10.0.0.1']);
`

// files of the live stack; lines with @USER@ are for root only.
var liveFiles = map[string]string{
	"my.cnf": "[mysqld]\ndatadir=@DIR@/db\ntmpdir=@DIR@/db\nsocket=@DIR@/db.sock\npid-file=@DIR@/db.pid\nport=@DBPORT@\nbind-address=127.0.0.1\n" +
		"innodb_buffer_pool_size=32M\ninnodb_log_file_size=16M\nperformance_schema=ON\nlog_error=@DIR@/db.err\nuser=mysql # @USER@\n!includedir @DIR@/my.d\n",
	"my.d/extra.cnf": "[mysqld]\nmax_connections=50\n",
	"nginx.conf": "user www-data; # @USER@\nworker_processes 2;\npid @DIR@/nginx.pid;\nerror_log @DIR@/nginx.err;\nevents { worker_connections 64; }\n" +
		"http {\n access_log off;\n client_body_temp_path @DIR@/t1; proxy_temp_path @DIR@/t2; fastcgi_temp_path @DIR@/t3; uwsgi_temp_path @DIR@/t4; scgi_temp_path @DIR@/t5;\n include conf.d/*.conf;\n}\n",
	"conf.d/site.conf": "server {\n listen 127.0.0.1:@PORT@;\n location = /nginx_status { stub_status; }\n location / {\n  include /etc/nginx/fastcgi_params;\n  fastcgi_param SCRIPT_FILENAME @DIR@/public/index.php;\n  fastcgi_pass unix:@DIR@/php.sock;\n }\n}\n",
	"php.ini":          "memory_limit = 77M\nopcache.enable = 0\nsession.save_path = \"@DIR@/sessions\"\n",
	"fpm.conf":         "[global]\npid = @DIR@/fpm.pid\nerror_log = @DIR@/fpm.err\ninclude = @DIR@/pool.d/*.conf\n",
	"pool.d/www.conf": "[www]\nuser = www-data ; @USER@\ngroup = www-data ; @USER@\nlisten = @DIR@/php.sock\nlisten.mode = 0666\npm = static\npm.max_children = 3\n" +
		"pm.max_requests = 7\npm.status_path = /status\nphp_admin_value[memory_limit] = 99M\nphp_admin_value[opcache.enable] = 1\n",
	"public/index.php":    livePHP,
	"public/css/site.css": "body { color: #333 }\n",
	"app.ini":             "dsn = mysql:host=127.0.0.1;port=@DBPORT@\n",
	"db_password":         "admin\n",
}

func newLive() (*live, error) {
	dir, err := os.MkdirTemp("", "kev")
	if err != nil {
		return nil, err
	}
	liveStop = append(liveStop, func() { os.RemoveAll(dir) })
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dbPort, err := freePort()
	if err != nil {
		return nil, err
	}
	values := strings.NewReplacer("@DIR@", dir, "@PORT@", strconv.Itoa(port), "@DBPORT@", strconv.Itoa(dbPort))
	for name, text := range liveFiles {
		var lines []string
		for line := range strings.Lines(text) {
			if !strings.Contains(line, "@USER@") {
				lines = append(lines, line)
			} else if os.Getuid() == 0 {
				at := strings.LastIndexAny(line[:strings.Index(line, "@USER@")], "#;")
				lines = append(lines, strings.TrimRight(line[:at], " ")+"\n")
			}
		}
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(p, []byte(values.Replace(strings.Join(lines, ""))), 0o644); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	l := &live{dir: dir, url: fmt.Sprintf("http://127.0.0.1:%d", port), hosts: map[string]host.Host{"local": host.NewLocal()}}
	if err := l.start(port, dbPort); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *live) start(port, dbPort int) error {
	paths := map[string]string{}
	for _, name := range []string{"mariadbd", "nginx", "php-fpm8.*"} {
		p, err := program(name)
		if err != nil {
			return err
		}
		paths[name] = p
	}
	d := l.dir
	if os.Getuid() == 0 {
		// The server's user makes its socket, pid file and logs here.
		if out, err := exec.Command("chown", "mysql", d).CombinedOutput(); err != nil {
			return fmt.Errorf("chown: %s", out)
		}
	}
	owner := ""
	if os.Getuid() == 0 {
		owner = "mysql"
	}
	if err := hosttest.MariaDBData(d+"/db", owner, "16M"); err != nil {
		return err
	}
	if err := l.daemon("db.pid", paths["mariadbd"], "--defaults-file="+d+"/my.cnf"); err != nil {
		return err
	}
	l.st = &stack.Stack{Dir: d, Name: "live", Services: []stack.Service{
		{Name: "web", Kind: stack.Nginx, Host: "local", Binary: paths["nginx"], Config: d + "/nginx.conf", Prefix: d,
			Listen: []string{fmt.Sprintf("127.0.0.1:%d", port)}, Control: stack.Control{Method: "process", PIDFile: d + "/nginx.pid"}},
		{Name: "php", Kind: stack.PHPFPM, Host: "local", Binary: paths["php-fpm8.*"], Config: d + "/fpm.conf", PHPIni: d + "/php.ini",
			Listen: []string{"unix:" + d + "/php.sock"}, Control: stack.Control{Method: "process", PIDFile: d + "/fpm.pid"}},
		{Name: "app", Kind: stack.App, Host: "local", Root: d, Settings: []string{d + "/app.ini"}, RunsIn: "php"},
		{Name: "db", Kind: stack.MariaDB, Host: "local", Binary: paths["mariadbd"], Config: d + "/my.cnf",
			Listen: []string{"unix:" + d + "/db.sock"}, Control: stack.Control{Method: "process", PIDFile: d + "/db.pid"},
			Login: &stack.Login{User: "root", PasswordFile: d + "/db_password", Socket: d + "/db.sock"}},
	}}
	if err := l.fill(d + "/db.sock"); err != nil {
		return err
	}
	if err := l.daemon("fpm.pid", paths["php-fpm8.*"], "-F", "-y", d+"/fpm.conf", "-c", d+"/php.ini"); err != nil {
		return err
	}
	if err := l.daemon("nginx.pid", paths["nginx"], "-p", d, "-c", d+"/nginx.conf", "-g", "daemon off;"); err != nil {
		return err
	}
	return within("the site answers", func() error {
		_, err := l.get("/?n=1")
		return err
	})
}

// daemon starts a server in the foreground of its own process group.
func (l *live) daemon(pidFile, name string, args ...string) error {
	var log bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	liveStop = append(liveStop, func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	})
	return within(name+" starts", func() error {
		select {
		case <-done:
			return fmt.Errorf("it ended: %s", log.String())
		default:
		}
		_, err := os.Stat(filepath.Join(l.dir, pidFile))
		return err
	})
}

func (l *live) fill(socket string) error {
	root, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		return err
	}
	defer root.Close()
	if err := within("the database answers", root.Ping); err != nil {
		return err
	}
	for _, q := range []string{
		"SET PASSWORD FOR root@localhost = PASSWORD('admin')", "CREATE USER app@localhost IDENTIFIED BY 'app'",
		"GRANT ALL ON *.* TO app@localhost", "CREATE DATABASE shop",
		"CREATE TABLE shop.users (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, login VARCHAR(100) NOT NULL, password_hash VARCHAR(64), city VARCHAR(20), email VARCHAR(100), bio TEXT, home VARCHAR(400), UNIQUE KEY email (email), KEY part (city(5), login)) ENGINE=InnoDB",
		"INSERT INTO shop.users (login, password_hash, city, email, home) WITH RECURSIVE s AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM s WHERE seq < 999) " +
			"SELECT CONCAT('user', seq), IF(seq > 750, NULL, MD5(seq)), CONCAT('city', seq % 7), CONCAT(seq, '@x'), CONCAT('https://example.com/people/', seq, REPEAT('/', 300)) FROM s",
		"CREATE TABLE shop.log (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, user_id INT, ip VARCHAR(50), boss BIGINT, peer BIGINT, CONSTRAINT beside FOREIGN KEY (peer) REFERENCES log (id), CONSTRAINT up FOREIGN KEY (boss) REFERENCES log (id) ON DELETE SET NULL) ENGINE=InnoDB",
		"ANALYZE TABLE shop.users",
	} {
		if _, err := root.Exec(q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	l.db, err = stack.OpenDB(context.Background(), l.hosts["local"], l.st.Service("db"))
	if err == nil {
		liveStop = append(liveStop, func() { l.db.Close() })
	}
	return err
}

func (l *live) get(uri string) (string, error) {
	res, err := http.Get(l.url + uri)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != 200 {
		err = fmt.Errorf("status %d: %s", res.StatusCode, body)
	}
	return string(body), err
}

// within waits until f succeeds.
func within(what string, f func() error) error {
	if err := await.Until(f); err != nil {
		return fmt.Errorf("waiting until %s: %w", what, err)
	}
	return nil
}

// set sets server variables and puts them back when the test ends.
func (l *live) set(t testing.TB, vars map[string]string) {
	t.Helper()
	for name, value := range vars {
		var was string
		if err := l.db.QueryRow("SELECT @@global." + name).Scan(&was); err != nil {
			t.Fatal(err)
		}
		assign := func(v string) error {
			if _, err := strconv.ParseFloat(v, 64); err != nil {
				v = "'" + v + "'"
			}
			_, err := l.db.Exec("SET GLOBAL " + name + " = " + v)
			return err
		}
		if err := assign(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := assign(was); err != nil {
				t.Error(err)
			}
		})
	}
}
