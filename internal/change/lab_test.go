package change

import (
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

	"github.com/go-sql-driver/mysql"

	"kasoku/internal/await"
	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/stack"
)

// lab is a private MariaDB, PHP-FPM and nginx, shared by the package's tests.
// The processes that are killed find it by its folder.
type lab struct{ dir string }

var (
	labOnce   sync.Once
	theLab    lab
	labErr    error
	labServer *exec.Cmd
)

func newLab(t *testing.T) lab {
	t.Helper()
	labOnce.Do(func() { theLab, labServer, labErr = startLab() })
	if labErr != nil {
		t.Fatalf("start the lab: %v", labErr)
	}
	return theLab
}

func (l lab) path(name string) string { return filepath.Join(l.dir, name) }

// ownLab is one more, for a test that runs beside others.
func ownLab(t *testing.T) lab {
	t.Helper()
	l, server, err := startLab()
	t.Cleanup(func() { l.stop(server) })
	must(t, err)
	return l
}

// filesLab is a lab of its own with the files only, for tests of when a guard acts:
// what it then puts back, TestGuardPutsBack shows of every kind.
func filesLab(t *testing.T) lab {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "kfl")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := lab{dir}
	must(t, os.Mkdir(l.path("conf"), 0o755))
	must(t, os.WriteFile(l.path("conf/site.conf"), []byte(siteBefore), 0o644))
	must(t, os.Chtimes(l.path("conf/site.conf"), long, long))
	must(t, os.WriteFile(l.path(noServers), nil, 0o600))
	return l
}

// noServers is a file in a lab that has none.
const noServers = "no-servers"

func (l lab) filesOnly() bool {
	_, err := os.Stat(l.path(noServers))
	return err == nil
}

func startLab() (l lab, server *exec.Cmd, err error) {
	for _, program := range []string{"mariadbd", "nginx", "php-fpm8.2"} {
		if _, err := exec.LookPath(program); err != nil {
			return l, nil, fmt.Errorf("%s is not installed: run `make deps`", program)
		}
	}
	if l.dir, err = os.MkdirTemp(memory(), "kch"); err != nil { // short: paths of sockets have 107 bytes
		return l, nil, err
	}
	if err := os.Chmod(l.dir, 0o755); err != nil {
		return l, nil, err
	}
	if err := hosttest.MariaDBData(l.path("data"), "", "8M"); err != nil {
		return l, nil, err
	}
	if server, err = l.startMariaDB(); err != nil {
		return l, server, err
	}
	return l, server, l.write()
}

// memory is a folder without a disk, if there is one: these tests kill
// processes, not the machine, and sync thousands of times.
func memory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() && syscall.Access(shm, 2) == nil {
		return shm
	}
	return ""
}

// project makes a .kasoku folder.
func (l lab) project(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(l.dir, "p")
	must(t, err)
	return filepath.Join(dir, ".kasoku")
}

// write puts the as-found configuration of nginx and PHP-FPM there.
func (l lab) write() error {
	if err := os.Mkdir(l.path("conf"), 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"nginx.conf": "worker_processes 1;\npid " + l.path("nginx.pid") + ";\nerror_log " + l.path("nginx.log") + ";\nevents { worker_connections 64; }\nhttp {\n  access_log off;\n" +
			"  client_body_temp_path " + l.path("t1") + "; proxy_temp_path " + l.path("t2") + "; fastcgi_temp_path " + l.path("t3") + "; uwsgi_temp_path " + l.path("t4") + "; scgi_temp_path " + l.path("t5") + ";\n" +
			"  server { listen unix:" + l.path("web.sock") + "; include " + l.path("conf/site.conf") + "; }\n}\n",
		"conf/site.conf": siteBefore,
		"fpm.conf":       "[global]\npid = " + l.path("fpm.pid") + "\nerror_log = " + l.path("fpm.log") + "\ndaemonize = yes\n[www]\nlisten = " + l.path("fpm.sock") + "\nuser = www-data\ngroup = www-data\npm = static\npm.max_children = 1\n",
	} {
		if err := os.WriteFile(l.path(name), []byte(text), 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(l.path(name), long, long); err != nil {
			return err
		}
	}
	for _, argv := range [][]string{l.nginx(), l.fpm()} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w: %s", argv, err, out)
		}
	}
	return nil
}

const (
	siteBefore = "location / { return 200 before; }\n"
	siteAfter  = "location / { return 200 after; }\n"
)

func (l lab) nginx(args ...string) []string {
	return append([]string{"nginx", "-p", l.dir, "-e", l.path("nginx.log"), "-c", l.path("nginx.conf")}, args...)
}

func (l lab) fpm(args ...string) []string {
	return append([]string{"php-fpm8.2", "--allow-to-run-as-root", "-n", "-y", l.path("fpm.conf")}, args...)
}

func (l lab) startMariaDB() (*exec.Cmd, error) {
	log, err := os.OpenFile(l.path("mariadb.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	server := exec.Command("mariadbd", "--no-defaults", "--user=root", "--datadir="+l.path("data"), "--tmpdir="+l.path("data"), "--socket="+l.path("db.sock"),
		"--skip-networking", "--pid-file="+l.path("db.pid"), "--innodb-buffer-pool-size=16M", "--innodb-buffer-pool-chunk-size=2M",
		"--innodb-log-file-size=8M", "--key-buffer-size=1M", "--performance-schema=OFF")
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return nil, err
	}
	return server, await.Until(func() error {
		db, err := l.db(context.Background())
		if err == nil {
			db.Close()
		}
		return err
	})
}

func (l lab) stop(server *exec.Cmd) {
	if l.dir == "" {
		return
	}
	for _, name := range []string{"nginx.pid", "fpm.pid"} {
		if pid, err := l.pid(name); err == nil {
			syscall.Kill(pid, syscall.SIGTERM)
		}
	}
	if server != nil && server.Process != nil {
		server.Process.Kill()
		server.Wait()
	}
	os.RemoveAll(l.dir)
}

func (l lab) pid(name string) (int, error) {
	b, err := os.ReadFile(l.path(name))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

func (l lab) db(ctx context.Context) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr = "root", "unix", l.path("db.sock")
	c.Logger, c.DialFunc = &mysql.NopLogger{}, dialer(ctx)
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func (l lab) exec(t *testing.T, statements ...string) {
	t.Helper()
	db, err := l.db(t.Context())
	must(t, err)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// ask returns the last column of a query's only row.
func (l lab) ask(t *testing.T, query string) string {
	t.Helper()
	db, err := l.db(t.Context())
	must(t, err)
	defer db.Close()
	rows, err := db.Query(query)
	must(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(t, err)
	values := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	if !rows.Next() {
		return ""
	}
	must(t, rows.Scan(into...))
	return values[len(values)-1].String
}

// serves is what nginx answers: it shows which configuration it runs with.
func (l lab) serves() (string, error) {
	c := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", l.path("web.sock")) }}}
	r, err := c.Get("http://lab/")
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return string(b), err
}

func (l lab) options(dir string) Options {
	s := &stack.Stack{Services: []stack.Service{{Name: "web", Kind: stack.Nginx, TalksTo: []string{"php"}},
		{Name: "php", Kind: stack.PHPFPM, TalksTo: []string{"db"}}, {Name: "db", Kind: stack.MariaDB}}}
	return Options{Dir: dir, Stack: s, Hosts: map[string]host.Host{"local": host.NewLocal()},
		Control: func(service string) (Controller, error) {
			if l.filesOnly() {
				return nothing{}, nil
			}
			return labControl{l, service}, nil
		},
		DB: func(ctx context.Context, _ string) (*sql.DB, error) { return l.db(ctx) }}
}

// labControl controls the lab's servers.
type labControl struct {
	lab
	service string
}

func (c labControl) run(ctx context.Context, argv []string) error {
	r, err := host.NewLocal().Run(ctx, host.Command{Argv: argv})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("%s: exit status %d: %s", c.service, r.ExitCode, r.Stderr)
	}
	return err
}

func (c labControl) Check(ctx context.Context) error {
	switch c.service {
	case "web":
		return c.run(ctx, c.nginx("-t"))
	case "php":
		return c.run(ctx, c.fpm("-t"))
	}
	return nil
}

func (c labControl) Reload(ctx context.Context) error {
	switch c.service {
	case "web":
		pid, err := c.pid("nginx.pid")
		if err != nil {
			return err
		}
		before := children(pid)
		if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
			return err
		}
		return await.Until(func() error { // the new workers are there and the old ones gone
			now := children(pid)
			if now == "" || strings.Contains(now, before) {
				return fmt.Errorf("nginx: workers %s, then %s", before, now)
			}
			return nil
		})
	case "php":
		// A daemon forks again when it is reloaded, so its pid changes.
		pid, err := c.pid("fpm.pid")
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, syscall.SIGUSR2); err != nil {
			return err
		}
		return await.Until(func() error {
			now, err := c.pid("fpm.pid")
			if err != nil || now == pid || children(now) == "" {
				return fmt.Errorf("php-fpm was %d, is %d, %v", pid, now, err)
			}
			return nil
		})
	}
	return fmt.Errorf("%s cannot be reloaded", c.service)
}

// children of a process, as the kernel lists them.
func children(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	return strings.TrimSpace(string(b))
}

func (c labControl) Restart(ctx context.Context) error {
	if c.service != "php" {
		return fmt.Errorf("%s is not restarted in these tests", c.service)
	}
	if pid, err := c.pid("fpm.pid"); err == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone already
		if err := await.Until(func() error {
			if syscall.Kill(pid, 0) == nil {
				return fmt.Errorf("php-fpm %d does not end", pid)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return c.run(ctx, c.fpm())
}

func (c labControl) WaitHealthy(ctx context.Context) error {
	return await.Until(func() error {
		switch c.service {
		case "web":
			_, err := c.serves()
			return err
		case "php":
			conn, err := net.Dial("unix", c.path("fpm.sock"))
			if err == nil {
				conn.Close()
			}
			return err
		}
		db, err := c.db(ctx)
		if err == nil {
			db.Close()
		}
		return err
	})
}
