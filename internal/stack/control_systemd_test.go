package stack

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

// systemd is a lab whose systemctl is testdata/systemctl: PID 1 of a test
// machine is often not systemd. TestSystemdForReal runs the same story on one.
func newSystemd(t *testing.T) *lab {
	t.Helper()
	l := newLab(t)
	bin, err := filepath.Abs("testdata/systemctl")
	must(t, err)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("UNITS", l.path("units"))
	roots := dropInRoots
	dropInRoots = []string{l.path("units")}
	t.Cleanup(func() { dropInRoots = roots })
	must(t, os.Mkdir(l.path("units"), 0o755))
	return l
}

// calls are the orders that systemctl got since the last call, without show and
// daemon-reload.
func (l *lab) calls() []string {
	l.t.Helper()
	file := l.path("units/calls")
	data, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	must(l.t, os.Truncate(file, 0))
	var out []string
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "show") && !strings.HasPrefix(line, "daemon-reload") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func (l *lab) wantCalls(want ...string) {
	l.t.Helper()
	if got := l.calls(); strings.Join(got, "; ") != strings.Join(want, "; ") {
		l.t.Errorf("systemctl was asked for %q, want %q", got, want)
	}
}

func (l *lab) cacheUnit(port, more string) *Controller {
	l.write("units/cache.service", "[Unit]\n[Service]\nExecStart="+need(l.t, "memcached")+" -u nobody -l 127.0.0.1 -p "+port+"\n"+more)
	return l.add(Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:" + port}, Control: Control{Unit: "cache.service"}})
}

func TestSystemdStory(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newSystemd(t)
	port := freePort(t)
	c := l.cacheUnit(port, "")
	if s, err := c.State(ctx); err != nil || s != Stopped {
		t.Fatalf("before: %s, %v", s, err)
	}
	must(t, c.Stop(ctx)) // nothing to do
	l.wantCalls()
	must(t, c.Start(ctx))
	before, err := c.PIDs(ctx)
	must(t, err)
	must(t, c.Start(ctx)) // left alone
	must(t, c.Restart(ctx))
	after, err := c.PIDs(ctx)
	if err != nil || before[0] == after[0] {
		t.Errorf("restart %v → %v, %v", before, after, err)
	}
	l.wantCalls("start cache.service", "restart cache.service")
	if err := c.Reload(ctx); err == nil || !strings.Contains(err.Error(), "no ExecReload") {
		t.Errorf("reload: %v", err)
	}
	if now, err := c.PIDs(ctx); err != nil || now[0] != after[0] {
		t.Errorf("a reload that cannot be became a restart: %v, %v", now, err)
	}
	must(t, c.Stop(ctx))
	if _, err := c.PIDs(ctx); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "inactive/dead") {
		t.Errorf("after stop: %v", err)
	}
}

// A drop-in or a unit that was written since is read before the unit is restarted, also one
// that was put back with the time that it had.
func TestSystemdReadsChangedUnits(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newSystemd(t)
	port := freePort(t)
	c := l.cacheUnit(port, "")
	must(t, c.Start(ctx))
	runs := func(when, threads string) {
		t.Helper()
		must(t, c.Restart(ctx))
		pids, err := c.PIDs(ctx)
		must(t, err)
		cmdline, err := os.ReadFile("/proc/" + itoa(pids[0]) + "/cmdline")
		must(t, err)
		if got := strings.ReplaceAll(string(cmdline), "\x00", " "); strings.Contains(got, " -t ") != (threads != "") || !strings.Contains(got, threads) {
			t.Errorf("%s it runs as %q", when, got)
		}
	}
	dropIn, unit := "units/cache.service.d/kasoku.conf", l.path("units/cache.service")
	exec := "ExecStart=" + need(t, "memcached") + " -u nobody -l 127.0.0.1 -p " + port
	l.write(dropIn, "[Service]\nExecStart=\n"+exec+" -t 7\n")
	runs("with a drop-in", "-t 7")
	must(t, os.Remove(l.path(dropIn)))
	runs("without it", "")

	before, err := os.Stat(unit)
	must(t, err)
	text, err := os.ReadFile(unit)
	must(t, err)
	l.write("units/cache.service", "[Unit]\n[Service]\n"+exec+" -t 5\n")
	later := before.ModTime().Add(time.Hour)
	must(t, os.Chtimes(unit, later, later))
	runs("with another unit", "-t 5")
	l.write("units/cache.service", string(text))
	must(t, os.Chtimes(unit, before.ModTime(), before.ModTime()))
	runs("with the unit as it was, time and all,", "")
}

// Experiments restart more often than systemd's start limit allows.
func TestSystemdStartLimit(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newSystemd(t)
	c := l.cacheUnit(freePort(t), "StartLimitBurst=2\n")
	must(t, c.Start(ctx))
	must(t, c.Restart(ctx))
	l.calls()
	must(t, c.Restart(ctx)) // the third start
	l.wantCalls("restart cache.service", "reset-failed cache.service", "start cache.service")
}

func TestSystemdStartFails(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newSystemd(t)
	l.write("units/cache.service.log", "of an earlier day\n")
	l.write("units/cache.service", "[Service]\nExecStart=/bin/sh -c 'echo no free lunch; exit 3'\n")
	c := l.add(Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:1"}, Control: Control{Unit: "cache.service"}})
	err := c.Start(ctx)
	for _, word := range []string{"start cache", "no free lunch", "failed, exit-code 3"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in: %v", word, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "an earlier day") {
		t.Errorf("old log lines are shown: %v", err)
	}
	if s, err := c.State(ctx); err != nil || s != Failed {
		t.Errorf("state %s, %v", s, err)
	}
	// A failed unit is let go once it can start.
	port := freePort(t)
	c = l.cacheUnit(port, "")
	must(t, c.Start(ctx))

	// It had failed before: it ends stopped, not running.
	must(t, c.PutBack(ctx, Failed))
	if s, err := c.State(ctx); err != nil || s == Running {
		t.Errorf("put back to failed: %s, %v", s, err)
	}
}

func TestSystemdUnitsThatCannotStart(t *testing.T) {
	ctx := context.Background()
	l := newSystemd(t)
	c := l.add(Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:1"}, Control: Control{Unit: "nobody.service"}})
	if err := c.Start(ctx); err == nil || !strings.Contains(err.Error(), "there is no unit nobody.service") {
		t.Errorf("absent: %v", err)
	}
	c = l.cacheUnit(freePort(t), "")
	l.write("units/cache.service.masked", "")
	if err := c.Start(ctx); err == nil || !strings.Contains(err.Error(), "unmask") {
		t.Errorf("masked: %v", err)
	}
}

// nginx's unit reloads by its ExecReload; one without it gets nginx's signal.
func TestSystemdReload(t *testing.T) {
	await.SkipShort(t)
	ctx := context.Background()
	l := newSystemd(t)
	port := freePort(t)
	conf := l.write("nginx.conf", l.nginxConf(port, `return 200 "one";`))
	bin := need(t, "nginx")
	start := "ExecStart=" + bin + " -c " + conf + " -p " + l.dir + " -g 'daemon off;'\n"
	c := l.add(Service{Name: "web", Kind: Nginx, Binary: bin, Config: conf, Prefix: l.dir, Listen: []string{"127.0.0.1:" + port}, Control: Control{Unit: "web.service"}})
	for i, reload := range []string{"ExecReload=" + bin + " -c " + conf + " -p " + l.dir + " -s reload\n", ""} {
		l.write("units/web.service", start+reload)
		must(t, c.Start(ctx))
		before, err := c.PIDs(ctx)
		must(t, err)
		answer := "after " + itoa(i)
		l.write("nginx.conf", l.nginxConf(port, `return 200 "`+answer+`";`))
		must(t, c.Reload(ctx))
		if got := get(t, "http://127.0.0.1:"+port); got != answer {
			t.Errorf("answer %q, want %q", got, answer)
		}
		if after, err := c.PIDs(ctx); err != nil || after[0] != before[0] {
			t.Errorf("main process %v → %v, %v", before, after, err)
		}
	}
}

func TestParseUnit(t *testing.T) {
	t.Parallel()
	u, err := parseUnit(strings.NewReader("LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainStatus=203\nMainPID=0\nNeedDaemonReload=yes\nCanReload=no\nNew=thing\n"))
	if err != nil || !u.stale || u.reloads || u.describe() != "activating/auto-restart, exit-code 203" {
		t.Errorf("%+v %q, %v", u, u.describe(), err)
	}
	if _, err := parseUnit(strings.NewReader("System has not been booted with systemd as init system (PID 1). Can't operate.\n")); err == nil {
		t.Error("words that are no properties passed")
	}
}
