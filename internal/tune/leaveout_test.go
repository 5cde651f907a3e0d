package tune

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

func TestGroupsToLeaveOut(t *testing.T) {
	kept := func(seq int, effect float64) store.Step {
		return store.Step{Seq: seq, Kept: true, Tx: int64(seq), Verdict: experiment.Verdict{Effect: effect}}
	}
	steps := []store.Step{kept(1, 20), kept(2, 0.03), {Seq: 3}, kept(4, 0.5), kept(5, 0.04), kept(6, 0.2)}
	steps = append(steps, store.Step{Seq: 7, Kept: true, Plan: remedy.Plan{Workload: 16}})
	text := func(gs [][]store.Step) string {
		var out []string
		for _, g := range gs {
			var seqs []int
			for _, s := range g {
				seqs = append(seqs, s.Seq)
			}
			out = append(out, fmt.Sprint(seqs))
		}
		return strings.Join(out, " ")
	}
	if got := text(groupsToLeaveOut(steps)); got != "[2 5] [4] [1]" {
		t.Errorf("groups %s, want the weak ones together, then the others, the last left alone", got)
	}
	steps[1].LookedAgain, steps[4].LookedAgain, steps[4].LeftOut = 8, 8, true
	steps = append(steps, store.Step{Seq: 8, Tx: 9, LeavesOut: []int{2, 5}})
	if got := text(groupsToLeaveOut(steps)); got != "[4] [1]" {
		t.Errorf("after the first: %s", got)
	}
	if got := groupsToLeaveOut([]store.Step{kept(1, 20)}); got != nil {
		t.Errorf("one step that nothing followed: %v", got)
	}
}

func TestNoLongerPays(t *testing.T) {
	for _, c := range []struct {
		outcome experiment.Outcome
		effect  float64
		want    bool
	}{
		{experiment.Improved, 0.05, false},
		{experiment.Regressed, -0.05, true},
		{experiment.Broke, 0, true},
		{experiment.NoDifference, 0.004, true},
		{experiment.NoDifference, 0.02, false}, // a doubt leaves what was proved
		{experiment.Inconclusive, -0.02, false},
		{experiment.Failed, 0, false},
	} {
		if got := (experiment.Verdict{Outcome: c.outcome, Effect: c.effect}).NoLongerPays(0.01); got != c.want {
			t.Errorf("%s with %+.3f: %v", c.outcome, c.effect, got)
		}
	}
}

// Of three kept steps on the real service, the one that harms now is taken out
// although others came after it and edited other files; the index stays, proved
// again; undo of everything brings back what was found.
func TestLeaveOutOnTheRealService(t *testing.T) {
	l := useLab(t)
	l.calm(t)
	asFound := l.hash(t)
	tu := l.tuner()
	tu.Rule.Alpha = 0.1 // the fewest pairs will do
	tu.session = &store.Session{Command: "tune", Stack: l.stack.Name, Started: time.Now(), State: "running"}
	if err := l.bench.Store.SaveSession(tu.session); err != nil {
		t.Fatal(err)
	}
	tu.course.workload, tu.seen.diag = l.bench.Users(), &diagnose.Diagnosis{}
	keep := func(title string, effect float64, changes []change.Change) {
		tx, err := l.exec.Apply(t.Context(), change.Intent{Title: title, Session: tu.session.ID, Changes: changes})
		if err == nil {
			err = l.exec.Keep(t.Context(), tx.ID)
		}
		tu.course.seq++
		step := &store.Step{Session: tu.session.ID, Seq: tu.course.seq, Plan: remedy.Plan{ID: title, Title: title, Changes: changes}, Kept: true, Tx: tx.ID,
			Started: time.Now(), Ended: time.Now(), Verdict: experiment.Verdict{Outcome: experiment.Improved, Effect: effect}}
		if err == nil {
			err = l.bench.Store.SaveStep(step)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // only after a failure there is something left
		if err := l.exec.UndoAll(context.Background()); err != nil {
			t.Error(err)
		}
	})
	keep("index", 20, l.wanted(t, "mariadb.index").Changes)
	snap, err := evidence.Take(t.Context(), l.stack, l.hosts, evidence.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wait := filepath.Join(t.TempDir(), "wait.php")
	if err := os.WriteFile(wait, []byte("<?php usleep(2000);\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for d := filepath.Dir(wait); d != os.TempDir(); d = filepath.Dir(d) { // PHP's own user reads it
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	set, _, err := remedy.Set(l.stack, snap, []string{"php.pm.max_children=1", "php.pm=static", "php.auto_prepend_file=" + wait})
	if err != nil {
		t.Fatal(err)
	}
	keep("one process", 0.02, set)
	keep("delivery", 0.3, l.wanted(t, "nginx.delivery").Changes)
	pool := filepath.Join(l.dir, "etc/php/pool.d/www.conf")
	l.told(t, func() float64 { // the index pays, and one process that waits before each page harms
		score := 100.0
		if l.holdsIndex(t) {
			score *= 2
		}
		if text, err := os.ReadFile(pool); err != nil || strings.Contains(string(text), wait) {
			score /= 2
		}
		return score
	})
	if err := tu.leaveOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	steps, err := l.bench.Store.Steps(tu.session.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 5 || !steps[1].LeftOut || steps[0].LeftOut || steps[0].LookedAgain != 5 || steps[2].LookedAgain != 0 {
		for _, s := range steps {
			t.Errorf("%d %s: left out %v, looked again %d: %s %s", s.Seq, s.Plan.Title, s.LeftOut, s.LookedAgain, s.Verdict.Outcome, s.Verdict.Reason)
		}
	}
	if err := l.exec.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.hash(t) != asFound {
		t.Error("after undo the target is not as found")
	}
}
