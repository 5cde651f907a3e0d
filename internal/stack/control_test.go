package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
)

func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestControlNginx(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	c := l.nginx(port, `return 200 "one";`)
	if _, err := c.PIDs(ctx); !errors.Is(err, ErrNotRunning) {
		t.Fatalf("before start: %v", err)
	}
	must(t, c.Stop(ctx)) // not running: nothing to do
	must(t, c.Check(ctx))
	must(t, c.Start(ctx))
	must(t, c.Start(ctx)) // running: left alone
	pids := family(t, c, 3)
	if got := get(t, "http://127.0.0.1:"+port); got != "one" {
		t.Fatalf("answer %q", got)
	}

	// A reload returns when the new configuration serves: every later request
	// sees it.
	l.write("nginx.conf", l.nginxConf(port, `return 200 "two";`))
	must(t, c.Reload(ctx))
	for range 20 {
		if got := get(t, "http://127.0.0.1:"+port); got != "two" {
			t.Fatalf("after reload: answer %q", got)
		}
	}
	after, err := c.PIDs(ctx)
	if err != nil || after[0] != pids[0] {
		t.Fatalf("reload changed the main process: %v → %v, %v", pids, after, err)
	}

	must(t, c.Restart(ctx))
	if again, err := c.PIDs(ctx); err != nil || again[0] == pids[0] {
		t.Fatalf("restart kept the main process %v, %v", again, err)
	}

	// A broken configuration: Check and Reload tell, the service stays.
	l.write("nginx.conf", l.nginxConf(port, `retrun 200 "three";`))
	if err := c.Check(ctx); err == nil || !strings.Contains(err.Error(), `unknown directive "retrun"`) {
		t.Errorf("check: %v", err)
	}
	if err := c.Reload(ctx); err == nil {
		t.Error("reload of a broken configuration passed")
	}
	if got := get(t, "http://127.0.0.1:"+port); got != "two" {
		t.Errorf("answer %q", got)
	}
	must(t, c.Stop(ctx))
	if _, err := c.PIDs(ctx); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after stop: %v", err)
	}
	if err := c.Start(ctx); err == nil || !strings.Contains(err.Error(), `unknown directive "retrun"`) {
		t.Errorf("start of a broken configuration: %v", err)
	}
}

// The port is taken by someone else: Start must not call that one healthy.
func TestControlPortTaken(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	must(t, l.nginx(port, `return 200 "first";`).Start(ctx))
	other := newLab(t)
	c := other.nginx(port, `return 200 "second";`)
	err := c.Start(ctx)
	if err == nil || !strings.Contains(err.Error(), "Address already in use") {
		t.Fatalf("start: %v", err)
	}
}

// A PID file that names a stranger, or nobody, must not lead to a signal.
func TestControlStalePIDFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	stranger := exec.Command("sleep", "60")
	must(t, stranger.Start())
	defer func() {
		_ = stranger.Process.Kill()
		_ = stranger.Wait()
	}()
	c := l.nginx(freePort(t), `return 200;`)
	l.write("nginx.pid", strconv.Itoa(stranger.Process.Pid)+"\n")
	must(t, c.Stop(ctx))
	if err := c.Reload(ctx); !errors.Is(err, ErrNotRunning) {
		t.Errorf("reload: %v", err)
	}
	p, err := readProcess(ctx, l.h, stranger.Process.Pid)
	if err != nil || p.dead() {
		t.Fatalf("the stranger was killed: %v", err)
	}
	must(t, c.Start(ctx))
	must(t, os.Remove(l.path("nginx.pid")))
	// Without a PID file it is found by its configuration.
	if _, err := c.PIDs(ctx); err != nil {
		t.Error(err)
	}
	must(t, c.Stop(ctx))
}

// family waits until a service has n processes and returns them: a master
// listens before it has its workers.
func family(t *testing.T, c *Controller, n int) (pids []int) {
	t.Helper()
	said := func() string { return fmt.Sprintf("%d processes, want %d: %v", len(pids), n, pids) }
	await.ForOr(t, "the processes of a service", said, func() bool {
		var err error
		pids, err = c.PIDs(t.Context())
		must(t, err)
		return len(pids) == n
	})
	return pids
}

func TestControlPHPFPM(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	c := l.fpm("127.0.0.1:" + port)
	must(t, c.Check(ctx))
	must(t, c.Start(ctx))
	before := family(t, c, 3)
	// From TCP to a unix socket, by reload: health follows the configuration,
	// not kasoku.yaml.
	l.write("fpm.conf", l.fpmConf(l.path("php.sock")))
	must(t, c.Reload(ctx))
	if _, err := os.Stat(l.path("php.sock")); err != nil {
		t.Error(err)
	}
	if after := family(t, c, 3); slices.Contains(before, after[1]) {
		t.Errorf("after reload: %v → %v", before, after)
	}
	l.write("fpm.conf", l.fpmConf("127.0.0.1:"+port))
	must(t, c.Restart(ctx))

	l.write("fpm.conf", l.fpmConf("127.0.0.1:"+port)+"pm.max_childern = 2\n")
	if err := c.Check(ctx); err == nil || !strings.Contains(err.Error(), "pm.max_childern") {
		t.Errorf("check: %v", err)
	}
	if err := c.Reload(ctx); err == nil {
		t.Error("reload of a broken configuration passed")
	}
	if _, err := c.PIDs(ctx); err != nil {
		t.Errorf("it did not survive: %v", err)
	}
	must(t, c.Stop(ctx))
}

// An app that runs in php-fpm is controlled through it.
func TestControlRunsIn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.fpm(l.path("php.sock"))
	c := l.add(Service{Name: "shop", Kind: App, RunsIn: "php"})
	if c.svc.Name != "php" {
		t.Errorf("controls %s", c.svc.Name)
	}
	if _, err := NewController(l.h, l.s, &Service{Name: "x", RunsIn: "nobody"}); err == nil {
		t.Error("a service that is not there was accepted")
	}
}

func TestControlMemcachedAndRedis(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	cachePort, redisPort := freePort(t), freePort(t)
	conf := l.write("redis.conf", "bind 127.0.0.1\nport "+redisPort+"\ndir "+l.dir+"\nsave \"\"\n")
	for _, c := range []*Controller{
		// No PID file: found by the address it listens on.
		l.add(Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:" + cachePort},
			Control: Control{Start: []string{need(t, "memcached"), "-u", "nobody", "-l", "127.0.0.1", "-p", cachePort}}}),
		l.add(Service{Name: "redis", Kind: Redis, Config: conf, Listen: []string{"127.0.0.1:" + redisPort}, Binary: need(t, "redis-server")}),
	} {
		must(t, c.Check(ctx))
		must(t, c.Start(ctx))
		before, err := c.PIDs(ctx)
		must(t, err)
		must(t, c.Restart(ctx))
		after, err := c.PIDs(ctx)
		if err != nil || slices.Contains(after, before[0]) {
			t.Errorf("%s: restart %v → %v, %v", c.svc.Name, before, after, err)
		}
		if err := c.Reload(ctx); err == nil || !strings.Contains(err.Error(), "restart it") {
			t.Errorf("%s: reload: %v", c.svc.Name, err)
		}
		must(t, c.Stop(ctx))
	}
}

// An app server that is slow to end is killed, its children too, and its file
// limit survives a restart.
func TestControlApp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	script := l.write("server.sh", `#!/bin/sh
exec php -S 127.0.0.1:`+port+"\n")
	must(t, os.Chmod(script, 0o755))
	need(t, "php")
	c := l.add(Service{Name: "app", Kind: App, Root: l.dir, Listen: []string{"127.0.0.1:" + port},
		Control: Control{Start: []string{"./server.sh"}, PIDFile: l.path("app.pid")}, Binary: "php"})
	c.inherited.fileLimit = "2048:4096"
	must(t, c.Start(ctx))
	pids, err := c.PIDs(ctx)
	must(t, err)
	if in := readInherited(ctx, l.h, pids[0]); in.fileLimit != "2048:4096" {
		t.Errorf("file limit %s", in.fileLimit)
	}
	c.inherited = inherited{}
	must(t, c.Restart(ctx))
	if pids, err = c.PIDs(ctx); err != nil {
		t.Fatal(err)
	}
	if in := readInherited(ctx, l.h, pids[0]); in.fileLimit != "2048:4096" {
		t.Errorf("file limit after restart %s", in.fileLimit)
	}
	must(t, c.Stop(ctx))
}

// An app server that takes its time before it listens has not ended, though what was
// launched bore another name at first.
func TestControlSlowToListen(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	l.write("slow.php", `<?php sleep(4); $s = stream_socket_server("tcp://127.0.0.1:`+port+`"); while (true) { if ($c = @stream_socket_accept($s, 60)) fclose($c); }`)
	script := l.write("server.sh", "#!/bin/sh\nsleep 1\nexec php slow.php\n")
	must(t, os.Chmod(script, 0o755))
	need(t, "php")
	c := l.add(Service{Name: "app", Kind: App, Root: l.dir, Listen: []string{"127.0.0.1:" + port}, Control: Control{Start: []string{"./server.sh"}}, Binary: "php"})
	must(t, c.Start(ctx))
	must(t, c.Stop(ctx))
}

// What a program says when it cannot start is in the error, and Start does not
// wait for the whole health time-out.
func TestControlStartFails(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	c := l.add(Service{Name: "app", Kind: App, Listen: []string{"127.0.0.1:1"},
		Control: Control{Start: []string{"sh", "-c", "echo no such thing as a free lunch >&2; exit 3"}}, Health: Health{Timeout: time.Hour}})
	await.Ends(t, "the start of what cannot start", func() {
		if err := c.Start(ctx); err == nil || !strings.Contains(err.Error(), "free lunch") {
			t.Errorf("start: %v", err)
		}
	})
}

// A service that computes until it listens is starting, however long that takes (a program
// on a virtual machine, on a busy host); one that does nothing hangs.
func TestControlStartsSlowly(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := newLab(t)
	for name, work := range map[string]string{
		"slow": "end=$(($(date +%s)+4)); while [ $(date +%s) -lt $end ]; do j=0; while [ $j -lt 20000 ]; do j=$((j+1)); done; done; ",
		"hung": "sleep 300; ",
	} {
		port := freePort(t)
		c := l.add(Service{Name: name, Kind: App, Listen: []string{"127.0.0.1:" + port}, Health: Health{Timeout: time.Second},
			Control: Control{Start: []string{"sh", "-c", work + "exec memcached -u root -l 127.0.0.1 -p " + port}}})
		err := c.Start(t.Context())
		if name == "slow" && err != nil {
			t.Errorf("slow: %v", err)
		}
		if name == "hung" && (err == nil || !strings.Contains(err.Error(), "not healthy after 1.333s")) {
			t.Errorf("hung: %v", err)
		}
	}
}

func TestControlCommand(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	script := l.write("ctl.sh", `#!/bin/sh
case $1 in
start) memcached -d -u root -l 127.0.0.1 -p `+port+` -P `+l.dir+`/cache.pid ;;
stop) kill $(cat cache.pid); rm -f cache.pid ;;
esac
`)
	must(t, os.Chmod(script, 0o755))
	c := l.add(Service{Name: "cache", Kind: Memcached, Listen: []string{"127.0.0.1:" + port},
		Control: Control{Method: MethodCommand, Start: []string{"./ctl.sh", "start"}, Stop: []string{"./ctl.sh", "stop"}, PIDFile: l.path("cache.pid")}})
	must(t, c.Start(ctx))
	must(t, c.Restart(ctx))
	must(t, c.WaitHealthy(ctx))
	must(t, c.Stop(ctx))
	if _, err := c.PIDs(ctx); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after stop: %v", err)
	}
}

// A database that does not end in time is never killed; an app is, with its
// children.
func TestControlStubborn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	const script = "#!/bin/sh\ntrap '' TERM\nsleep 300 &\n: >\"$0.ready\"\nwhile :; do sleep 1; done\n"
	for _, row := range []struct {
		kind Kind
		want string
	}{{MariaDB, "was not killed"}, {App, ""}} {
		name := map[Kind]string{MariaDB: "mariadbd", App: "stubborn"}[row.kind]
		bin := l.write(name, script)
		must(t, os.Chmod(bin, 0o755))
		c := l.add(Service{Name: name, Kind: row.kind, Binary: bin, Control: Control{Start: []string{bin, "--defaults-file=" + l.path("x.cnf")}}, Config: l.path("x.cnf")})
		must(t, c.launch(ctx))
		await.For(t, "what it does with TERM", func() bool { _, err := os.Stat(bin + ".ready"); return err == nil })
		family, err := c.family(ctx)
		must(t, err)
		plan := stopPlans[row.kind]
		plan.steps = []stopStep{{"TERM", 300 * time.Millisecond}}
		err = c.stopBySignal(ctx, family, plan)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
		for _, id := range family {
			alive, err := id.alive(ctx, l.h)
			if err != nil || alive != (row.kind == MariaDB) {
				t.Errorf("%s: process %d alive: %v, %v", name, id.pid, alive, err)
			}
		}
	}
}

// uWSGI is asked to end by INT: TERM only reloads it.
func TestStopPlanOfServer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	for name, want := range map[string]string{"uwsgi": "INT", "gunicorn": "TERM"} {
		bin := l.write(name, "#!/bin/sh\nwhile :; do sleep 1; done\n")
		must(t, os.Chmod(bin, 0o755))
		c := l.add(Service{Name: name, Kind: App, Binary: bin, Control: Control{Start: []string{bin, l.path("app")}}})
		must(t, c.launch(ctx))
		family, err := c.family(ctx)
		must(t, err)
		if plan := c.stopPlan(ctx, family[0]); plan.steps[0].signal != want || !plan.mayKill {
			t.Errorf("%s: %+v, want %s first", name, plan, want)
		}
	}
}

// A reload waits for the old workers to finish, but not for ever: one with a
// connection that stays open goes on beside the new ones. Whether Reload waited
// is told by the old worker, which lives as long as the answer.
func TestControlNginxDrains(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	l := newLab(t)
	port := freePort(t)
	l.write("big", strings.Repeat("x", 1<<20))
	c := l.nginx(port, "root "+l.dir+"; limit_rate $arg_rate;")
	must(t, c.Start(ctx))
	for _, row := range []struct {
		limit   time.Duration
		rate    string
		workers int // beside the master and the two new ones
	}{
		{10 * time.Second, "400k", 0},       // 2.5 s
		{100 * time.Millisecond, "150k", 1}, // 7 s: less than the usual limit, more than any stall
	} {
		c.svc.Control.DrainTimeout = row.limit
		res, err := http.Get("http://127.0.0.1:" + port + "/big?rate=" + row.rate)
		must(t, err)
		done := make(chan int64, 1)
		go func() {
			n, _ := io.Copy(io.Discard, res.Body)
			res.Body.Close()
			done <- n
		}()
		must(t, c.Reload(ctx))
		pids, err := c.PIDs(ctx)
		if err != nil || len(pids) != 3+row.workers {
			t.Errorf("limit %s: processes %v, %v", row.limit, pids, err)
		}
		if n := <-done; n != 1<<20 {
			t.Errorf("limit %s: the download was cut at %d bytes", row.limit, n)
		}
	}
}

// TestLastThread: what ends is not gone while one of its threads has its port.
func TestLastThread(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	const program = `import ctypes, socket, sys, threading, time
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
def last():
    sys.stdin.readline()
    s.close()
threading.Thread(target=last).start()
print("up", flush=True)
ctypes.CDLL(None).pthread_exit(None)
`
	cmd := exec.Command("python3", "-c", program, port)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	_, err = io.ReadFull(out, make([]byte, 3))
	must(t, err)
	h := newLab(t).h
	p, err := readProcess(t.Context(), h, cmd.Process.Pid)
	must(t, err)
	id := []identity{{p.pid, p.started}}
	if left, err := waitGone(t.Context(), h, id, 300*time.Millisecond); err != nil || len(left) != 1 {
		t.Errorf("gone while it listens: left %v, %v", left, err)
	}
	must(t, in.Close())
	if left, err := waitGone(t.Context(), h, id, 20*time.Second); err != nil || len(left) != 0 {
		t.Errorf("left after its last thread: %v, %v", left, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	must(t, err)
	must(t, l.Close())
}

// A service that computes is told from one that waits.
func TestWorking(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := newLab(t)
	for name, work := range map[string]string{"busy": "timeout 4 sh -c 'while :; do :; done' & ", "idle": ""} {
		port := freePort(t)
		c := l.add(Service{Name: name, Kind: App, Listen: []string{"127.0.0.1:" + port},
			Control: Control{Start: []string{"sh", "-c", work + "exec memcached -u root -l 127.0.0.1 -p " + port}}})
		must(t, c.Start(t.Context()))
		used, err := c.Working(t.Context(), time.Second)
		must(t, err)
		must(t, c.Stop(t.Context()))
		if name == "busy" && used < 0.05 || name == "idle" && used > 0.02 {
			t.Errorf("%s: uses %.2f CPUs", name, used)
		}
	}
}
