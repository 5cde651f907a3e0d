package tune

import (
	"context"
	"strings"
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// A session says why it ended, in words and for programs.
func TestWhyASessionEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		knobs  []knob
		change func(v *virtual, tu *Tuner) context.Context
		reason string
		text   string
		state  string
	}{
		{"nothing was called for", nil, nil, store.StopNothingLeft, "has been tried", "done"},
		{"what is left is too little", []knob{{name: "a", factor: 1, bound: 1.004, reach: 0.5}}, nil, store.StopBelowSmallest, "at most +0.4 %", "done"},
		{"no time", []knob{good("a", 20)}, func(_ *virtual, tu *Tuner) context.Context {
			tu.Options.Budget = time.Millisecond
			return nil
		}, store.StopBudget, "Turn on a", "done"},
		{"no time for a verdict", []knob{good("a", 20), good("b", 20)}, func(_ *virtual, tu *Tuner) context.Context {
			tu.Options.Budget, tu.UI = time.Hour, &lastMinute{tuner: tu}
			return nil
		}, store.StopBudget, "could not be judged in that time", "done"},
		{"interrupted", []knob{good("a", 20)}, func(v *virtual, _ *Tuner) context.Context {
			ctx, cancel := context.WithCancel(v.t.Context())
			v.trace = func(string) { cancel() }
			return ctx
		}, store.StopInterrupted, "goes on from here", "interrupted"},
		{"noise", []knob{good("a", 100), {name: "b", factor: 1, bound: 1.4, reach: 0.5, small: true}}, func(v *virtual, tu *Tuner) context.Context {
			run := tu.Bench.instead
			tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
				r, err := run(ctx, o)
				if err == nil && o.Side == experiment.Candidate {
					r.Unfit = "others used the machine"
				}
				return r, err
			}
			return nil
		}, store.StopNoisy, "could not be judged", "interrupted"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			v := newVirtual(t, c.knobs...)
			tu := v.tuner()
			ctx := t.Context()
			if c.change != nil {
				if own := c.change(v, tu); own != nil {
					ctx = own
				}
			}
			s, _ := tu.Run(ctx)
			stored, err := v.store.Session(s.ID)
			if err != nil {
				t.Fatal(err)
			}
			if stored.StopReason != c.reason || !strings.Contains(stored.Stopped, c.text) || stored.State != c.state {
				t.Errorf("%s, %s: %s; want %s, %s: …%s…", stored.State, stored.StopReason, stored.Stopped, c.state, c.reason, c.text)
			}
			if v.on() != "" {
				t.Errorf("on: %s", v.on())
			}
		})
	}
}

// lastMinute is a Reporter that lets the budget end when the first experiment begins.
type lastMinute struct {
	quiet
	tuner *Tuner
}

func (l *lastMinute) Step(title string) {
	if strings.HasPrefix(title, "1. ") {
		l.tuner.course.deadline = time.Now()
	}
}

// After the load was raised, the service as left also runs with the load as found, in turn with
// the service as found, so that there is a factor that more users have no part in.
func TestScoresAreComparableAfterTheLoadWasRaised(t *testing.T) {
	v := newVirtual(t, good("a", 50))
	tu := v.tuner()
	users := func(n int) float64 { return map[int]float64{8: 1, 32: 2}[n] }
	run := tu.Bench.instead
	tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
		r, err := run(ctx, o)
		if err == nil {
			r.Score *= users(o.Workload)
		}
		return r, err
	}
	if err := tu.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	tu.schedule.remember(&store.Step{Plan: remedy.Plan{ID: "load.workload:8", Workload: 32}, Kept: true, Ended: time.Now()})
	tu.course.workload = 32
	if err := tu.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tu.conclude(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := tu.session
	if s.Compared == nil || s.Compared.SameLoad == nil || s.Compared.SameLoad.Pairs != endPairs {
		t.Fatalf("not measured in turn: %+v", s.Compared)
	}
	if all, same := s.Gain(), s.Compared.SameLoad.Factor; all < 2.8 || all > 3.2 || same < 1.4 || same > 1.6 {
		t.Errorf("×%.2f in all (want 3), ×%.2f with the load as found (want 1.5)", all, same)
	}
	if s.FinalWorkload != 32 || s.AsFoundWorkload != 8 || tu.course.workload != 32 {
		t.Errorf("%+v", s)
	}
	// With the load as found there is nothing to add.
	same := newVirtual(t, good("a", 50))
	if s, err := same.tuner().Run(t.Context()); err != nil || s.FinalAsFoundLoad != 0 {
		t.Errorf("%v, %v", s.FinalAsFoundLoad, err)
	}
}
