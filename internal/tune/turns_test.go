package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

// pretended counts what an executor is asked for.
type pretended struct{ applied, reverted int64 }

func (p *pretended) Apply(context.Context, change.Intent) (change.Tx, error) {
	p.applied++
	return change.Tx{ID: p.applied}, nil
}
func (p *pretended) Revert(context.Context, int64) error { p.reverted++; return nil }
func (p *pretended) Pending() []change.Tx                { return nil }
func (p *pretended) VerifyTx(context.Context, ...int64) ([]change.Drift, error) {
	return nil, nil
}

// unloaded is the switcher without a load: runs score around a level.
type unloaded struct {
	sw    *switcher
	sides []experiment.Side
	rng   *rand.Rand
	gain  float64
	edit  func(*store.Run)
}

func (v *unloaded) Measure(ctx context.Context, side experiment.Side, _ int) (experiment.Sample, error) {
	if err := v.sw.turn(ctx, side); err != nil {
		return experiment.Sample{}, err
	}
	v.sides = append(v.sides, side)
	level := 100.0
	if side == experiment.Candidate {
		level *= v.gain
	}
	run := &store.Run{ID: int64(len(v.sides)), Side: side, Score: level * math.Exp(0.02*v.rng.NormFloat64()),
		Evidence: &evidence.Evidence{Load: &load.Result{Requests: 1000, Succeeded: 1000, Window: 2 * time.Second,
			Latency: load.Percentiles{P50: time.Duration(1e11 / level), P99: time.Duration(2e11 / level)}}}}
	if v.edit != nil {
		v.edit(run)
	}
	v.sw.turns.note(run)
	return sample(run), nil
}

func newUnloaded(exec applier, seed uint64, gain float64) *unloaded {
	return &unloaded{rng: rand.New(rand.NewPCG(seed, 1)), gain: gain,
		sw: &switcher{exec: exec, bench: &Bench{Scenario: &load.Scenario{Duration: time.Second}, pace: &experiment.Pace{}}, intent: change.Intent{
			Changes: []change.Change{{Kind: change.KindFile, Activate: change.Reload}, {Kind: change.KindRestart, Activate: change.Restart}}}}}
}

// Whatever the coin says, there is one switch for each time that another side
// comes than the one before, and none else; the baseline is there at first.
func TestNothingIsSwitchedNeedlessly(t *testing.T) {
	spared := 0
	for seed := range uint64(20) {
		exec := &pretended{}
		v := newUnloaded(exec, seed, 1)
		filled := int64(0)
		v.sw.fill = func(context.Context) error { filled++; return nil }
		r := experiment.DefaultRule()
		r.Seed = seed
		verdict, err := experiment.Run(t.Context(), r, v, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, before := 0, experiment.Baseline
		for i, side := range v.sides {
			if side != before {
				want++
			} else if i > 0 {
				spared++
			}
			before = side
		}
		if filled != exec.applied {
			t.Errorf("seed %d: filled %d times, put in place %d times", seed, filled, exec.applied)
		}
		v.sw.tell(&verdict)
		if verdict.Switches != want || exec.applied+exec.reverted != int64(want) || verdict.SwitchedBy != "restart" {
			t.Errorf("seed %d: %d switches (%d applied, %d reverted), want %d for %v", seed, verdict.Switches, exec.applied, exec.reverted, want, v.sides)
		}
	}
	if spared == 0 {
		t.Error("no pair ever began with the side that was in place")
	}
}

// The verdict tells what else changed, and that the service was not warm.
func TestTheVerdictTellsMore(t *testing.T) {
	v := newUnloaded(&pretended{}, 1, 2)
	v.edit = func(r *store.Run) {
		if r.ID == 2 {
			r.Evidence.Load.Unsteady = "throughput was still rising by 30 %"
		}
	}
	verdict, err := experiment.Run(t.Context(), experiment.DefaultRule(), v, nil)
	if err != nil {
		t.Fatal(err)
	}
	v.sw.tell(&verdict)
	if len(verdict.Shifts) != 2 || verdict.Shifts[0].Metric != "p50" || math.Abs(verdict.Shifts[0].Effect+0.5) > 1e-6 || !verdict.Shifts[1].Notable() {
		t.Errorf("%+v", verdict.Shifts)
	}
	if len(verdict.Warnings) != 1 || verdict.Warnings[0].Kind != experiment.WarnUnsteady || !strings.Contains(verdict.Warnings[0].Text, "1 of ") || !strings.Contains(verdict.Warnings[0].Text, "rising by 30 %") {
		t.Errorf("%q", verdict.Warnings)
	}
	if got := v.sw.bench.pace.Last.Runs.Weight; got != float64(verdict.Pairs-1) {
		t.Errorf("the next windows know of %g degrees of freedom, want %d", got, verdict.Pairs-1)
	}
	before := verdict
	v.sw.tell(&verdict)
	if verdict.Switches != before.Switches || len(verdict.Warnings) != 1 {
		t.Errorf("told twice: %+v", verdict)
	}
	(*switcher)(nil).tell(&verdict)
}
