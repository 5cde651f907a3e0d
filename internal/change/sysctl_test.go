package change

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"kasoku/internal/host"
	"kasoku/internal/host/hosttest"
)

// sysctlHost is this machine with a network namespace of its own: the real
// kernel's net.* keys, without touching the machine's.
type sysctlHost struct {
	host.Host
	pid int // of a process in the namespace
}

func inNetns(t *testing.T) sysctlHost {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a network namespace needs root")
	}
	return sysctlHost{host.NewLocal(), sleeper(t, "unshare", "--net")}
}

func (h sysctlHost) Run(ctx context.Context, c host.Command) (host.Result, error) {
	c.Argv = append([]string{"nsenter", "--net=/proc/" + itoa(h.pid) + "/ns/net"}, c.Argv...)
	return h.Host.Run(ctx, c)
}

func (h sysctlHost) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if !strings.HasPrefix(path, "/proc/sys/") {
		return h.Host.ReadFile(ctx, path)
	}
	r, err := h.Run(ctx, host.Command{Argv: []string{"cat", path}})
	if err == nil && r.ExitCode != 0 {
		err = os.ErrNotExist
	}
	return r.Stdout, err
}

func setSysctl(key, before, after string) Change {
	return Change{Kind: KindSysctl, Variable: key, BeforeValue: before, AfterValue: after}
}

func TestSysctl(t *testing.T) {
	h := inNetns(t)
	f := newFixture(t)
	f.x.hosts["local"] = h
	for _, c := range []struct{ key, before, after string }{
		{"net.core.somaxconn", "4096", "8192"},
		{"net/ipv4/tcp_tw_reuse", "", "1"},
		{"net.ipv4.tcp_rmem", "blanks", "4096 262144 8388608"}, // the kernel has tabs
		{"net.ipv4.ip_local_port_range", "32768\t60999", "1025 65534"},
		{"net.ipv4.tcp_congestion_control", "", "reno"},
		{"net.ipv4.conf.lo.rp_filter", "0", "1"},
	} {
		t.Run(c.key, func(t *testing.T) {
			was, err := h.ReadFile(t.Context(), sysctlPath(c.key))
			must(t, err)
			if c.before == "blanks" {
				c.before = strings.Join(strings.Fields(string(was)), " ")
			}
			tx, err := f.apply(setSysctl(c.key, c.before, c.after))
			must(t, err)
			now, err := h.ReadFile(t.Context(), sysctlPath(c.key))
			must(t, err)
			if !sameFields(string(now), c.after) {
				t.Fatalf("it is %q", now)
			}
			drift, err := f.x.Verify(t.Context())
			if err != nil || len(drift) > 0 {
				t.Fatalf("drift %v, %v", drift, err)
			}
			must(t, f.x.Revert(t.Context(), tx.ID))
			now, err = h.ReadFile(t.Context(), sysctlPath(c.key))
			must(t, err)
			wantEqual(t, "reverted", string(now), string(was))
		})
	}
}

func TestSysctlRefusals(t *testing.T) {
	h := inNetns(t)
	f := newFixture(t)
	f.x.hosts["local"] = h
	for _, c := range []struct {
		key, before, after string
		says               []string
		journaled          bool
	}{
		{"net.core.somaxconn", "7", "8", []string{"the plan saw"}, false},
		{"net.core.no_such_key", "", "8", []string{"this kernel", "has no"}, false},
		{"../../etc/passwd", "", "8", []string{"it needs a key"}, false},
		{"net..core", "", "8", []string{"it needs a key"}, false},
		{"net.core.somaxconn", "", "1\n2", []string{"one line"}, false},
		{"kernel.version", "", "8", []string{"cannot be set here", "by hand: sysctl -w"}, false},
		{"net.ipv4.tcp_congestion_control", "", "nosuch", []string{"No such file", "tcp_congestion_control"}, true},
		{"net.ipv4.tcp_rmem", "", "many", []string{"Invalid argument", "range"}, true},
		{"net.core.somaxconn", "", "-5", []string{"Invalid argument"}, true},
	} {
		_, err := f.apply(setSysctl(c.key, c.before, c.after))
		wantText(t, err, c.says...)
		if n := len(f.x.History()); (n > 0) != c.journaled {
			t.Fatalf("%s: %d transactions in the journal: %v", c.key, n, err)
		}
		if len(f.x.Pending()) > 0 {
			t.Fatalf("%s: pending", c.key)
		}
	}
	// Set by someone else meanwhile: left alone.
	tx, err := f.apply(setSysctl("net.core.somaxconn", "4096", "5000"))
	must(t, err)
	_, err = h.Run(t.Context(), host.Command{Argv: []string{"sysctl", "-w", "net.core.somaxconn=6000"}})
	must(t, err)
	var conflict *ConflictError
	if err := f.x.Revert(t.Context(), tx.ID); !errors.As(err, &conflict) || conflict.Got != "6000" {
		t.Fatalf("error %v", err)
	}
}

// TestSysctlTwin: dirty_bytes sets dirty_ratio to zero, and zero cannot be
// written to dirty_bytes to get it back.
func TestSysctlTwin(t *testing.T) {
	defer hosttest.HoldMachine(t)()
	for _, key := range []string{"vm.dirty_bytes", "vm.dirty_ratio"} {
		ratio, err := os.ReadFile("/proc/sys/vm/dirty_ratio")
		must(t, err)
		if unix.Access(sysctlPath(key), unix.W_OK) != nil || strings.TrimSpace(string(ratio)) == "0" {
			t.Skip("vm.dirty_bytes cannot be set on this machine")
		}
		f := newFixture(t)
		// The machine's own, so as near to what it is as can be.
		after := map[string]string{"vm.dirty_bytes": "1073741824", "vm.dirty_ratio": "21"}[key]
		tx, err := f.apply(setSysctl(key, "", after))
		must(t, err)
		must(t, f.x.Revert(t.Context(), tx.ID))
		now, err := os.ReadFile("/proc/sys/vm/dirty_ratio")
		must(t, err)
		wantEqual(t, key, string(now), string(ratio))
	}
}

// TestSysctlPermanent: both sides in one transaction, killed between them.
func TestSysctlPermanent(t *testing.T) {
	h := inNetns(t)
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.Base(SysctlFile))
	key := "net.core.somaxconn"
	both := []Change{create(file, key+" = 8192\n", ""), setSysctl(key, "", "8192")}
	both[0].Activate = None
	was, err := h.ReadFile(t.Context(), sysctlPath(key))
	must(t, err)
	steps := 0
	for at := 1; ; at++ {
		f := newFixture(t)
		f.x.hosts["local"] = h
		died := stopAt(f, at, both)
		f.reopen()
		f.x.hosts["local"] = h
		kept := died == "" // applied, then kept below
		_, err := f.x.Recover(t.Context())
		must(t, err)
		now, err := h.ReadFile(t.Context(), sysctlPath(key))
		must(t, err)
		wantEqual(t, "after recovery from "+died, string(now), string(was))
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("%s: the file is left", died)
		}
		if kept {
			break
		}
		steps++
	}
	t.Logf("%d steps", steps)
	if steps < 8 {
		t.Fatalf("only %d steps", steps)
	}
}
