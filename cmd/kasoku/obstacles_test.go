package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/ui"
)

// TestBadSurroundings: every obstacle is a clear error, and nothing changes.
func TestBadSurroundings(t *testing.T) {
	c := shareCase(t)
	c.shorten()
	c.calm()
	found := c.state()
	stack := filepath.Join(c.dir, "kasoku.yaml")
	good, err := os.ReadFile(stack)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) {
		t.Helper()
		if !strings.Contains(string(good), old) {
			t.Fatalf("kasoku.yaml does not hold %q", old)
		}
		if err := os.WriteFile(stack, []byte(strings.Replace(string(good), old, new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("wrong password", func(t *testing.T) {
		wrong := filepath.Join(t.TempDir(), "pw")
		if err := os.WriteFile(wrong, []byte("not-it-4711"), 0o600); err != nil {
			t.Fatal(err)
		}
		edit("secrets/db_admin", "secrets/../../../../../../../.."+wrong)
		_, out, errs := c.run("run", "-d", "500ms", "--score-only", "--json")
		if !strings.Contains(out+errs, "Access denied") || strings.Contains(out+errs, "not-it-4711") {
			t.Errorf("%s\n%s", out, errs)
		}
	})
	t.Run("somebody else works here", func(t *testing.T) {
		edit("version: 1", "version: 1")
		var cmd *exec.Cmd
		var ended chan error
		start := func() {
			cmd, ended = exec.Command(c.kasoku, "run", "-d", "20s", "--score-only", "--quiet"), make(chan error, 1)
			cmd.Dir = c.dir
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func(c *exec.Cmd, ended chan error) { ended <- c.Wait() }(cmd, ended)
		}
		start()
		defer func() { cmd.Process.Kill(); <-ended }()
		await.For(t, "the lease", func() bool {
			select {
			case <-ended: // it came while the command below had the lease
				start()
			case <-time.After(500 * time.Millisecond):
			}
			code, _, errs := c.run("undo", "--all")
			return code == ui.Busy && strings.Contains(errs, "kasoku")
		})
	})
	t.Run("disk full while journaling", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Log("not judged: only root can mount a small file system")
			return
		}
		small := filepath.Join(c.dir, ".kasoku")
		c.want(ui.OK, "recover")
		if err := syscall.Mount("none", small, "tmpfs", 0, "size=300k"); err != nil {
			t.Fatal(err)
		}
		defer syscall.Unmount(small, 0)
		c.want(ui.OK, "recover")
		fill(t, filepath.Join(small, "fill"))
		code, out, errs := c.run("try", "--set", "web.keepalive_timeout=30", "-d", "500ms")
		if code == ui.OK || !strings.Contains(out+errs, "no space left") && !strings.Contains(out+errs, "full") {
			t.Errorf("ended with %d\n%s\n%s", code, out, errs)
		}
	})
	t.Run("port in use", func(t *testing.T) {
		// nginx is told to listen where somebody else does: it must come back
		// with its old configuration.
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		conf := filepath.Join(c.dir, "etc/php/pool.d/www.conf")
		b, err := os.ReadFile(conf)
		if err != nil {
			t.Fatal(err)
		}
		listen := ""
		for _, line := range strings.Split(string(b), "\n") {
			if v, ok := strings.CutPrefix(line, "listen = "); ok {
				listen = v
			}
		}
		code, out, errs := c.run("try", "--set", "php.listen=127.0.0.1:"+port, "-d", "500ms")
		if code != ui.Target || !strings.Contains(out+errs, "php") {
			t.Errorf("ended with %d\n%s\n%s", code, out, errs)
		}
		conn, err := net.DialTimeout("tcp", listen, time.Second)
		if err != nil {
			t.Fatalf("php-fpm is not back: %v", err)
		}
		conn.Close()
	})
	t.Run("no permission", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Log("not judged: needs another user")
			return
		}
		program := filepath.Join(c.dir, "kasoku")
		c.must(exec.Command("install", "-m", "755", c.kasoku, program))
		cmd := exec.Command(program, "-f", stack, "try", "--set", "web.keepalive_timeout=30", "-d", "500ms")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = "/"
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "permi") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	if err := os.WriteFile(stack, good, 0o644); err != nil {
		t.Fatal(err)
	}
	c.same(found, "after all obstacles")
	t.Run("the database is down", func(t *testing.T) {
		c.must(exec.Command("sh", "-c", "kill $(cat "+filepath.Join(c.dir, "run/mariadb/mariadb.pid")+")"))
		pid := filepath.Join(c.dir, "run/mariadb/mariadb.pid")
		await.For(t, "the database to end", func() bool { return fileSize(pid) == 0 })
		code, out, errs := c.run("tune", "--budget", "30s", "-d", "500ms")
		if code != ui.Target || !strings.Contains(out+errs, "database") {
			t.Errorf("ended with %d\n%s\n%s", code, out, errs)
		}
		c.must(exec.Command(caseScript(t), "up", c.dir))
	})
}

func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, n := range []int{4096, 512, 1} {
		block := make([]byte, n)
		for {
			if _, err := f.Write(block); err != nil {
				break
			}
		}
	}
}
