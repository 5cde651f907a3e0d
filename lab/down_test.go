package lab_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/lab"
	"kasoku/lab/labtest"
)

func asCannot(err error, to **lab.CannotError) bool { return errors.As(err, to) }

// traces looks for all that a lab could leave on the machine.
func traces(t *testing.T, l *lab.Lab) []string {
	t.Helper()
	var out []string
	add := func(kind string, found bool) {
		if found {
			out = append(out, kind)
		}
	}
	machine, _, _ := strings.Cut(l.Hosts[0].Machine, "-") // of all its hosts
	mounts, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	add("a mount", bytes.Contains(mounts, []byte(l.Dir)) || bytes.Contains(mounts, []byte(l.Namespace)))
	_, err = os.Lstat("/run/netns/" + l.Namespace)
	add("a network namespace", err == nil)
	_, err = os.Lstat(l.Dir)
	add("files", err == nil)
	for _, pattern := range []string{"/sys/fs/cgroup/kasoku-lab/" + machine + "*", "/sys/fs/cgroup/*/kasoku-lab/" + machine + "*", "/run/systemd/nspawn/*/" + machine + "*", "/run/systemd/nspawn/*/*/*" + machine + "*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		add(strings.Join(found, " "), len(found) > 0)
	}
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procs {
		args, _ := os.ReadFile(p + "/cmdline")
		groups, _ := os.ReadFile(p + "/cgroup")
		state, _ := os.ReadFile(p + "/stat")
		if strings.Contains(string(state), ") Z ") {
			continue // ended; its parent has not asked yet
		}
		add("process "+p+": "+strings.ReplaceAll(string(args), "\x00", " "), bytes.Contains(args, []byte(l.Dir)) || bytes.Contains(args, []byte(machine)) || bytes.Contains(groups, []byte(machine)))
	}
	links, err := exec.Command("ip", "-o", "link").Output()
	if err != nil {
		t.Fatal(err)
	}
	add("an interface", bytes.Contains(links, []byte(machine)))
	return out
}

// TestDownLeavesNothing also after a supervisor was killed, with a program of
// the machine in the lab's network, and a cap and loss set.
func TestDownLeavesNothing(t *testing.T) {
	l := labtest.Up(t, lab.Options{Count: 2, Memory: 600 << 20, Packages: []string{}})
	if got := traces(t, l); len(got) < 7 {
		t.Fatalf("of a lab that is up this test sees only %q", got)
	}
	if err := l.Limit(t.Context(), "h2", lab.Limits{LossPercent: new(1.0), CPUs: new(0.5)}); err != nil {
		t.Fatal(err)
	}
	guest := exec.Command("sleep", "1000")
	if err := l.Start(guest); err != nil {
		t.Fatal(err)
	}
	supervisor := supervisorOf(t, l.Hosts[0])
	if err := syscall.Kill(supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await.For(t, "a host whose supervisor was killed to count as down", func() bool { return !l.Hosts[0].Up() })
	start := time.Now()
	if err := l.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("down after %s", time.Since(start))
	if err := guest.Wait(); err == nil {
		t.Error("the program in the lab's network ended by itself")
	}
	if got := traces(t, l); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
	if err := l.Down(t.Context()); err != nil {
		t.Errorf("down again: %v", err)
	}
	if _, err := lab.Open(filepath.Dir(filepath.Dir(l.Dir)), l.Name); !errors.Is(err, lab.ErrNoLab) {
		t.Errorf("opened after it is down: %v", err)
	}
}

// TestDownOfAlmostNothing: Up was killed before it wrote what it makes.
func TestDownOfAlmostNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("disposable hosts need root")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "labs", "half"), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := lab.Open(dir, "half")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Down(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := lab.Open(dir, "half"); !errors.Is(err, lab.ErrNoLab) {
		t.Errorf("after that: %v", err)
	}
}

// supervisorOf finds the process `lab host DIR`.
func supervisorOf(t *testing.T, h *lab.Host) int {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procs {
		data, _ := os.ReadFile(p)
		if f := strings.Split(string(data), "\x00"); len(f) > 3 && f[1] == "lab" && f[2] == "host" && strings.HasPrefix(h.Root, f[3]+"/") {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("%s has no supervisor", h.Name)
	return 0
}

// TestUpInterrupted: Ctrl-C while hosts boot leaves nothing, whenever it comes.
func TestUpInterrupted(t *testing.T) {
	warm := labtest.Up(t, lab.Options{Packages: []string{}}) // builds the base, so that the times below are of booting
	for _, after := range []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		name := labtest.Name()
		l, err := lab.Up(ctx, lab.Options{Name: name, Count: 2, Packages: []string{}})
		cancel()
		if err == nil {
			t.Logf("up within %s", after) // on a fast machine the later ones may come too late
			if err := l.Down(t.Context()); err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %s: %v", after, err)
		}
		dir := filepath.Join(filepath.Dir(warm.Dir), name)
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after %s: %s is there (%v)", after, dir, err)
		}
		mounts, err := os.ReadFile("/proc/thread-self/mountinfo")
		if err != nil || bytes.Contains(mounts, []byte(name)) {
			t.Errorf("after %s: something of %s is mounted (%v)", after, name, err)
		}
		if found, _ := filepath.Glob("/run/netns/kasoku-" + name + "-*"); len(found) > 0 {
			t.Errorf("after %s: %v", after, found)
		}
	}
}

// TestBaseThatCannotBoot: the error tells what the console said.
func TestBaseThatCannotBoot(t *testing.T) {
	await.SkipShort(t)
	if os.Geteuid() != 0 {
		t.Skip("disposable hosts need root")
	}
	if _, err := lab.Up(t.Context(), lab.Options{Name: labtest.Name(), Base: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "no root file system") {
		t.Errorf("an empty folder: %v", err)
	}
	base := t.TempDir()
	for name, text := range map[string]string{"lib/systemd/systemd": "#!/bin/sh\n", "usr/sbin/sshd": "", "etc/passwd": "root:x:0:0::/home/r:/bin/sh\n", "etc/ssh/sshd_config": "", "etc/os-release": "ID=broken\n"} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_, err := lab.Up(t.Context(), lab.Options{Name: labtest.Name(), Base: base})
	if err == nil || !strings.Contains(err.Error(), "ended while it booted") { // not that it waited in vain
		t.Errorf("a base without a shell: %v", err)
	}
}
