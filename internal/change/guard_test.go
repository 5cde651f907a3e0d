package change

import (
	"context"
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
	"kasoku/internal/host"
	"kasoku/internal/stack"
)

// testDeadline of the guards in these tests: long enough that a controller on a
// busy machine is not taken for dead.
const (
	testDeadline = time.Second
	liveDeadline = 3 * testDeadline
)

// Files beside a project's folder that steer the guard of these tests.
const (
	killAt = "kill-guard-at" // the number of the step before which it is killed
	slowly = "guard-slowly"  // how long it waits before each step
)

// The tests of guards that wait for deadlines run in parallel: they take no CPU
// meanwhile. Each has a lab of its own.

// labGuard is the guard in the test binary. The lab is found by the folder.
func labGuard(what, dir string) error {
	base := filepath.Dir(dir)
	l := lab{filepath.Dir(base)}
	return Guard(context.Background(), what, dir, os.Stdin, os.Stdout, func(s *stack.Stack, here string, _ map[string]Login) Options {
		o := l.options(dir)
		if here != "local" {
			o.Stack = s
		}
		o.Hosts[here] = host.NewLocal()
		n := 0
		o.Trace = func(string) {
			n++
			if at, err := os.ReadFile(filepath.Join(base, killAt)); err == nil && string(at) == strconv.Itoa(n) {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			if wait, err := os.ReadFile(filepath.Join(base, slowly)); err == nil {
				d, _ := time.ParseDuration(string(wait))
				time.Sleep(d)
			}
		}
		return o
	})
}

// guarded is a project whose hosts keep copies below base.
type guarded struct {
	lab
	dir, base string
	after     time.Duration // deadline of a controller's guard that is a process of its own
}

func (l lab) guarded(t *testing.T) guarded {
	t.Helper()
	base, err := os.MkdirTemp(l.dir, "s")
	must(t, err)
	return guarded{l, l.project(t), base, testDeadline}
}

func (g guarded) options() Options {
	o := g.lab.options(g.dir)
	// The guard of this very process would end it.
	o.Target = &TargetOptions{Name: "lab", Base: g.base, RevertAfter: liveDeadline}
	return o
}

func (g guarded) open(t *testing.T) *Executor {
	t.Helper()
	x, err := Open(t.Context(), g.options())
	must(t, err)
	return x
}

// copyDir is the project's folder on the host; "" if there is none.
func (g guarded) copyDir() string {
	all, _ := filepath.Glob(filepath.Join(g.base, "*", "journal")) // the pattern is well-formed
	if len(all) == 0 {
		return ""
	}
	return filepath.Dir(all[0])
}

func (g guarded) state(t *testing.T) guardState {
	t.Helper()
	var s guardState
	b, err := os.ReadFile(filepath.Join(g.copyDir(), stateFile))
	if errors.Is(err, os.ErrNotExist) {
		return s
	}
	must(t, err)
	must(t, json.Unmarshal(b, &s))
	return s
}

// settled waits until the guard has done what it had to do.
func (g guarded) settled(t *testing.T, phases ...string) {
	t.Helper()
	must(t, await.Until(func() error {
		s := g.state(t)
		for _, p := range phases {
			if s.Phase == p && (p != phaseDone || syscall.Kill(s.PID, 0) != nil) {
				return nil
			}
		}
		log, _ := os.ReadFile(filepath.Join(g.copyDir(), logFile))
		return fmt.Errorf("the guard is at %q:\n%s", s.Phase, log)
	}))
}

// env is that of a victim that is guarded.
func (g guarded) env() []string {
	return []string{"KASOKU_TEST_BASE=" + g.base, "KASOKU_TEST_AFTER=" + g.after.String()}
}

func (g guarded) kill(t *testing.T, job string, step int) string {
	t.Helper()
	return g.lab.kill(t, g.dir, job, step, g.env()...)
}

// samePast checks that the host's copy is the journal, byte for byte.
func (g guarded) samePast(t *testing.T) {
	t.Helper()
	ours := content(t, filepath.Join(JournalDir(g.dir), journalFile))
	wantEqual(t, "the host's copy", content(t, filepath.Join(JournalDir(g.copyDir()), journalFile)), ours)
}

// stride lets a quick run try some of the steps.
func stride() int {
	if !everyStep() {
		return 9
	}
	return 1
}

// TestGuardPutsBack kills the controller before every step of applying and
// keeping. Nobody recovers: the host puts itself back. The controller that comes
// later takes over what the host did.
func TestGuardPutsBack(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	for step := 1; ; step += stride() {
		g := l.guarded(t)
		name := g.kill(t, "guarded", step)
		armed := g.copyDir() != "" && g.state(t).Phase != ""
		if armed && name != "" {
			g.settled(t, phaseDone)
		}
		kept := false
		if dir := g.copyDir(); dir != "" {
			txs, err := Read(dir)
			must(t, err)
			kept = len(txs) > 0 && txs[0].State == StateKept
		}
		if now := l.seen(t); (now == before) == kept {
			t.Fatalf("killed before step %d (%s), the host then was:\n%s\nbefore:\n%s", step, name, now, before)
		}
		x := g.open(t)
		_, err := x.Recover(t.Context())
		must(t, err)
		if armed && name != "" && !kept {
			wantEqual(t, "history after "+name, states(x.History()), "1 reverted")
			if why := x.History()[0].Error; !strings.Contains(why, "host local put itself back at") {
				t.Fatalf("killed before %s; the reason is %q", name, why)
			}
		}
		if drift, err := x.Verify(t.Context()); err != nil || len(drift) > 0 {
			t.Fatalf("killed before %s: drift %v, %v", name, drift, err)
		}
		for _, tx := range x.Kept() {
			must(t, x.Undo(t.Context(), tx.ID, true))
		}
		must(t, x.Close())
		g.samePast(t)
		wantEqual(t, "in the end", l.seen(t), before)
		if name == "" {
			if !kept {
				t.Fatal("it ran through and nothing is kept")
			}
			t.Logf("%d steps", step)
			return
		}
		must(t, os.RemoveAll(g.base))
	}
}

// TestGuardKilledAtEveryStep kills the guard as well; then recovery is left to
// a controller.
func TestGuardKilledAtEveryStep(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := ownLab(t)
	l.asFound(t)
	before := l.seen(t)
	for step := 1; ; step += stride() {
		g := l.guarded(t)
		must(t, os.WriteFile(filepath.Join(g.base, killAt), []byte(strconv.Itoa(step)), 0o600))
		g.stay(t, true)
		must(t, await.Until(func() error {
			if s := g.state(t); syscall.Kill(s.PID, 0) == nil {
				return fmt.Errorf("the guard lives on: %q", s.Phase)
			}
			return nil
		}))
		through := g.state(t).Phase == phaseDone
		must(t, os.Remove(filepath.Join(g.base, killAt)))
		x := g.open(t)
		_, err := x.Recover(t.Context())
		must(t, err)
		wantEqual(t, "history", states(x.History()), "1 reverted")
		must(t, x.Close())
		g.samePast(t)
		if now := l.seen(t); now != before {
			t.Fatalf("guard killed before step %d, then recovered:\n%s\nbefore:\n%s", step, now, before)
		}
		must(t, os.RemoveAll(g.base))
		if through {
			t.Logf("%d steps", step-1)
			return
		}
	}
}

// stay starts a controller that applies and then does nothing, and kills it if
// that is asked for.
func (g guarded) stay(t *testing.T, kill bool) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "KASOKU_TEST_VICTIM=stay", "KASOKU_TEST_LAB="+g.lab.dir, "KASOKU_TEST_DIR="+g.dir)
	c.Env = append(c.Env, g.env()...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _, _ = c.Process.Wait() })
	word := make([]byte, len("applied"))
	_, err = out.Read(word)
	must(t, err)
	wantEqual(t, "controller", string(word), "applied")
	if kill {
		must(t, c.Process.Kill())
		_ = c.Wait() // it was killed
	}
	return c
}

// TestStoppedController: one that hangs loses its lease with its life before
// the host is put back, and cannot go on writing.
func TestStoppedController(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := filesLab(t)
	before := l.seen(t)
	g := l.guarded(t)
	c := g.stay(t, false)
	must(t, c.Process.Signal(syscall.SIGSTOP))
	g.settled(t, phaseDone)
	wantEqual(t, "host", l.seen(t), before)
	state, err := c.Process.Wait()
	must(t, err)
	if s := state.Sys().(syscall.WaitStatus); s.Signal() != syscall.SIGKILL {
		t.Fatalf("the controller ended with %v", state)
	}
}

// TestUnheard: a look that comes late counts two ticks of 1 s.
func TestUnheard(t *testing.T) {
	for _, row := range []struct {
		name  string
		looks []time.Duration // from each to the next
		want  time.Duration
	}{
		{"all in time", []time.Duration{time.Second, time.Second, time.Second}, 3 * time.Second},
		{"a little late", []time.Duration{time.Second, 1500 * time.Millisecond}, 2500 * time.Millisecond},
		{"held up for an hour", []time.Duration{time.Second, time.Hour, time.Second}, 4 * time.Second},
	} {
		now := time.Minute
		u := unheard{tick: time.Second, looked: now}
		for _, d := range row.looks {
			now += d
			u.look(now)
		}
		wantEqual(t, row.name, u.lasts.String(), row.want.String())
	}
}

// TestStalledTogether: a guard that was held up as long as its controller, and
// goes on first, does not take that for the controller's silence.
func TestStalledTogether(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := filesLab(t)
	before := l.seen(t)
	g := l.guarded(t)
	g.after = liveDeadline
	c := g.stay(t, false)
	guard := g.state(t).PID
	beat := func() time.Time {
		info, err := os.Stat(filepath.Join(g.copyDir(), beatFile))
		must(t, err)
		return info.ModTime()
	}
	must(t, c.Process.Signal(syscall.SIGSTOP))
	must(t, syscall.Kill(guard, syscall.SIGSTOP))
	time.Sleep(liveDeadline)
	last := beat()
	must(t, syscall.Kill(guard, syscall.SIGCONT))
	time.Sleep(2 * liveDeadline / looksPerDeadline) // it looks
	must(t, c.Process.Signal(syscall.SIGCONT))
	must(t, await.Until(func() error {
		if beat().Equal(last) {
			return errors.New("no heartbeat of the controller that goes on")
		}
		return nil
	}))
	wantEqual(t, "guard", g.state(t).Phase, phaseWatching)
	must(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	g.settled(t, phaseDone)
	wantEqual(t, "host", l.seen(t), before)
}

// TestClockJumps: the heartbeat's time is only compared with itself.
func TestClockJumps(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := filesLab(t)
	before := l.seen(t)
	for _, at := range []time.Time{time.Unix(0, 0), time.Now().Add(100 * 365 * 24 * time.Hour)} {
		g := l.guarded(t)
		g.stay(t, true)
		must(t, os.Chtimes(filepath.Join(g.copyDir(), beatFile), at, at))
		jumped := time.Now()
		g.settled(t, phaseDone)
		if took := time.Since(jumped); took < testDeadline/2 { // the deadline is counted from before the jump
			t.Fatalf("the guard did not wait: %s", took)
		}
		wantEqual(t, "host", l.seen(t), before)
	}
}

// TestLiveControllerIsLeftInPeace for several deadlines, while nothing happens.
func TestLiveControllerIsLeftInPeace(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := filesLab(t)
	before := l.seen(t)
	g := l.guarded(t)
	x := g.open(t)
	tx, err := x.Apply(t.Context(), Intent{Title: "every kind", Changes: l.withoutPHP()})
	must(t, err)
	guard := g.state(t)
	time.Sleep(2 * liveDeadline)
	wantEqual(t, "guard", g.state(t).Phase, phaseWatching)
	must(t, x.Keep(t.Context(), tx.ID))
	must(t, x.Undo(t.Context(), tx.ID, false))
	must(t, x.Close())
	wantEqual(t, "host", l.seen(t), before)
	g.settled(t, phaseDisarmed)
	must(t, await.Until(func() error {
		if syscall.Kill(guard.PID, 0) == nil {
			return errors.New("the guard lives on though it was disarmed")
		}
		return nil
	}))
	g.samePast(t)
}

// TestControllerComesBackMeanwhile: it waits for the guard, and does nothing
// twice.
func TestControllerComesBackMeanwhile(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := filesLab(t)
	before := l.seen(t)
	g := l.guarded(t)
	must(t, os.WriteFile(filepath.Join(g.base, slowly), []byte("60ms"), 0o600))
	g.stay(t, true)
	g.settled(t, phaseActing)
	o := g.options()
	var said []string
	o.Progress = func(s string) { said = append(said, s) }
	x, err := Open(t.Context(), o)
	must(t, err)
	defer x.Close()
	wantEqual(t, "history", states(x.History()), "1 reverted")
	txs, err := x.Recover(t.Context())
	if err != nil || len(txs) > 0 {
		t.Fatalf("there was something left to recover: %v, %v", txs, err)
	}
	wantEqual(t, "host", l.seen(t), before)
	for _, part := range []string{"waiting for it", "put tx 1 (every kind) back by itself"} {
		if !strings.Contains(strings.Join(said, "\n"), part) {
			t.Errorf("it does not say %q: %q", part, said)
		}
	}
}

// TestControllerComesBackBefore the deadline: the guard leaves the work to it.
func TestControllerComesBackBefore(t *testing.T) {
	await.SkipShort(t)
	t.Parallel()
	l := filesLab(t)
	before := l.seen(t)
	g := l.guarded(t)
	const after = 5 * testDeadline // a stall may lie between the kill and the lease
	g.after = after
	g.stay(t, true)
	x := g.open(t)
	defer x.Close()
	time.Sleep(after + after/5) // the old guard fires and finds the lease taken
	wantEqual(t, "history", states(x.History()), "1 applied")
	_, err := x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "host", l.seen(t), before)
	wantEqual(t, "reason", x.History()[0].Error, "Kasoku ended before it was decided upon")
}

// TestReboot: the controller and the guard are gone, and the host's boot ID is
// another one. What init runs at boot puts the host back.
func TestReboot(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	g := l.guarded(t)
	c := g.stay(t, false)
	s := g.state(t)
	boot := func() {
		t.Helper()
		out, err := exec.Command(filepath.Join(g.copyDir(), programFile), "guard", "boot", g.copyDir()).CombinedOutput()
		if err != nil {
			t.Fatalf("guard boot: %v: %s", err, out)
		}
	}
	boot() // of the same boot, as if somebody started the unit by hand
	if l.seen(t) == before {
		t.Fatal("it put the host back though the guard is watching")
	}
	must(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	must(t, syscall.Kill(s.PID, syscall.SIGKILL))
	pid := filepath.Join(g.copyDir(), pidFile)
	must(t, os.WriteFile(pid, []byte(fmt.Sprintf("%d %s\n", os.Getpid(), "another-boot")), 0o600))
	boot()
	wantEqual(t, "host", l.seen(t), before)
	wantEqual(t, "guard", g.state(t).Phase, phaseDone)
	x := g.open(t)
	defer x.Close()
	wantText(t, errors.New(x.History()[0].Error), "the host was booted anew")
}
