package main

import (
	"bytes"
	"encoding/json"
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
	"kasoku/internal/host/hosttest"
	"kasoku/internal/report"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// foreignCase is one real nginx under somebody else's benchmark.
type foreignCase struct {
	t        *testing.T
	dir, url string
}

// startForeign starts nginx with one page in a private folder.
func startForeign(t *testing.T) *foreignCase {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers; run without -short")
	}
	address := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	dir, err := os.MkdirTemp("", "kn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &foreignCase{t: t, dir: dir, url: "http://" + address}
	c.write("nginx.conf", 0o644, fmt.Sprintf(`worker_processes 1;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
    keepalive_requests 1000;
    server {
        listen %[2]s;
        location / { return 200 "hello\n"; }
    }
}
`, dir, address))
	if out, err := exec.Command("nginx", "-c", dir+"/nginx.conf").CombinedOutput(); err != nil {
		t.Fatalf("start nginx: %v: %s (make deps installs it)", err, out)
	}
	t.Cleanup(func() { syscall.Kill(c.pid("pid"), syscall.SIGTERM) })
	return c
}

func (c *foreignCase) write(name string, mode os.FileMode, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), mode); err != nil {
		c.t.Fatal(err)
	}
}

func (c *foreignCase) pid(file string) int {
	b, _ := os.ReadFile(filepath.Join(c.dir, file))
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}

// command makes load.command of kasoku.yaml.
func (c *foreignCase) command(yaml string) {
	c.t.Helper()
	c.write("kasoku.yaml", 0o644, fmt.Sprintf(`version: 1
name: page
services:
  - name: web
    kind: nginx
    binary: /usr/sbin/nginx
    config: nginx.conf
    listen: ["%s"]
    control: {method: process, pid_file: pid, start: [nginx, -c, %s/nginx.conf]}
load:
  url: %s
  command: %s
tune: {max_foreign_cpu: 1, max_pairs: 6, alpha: 0.1}
`, strings.TrimPrefix(c.url, "http://"), c.dir, c.url, yaml))
}

// bench writes the shell benchmarker.
func (c *foreignCase) bench(script string) {
	c.t.Helper()
	c.write("bench.sh", 0o755, "#!/bin/sh\n"+script)
	c.command(`{argv: [./bench.sh], score: {regexp: 'score: ([0-9.]+)'}, timeout: 20s}`)
}

// want runs kasoku and fails the test unless it ends with one of the codes.
func (c *foreignCase) want(codes []int, args ...string) (stdout, stderr string) {
	c.t.Helper()
	var out, errs bytes.Buffer
	got := run(append([]string{"-f", filepath.Join(c.dir, "kasoku.yaml")}, args...), &out, &errs)
	for _, code := range codes {
		if got == code {
			return out.String(), errs.String()
		}
	}
	c.t.Fatalf("kasoku %v ended with %d, want one of %v\n%s\n%s", args, got, codes, out.String(), errs.String())
	return "", ""
}

// wrkBench is a benchmarker as people write them: it warms up, measures and
// prints a score of its own.
const wrkBench = `wrk -t1 -c4 -d1s --latency "$KASOKU_URL/" >wrk.out || exit 1
awk '/^Requests\/sec/ {printf "score: %.1f\n", $2 / 10}' wrk.out
`

// TestForeignBenchmark: one run, with its score and with its CPU told apart.
func TestForeignBenchmark(t *testing.T) {
	c := startForeign(t)
	c.bench(wrkBench)
	out, _ := c.want([]int{ui.OK}, "run", "--score-only", "--json")
	run := decodeRun(t, out)
	l, sys := run.Evidence.Load, run.Evidence.System
	if run.Score < 10 || l.Score != run.Score || l.Engine != "custom" || l.Mismatches+l.Errors+l.Timeouts > 0 {
		t.Errorf("score %v, load %+v", run.Score, l)
	}
	// wrk runs flat out on one CPU for a second, or on what others leave of it.
	if l.GeneratorCPU < 20*time.Millisecond || sys.GeneratorCPU < l.GeneratorCPU.Seconds() {
		t.Errorf("the benchmark's CPU is %s, the generator's %.2f s", l.GeneratorCPU, sys.GeneratorCPU)
	}
	if web := run.Evidence.Services["web"]; web.CPU <= 0.02 || web.CPU > 1.5*l.Window.Seconds() {
		t.Errorf("nginx used %.2f s", web.CPU)
	}
	if all := sys.User + sys.Sys; sys.ServicesCPU+sys.GeneratorCPU > 1.1*all+0.1 || sys.ForeignCPU > all-l.GeneratorCPU.Seconds() {
		t.Errorf("services %.2f, generator %.2f, others %.2f of %.2f CPU seconds", sys.ServicesCPU, sys.GeneratorCPU, sys.ForeignCPU, all)
	}

	// wrk's own output needs no pattern; -d and -c have no say.
	c.command(fmt.Sprintf(`{argv: [wrk, -t1, -c4, -d1s, "%s/"]}`, c.url))
	out, errs := c.want([]int{ui.OK}, "run", "-d", "9s", "-c", "9")
	for _, w := range []string{"4 users", "web", "(generator)"} {
		if !strings.Contains(out, w) {
			t.Errorf("%q is not in:\n%s", w, out)
		}
	}
	for _, w := range []string{"--duration is left out", "--workload is left out"} {
		if !strings.Contains(errs, w) {
			t.Errorf("%q is not in:\n%s", w, errs)
		}
	}
}

func decodeRun(t *testing.T, out string) store.Run {
	t.Helper()
	var v struct{ Scored store.Run }
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return v.Scored
}

// TestForeignBenchmarkFails: each way to fail says what, where and what to do.
func TestForeignBenchmarkFails(t *testing.T) {
	c := startForeign(t)
	for _, f := range []struct {
		name, script string
		want         []string
	}{
		{"exit 1", "echo no target >&2; exit 1", []string{"load.command", "ended with 1", "no target"}},
		{"no score", "echo finished", []string{"no score", "matches nothing", "finished"}},
		{"wrong answers", "echo 'score: 99'; echo 'GET /: wrong title'; exit 1", []string{"judged the service wrong", "ended with 1"}},
	} {
		c.bench(f.script)
		out, errs := c.want([]int{ui.Target}, "run", "--score-only")
		for _, w := range f.want {
			if !strings.Contains(out+errs, w) {
				t.Errorf("%s: %q is not in:\n%s%s", f.name, w, out, errs)
			}
		}
	}
	c.write("bench.sh", 0o755, "#!/bin/sh\nsleep 300 & echo $! >child; wait\n")
	c.command(`{argv: [./bench.sh], score: {json: "$.score"}, timeout: 500ms}`)
	if out, errs := c.want([]int{ui.Target}, "run", "--score-only"); !strings.Contains(out+errs, "load.command.timeout") {
		t.Errorf("time limit: %s%s", out, errs)
	}
	c.gone("child")

	c.command(`{argv: [./bench.sh], score: {regexp: "("}}`)
	if out, errs := c.want([]int{ui.BadInput}, "run"); !strings.Contains(out+errs, "kasoku.yaml:12:33: load.command.score: regexp") {
		t.Errorf("bad pattern: %s%s", out, errs)
	}
}

// TestForeignBenchmarkFailsOnce: what fails while statements are recorded is run once more,
// and fails for good the second time.
func TestForeignBenchmarkFailsOnce(t *testing.T) {
	c := startForeign(t)
	const fails = `n=$(($(cat runs 2>/dev/null || echo 0) + 1)); echo $n >runs
case $n in %s) echo 'score: 0'; echo 'GET /: too slow'; exit 1;; esac
`
	c.bench(fmt.Sprintf(fails, "2") + wrkBench)
	_, errs := c.want([]int{ui.OK}, "run")
	if !strings.Contains(errs, "judged the service wrong") || !strings.Contains(errs, "once more") {
		t.Errorf("nothing is said of it:\n%s", errs)
	}
	c.write("runs", 0o644, "0\n")
	c.bench(fmt.Sprintf(fails, "2|3") + wrkBench)
	c.want([]int{ui.Target}, "run")
}

// TestForeignBenchmarkInterrupted: Ctrl-C ends the benchmark and all it started.
func TestForeignBenchmarkInterrupted(t *testing.T) {
	c := startForeign(t)
	c.bench("sleep 300 & echo $! >child; wait")
	go func() {
		_ = await.Until(func() error { // in vain: gone tells it
			if c.pid("child") == 0 {
				return errors.New("not started")
			}
			return nil
		})
		syscall.Kill(os.Getpid(), syscall.SIGINT)
	}()
	c.want([]int{ui.Interrupted}, "run", "--score-only")
	c.gone("child")
}

// gone waits for the end of the process whose number is in file.
func (c *foreignCase) gone(file string) {
	c.t.Helper()
	pid := c.pid(file)
	if pid == 0 {
		c.t.Fatalf("no process number in %s", file)
	}
	await.Gone(c.t, pid)
}

// TestForeignBenchmarkJudges: try and tune work with it.
func TestForeignBenchmarkJudges(t *testing.T) {
	c := startForeign(t)
	before, err := os.ReadFile(filepath.Join(c.dir, "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	c.command(fmt.Sprintf(`{argv: [ab, -q, -l, -k, -n, "12000", -c, "4", "%s/"]}`, c.url))
	verdicts := []int{ui.OK, ui.NoDifference, ui.Regressed, ui.Inconclusive}
	out, _ := c.want(verdicts, "try", "--set", "web.keepalive_requests=2000", "--json")
	fits(t, "try", out)
	if got := decode[report.TryResult](t, out); got.Runs < 2 || got.Scores.Baseline <= 0 {
		t.Errorf("%+v", got)
	}
	// A candidate that the benchmark finds wrong is out.
	c.bench("ab -q -l -k -n 2000 -c 4 $KASOKU_URL/ >ab.out || exit 1\necho score: 10\n! grep Non-2xx ab.out\n")
	wrong := "--- a/nginx.conf\n+++ b/nginx.conf\n@@ -10,3 +10,3 @@\n         listen " + strings.TrimPrefix(c.url, "http://") + ";\n-        location / { return 200 \"hello\\n\"; }\n+        location / { return 404 \"hello\\n\"; }\n     }\n"
	c.write("wrong.diff", 0o644, wrong)
	out, errs := c.want([]int{ui.WrongAnswers}, "try", "--patch", filepath.Join(c.dir, "wrong.diff"), "--dir", c.dir, "--reload", "web")
	if !strings.Contains(out+errs, "it ended with 1") {
		t.Errorf("the cause is not told:\n%s%s", out, errs)
	}
	if after, err := os.ReadFile(filepath.Join(c.dir, "nginx.conf")); err != nil || string(after) != string(before) {
		t.Errorf("nginx.conf is not as it was: %v", err)
	}
	c.command(fmt.Sprintf(`{argv: [ab, -q, -l, -k, -n, "12000", -c, "4", "%s/"]}`, c.url))
	out, errs = c.want([]int{ui.OK}, "tune", "--budget", "20s", "--no-restart")
	if !strings.Contains(out+errs, "as found") || !strings.Contains(out+errs, "not judged: which pages") {
		t.Errorf("%s%s", out, errs)
	}
}

// TestGuideBenchmarks reads every example of the page about benchmarks, and runs
// those whose tool is installed with Kasoku's own tests.
func TestGuideBenchmarks(t *testing.T) {
	guide, err := os.ReadFile("../../docs/how-to/use-your-own-benchmark.md")
	if err != nil {
		t.Fatal(err)
	}
	c := startForeign(t)
	examples := strings.Split(string(guide), "\n    load:\n")[1:]
	ran := 0
	for _, text := range examples {
		yaml := "load:\n"
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "      ") {
				break
			}
			yaml += strings.TrimPrefix(line, "    ")
		}
		c.command("{argv: [none]}")
		file := filepath.Join(c.dir, "kasoku.yaml")
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(whole), "load:\n")
		_, tail, _ := strings.Cut(string(whole), "{argv: [none]}\n")
		yaml = strings.NewReplacer("http://127.0.0.1:8080", c.url, "-d5s", "-d1s", "20000", "2000").Replace(yaml)
		c.write("kasoku.yaml", 0o644, head+yaml+tail)
		st, err := stack.Load(file)
		if err != nil {
			t.Errorf("%v\n%s", err, yaml)
			continue
		}
		switch filepath.Base(st.Load.Command.Argv[0]) {
		case "wrk", "ab", "sh":
			out, _ := c.want([]int{ui.OK}, "run", "--score-only", "--json")
			if run := decodeRun(t, out); run.Score < 100 || run.Evidence.Load.Mismatches > 0 {
				t.Errorf("score %v\n%s", run.Score, yaml)
			}
			ran++
		}
	}
	if len(examples) < 6 || ran != 3 {
		t.Errorf("%d examples, %d of them run", len(examples), ran)
	}
}
