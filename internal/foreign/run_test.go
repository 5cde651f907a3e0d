package foreign

import (
	"context"
	"errors"
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
	"kasoku/internal/load"
)

// web starts a real nginx with one page and returns its base URL.
func web(t *testing.T) string {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	dir, err := os.MkdirTemp("", "kf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr; events {}
http { access_log off; client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
server { listen %[2]s; location / { return 200 "hello\n"; } location /bad { return 503; } } }`, dir, address)
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nginx", "-e", "stderr", "-c", filepath.Join(dir, "conf"))
	if err := cmd.Start(); err != nil {
		t.Fatalf("start nginx: %v (make deps-test installs it)", err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	await.Accepts(t, address)
	return "http://" + address
}

func runner(t *testing.T, c Command, url string) *Runner {
	t.Helper()
	r, err := Compile(host.NewLocal(), c, t.TempDir(), url)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// childrenCPU is what the machine's finished children of this test used, in the
// kernel's own words.
func childrenCPU(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestRealTools runs what is installed against a real nginx.
func TestRealTools(t *testing.T) {
	await.SkipShort(t)
	url := web(t)
	for _, c := range []struct {
		name string
		argv []string
		bad  bool
	}{
		{"wrk", []string{"wrk", "-t1", "-c4", "-d1s", "--latency", url + "/"}, false},
		{"wrk", []string{"wrk", "-t1", "-c4", "-d1s", url + "/bad"}, true},
		{"ab", []string{"ab", "-q", "-l", "-k", "-n", "3000", "-c", "4", url + "/"}, false},
		{"ab", []string{"ab", "-q", "-l", "-n", "300", "-c", "4", url + "/bad"}, true},
	} {
		t.Run(strings.Join(c.argv[:1], "")+fmt.Sprint(c.bad), func(t *testing.T) {
			if _, err := exec.LookPath(c.argv[0]); err != nil {
				t.Fatalf("%v (make deps-test installs it)", err)
			}
			before := childrenCPU(t)
			res, err := runner(t, Command{Argv: c.argv}, url).Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			used := childrenCPU(t) - before
			if res.Engine != c.name || res.Requests < 300 || res.Workload != 4 || res.Window <= 0 {
				t.Fatalf("%+v", res)
			}
			if c.bad != (res.Score == 0) || c.bad != (res.Mismatches == res.Requests) || c.bad == (res.Succeeded == res.Requests) {
				t.Errorf("score %v, %d right and %d wrong of %d", res.Score, res.Succeeded, res.Mismatches, res.Requests)
			}
			// On a virtual machine that has to wait for its CPU, ticks and exact
			// times part now and then; in five runs one is near.
			far := func() bool { d := res.GeneratorCPU - used; return d < -20*time.Millisecond || d > 20*time.Millisecond }
			for range 4 {
				if !far() {
					break
				}
				before = childrenCPU(t)
				if res, err = runner(t, Command{Argv: c.argv}, url).Run(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				used = childrenCPU(t) - before
			}
			if far() {
				t.Errorf("CPU %s, the kernel says %s", res.GeneratorCPU, used)
			}
		})
	}
}

// spin is a shell loop that takes some tenths of a second of CPU; the shell then
// adds what it used itself, and its children, to the file "told".
const spin = "i=0; while [ $((i=i+1)) -lt 150000 ]; do :; done; times >>told"

// told sums what the shells of a script used themselves.
func told(t *testing.T, dir string) (used time.Duration) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	// Of each two lines the first is the shell's own: "0m0.210000s 0m0.000000s".
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		for _, f := range strings.Fields(line) {
			d, err := time.ParseDuration(f)
			if err != nil {
				t.Fatalf("times tells %q: %v", line, err)
			}
			if i%2 == 0 {
				used += d
			}
		}
	}
	return used
}

// TestCPUOfTheTree: children that were waited for, servers that live until the
// end, and orphans are all the benchmark's. What they used they tell themselves:
// a CPU that others share changes its speed from one second to the next.
func TestCPUOfTheTree(t *testing.T) {
	await.SkipShort(t)
	// Two seconds, so that whom the command does not wait for is looked at
	// between its last work and the end, however fast the machine is.
	const await = " while [ ! -e done ]; do sleep 0.05; done; sleep 2"
	for _, c := range []struct{ name, script string }{
		{"itself", spin},
		{"a child", "sh -c '" + spin + "'"},
		{"a child and itself", "sh -c '" + spin + "'; " + spin},
		{"a child that nobody waits for", "sh -c '" + spin + "; : >done; sleep 300' &" + await},
		{"a server in a session of its own", "setsid sh -c '" + spin + "; : >done; sleep 10' &" + await},
		{"an orphan that ends before", "(sh -c '" + spin + "; : >done; sleep 2; : >gone' &) ; while [ ! -e gone ]; do sleep 0.2; done; sleep 0.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runner(t, Command{Argv: []string{"sh", "-c", c.script + "; echo score: 1"}}, "")
			res, err := r.Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			// What is above are the sleeps of those who wait.
			used := told(t, r.dir)
			if res.GeneratorCPU < used*9/10-20*time.Millisecond || res.GeneratorCPU > used*14/10+100*time.Millisecond {
				t.Errorf("CPU %s, want about %s", res.GeneratorCPU, used)
			}
			if later := r.CPU(); later != res.GeneratorCPU {
				t.Errorf("CPU %s afterwards, %s at the end", later, res.GeneratorCPU)
			}
		})
	}
}

// TestPhases: the collectors begin and end with the measured part.
func TestPhases(t *testing.T) {
	await.SkipShort(t)
	const all = "warm-up measure teardown"
	for _, c := range []struct {
		said, seen time.Duration // warmup of the command, and what an earlier run told
		warmup     time.Duration
		want       string
	}{{0, 0, 0, "measure teardown"}, {300 * time.Millisecond, 0, 300 * time.Millisecond, all}, {300 * time.Millisecond, 600 * time.Millisecond, 300 * time.Millisecond, all},
		{0, 300 * time.Millisecond, 300 * time.Millisecond, all}} {
		var phases []string
		r := runner(t, Command{Argv: []string{"sh", "-c", "sleep 0.7; echo score: 7"}, Warmup: c.said}, "")
		r.Skip(c.seen)
		res, err := r.Run(t.Context(), func(p load.Progress) {
			if len(phases) == 0 || phases[len(phases)-1] != string(p.Phase) {
				phases = append(phases, string(p.Phase))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(phases, " "); got != c.want {
			t.Errorf("phases %q, want %q", got, c.want)
		}
		if span := res.Window + c.warmup; span < 650*time.Millisecond || span > 3*time.Second || res.Warmup != c.warmup {
			t.Errorf("window %s after a warm-up of %s", res.Window, res.Warmup)
		}
		if res.Score != 7 || res.Succeeded != 7 {
			t.Errorf("%+v", res)
		}
	}
}

// A benchmark that ends while it is taken to prepare is measured at its end: what it says
// counts all the same.
func TestEndsWhileItPrepares(t *testing.T) {
	r := runner(t, Command{Argv: []string{"sh", "-c", "echo score: 0; echo failed; exit 1"}}, "")
	r.Skip(time.Hour)
	var phases []string
	res, err := r.Run(t.Context(), func(p load.Progress) {
		if len(phases) == 0 || phases[len(phases)-1] != string(p.Phase) {
			phases = append(phases, string(p.Phase))
		}
	})
	if err != nil || res.Score != 0 || res.Mismatches == 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if got := strings.Join(phases, " "); got != "warm-up measure teardown" {
		t.Errorf("phases %q", got)
	}
}

// TestCommandGetsItsSurroundings: folder, environment, URL.
func TestCommandGetsItsSurroundings(t *testing.T) {
	dir := t.TempDir()
	r, err := Compile(host.NewLocal(), Command{Argv: []string{"sh", "-c", `echo "score: $N"; pwd; echo $KASOKU_URL`},
		Environment: map[string]string{"N": "42"}, Score: &Value{Regexp: `score: (\d+)\n` + dir + `\nhttp://127.0.0.1:1`}}, dir, "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(t.Context(), nil)
	if err != nil || res.Score != 42 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// TestMuchOutput: a benchmark that logs without end neither fills the memory
// nor hides its result.
func TestMuchOutput(t *testing.T) {
	await.SkipShort(t)
	res, err := runner(t, Command{Argv: []string{"sh", "-c", "head -c 300000000 /dev/zero | tr '\\0' '\\n'; echo score: 5"}}, "").Run(t.Context(), nil)
	if err != nil || res.Score != 5 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// TestCannotRun: what is wrong, where, and what to do.
func TestCannotRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		command Command
		want    []string
	}{
		{"no such program", Command{Argv: []string{"/no/such/bench"}}, []string{"load.command (/no/such/bench) could not be run", "no such file", "check load.command.argv"}},
		{"exit 1", Command{Argv: []string{"sh", "-c", "echo cannot connect >&2; exit 1"}}, []string{"ended with 1", "cannot connect"}},
		{"no score", Command{Argv: []string{"echo", "fine"}, Score: &Value{Regexp: `score: (\d+)`}}, []string{"no score", "matches nothing", "fine"}},
		{"killed", Command{Argv: []string{"sh", "-c", "kill -KILL $$"}}, []string{"ended with 137"}},
		{"time limit", Command{Argv: []string{"sh", "-c", "echo begun; sleep 300"}, Timeout: 300 * time.Millisecond}, []string{"did not end within 300ms", "load.command.timeout", "begun"}},
		{"shorter than its warm-up", Command{Argv: []string{"echo", "score: 1"}, Warmup: time.Minute}, []string{"load.command.warmup", "write a shorter warmup"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := runner(t, c.command, "").Run(t.Context(), nil)
			if err == nil {
				t.Fatalf("no error, but %+v", res)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in: %v", w, err)
				}
			}
		})
	}
}

// TestCancelled: Ctrl-C ends the benchmark and what it started.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	r, err := Compile(host.NewLocal(), Command{Argv: []string{"sh", "-c", "sleep 300 & echo $! >pid; wait"}}, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	pid := 0
	_, err = r.Run(ctx, func(load.Progress) {
		if b, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil {
			if pid, _ = strconv.Atoi(strings.TrimSpace(string(b))); pid > 0 {
				cancel()
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}
	if pid == 0 {
		t.Fatal("it did not run")
	}
	await.For(t, "the end of what the benchmark started", func() bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(b), ") Z ")
	})
}

func TestCompileTellsEverything(t *testing.T) {
	_, err := Compile(host.NewLocal(), Command{Format: "x"}, "", "")
	if err == nil || !strings.Contains(err.Error(), "load.command.argv: missing") || !strings.Contains(err.Error(), "load.command.format: unknown") {
		t.Fatal(err)
	}
}
