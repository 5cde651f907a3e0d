package tune

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/experiment"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// trial is a stack whose benchmark scores what stands in a file of the
// application: a run takes some milliseconds, and everything else is real.
type trial struct {
	t     *testing.T
	dir   string
	tuner *Tuner
}

const trialStack = `version: 1
name: trial
services:
  - name: app
    kind: app
    root: app
    listen: ["%s"]
    control: {method: command, start: ["true"], stop: ["true"]}
    build: {dir: app, command: [sh, build.sh], products: [built]}
load:
  url: http://%s
  command: {argv: [./bench.sh, "--data", rows.csv], score: {regexp: 'score: ([0-9.]+)'}, fail_if: {regexp: WRONG}}
  reset: [sh, -c, "cat dump.sql > db"]
tune: {max_foreign_cpu: 1, max_pairs: 6, alpha: 0.1}
`

func newTrial(t *testing.T) *trial {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	x := &trial{t: t, dir: dir}
	x.write("kasoku.yaml", fmt.Sprintf(trialStack, l.Addr(), l.Addr()))
	// The score has some scatter, as every score has: recorded numbers, from the first on in each
	// version's runs, so that no verdict is a matter of chance.
	x.write("bench.sh", `#!/bin/sh
. ./lib.sh
read speed <app/built
n=$(grep -c "^$speed$" out.log)
echo "$speed" >>out.log
set -- 131 17 224 88 163 52
shift $((n % $#))
echo score: $((speed * 1000 + $1))
`)
	x.write("lib.sh", "# none\n")
	x.write("out.log", "")
	x.write("rows.csv", "id\n1\n")
	x.write("dump.sql", "INSERT")
	x.write("app/speed", "100\n")
	x.write("app/build.sh", "cp speed built\n")
	x.write("app/built", "100\n")
	x.write("app/.gitignore", "built\n")
	if err := os.Chmod(filepath.Join(dir, "bench.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	x.sh("cd app && git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm first")
	st, err := stack.Load(filepath.Join(dir, "kasoku.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	hosts, end, err := stack.OpenHosts(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end() })
	db, err := store.Open(filepath.Join(dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	exec, err := OpenExecutor(t.Context(), filepath.Join(dir, ".kasoku"), st, hosts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Close() })
	rule := experiment.DefaultRule()
	rule.Alpha, rule.MaxPairs = 0.1, 6
	x.tuner = &Tuner{Stack: st, Store: db, Exec: exec, Rule: rule, UI: quietly{}, Bench: &Bench{Stack: st, Hosts: hosts, Store: db}}
	return x
}

func (x *trial) write(name, text string) {
	x.t.Helper()
	path := filepath.Join(x.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

func (x *trial) read(name string) string {
	x.t.Helper()
	b, err := os.ReadFile(filepath.Join(x.dir, name))
	if err != nil {
		x.t.Fatal(err)
	}
	return string(b)
}

func (x *trial) sh(script string) string {
	x.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = x.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("%s: %v: %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// branch commits a change of the application on a branch and goes back.
func (x *trial) branch(name, script string) {
	x.t.Helper()
	x.sh("cd app && git checkout -q -b " + name + " && " + script + " && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm " + name + " && git checkout -q main")
}

// try judges a proposal; nothing may be left pending.
func (x *trial) try(p Proposal) (*store.Step, error) {
	x.t.Helper()
	step, err := x.tuner.Try(x.t.Context(), p)
	if n := len(x.tuner.Exec.Pending()); n > 0 {
		x.t.Errorf("%d transactions are pending", n)
	}
	return step, err
}

func (x *trial) want(p Proposal, outcome experiment.Outcome) *store.Step {
	x.t.Helper()
	step, err := x.try(p)
	if err != nil {
		x.t.Fatal(err)
	}
	if step.Verdict.Outcome != outcome {
		x.t.Fatalf("%s: %s (%+v), want %s", step.Verdict.Outcome, step.Verdict.Reason, step.Verdict.Warnings, outcome)
	}
	return step
}

// A branch is checked out, built and taken on for each of its runs, and the
// checkout is as it was afterwards; with Keep it stays.
func TestTryABranch(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	x.branch("faster", "echo 200 >speed")
	x.branch("slower", "echo 50 >speed")
	x.branch("broken", "echo 'exit 3' >build.sh")
	was := func() string {
		return x.sh("cd app && git symbolic-ref HEAD && git rev-parse HEAD && git for-each-ref && git status --porcelain && cat built speed")
	}
	before := was()
	step := x.want(Proposal{Rev: "faster"}, experiment.Improved)
	if step.Kept || was() != before {
		t.Errorf("not as before:\n%s\n%s", before, was())
	}
	if n := len(step.Diffs); n == 0 || !strings.Contains(step.Diffs[n-1].Text, "+200") {
		t.Errorf("the commit is not shown: %+v", step.Diffs)
	}
	x.want(Proposal{Rev: "slower", Dir: filepath.Join(x.dir, "app")}, experiment.Regressed)
	if step = x.want(Proposal{Rev: "broken"}, experiment.Failed); !strings.Contains(step.Verdict.Reason, "exit status 3") {
		t.Errorf("the build's failure is not told: %s", step.Verdict.Reason)
	}
	if was() != before {
		t.Errorf("not as before:\n%s\n%s", before, was())
	}
	for rev, says := range map[string]string{"main": "checked out already", "nowhere": "git fetch", "-x": "no branch"} {
		if _, err := x.try(Proposal{Rev: rev}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", rev, err)
		}
	}
	x.write("app/mine", "")
	if step = x.want(Proposal{Rev: "faster"}, experiment.Failed); !strings.Contains(step.Verdict.Reason, "mine") {
		t.Errorf("someone's work is not named: %s", step.Verdict.Reason)
	}
	os.Remove(filepath.Join(x.dir, "app/mine"))
	if step = x.want(Proposal{Rev: "faster", Keep: true}, experiment.Improved); !step.Kept || x.read("app/built") != "200\n" {
		t.Errorf("kept %v, built %q", step.Kept, x.read("app/built"))
	}
	if err := x.tuner.Exec.Undo(t.Context(), step.Tx, false); err != nil || was() != before {
		t.Errorf("%v; undone:\n%s", err, was())
	}
}

// A proposal whose time is up is told apart from noise, and put back.
func TestTryWithinABudget(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	x.branch("faster", "echo 200 >speed")
	step := x.want(Proposal{Rev: "faster", Budget: time.Nanosecond, Keep: true}, experiment.Inconclusive)
	if v := step.Verdict; !v.OutOfTime || v.Pairs != 1 || !strings.Contains(v.Reason, "larger budget") || step.Kept || x.read("app/built") != "100\n" {
		t.Errorf("%d pairs, out of time %v, kept %v: %s", v.Pairs, v.OutOfTime, step.Kept, v.Reason)
	}
	if _, err := x.try(Proposal{Rev: "faster", Budget: -1}); err == nil || !strings.Contains(err.Error(), "below 0") {
		t.Errorf("below 0: %v", err)
	}
}

// An interruption is told as such only if everything could be put back.
func TestAnInterruptionThatLeavesSomething(t *testing.T) {
	await.SkipShort(t)
	for _, conflict := range []bool{true, false} {
		x := newTrial(t)
		edit := "true"
		if conflict {
			edit = "echo 300 >speed"
		}
		x.write("bench.sh", "#!/bin/sh\ncd app\nread speed <speed\n[ $speed = 100 ] || { "+edit+"; touch ../now; sleep 3; }\necho score: $((speed * 1000 + $(od -An -N1 -tu1 /dev/urandom)))\n")
		ctx, interrupt := context.WithCancel(t.Context())
		go func() {
			_ = await.Until(func() error { // in vain: the run then ends in another way
				if ctx.Err() != nil {
					return nil
				}
				_, err := os.Stat(filepath.Join(x.dir, "now"))
				return err
			})
			interrupt()
		}()
		_, err := x.tuner.Try(ctx, Proposal{Diff: oneLine("speed", "100", "200"), Dir: filepath.Join(x.dir, "app")})
		interrupt()
		s, lerr := x.tuner.Store.LastSession()
		if err == nil || lerr != nil {
			t.Fatalf("conflict %t: %v, %v, %+v", conflict, err, lerr, s)
		}
		if left := len(x.tuner.Exec.Pending()) > 0; left != conflict || strings.Contains(s.Stopped, "kasoku recover") != conflict {
			t.Errorf("conflict %t: pending %t, %s, %v", conflict, left, s.Stopped, err)
		}
		x.write("app/speed", "200\n") // as it was made, so that it can be put back
		if _, err := x.tuner.Exec.Recover(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// oneLine is a unified diff of a one-line file.
func oneLine(file, from, to string) []byte {
	return []byte("--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-" + from + "\n+" + to + "\n")
}

// What judges a proposal is named before anything is applied, if the proposal
// says what it writes.
func TestAPatchOfTheJudgeIsRefusedBeforehand(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	x.sh("ln -s ../kasoku.yaml app/link; ln dump.sql app/hard; ln -s ../.kasoku app/state")
	x.write("app/fine", "slow\n")
	stateBefore := x.read("kasoku.yaml")
	for file, says := range map[string]string{
		"kasoku.yaml": "kasoku.yaml", "bench.sh": "the program of load.command", "rows.csv": "a file of load.command",
		"dump.sql": "a file of load.reset", "lib.sh": "a script of load.command", "app/link": "kasoku.yaml",
		"app/hard": "load.reset", ".kasoku/journal/new": "Kasoku's own state", "app/state/new": "Kasoku's own state",
	} {
		diff := []byte("--- /dev/null\n+++ b/" + file + "\n@@ -0,0 +1 @@\n+x\n")
		if text, err := os.ReadFile(filepath.Join(x.dir, file)); err == nil {
			first, _, _ := strings.Cut(string(text), "\n")
			diff = []byte("--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-" + first + "\n+" + first + " \n")
			if !strings.Contains(string(text), "\n") {
				x.write(file, first+"\n")
			}
			if rest := strings.Count(string(text), "\n"); rest > 1 { // the context that git apply asks for
				diff = wholeDiff(t, x.dir, file)
			}
		}
		step := x.want(Proposal{Diff: diff, Dir: x.dir}, experiment.Tampered)
		if !strings.Contains(step.Verdict.Reason, says) || !strings.Contains(step.Verdict.Reason, "nothing was applied") || step.Verdict.Runs > 0 {
			t.Errorf("%s: %d runs, %s", file, step.Verdict.Runs, step.Verdict.Reason)
		}
	}
	if x.read("kasoku.yaml") != stateBefore || len(x.tuner.Exec.History()) > 0 {
		t.Error("something was applied")
	}
	// What touches nothing of that is judged; with some noise, and one in ten
	// allowed to err, any verdict by its scores may come of it.
	step, err := x.try(Proposal{Diff: oneLine("fine", "slow", "fast"), Dir: filepath.Join(x.dir, "app")})
	if err != nil {
		t.Fatal(err)
	}
	if v := step.Verdict; v.Pairs < 3 || v.Outcome == experiment.Tampered || v.Outcome == experiment.Failed || v.Outcome == experiment.Broke {
		t.Errorf("a patch of the application: %s after %d pairs: %s", v.Outcome, v.Pairs, v.Reason)
	}
}

// wholeDiff adds a line at the end of a file.
func wholeDiff(t *testing.T, dir, file string) []byte {
	t.Helper()
	cmd := exec.Command("sh", "-c", `(cat "$1"; echo '# more') | diff -u --label "a/$1" --label "b/$1" "$1" -`, "sh", file)
	cmd.Dir = dir
	out, _ := cmd.Output() // 1: they differ
	if len(out) == 0 {
		t.Fatal("no diff of " + file)
	}
	return out
}

// A branch that touches the judge's files in the checkout is refused
// beforehand, too, also if it only deletes them.
func TestABranchThatTouchesTheJudgeIsRefused(t *testing.T) {
	x := newTrial(t)
	x.sh("mv bench.sh app/bench.sh; ln -s app/bench.sh bench.sh; cd app && git add -A && git -c user.name=a -c user.email=a@localhost commit -qm bench")
	x.branch("easier", "rm bench.sh && echo 200 >speed")
	before := x.sh("cd app && git rev-parse HEAD")
	step := x.want(Proposal{Rev: "easier"}, experiment.Tampered)
	if !strings.Contains(step.Verdict.Reason, "load.command") || x.sh("cd app && git rev-parse HEAD") != before {
		t.Errorf("%s", step.Verdict.Reason)
	}
}

// What commands and builds do is known only afterwards: they are put back and
// refused, and the judge's files are as they were.
func TestCommandsThatTouchTheJudgeAreRefused(t *testing.T) {
	await.SkipShort(t)
	for _, c := range []struct {
		name, apply, undo string
		says              string
		file              string // is as it was
	}{
		{"the regulation", "echo 'regulation: {allow: [durability]}' >>kasoku.yaml", "true", "kasoku.yaml", "kasoku.yaml"},
		{"its mode", "chmod 600 kasoku.yaml", "true", "kasoku.yaml", "kasoku.yaml"},
		{"it goes", "rm rows.csv", "true", "load.command", "rows.csv"},
		{"the benchmark", "printf '#!/bin/sh\necho score: 999999\n' >bench.sh", "true", "the program of load.command", "bench.sh"},
		{"a part of the benchmark", "echo 'speed=999' >lib.sh", "echo '# none' >lib.sh", "a script of load.command", "lib.sh"},
		{"the data", "echo nothing >dump.sql", "echo INSERT >dump.sql", "load.reset", "dump.sql"},
		{"when it is taken away", "true", "echo x >>rows.csv", "taken away", "rows.csv"},
		{"and back at once", "cp -p bench.sh k; echo '#' >>bench.sh; cat k >bench.sh; rm k", "true", "written to meanwhile", "bench.sh"},
		{"the journal", `echo '{}' >>.kasoku/journal/journal.jsonl`, "true", "journal", "kasoku.yaml"},
		{"the journal's lines", `sed -i s/format/farmot/ .kasoku/journal/journal.jsonl`, "true", "journal", "kasoku.yaml"},
		{"the store", "mv .kasoku/kasoku.db k && cp k .kasoku/kasoku.db", "true", "kasoku.db", "kasoku.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTrial(t)
			before := x.read(c.file)
			info, err := os.Stat(filepath.Join(x.dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			step, err := x.tuner.Try(t.Context(), Proposal{Apply: c.apply, Undo: c.undo, Dir: x.dir, Keep: true})
			if step == nil || step.Verdict.Outcome != experiment.Tampered || !strings.Contains(step.Verdict.Reason, c.says) || step.Kept {
				t.Fatalf("%v, %+v", err, step)
			}
			if c.says != "journal" && len(x.tuner.Exec.Pending()) > 0 {
				t.Error("it was not put back")
			}
			after, err := os.Stat(filepath.Join(x.dir, c.file))
			if err != nil || x.read(c.file) != before || after.Mode() != info.Mode() {
				t.Errorf("%s is not as it was: %v; %v", c.file, err, step.Verdict.Warnings)
			}
		})
	}
}

// A build runs the proposal's own code.
func TestABuildThatTouchesTheJudgeIsRefused(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	x.branch("sly", "echo 'cp speed built; echo \"# x\" >>../kasoku.yaml' >build.sh && echo 200 >speed")
	before := x.read("kasoku.yaml")
	step := x.want(Proposal{Rev: "sly"}, experiment.Tampered)
	if x.read("kasoku.yaml") != before || !strings.Contains(fmt.Sprint(step.Verdict.Warnings), "was put back") {
		t.Errorf("%s, %v", step.Verdict.Reason, step.Verdict.Warnings)
	}
}

// A file in the judge's place that leads elsewhere is not written through.
func TestALinkInPlaceOfTheJudgeIsNotFollowed(t *testing.T) {
	x := newTrial(t)
	x.write("victim", "mine")
	step := x.want(Proposal{Apply: "ln -sf victim kasoku.yaml", Undo: "true", Dir: x.dir}, experiment.Tampered)
	if x.read("victim") != "mine" || !strings.Contains(fmt.Sprint(step.Verdict.Warnings), "by hand") {
		t.Errorf("victim %q, %v", x.read("victim"), step.Verdict.Warnings)
	}
}

// The clock is compared with the one that nobody can set.
func TestAClockThatIsSetIsSeen(t *testing.T) {
	x := newTrial(t)
	j, err := newJudge(x.tuner.Bench, x.tuner.Exec)
	if err != nil {
		t.Fatal(err)
	}
	wall := time.Duration(0)
	j.clock = func() (time.Duration, time.Duration) { return time.Minute + wall, time.Minute }
	wall = -slack
	if err := j.look("now"); err != nil {
		t.Errorf("a steered clock: %v", err)
	}
	wall = slack + time.Millisecond
	if err := j.look("now"); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Errorf("a clock that was set: %v", err)
	}
	if err := j.look("later"); err != nil {
		t.Errorf("what follows is putting back, and yet: %v", err)
	}
}

// Who may not run commands may not write where others take them from.
func TestConfinedPatches(t *testing.T) {
	await.SkipShort(t)
	x := newTrial(t)
	x.write("outside", "slow\n")
	x.write("app/fine", "slow\n")
	x.sh("mkdir other; ln -s ../other app/out; echo slow >other/x")
	for _, c := range []struct{ file, says string }{{"outside", "no application's folder"}, {"app/out/x", "no application's folder"}, {"app/fine", ""}} {
		_, err := x.try(Proposal{Diff: oneLine(c.file, "slow", "fast"), Dir: x.dir, Confined: true})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.file, err)
		}
	}
	for name, c := range map[string]struct{ diff, says string }{
		"a file less":  {"--- a/app/fine\n+++ /dev/null\n@@ -1 +0,0 @@\n-slow\n", "removes " + filepath.Join(x.dir, "app/fine")},
		"a new folder": {"--- /dev/null\n+++ b/app/more/x\n@@ -0,0 +1 @@\n+x\n", "app/more, which does not exist"},
	} {
		if _, err := x.try(Proposal{Diff: []byte(c.diff), Dir: x.dir}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	program := "diff --git a/app/p b/app/p\nnew file mode 100755\n--- /dev/null\n+++ b/app/p\n@@ -0,0 +1 @@\n+x\n" +
		"diff --git a/app/fine b/app/fine\nold mode 100644\nnew mode 100755\n--- a/app/fine\n+++ b/app/fine\n@@ -1 +1 @@\n-slow\n+fast\n"
	changes, err := x.tuner.patched(t.Context(), Proposal{Diff: []byte(program), Dir: x.dir})
	if err != nil || changes[0].After.Mode != 0o755 || changes[1].After.Mode != 0o755 || changes[1].Before.Mode != 0o644 {
		t.Errorf("programs: %v, %v", changes, err)
	}
	link := "diff --git a/app/l b/app/l\nnew file mode 120000\n--- /dev/null\n+++ b/app/l\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"
	if _, err := x.try(Proposal{Diff: []byte(link), Dir: x.dir}); err == nil || !strings.Contains(err.Error(), "a link") {
		t.Errorf("a link: %v", err)
	}
}
