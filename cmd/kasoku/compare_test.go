package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/experiment"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// versions is a real application in a git checkout, served by PHP's own server.
type versions struct {
	t        *testing.T
	dir, app string
}

// appHistory makes the versions. Each is built: what is served is out/app.php.
const appHistory = `
git init -q -b main . && git config user.name a && git config user.email a@localhost && git config core.hooksPath /dev/null
version() { git checkout -q -b "$1" start; cat >src.php; git commit -qam "The $1 version"; }
printf 'out/\n' >.gitignore
printf 'set -e\ngrep -q unfinished src.php && { echo "line 7: no such thing" >&2; exit 3; }\nmkdir -p out\ncp src.php out/app.php\n' >build.sh
echo '<?php echo "hello\n";' >src.php
git add -A && git commit -qm 'The start' && git branch start
echo '<?php usleep(30000); echo "hello\n";' | version slow
echo '<?php echo "hollo\n";' | version wrong
echo '<?php unfinished();' | version broken
echo '<?php http_response_code(500);' | version down
git checkout -q -b sly start; echo 'echo "# less" >>../scenario.yaml' >>build.sh; git commit -qam 'The sly version'
git checkout -q main
sh build.sh; echo '# as found' >>out/app.php; touch -d '2011-11-11 11:11:11.5' src.php out/app.php
`

func startVersions(t *testing.T) *versions {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers; run without -short")
	}
	address := fmt.Sprintf("127.0.0.1:%d", hosttest.FreePort(t))
	dir, err := os.MkdirTemp("", "kv")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	php, err := exec.LookPath("php")
	if err == nil {
		php, err = filepath.EvalSymlinks(php)
	}
	if err != nil {
		t.Fatalf("%v (make deps installs it)", err)
	}
	v := &versions{t: t, dir: dir, app: filepath.Join(dir, "app")}
	if err := os.Mkdir(v.app, 0o755); err != nil {
		t.Fatal(err)
	}
	v.git(appHistory)
	v.write("start", 0o755, fmt.Sprintf("#!/bin/sh\necho $$ >%s/pid\nexec %s -n -q -S %s %s/out/app.php >%s/log 2>&1 </dev/null\n", dir, php, address, v.app, dir))
	// Scored by Apdex: the slow version sleeps longer than T, so it has exactly a half;
	// the others answer within a tiny part of T, also where they wait for a CPU.
	v.score("25ms")
	v.write("kasoku.yaml", 0o644, fmt.Sprintf(`version: 1
name: hello
services:
  - name: app
    kind: app
    root: app
    binary: %[3]s
    build: {dir: app, command: [sh, build.sh], products: [out]}
    listen: ["%[1]s"]
    control: {method: process, pid_file: pid, start: [%[2]s/start]}
    health: {url: "http://%[1]s/", timeout: 20s}
load: {scenario: scenario.yaml, url: "http://%[1]s"}
tune: {max_foreign_cpu: 1, max_pairs: 10, alpha: 0.01}
`, address, dir, php))
	server := exec.Command(dir + "/start")
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	go server.Wait()
	t.Cleanup(func() {
		b, _ := os.ReadFile(filepath.Join(dir, "pid"))
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			syscall.Kill(pid, syscall.SIGTERM)
		}
	})
	await.For(t, "the server", func() bool { return await.Dial(address) == nil })
	return v
}

func (v *versions) write(name string, mode os.FileMode, text string) {
	v.t.Helper()
	if err := os.WriteFile(filepath.Join(v.dir, name), []byte(text), mode); err != nil {
		v.t.Fatal(err)
	}
}

// score lets the score be Apdex with T.
func (v *versions) score(t string) {
	v.t.Helper()
	v.write("scenario.yaml", 0o644, "version: 1\nname: hello\nworkload: 1\nwarmup: 50ms\nduration: 1s\nsessions: [{name: visit, steps: [{request: GET /, think: 3ms, expect: {contains: hello}}]}]\n"+
		"score: {apdex: {t: "+t+"}, expression: 100 * apdex}\n")
}

// git runs a script in the checkout.
func (v *versions) git(script string) string {
	v.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = v.app, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		v.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// state is what must come back: commit, branches, files with their times.
func (v *versions) state() string {
	v.t.Helper()
	return v.git("git symbolic-ref -q HEAD || git rev-parse HEAD; git for-each-ref; git status --porcelain --ignored; find . -name .git -prune -o -type f -printf '%p %m %u %T@ ' -exec md5sum {} \\; | LC_ALL=C sort")
}

// want runs kasoku, checks its exit code and words, and that the checkout is as
// it was.
func (v *versions) want(codes []int, says []string, args ...string) (stdout, stderr string) {
	v.t.Helper()
	before := v.state()
	var out, errs bytes.Buffer
	began := time.Now()
	got := run(append([]string{"-f", filepath.Join(v.dir, "kasoku.yaml")}, args...), &out, &errs)
	v.t.Logf("%s in kasoku %s", time.Since(began).Round(100*time.Millisecond), strings.Join(args, " "))
	all := out.String() + errs.String()
	if !slices.Contains(codes, got) {
		v.t.Fatalf("kasoku %v ended with %d, want one of %v\n%s", args, got, codes, all)
	}
	for _, s := range says {
		if !strings.Contains(all, s) {
			v.t.Errorf("kasoku %v does not say %q:\n%s", args, s, all)
		}
	}
	if after := v.state(); after != before {
		v.t.Errorf("kasoku %v: the checkout was\n%s\nand now is\n%s", args, before, after)
	}
	return out.String(), errs.String()
}

// TestCompare: a slower version is found, an equal one is not, and whatever
// comes, the checkout is as it was.
func TestCompare(t *testing.T) {
	v := startVersions(t)
	summary := filepath.Join(v.dir, "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	t.Setenv("GITHUB_ACTIONS", "true")

	_, errs := v.want([]int{ui.Regressed}, []string{"is slower than main", "latency p99"}, "compare", "main", "slow")
	if !strings.Contains(errs, "::error title=Kasoku::slow (") {
		t.Errorf("no annotation:\n%s", errs)
	}
	if text := v.summary(summary); !strings.HasPrefix(text, "### Kasoku: regressed\n\n**slow (") || !strings.Contains(text, "| latency p50 |") || !strings.Contains(text, "The slow version") {
		t.Errorf("the summary is\n%s", text)
	}

	// What is equal is not regressed. No answer takes longer than a T of ten minutes, so no pause of the
	// machine makes a difference.
	v.score("10m")
	not := []int{ui.OK, ui.NoDifference, ui.Inconclusive}
	out, _ := v.want(not, []string{"both are the same"}, "compare", "main", "HEAD", "--json")
	fits(t, "compare", out)
	c := decode[tune.Comparison](t, out)
	if c.Base.Commit != c.Head.Commit || c.Verdict.Runs < 2 || c.Verdict.BaselineScore <= 0 || len(c.Metrics) < 3 || c.Base.Build <= 0 {
		t.Errorf("%+v", c)
	}

	// The slow version answers too little in a second for a CPU time in ticks of
	// 10 ms; this one does not.
	if !strings.Contains(out, `"cpu_per_request"`) {
		t.Errorf("no CPU per request:\n%s", out)
	}

	v.score("25ms")
	// From slow to main nothing is lost.
	v.want([]int{ui.OK}, []string{"is not slower than slow", "by more than 5"}, "compare", "slow", "main", "--max-regression", "5%")

	v.want([]int{ui.WrongAnswers}, []string{"answers wrongly", "expected contains"}, "compare", "main", "wrong")
	v.want([]int{ui.BadInput}, []string{"broken (", "cannot be built", "line 7: no such thing"}, "compare", "main", "broken")
	if text := v.summary(summary); !strings.Contains(text, "### Kasoku: no comparison") || !strings.Contains(text, "line 7") {
		t.Errorf("the summary is\n%s", text)
	}
	v.want([]int{ui.Refused}, []string{"touches its judge", "the scenario (", "when sly (", "was put back", "leave scenario, regulation"}, "compare", "main", "sly", "--fail-on", "regressed")
	if text := v.summary(summary); !strings.Contains(text, "### Kasoku: refused") {
		t.Errorf("the summary is\n%s", text)
	}
	// The whole timeout is waited for an application that is down.
	config, err := os.ReadFile(filepath.Join(v.dir, "kasoku.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	v.write("kasoku.yaml", 0o644, strings.Replace(string(config), "timeout: 20s", "timeout: 2s", 1))
	v.want([]int{ui.Target}, []string{"down (", "could not be put in place"}, "compare", "main", "down")
	v.write("kasoku.yaml", 0o644, string(config))
	// Two ready builds in folders: no git is asked, and nothing is built.
	v.git("mkdir -p ../base/out ../head/out; git show main:src.php >../base/out/app.php; git show slow:src.php >../head/out/app.php; git show wrong:src.php >../head/src.php")
	folders := []string{"compare", "--base-dir", filepath.Join(v.dir, "base"), "--head-dir", filepath.Join(v.dir, "head")}
	v.summary(summary)
	v.want([]int{ui.Regressed}, []string{"head is slower than ", "latency p99"}, folders...)
	if text := v.summary(summary); !strings.Contains(text, "### Kasoku: regressed") || strings.Contains(text, "built in") {
		t.Errorf("the summary is\n%s", text)
	}
	v.want([]int{ui.BadInput}, []string{"holds none of the products out"}, "compare", "--base-dir", v.dir, "--head-dir", folders[4])
	v.want([]int{ui.BadInput}, []string{"does not have nowhere", "--unshallow"}, "compare", "nowhere", "main")

	// Not even a pair fits: that is no verdict, and with --fail-on regressed no
	// failure.
	_, errs = v.want([]int{ui.OK}, []string{"the budget of 1ms is used after 0 pairs"}, "compare", "main", "slow", "--budget", "1ms", "--fail-on", "regressed")
	if !strings.Contains(errs, "::warning title=Kasoku::") {
		t.Errorf("no annotation:\n%s", errs)
	}
}

func (v *versions) summary(file string) string {
	v.t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		v.t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		v.t.Fatal(err)
	}
	return string(b)
}

// TestCompareInterrupted: Ctrl-C with one version on top of the other puts the
// checkout back, here to neither of them.
func TestCompareInterrupted(t *testing.T) {
	v := startVersions(t)
	v.git("git checkout -q --detach wrong")
	tip := strings.TrimSpace(v.git("git rev-parse slow"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = await.Until(func() error { // in vain: the codes below tell it
			// Not while it is only built.
			b, _ := os.ReadFile(filepath.Join(v.dir, ".kasoku/journal/journal.jsonl"))
			_, err := os.Stat(filepath.Join(v.app, ".git/refs/heads/kasoku", tip[:12]))
			if err == nil && !bytes.Contains(b, []byte(`"title":"put main`)) {
				err = errors.New("main is not put on it")
			}
			return err
		})
		syscall.Kill(os.Getpid(), syscall.SIGINT)
	}()
	v.want([]int{ui.Interrupted}, []string{"interrupted"}, "compare", "main", "slow", "--budget", "0")
	<-done
}

// TestComparedCodes: which verdict ends with what.
func TestComparedCodes(t *testing.T) {
	for _, row := range []struct {
		outcome  experiment.Outcome
		code     int
		regresed int // with --fail-on regressed
	}{
		{experiment.Improved, ui.OK, ui.OK}, {tune.NotRegressed, ui.OK, ui.OK},
		{experiment.NoDifference, ui.NoDifference, ui.OK}, {experiment.Inconclusive, ui.Inconclusive, ui.OK},
		{experiment.Regressed, ui.Regressed, ui.Regressed}, {experiment.Broke, ui.WrongAnswers, ui.WrongAnswers}, {experiment.Failed, ui.Target, ui.Target},
		{experiment.Tampered, ui.Refused, ui.Refused},
	} {
		v := experiment.Verdict{Outcome: row.outcome}
		if got, lax := ui.Code(comparedError(v, "")), ui.Code(comparedError(v, "regressed")); got != row.code || lax != row.regresed {
			t.Errorf("%s: %d and %d, want %d and %d", row.outcome, got, lax, row.code, row.regresed)
		}
	}
	for _, args := range []string{"compare main", "compare a b --max-regression 2", "compare a b --max-regression 100%", "compare a b --max-regression x%",
		"compare", "compare a --base-dir x --head-dir y", "compare --base-dir x",
		"compare a b --max-regression 2% --fail-on not-improved", "compare a b --fail-on never"} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(args), &out, &errs); code != ui.Usage {
			t.Errorf("kasoku %s ended with %d: %s", args, code, &errs)
		}
	}
}
