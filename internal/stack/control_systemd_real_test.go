package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
)

// sshHost is enough of a host to control services of a disposable one by plain
// ssh. The real one has its own tests; this keeps what is tested here to
// systemd.
type sshHost struct {
	host.Host
	t    *testing.T
	argv []string
}

// realSystemd is the host that $KASOKU_TEST_SSH_CONFIG and
// $KASOKU_TEST_SSH_HOST name, e.g. one of `kasoku lab up`. It must have
// systemd, nginx and memcached, and let root in.
func realSystemd(t *testing.T) *sshHost {
	t.Helper()
	config, name := os.Getenv("KASOKU_TEST_SSH_CONFIG"), os.Getenv("KASOKU_TEST_SSH_HOST")
	if config == "" || name == "" {
		t.Skip("no host with systemd: set KASOKU_TEST_SSH_CONFIG and KASOKU_TEST_SSH_HOST (kasoku lab up)")
	}
	return &sshHost{host.NewLocal(), t, []string{"ssh", "-F", config, "-o", "BatchMode=yes", "-o", "ControlMaster=auto", "-o", "ControlPersist=20",
		"-o", "ControlPath=" + t.TempDir() + "/%C", name}}
}

func (s *sshHost) Name() string { return "lab" }

func (s *sshHost) Run(ctx context.Context, c host.Command) (host.Result, error) {
	var words []string
	for _, a := range c.Argv {
		words = append(words, shellWord(a))
	}
	line := strings.Join(words, " ")
	if c.Dir != "" {
		line = "cd " + shellWord(c.Dir) + " && " + line
	}
	c.Argv, c.Dir = append(s.argv[:len(s.argv):len(s.argv)], line), ""
	return s.Host.Run(ctx, c)
}

func (s *sshHost) sh(script string, args ...string) string {
	s.t.Helper()
	res, err := run(context.Background(), s, "", time.Minute, append([]string{"sh", "-c", script, "sh"}, args...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(res.Stdout))
}

func (s *sshHost) ReadFile(ctx context.Context, p string) ([]byte, error) {
	res, err := s.Run(ctx, host.Command{Argv: []string{"cat", "--", p}})
	if err == nil && res.ExitCode != 0 {
		err = fs.ErrNotExist
	}
	return res.Stdout, err
}

func (s *sshHost) Stat(ctx context.Context, p string) (host.FileInfo, error) {
	res, err := s.Run(ctx, host.Command{Argv: []string{"sh", "-c", `stat -c '%u %g %s' -- "$1" && readlink -- "$1" || [ -e "$1" ]`, "sh", p}})
	if err == nil && res.ExitCode != 0 {
		err = fs.ErrNotExist
	}
	info := host.FileInfo{Path: p}
	lines := strings.Split(string(res.Stdout), "\n")
	_, _ = fmt.Sscan(lines[0], &info.UID, &info.GID, &info.Size) // zero where it is not told
	if len(lines) > 1 {
		info.Target = lines[1]
	}
	return info, err
}

func (s *sshHost) List(ctx context.Context, dir string) ([]host.FileInfo, error) {
	res, err := s.Run(ctx, host.Command{Argv: []string{"ls", "-1", "--", dir}})
	if err == nil && res.ExitCode != 0 {
		err = fs.ErrNotExist
	}
	var out []host.FileInfo
	for name := range strings.FieldsSeq(string(res.Stdout)) {
		out = append(out, host.FileInfo{Path: path.Join(dir, name)})
	}
	return out, err
}

// DialContext goes through ssh -W's stand-in on the host: a pipe to its port.
func (s *sshHost) DialContext(_ context.Context, _, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	res, err := s.Run(context.Background(), host.Command{Argv: []string{"ss", "-Hltn", "sport", "=", ":" + port}})
	if err != nil || len(res.Stdout) == 0 {
		return nil, fmt.Errorf("dial %s: nobody listens there, %v", address, err)
	}
	here, there := net.Pipe()
	there.Close()
	return here, nil
}

// TestSystemdForReal is the story of TestSystemdStory and its fellows on a
// systemd that is PID 1.
func TestSystemdForReal(t *testing.T) {
	h := realSystemd(t)
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

// TestSystemdNginxForReal reloads Debian's own nginx unit.
func TestSystemdNginxForReal(t *testing.T) {
	h := realSystemd(t)
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
	if out, err := exec.Command(h.argv[0], append(h.argv[1:len(h.argv):len(h.argv)], "systemctl", "is-active", "nginx.service")...).Output(); err != nil || strings.TrimSpace(string(out)) != "active" {
		t.Errorf("systemctl says %q, %v", out, err)
	}
	must(t, c.Restart(ctx))
	again, err := c.PIDs(ctx)
	if err != nil || again[0] == after[0] {
		t.Errorf("restart: %v → %v, %v", after, again, err)
	}
}
