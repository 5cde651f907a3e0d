package stack

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host/ssh"
	"kasoku/internal/host/sshtest"
	disposable "kasoku/lab"
	"kasoku/lab/labtest"
)

// sshHost is a disposable host with systemd as PID 1.
type sshHost struct {
	*ssh.Host
	t *testing.T
}

// realSystemd starts one and connects to it as Kasoku does.
func realSystemd(t *testing.T) *sshHost {
	t.Helper()
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("a disposable host needs root, and takes too long for -short")
	}
	programs := sshtest.Programs(t)
	l := labtest.Up(t, disposable.Options{Count: 1, Program: filepath.Join(programs, "kasoku-linux-"+runtime.GOARCH), Off: []string{"mariadb", "memcached", "php8.2-fpm", "redis-server", "supervisor"}})
	h, err := ssh.Open(context.Background(), ssh.Options{Name: "lab", Destination: "h1", ConfigFile: l.SSHConfig, Programs: programs})
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return &sshHost{h, t}
}

func (s *sshHost) sh(script string, args ...string) string {
	s.t.Helper()
	res, err := run(context.Background(), s, "", time.Minute, append([]string{"sh", "-c", script, "sh"}, args...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(res.Stdout))
}

// TestOnSystemd runs on a systemd that is PID 1.
func TestOnSystemd(t *testing.T) {
	t.Parallel()
	h := realSystemd(t)
	t.Run("unit", func(t *testing.T) { unitForReal(t, h) })
	t.Run("nginx", func(t *testing.T) { nginxForReal(t, h) })
}

// unitForReal is the story of TestSystemdStory and its fellows.
func unitForReal(t *testing.T, h *sshHost) {
	ctx := context.Background()
	const unitFile = "/etc/systemd/system/kasoku-test.service"
	clean := func() {
		h.sh(`systemctl stop kasoku-test.service 2>/dev/null; rm -rf ` + unitFile + ` ` + unitFile + `.d; systemctl daemon-reload; systemctl reset-failed kasoku-test.service 2>/dev/null; true`)
	}
	clean()
	t.Cleanup(clean)
	write := func(file, text string) {
		t.Helper()
		h.sh(`mkdir -p "$(dirname "$1")" && printf %s "$2" >"$1"`, file, text)
	}
	write(unitFile, "[Unit]\nStartLimitBurst=3\nStartLimitIntervalSec=600\n[Service]\nExecStart=/usr/bin/memcached -u nobody -l 127.0.0.1 -p 22111\n")
	s := &Stack{Version: 1, Dir: "/"}
	svc := &Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:22111"}, Control: Control{Unit: "kasoku-test.service"}, Health: Health{Timeout: 15 * time.Second}}
	c, err := NewController(h, s, svc)
	must(t, err)

	if state, err := c.State(ctx); err != nil || state != Stopped {
		t.Fatalf("before: %s, %v", state, err)
	}
	must(t, c.Stop(ctx))
	must(t, c.Start(ctx))
	before, err := c.PIDs(ctx)
	must(t, err)
	// More restarts than the start limit lets pass.
	for range 4 {
		must(t, c.Restart(ctx))
	}
	after, err := c.PIDs(ctx)
	if err != nil || after[0] == before[0] {
		t.Errorf("restart %v → %v, %v", before, after, err)
	}
	// A drop-in is read without being asked.
	write(unitFile+".d/kasoku.conf", "[Service]\nExecStart=\nExecStart=/usr/bin/memcached -u nobody -l 127.0.0.1 -t 7 -p 22111\n")
	must(t, c.Restart(ctx))
	pids, err := c.PIDs(ctx)
	must(t, err)
	if got := h.sh(`tr '\0' ' ' </proc/$1/cmdline`, itoa(pids[0])); !strings.Contains(got, "-t 7") {
		t.Errorf("it runs as %q", got)
	}
	// So is a unit that was changed and put back with the time that it had.
	h.sh(`rm -r "$1.d" && cp -p "$1" "$1.old" && sed -i 's/ -p / -t 5 -p /' "$1" && touch -d '+1 hour' "$1"`, unitFile)
	must(t, c.Restart(ctx))
	h.sh(`mv "$1.old" "$1"`, unitFile)
	must(t, c.Restart(ctx))
	pids, err = c.PIDs(ctx)
	must(t, err)
	if got := h.sh(`tr '\0' ' ' </proc/$1/cmdline`, itoa(pids[0])); strings.Contains(got, "-t 5") {
		t.Errorf("its unit is as before, and it runs as %q", got)
	}
	if err := c.Reload(ctx); err == nil || !strings.Contains(err.Error(), "no ExecReload") {
		t.Errorf("reload: %v", err)
	}

	// A unit that cannot start: its words, and its state.
	write(unitFile+".d/kasoku.conf", "[Service]\nExecStart=\nExecStart=/bin/sh -c 'echo no free lunch; exit 3'\n")
	svc.Health.Timeout = 3 * time.Second
	err = c.Restart(ctx)
	for _, word := range []string{"no free lunch", "exit-code 3"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in: %v", word, err)
		}
	}
	if state, err := c.State(ctx); err != nil || state != Failed {
		t.Errorf("state %s, %v", state, err)
	}
	// The previous configuration brings it back, and it ends as it was found.
	svc.Health.Timeout = 15 * time.Second
	h.sh("rm -r " + unitFile + ".d")
	must(t, c.Restart(ctx))
	must(t, c.PutBack(ctx, Stopped))
	if _, err := c.PIDs(ctx); !errors.Is(err, ErrNotRunning) {
		t.Errorf("put back: %v", err)
	}
	h.sh("systemctl mask --runtime kasoku-test.service 2>&1 || ln -sf /dev/null /run/systemd/system/kasoku-test.service; systemctl daemon-reload; true")
	t.Cleanup(func() { h.sh("systemctl unmask --runtime kasoku-test.service; true") })
	nobody := *svc
	nobody.Control.Unit = "nobody-has-this.service"
	if c, err = NewController(h, s, &nobody); err == nil {
		err = c.Start(ctx)
	}
	if err == nil || !strings.Contains(err.Error(), "there is no unit") {
		t.Errorf("absent: %v", err)
	}
}

// nginxForReal reloads Debian's own nginx unit.
func nginxForReal(t *testing.T, h *sshHost) {
	ctx := context.Background()
	svc := &Service{Name: "web", Kind: Nginx, Config: "/etc/nginx/nginx.conf", Prefix: "/usr/share/nginx", Binary: "/usr/sbin/nginx",
		Control: Control{Unit: "nginx.service"}, Listen: []string{"0.0.0.0:80"}, Health: Health{Timeout: 15 * time.Second}}
	c, err := NewController(h, &Stack{Version: 1, Dir: "/"}, svc)
	must(t, err)
	was, err := c.State(ctx)
	must(t, err)
	t.Cleanup(func() { must(t, c.PutBack(ctx, was)) })
	must(t, c.Start(ctx))
	before, err := c.PIDs(ctx)
	must(t, err)
	must(t, c.Reload(ctx))
	after, err := c.PIDs(ctx)
	if err != nil || before[0] != after[0] || len(before) < 2 || before[1] == after[1] {
		t.Errorf("reload: %v → %v, %v", before, after, err)
	}
	if out := h.sh("systemctl is-active nginx.service"); out != "active" {
		t.Errorf("systemctl says %q", out)
	}
	must(t, c.Restart(ctx))
	again, err := c.PIDs(ctx)
	if err != nil || again[0] == after[0] {
		t.Errorf("restart: %v → %v, %v", after, again, err)
	}
}
