package tune

import (
	"context"
	"slices"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/experiment"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// An experiment that noise hides does not use up the budget that others wait
// for; it comes to turn again after them.
func TestOthersGetTheirShareOfTheBudget(t *testing.T) {
	await.SkipShort(t)
	v := newVirtual(t, knob{name: "hidden", factor: 1, bound: 9, reach: 0.9}, good("plain", 30))
	v.alone("hidden")
	tu := v.tuner()
	made := tu.Bench.instead
	tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
		run, err := made(ctx, o)
		if err == nil && v.isOn()["hidden"] { // some runs are twice as good, some half
			run.Score *= []float64{0.5, 2}[v.coin.IntN(2)]
			err = v.store.SaveRun(run)
		}
		return run, err
	}
	var waited []bool
	tu.standIns.shares = func(now, end time.Time) time.Time {
		waited = append(waited, tu.schedule.waiting)
		if tu.schedule.waiting {
			return now // after one pair
		}
		return end
	}
	if err := tu.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	tu.Options.Budget = time.Hour
	tu.course.deadline = time.Now().Add(tu.Options.Budget)
	if err := tu.loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.tell(tu.session.ID)
	steps := v.steps(tu.session.ID)
	if len(steps) != 3 || !slices.Equal(waited, []bool{true, false, false}) {
		t.Fatalf("%s: %d steps, others waited: %v", tu.session.Stopped, len(steps), waited)
	}
	first := steps[0].Verdict
	if steps[0].Plan.ID != "v.hidden:on" || !first.Shared || first.Outcome != experiment.Inconclusive || steps[0].Kept {
		t.Errorf("the first step: %s %+v", steps[0].Plan.ID, first)
	}
	if steps[1].Plan.ID != "v.plain:on" || !steps[1].Kept || steps[2].Plan.ID != "v.hidden:on" {
		t.Errorf("then %s (kept %v), then %s", steps[1].Plan.ID, steps[1].Kept, steps[2].Plan.ID)
	}
	if last := steps[2].Verdict; last.Shared || last.Pairs < fewestPairs || last.Outcome == experiment.Improved {
		t.Errorf("the last step: %+v", last)
	}
	if got := v.on(); got != "plain" {
		t.Errorf("on: %s", got)
	}
}

// A second look that noise keeps from its end leaves time for the others, which
// find the part that harms behind the lead.
func TestLooksShareTheBudget(t *testing.T) {
	bad := knob{name: "bad", factor: 0.7, bound: 1.3, reach: 0.5}
	v := newVirtual(t, knob{name: "lead", factor: 60, bound: 80, reach: 0.9}, knob{name: "hidden", factor: 1, bound: 1.1, reach: 0.5}, bad)
	tu := v.tuner()
	made := tu.Bench.instead
	looking := false
	tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
		run, err := made(ctx, o)
		if err == nil && looking && !v.isOn()["hidden"] && v.isOn()["bad"] { // hidden is out
			run.Score *= []float64{0.5, 2}[v.coin.IntN(2)]
			err = v.store.SaveRun(run)
		}
		return run, err
	}
	var looks []int
	tu.standIns.shares = func(now, end time.Time) time.Time {
		own := tu.lookShare(now, end)
		if tu.schedule.looks > 0 {
			looking, looks = true, append(looks, tu.schedule.looks)
		}
		if tu.schedule.looks > 1 {
			if !own.Before(end) || own.Before(now.Add(tu.moment().stepTime())) {
				t.Errorf("%d looks are left, and one has %s of %s", tu.schedule.looks, own.Sub(now), end.Sub(now))
			}
		}
		if tu.schedule.looks == 3 {
			return now // after one pair
		}
		return end
	}
	tu.Options.Budget = time.Hour
	s, err := tu.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.tell(s.ID)
	if got := v.on(); got != "lead hidden" || !slices.Equal(looks, []int{3, 2, 1}) {
		t.Errorf("on: %s; looks left: %v", got, looks)
	}
	for _, p := range v.steps(s.ID)[0].Plan.Parts {
		if p.LookedAgain == 0 || p.LeftOut != (p.ID == "v.bad:on") {
			t.Errorf("%s: looked again in step %d, left out %v", p.ID, p.LookedAgain, p.LeftOut)
		}
	}
}

// Alone an experiment has all the time that is left; with others a third, but
// enough for some pairs, unless the others would have less.
func TestShare(t *testing.T) {
	tu := &Tuner{Bench: &Bench{Stack: &stack.Stack{}, Window: time.Second, Warmup: time.Second}}
	now := time.Now()
	for _, c := range []struct {
		waiting bool
		left    time.Duration
		want    time.Duration
	}{
		{false, time.Hour, time.Hour},
		{true, time.Hour, 20 * time.Minute},
		{true, 2*leastShare*tu.moment().stepTime() + time.Second, leastShare * tu.moment().stepTime()},
		{true, 2*leastShare*tu.moment().stepTime() - time.Second, 2*leastShare*tu.moment().stepTime() - time.Second},
	} {
		tu.schedule.waiting = c.waiting
		if got := tu.share(now, now.Add(c.left)).Sub(now); got != c.want {
			t.Errorf("waiting %v, %v left: %v, want %v", c.waiting, c.left, got, c.want)
		}
	}
}
