package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
)

// lab is a folder with configurations of real servers on free ports. Its path
// is short, because a unix socket's is limited to 107 bytes.
type lab struct {
	t   *testing.T
	dir string
	h   host.Host
	s   *Stack
}

func newLab(t *testing.T) *lab {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ks")
	if err != nil {
		t.Fatal(err)
	}
	// Workers of nginx and php-fpm run as another user.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, dir: dir, h: host.NewLocal(), s: &Stack{Dir: dir, Version: 1}}
	t.Cleanup(func() {
		l.killAll()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return l
}

// killAll ends every process whose command line or folder names the lab's.
func (l *lab) killAll() {
	await.For(l.t, "the end of the processes of "+l.dir, func() bool {
		procs, err := readProcesses(context.Background(), l.h)
		if err != nil {
			l.t.Error(err)
			return true
		}
		left := 0
		for _, p := range procs.byPID {
			if p.pid != os.Getpid() && (strings.Contains(p.title(), l.dir+"/") || strings.HasPrefix(link(context.Background(), l.h, p.pid, "cwd"), l.dir)) {
				left++
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
				for _, child := range procs.family(p.pid) {
					_ = syscall.Kill(child, syscall.SIGKILL)
				}
			}
		}
		return left == 0
	})
}

func (l *lab) path(elem ...string) string { return filepath.Join(append([]string{l.dir}, elem...)...) }

func (l *lab) write(name, text string) string {
	l.t.Helper()
	p := l.path(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
	return p
}

// need returns the program's path, or fails telling how to get it.
func need(t *testing.T, names ...string) string {
	t.Helper()
	for _, n := range names {
		for _, dir := range []string{"/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/"} {
			if _, err := os.Stat(dir + n); err == nil {
				return dir + n
			}
		}
	}
	t.Fatalf("%s is not installed; run `make deps`", names[0])
	return ""
}

func freePort(t *testing.T) string { return strconv.Itoa(hosttest.FreePort(t)) }

// add puts the service in the stack and returns its controller.
func (l *lab) add(svc Service) *Controller {
	l.t.Helper()
	if svc.Health.Timeout == 0 {
		svc.Health.Timeout = 15 * time.Second
	}
	// A pointer of its own: s.Services may move when it grows.
	own := svc
	l.s.Services = append(l.s.Services, svc)
	c, err := NewController(l.h, l.s, &own)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (l *lab) nginxConf(port, server string) string {
	return fmt.Sprintf(`pid %[1]s/nginx.pid;
error_log %[1]s/nginx-error.log;
worker_processes 2;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
    fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
    server {
        listen 127.0.0.1:%[2]s;
        %[3]s
    }
}
`, l.dir, port, server)
}

func (l *lab) nginx(port, server string) *Controller {
	conf := l.write("nginx.conf", l.nginxConf(port, server))
	return l.add(Service{Name: "web", Kind: Nginx, Binary: need(l.t, "nginx"), Config: conf, Prefix: l.dir,
		Listen: []string{"127.0.0.1:" + port}, Control: Control{Method: MethodProcess, PIDFile: l.path("nginx.pid")}})
}

func (l *lab) fpmConf(listen string) string {
	return fmt.Sprintf(`[global]
pid = %[1]s/fpm.pid
error_log = %[1]s/fpm.log
[www]
user = www-data
group = www-data
listen = %[2]s
listen.mode = 0666
pm = static
pm.max_children = 2
`, l.dir, listen)
}

func (l *lab) fpm(listen string) *Controller {
	conf := l.write("fpm.conf", l.fpmConf(listen))
	ini := l.write("php.ini", "memory_limit = 64M\n")
	endpoint := listen
	if strings.HasPrefix(listen, "/") {
		endpoint = "unix:" + listen
	}
	return l.add(Service{Name: "php", Kind: PHPFPM, Binary: need(l.t, "php-fpm8.2", "php-fpm"), Config: conf, PHPIni: ini,
		Listen: []string{endpoint}, Control: Control{Method: MethodProcess}})
}

// mariadb prepares a small server; root has the password "geheim".
func (l *lab) mariadb(port string) *Controller {
	t := l.t
	conf := l.write("my.cnf", fmt.Sprintf(`[mysqld]
user = mysql
datadir = %[1]s/db/data
tmpdir = %[1]s/db/data
socket = %[1]s/db/my.sock
pid-file = %[1]s/db/my.pid
log-error = %[1]s/db/my.err
port = %[2]s
bind-address = 127.0.0.1
innodb_buffer_pool_size = 8M
innodb_log_file_size = 4M
# a client that says nothing is not sent away on a busy machine, after 10 s
connect_timeout = 600
skip-name-resolve
`, l.dir, port))
	must(t, os.MkdirAll(l.path("db"), 0o755))
	// Servers that start at the same time with one folder for temporary tables
	// delete each other's.
	must(t, os.Mkdir(l.path("db/tmp"), 0o777))
	must(t, os.Chmod(l.path("db/tmp"), 0o777))
	must(t, hosttest.MariaDBData(l.path("db/data"), "", "4M"))
	out, err := exec.Command("chown", "-R", "mysql:", l.path("db")).CombinedOutput()
	if err != nil {
		t.Fatalf("chown: %v\n%s", err, out)
	}
	return l.add(Service{Name: "db", Kind: MariaDB, Binary: need(t, "mariadbd"), Config: conf,
		Listen: []string{"127.0.0.1:" + port}, Control: Control{Method: MethodProcess, PIDFile: l.path("db/my.pid")}})
}
