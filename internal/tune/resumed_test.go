package tune

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// What an experiment that goes on teaches is of its own pairs: those from before
// were noted when they were made.
func TestWhatAResumedExperimentTeaches(t *testing.T) {
	step := &store.Step{Plan: remedy.Plan{Changes: []change.Change{{Service: "web", Activate: change.Restart}}},
		Verdict: experiment.Verdict{Pairs: 50, Earlier: 40, Runs: 20, Switching: 30 * time.Second, Took: 60 * time.Second}}
	var l learned
	l.times(step)
	if got := l.switches[change.Restart]; len(got) != 1 || got[0] != 2*time.Second {
		t.Errorf("a switch took %v, want 2s", got)
	}

	tu, _ := pacedTuner(t)
	tu.Bench.pace = &experiment.Pace{}
	sw := &switcher{bench: tu.Bench}
	run := &store.Run{Kind: store.Scored, Evidence: &evidence.Evidence{Load: &load.Result{Window: tu.Bench.window()}}}
	sw.turns.note(run)
	v := experiment.Verdict{Pairs: 50, Earlier: 40}
	for pair := 1; pair <= v.Pairs; pair++ {
		for i, side := range []experiment.Side{experiment.Baseline, experiment.Candidate} {
			v.Samples = append(v.Samples, experiment.Sample{Side: side, Pair: pair, Score: 100 + float64(7*(pair+i)%5)})
		}
	}
	sw.tell(&v)
	if got := tu.Bench.pace.Known.Runs.Weight; got != 9 {
		t.Errorf("the spread from run to run has %g degrees of freedom, want 9", got)
	}
}

// A search is not begun where the time left allows the fewest pairs, but no
// probing before them.
func TestSearchThatComesTooLate(t *testing.T) {
	tu := newVirtual(t).tuner()
	if err := tu.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := tu.schedule.learned.outlook(time.Second, experiment.DefaultRule())
	plain := remedy.Plan{Bound: 2, Changes: []change.Change{{Service: "web", Activate: change.Reload}}}
	search := plain
	search.Search = &remedy.Search{Values: []int{1, 2, 3, 4, 5, 6, 7}, At: func(int) ([]change.Change, error) { return plain.Changes, nil }}
	tu.course.deadline = time.Now().Add(tu.schedule.secondLook(tu.moment()) + tu.reserve() + tu.moment().stepTime() + 10*time.Second)
	if tu.schedule.late(tu.moment(), plain, o) || !tu.schedule.late(tu.moment(), search, o) {
		t.Errorf("late: %v and %v, want false and true", tu.schedule.late(tu.moment(), plain, o), tu.schedule.late(tu.moment(), search, o))
	}
}

// Experiments that could not be judged are in a row only if no other was looked
// at between them.
func TestDoubtsInARow(t *testing.T) {
	for _, between := range []bool{true, false} {
		loud, spread := knob{name: "loud", factor: 1, bound: 9, reach: 0.9}, knob{name: "spread", factor: 1.03, bound: 8, reach: 0.9}
		loud2, gain := knob{name: "louder", factor: 1, bound: 7, reach: 0.9}, knob{name: "gain", factor: 1.3, bound: 3, reach: 0.9}
		if !between {
			spread.bound = 2
		}
		v := newVirtual(t, loud, spread, loud2, gain)
		v.alone("loud", "spread", "louder", "gain")
		tu := v.tuner()
		made := tu.Bench.instead
		tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
			run, err := made(ctx, o)
			if on := v.isOn(); err != nil || o.Side == "" {
				return run, err
			} else if on["loud"] || on["louder"] {
				run.Unfit = "foreign load"
			} else if on["spread"] { // it makes way for the others
				run.Score *= 1 + 0.06*v.coin.NormFloat64()
			}
			return run, v.store.SaveRun(run)
		}
		session, err := tu.Run(t.Context())
		if steps := v.steps(session.ID); between && !steps[1].Verdict.Shared {
			t.Errorf("the second step did not make way: %+v", steps[1].Verdict)
		}
		if between && (err != nil || !v.isOn()["gain"]) || !between && !errors.Is(err, ErrNoisy) {
			t.Errorf("looked at one between them: %v; %v, on: %q", between, err, v.on())
		}
		v.tell(session.ID)
	}
}

// What a burst of somebody's work kept from being judged comes to turn again after the
// others, once; where it is as loud then, the session ends as any other.
func TestWhatWasLoudComesAgain(t *testing.T) {
	for _, bursts := range []int{3, 1000} {
		v := newVirtual(t, knob{name: "best", factor: 1.5, bound: 9, reach: 0.9}, knob{name: "gain", factor: 1.3, bound: 3, reach: 0.9})
		v.alone("best", "gain")
		tu := v.tuner()
		made := tu.Bench.instead
		left := bursts
		tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
			run, err := made(ctx, o)
			if err != nil || o.Side == "" || left == 0 || !v.isOn()["best"] {
				return run, err
			}
			left--
			run.Unfit = "foreign load"
			return run, v.store.SaveRun(run)
		}
		session, err := tu.Run(t.Context())
		if err != nil || session.State != "done" || v.isOn()["best"] != (bursts == 3) || !v.isOn()["gain"] {
			t.Errorf("%d bursts: %v, %s, on: %q", bursts, err, session.State, v.on())
		}
		if n := len(v.steps(session.ID)); bursts == 1000 && n > 3 {
			t.Errorf("what is always loud was tried in %d steps", n)
		}
		v.tell(session.ID)
	}
}

// A service that scores nothing, whatever is tried, is not a loud machine.
func TestNothingIsScored(t *testing.T) {
	v := newVirtual(t, knob{name: "a", factor: 1, bound: 9, reach: 0.9}, knob{name: "b", factor: 1, bound: 8, reach: 0.9}, knob{name: "c", factor: 1, bound: 7, reach: 0.9})
	v.alone("a", "b", "c")
	tu := v.tuner()
	made := tu.Bench.instead
	tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
		run, err := made(ctx, o)
		if err != nil {
			return run, err
		}
		run.Score = -8
		return run, v.store.SaveRun(run)
	}
	session, err := tu.Run(t.Context())
	if err != nil || session.State != "done" || len(v.steps(session.ID)) != 3 {
		t.Errorf("%v, %s, %d steps", err, session.State, len(v.steps(session.ID)))
	}
	if session.AsFound != store.NoScore || session.Factor(100) != 0 {
		t.Errorf("as found %g, factor %g", session.AsFound, session.Factor(100))
	}
}

// refusing cannot put a candidate in place.
type refusing struct {
	pretended
	why error
}

func (r *refusing) Apply(context.Context, change.Intent) (change.Tx, error) {
	return change.Tx{}, r.why
}

// A step that no longer pays stays where the service does not come up without
// it, or a foreign key holds it; that ends the look at it, and not the session. The
// reason is the true one.
func TestLookedAtThatCannotBeTakenOut(t *testing.T) {
	for _, c := range []struct {
		why  error
		says string
	}{
		{errors.New("app does not start"), "the service does not come up without it: "},
		{fmt.Errorf("index shop.refs.k: %w: Error 1553", change.ErrTableHeld), "it cannot be taken out, so it stays: "},
	} {
		tu := newVirtual(t).tuner()
		if err := tu.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		step := &store.Step{Session: tu.session.ID, Seq: 1, LeavesOut: []int{1}, Started: time.Now(),
			Verdict: experiment.Verdict{Outcome: experiment.Regressed, Reason: "slower"}}
		sw := &switcher{bench: tu.Bench, exec: &refusing{why: c.why}, intent: change.Intent{Changes: []change.Change{{}}}}
		if err := tu.finishLeaveOut(t.Context(), step, nil, sw, nil); err != nil {
			t.Fatal(err)
		}
		if step.Ended.IsZero() || step.Tx != 0 || step.Verdict.Outcome != experiment.Failed || tu.drops(step) {
			t.Errorf("%+v", step)
		}
		if reason := step.Verdict.Reason; !strings.HasPrefix(reason, c.says) || !strings.Contains(reason, c.why.Error()) {
			t.Errorf("reason %q, want %q", reason, c.says)
		}
	}
}

// Where a run takes a minute and a half, ten minutes are enough to try what may be
// great: two pairs, a look and a restart. The end needs no pair of its own before a
// second step is kept.
func TestLongRunsInAShortSession(t *testing.T) {
	tu := newVirtual(t).tuner()
	if err := tu.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	tu.Bench.Window, tu.Bench.pace = 90*time.Second, nil
	run := tu.Bench.runTime()
	if run < longRun || run > 2*time.Minute {
		t.Fatalf("a run takes %s", run)
	}
	o := tu.schedule.learned.outlook(run, experiment.DefaultRule())
	great := remedy.Plan{Bound: 5, Reach: 0.9, Changes: []change.Change{{Service: "web", Activate: change.Reload}}}
	tu.course.deadline = time.Now().Add(10 * time.Minute)
	if tu.schedule.late(tu.moment(), great, o) {
		t.Errorf("late: of ten minutes the end takes %s, the step %s", tu.reserve(), tu.moment().stepTime())
	}
	if got, want := tu.reserve(), run+10*time.Second; got != want {
		t.Errorf("nothing is kept: the end takes %s, want %s", got, want)
	}
	tu.schedule.changed = true
	if got, want := tu.reserve(), 3*run+10*time.Second; got != want {
		t.Errorf("a step is kept, and another would be: the end takes %s, want %s", got, want)
	}
	if tu.course.deadline = time.Now().Add(tu.afterwards() + 3*run); tu.endPairs() != 1 {
		t.Errorf("%d pairs compare the ends, want the one that there is time for", tu.endPairs())
	}
}
