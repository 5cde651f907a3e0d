package tune

import (
	"context"
	"math/rand/v2"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// A small gain that noise hides makes way for a plan that waits, and is found
// with more pairs when that one has had its turn; all its pairs are one test, at
// one level.
const noiseSeed = 1

func TestSmallGainMakesWay(t *testing.T) {
	await.SkipShort(t)
	v := newVirtual(t, knob{name: "large", factor: 1.3, bound: 20, reach: 0.9},
		knob{name: "small", factor: 1.04, bound: 9, reach: 0.9}, knob{name: "nothing", factor: 1, bound: 8, reach: 0.9})
	v.alone("large", "small", "nothing")
	tu := v.tuner()
	made, noise := tu.Bench.instead, rand.New(rand.NewPCG(noiseSeed, 1))
	tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
		run, err := made(ctx, o)
		if err == nil && o.Side != "" { // pairs differ by some 7 %
			run.Score *= 1 + 0.06*noise.NormFloat64()
			err = v.store.SaveRun(run)
		}
		return run, err
	}
	session, err := tu.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var smalls []store.Step
	for _, s := range v.steps(session.ID) {
		t.Logf("%d. %s: %s after %d pairs (%d from before), level %.4f: %s", s.Seq, s.Plan.ID, s.Verdict.Outcome, s.Verdict.Pairs, s.Verdict.Earlier, s.Verdict.Level, s.Verdict.Reason)
		if s.Plan.ID == "v.small:on" && len(s.LeavesOut) == 0 {
			smalls = append(smalls, s)
		}
	}
	if v.on() != "large small" {
		t.Errorf("on: %s", v.on())
	}
	first, last := smalls[0].Verdict, smalls[len(smalls)-1].Verdict
	if !first.Shared || first.Outcome != experiment.Inconclusive || first.Pairs > FirstPatience {
		t.Errorf("at first: %+v", first)
	}
	if last.Outcome != experiment.Improved || last.Pairs <= first.Pairs {
		t.Errorf("in the end: %s after %d pairs", last.Outcome, last.Pairs)
	}
	for i, s := range smalls[1:] {
		if s.Verdict.Earlier > 0 && s.Verdict.Level != smalls[i].Verdict.Level {
			t.Errorf("it went on at %g, not at %g", s.Verdict.Level, smalls[i].Verdict.Level)
		}
	}
}
