package stack

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host"
)

func itoa(n int) string { return strconv.Itoa(n) }

// supervisord runs the real one in the lab's folder.
func (l *lab) supervisord(programs string) string {
	t := l.t
	t.Helper()
	conf := l.write("supervisord.conf", `[unix_http_server]
file=`+l.dir+`/supervisor.sock
[supervisord]
logfile=`+l.dir+`/supervisord.log
pidfile=`+l.dir+`/supervisord.pid
childlogdir=`+l.dir+`
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://`+l.dir+`/supervisor.sock
[include]
files = conf.d/*.conf
`)
	l.write("conf.d/all.conf", programs)
	out, err := exec.Command(need(t, "supervisord"), "-c", conf).CombinedOutput()
	if err != nil {
		t.Fatalf("supervisord: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		// In front of killAll: supervisord would start again what is killed.
		if out, err := exec.Command("supervisorctl", "-c", conf, "shutdown").CombinedOutput(); err != nil {
			t.Logf("shutdown: %v %s", err, out)
		}
	})
	return conf
}

// counting counts how often a program is called.
type counting struct {
	host.Host
	program string
	n       int
}

func (c *counting) Run(ctx context.Context, cmd host.Command) (host.Result, error) {
	if cmd.Argv[0] == c.program {
		c.n++
	}
	return c.Host.Run(ctx, cmd)
}

func cacheProgram(t *testing.T, port, more string) string {
	return "[program:cache]\ncommand=" + need(t, "memcached") + " -u nobody -l 127.0.0.1 -p " + port + "\nstartsecs=1\n" + more
}

func TestSupervisorStory(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	conf := l.supervisord(cacheProgram(t, port, "autostart=false\nstopwaitsecs=23 ; long\n"))
	c := l.add(Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:" + port}, Control: Control{Program: "cache", Config: conf}})
	if _, err := c.PIDs(ctx); !errors.Is(err, ErrNotRunning) {
		t.Fatalf("before start: %v", err)
	}
	if s, err := c.State(ctx); err != nil || s != Stopped {
		t.Errorf("state %s, %v", s, err)
	}
	if w := c.stopWait(ctx); w != 23*time.Second {
		t.Errorf("stopwaitsecs %s", w)
	}
	must(t, c.Stop(ctx))
	must(t, c.Start(ctx))
	before, err := c.PIDs(ctx)
	must(t, err)
	must(t, c.Start(ctx)) // left alone
	if now, err := c.PIDs(ctx); err != nil || now[0] != before[0] {
		t.Errorf("start of a running one: %v → %v, %v", before, now, err)
	}
	asked := &counting{Host: c.h, program: "supervisorctl"}
	c.h = asked
	must(t, c.Restart(ctx))
	// reread, stop, status, start, and status of what then runs.
	if c.h = asked.Host; asked.n > 5 {
		t.Errorf("a restart called supervisorctl %d times", asked.n)
	}
	after, err := c.PIDs(ctx)
	if err != nil || after[0] == before[0] {
		t.Errorf("restart %v → %v, %v", before, after, err)
	}
	if err := c.Reload(ctx); err == nil || !strings.Contains(err.Error(), "restart it") {
		t.Errorf("reload: %v", err)
	}

	// Its section changed: reread and update; autostart=false must not leave it
	// stopped.
	l.write("conf.d/all.conf", strings.Replace(cacheProgram(t, port, "autostart=false\n"), " -l ", " -t 7 -l ", 1)+
		"[program:other]\ncommand=sleep 1000\n")
	must(t, c.Restart(ctx))
	pids, err := c.PIDs(ctx)
	must(t, err)
	cmdline, err := os.ReadFile("/proc/" + itoa(pids[0]) + "/cmdline")
	if err != nil || !strings.Contains(string(cmdline), "-t\x007") {
		t.Errorf("it runs as %q, %v", cmdline, err)
	}
	// Somebody else's new program is not started by the way.
	other := l.add(Service{Name: "other", Kind: App, Control: Control{Program: "other", Config: conf}})
	if s, err := other.State(ctx); err == nil && s == Running {
		t.Error("a program that is not the service's was started")
	}

	must(t, c.Stop(ctx))
	if _, err := c.PIDs(ctx); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after stop: %v", err)
	}
	must(t, c.Start(ctx))
	must(t, c.PutBack(ctx, Stopped))
	if s, err := c.State(ctx); err != nil || s != Stopped {
		t.Errorf("put back: %s, %v", s, err)
	}
}

// What supervisord cannot use stops nothing.
func TestSupervisorBrokenConfiguration(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	conf := l.supervisord(cacheProgram(t, port, ""))
	c := l.add(Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:" + port}, Control: Control{Program: "cache", Config: conf}})
	must(t, c.WaitHealthy(ctx))
	before, err := c.PIDs(ctx)
	must(t, err)
	for text, want := range map[string]string{
		cacheProgram(t, port, "stopwaitsecs=banana\n"): "nothing was stopped",
		"[program:else]\ncommand=sleep 1\n":            "does not name cache any more",
	} {
		l.write("conf.d/all.conf", text)
		if err := c.Restart(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if now, err := c.PIDs(ctx); err != nil || now[0] != before[0] {
			t.Errorf("the process %v became %v, %v", before, now, err)
		}
	}
}

func TestSupervisorStartFails(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	conf := l.supervisord("[program:app]\ncommand=sh -c 'echo no free lunch >&2; exit 3'\nautostart=false\nstartretries=1\n")
	c := l.add(Service{Name: "app", Kind: App, Listen: []string{"127.0.0.1:1"}, Control: Control{Program: "app", Config: conf}})
	if err := c.Start(ctx); err == nil || !strings.Contains(err.Error(), "no free lunch") {
		t.Errorf("start: %v", err)
	}
	failed, err := poll(ctx, 20*time.Second, func() (bool, error) {
		s, err := c.State(ctx)
		return s == Failed, err
	})
	if err != nil || !failed {
		t.Errorf("it is not known as failed: %v", err)
	}
	must(t, c.PutBack(ctx, Failed))
	c = l.add(Service{Name: "app", Kind: App, Control: Control{Program: "nobody", Config: conf}})
	if err := c.Start(ctx); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a program that is not there: %v", err)
	}
	c = l.add(Service{Name: "app", Kind: App, Control: Control{Program: "app", Config: l.write("gone.conf", "[supervisorctl]\nserverurl=unix://"+l.dir+"/gone.sock\n")}})
	if err := c.Restart(ctx); err == nil || !strings.Contains(err.Error(), "supervisord does not run") {
		t.Errorf("no supervisord: %v", err)
	}
}

// All workers of a group are the service's; they finish the job under way
// before a restart ends them, and a drain that fails leaves them.
func TestSupervisorGroupDrains(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	worker := l.write("worker.sh", `#!/bin/sh
trap 'stop=1' TERM
while [ -z "$stop" ]; do
    echo began >>`+l.dir+`/jobs.$1
    sleep 0.5 & wait $!; wait $!
    echo done >>`+l.dir+`/jobs.$1
done
`)
	must(t, os.Chmod(worker, 0o755))
	conf := l.supervisord("[program:worker]\ncommand=" + worker + " %(process_num)s\nprocess_name=%(program_name)s_%(process_num)s\nnumprocs=3\nstartsecs=0\nstopwaitsecs=20\n")
	c := l.add(Service{Name: "workers", Kind: App, Control: Control{Program: "worker:*", Config: conf,
		Drain: []string{"test", "!", "-e", l.path("busy")}, DrainTimeout: 5 * time.Second}})
	must(t, c.Start(ctx))
	family, err := c.roots(ctx)
	if err != nil || len(family) != 3 {
		t.Fatalf("%v, %v; want three workers", family, err)
	}
	l.write("busy", "")
	if err := c.Restart(ctx); err == nil || !strings.Contains(err.Error(), "it was not stopped") {
		t.Errorf("a drain that fails: %v", err)
	}
	if left, err := waitGone(ctx, l.h, family, 0); err != nil || len(left) != 3 {
		t.Errorf("left %v, %v", left, err)
	}
	// The way back is not held up by the same refusal.
	must(t, c.Restart(ctx))
	if left, err := waitGone(ctx, l.h, family, 0); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	must(t, c.Stop(ctx))
	for _, n := range []string{"0", "1", "2"} {
		data, err := os.ReadFile(l.path("jobs." + n))
		must(t, err)
		if began, ended := strings.Count(string(data), "began"), strings.Count(string(data), "done"); began == 0 || began != ended {
			t.Errorf("worker %s began %d jobs and finished %d", n, began, ended)
		}
	}
}

func TestOnlyStopped(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]bool{
		"cache: ERROR (not running)\n":                           true,
		"q:q_0: stopped\nq:q_1: ERROR (not running)\n":           true,
		"nobody: ERROR (no such process)\n":                      false,
		"q:q_0: ERROR (not running)\nq:q_1: ERROR (timed out)\n": false,
		"": false,
	} {
		if got := onlyStopped(out); got != want {
			t.Errorf("%q: %t", out, got)
		}
	}
}

func TestParseSupervisorStatus(t *testing.T) {
	t.Parallel()
	got, complaints, err := parseSupervisorStatus(strings.NewReader(`web                              RUNNING   pid 12, uptime 0:00:05
q:q_0                            FATAL     Exited too quickly (process log may have details)
nobody: ERROR (no such process)
`))
	if err != nil || len(got) != 2 || got[0].pid != 12 || got[1].name != "q:q_0" || got[1].up() || len(complaints) != 1 {
		t.Errorf("%+v %q %v", got, complaints, err)
	}
}
