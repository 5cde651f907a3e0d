package experiment

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// scripted measures the n-th run of a side as the list says.
type scripted struct {
	scores map[Side][]float64
	order  []Side
	waits  int // the run that takes long; 0: none
}

// long enough that no stall of a busy machine is taken for it.
const long = time.Second

func (f *scripted) Measure(_ context.Context, side Side, _ int) (Sample, error) {
	if len(f.order)+1 == f.waits {
		time.Sleep(long)
	}
	s := Sample{Side: side, Score: f.scores[side][0], Requests: 1000, P99: time.Millisecond}
	f.scores[side] = f.scores[side][1:]
	f.order = append(f.order, side)
	return s, nil
}

func script(seed uint64, gain float64) map[Side][]float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	s := map[Side][]float64{}
	for range 40 {
		s[Baseline] = append(s[Baseline], 100*(1+0.05*rng.NormFloat64()))
		s[Candidate] = append(s[Candidate], 100*gain*(1+0.05*rng.NormFloat64()))
	}
	return s
}

// An experiment that was cut off after any pair and goes on ends as one that was
// not cut off.
func TestEarlierPairsCount(t *testing.T) {
	for _, gain := range []float64{1, 1.08, 0.9} {
		whole, err := Run(t.Context(), DefaultRule(), &scripted{scores: script(5, gain)}, nil)
		if err != nil || whole.Pairs < 3 {
			t.Fatalf("%+v %v", whole, err)
		}
		for cut := 1; cut < whole.Pairs; cut++ {
			rest := script(5, gain)
			for side := range rest {
				rest[side] = rest[side][cut:]
			}
			r := DefaultRule()
			r.Earlier = append([]Sample{{Side: Candidate, Pair: 0, Score: 1}, {Side: Baseline, Pair: 1, Score: 3, Unfit: "noise"}}, whole.Samples[:2*cut]...)
			f := &scripted{scores: rest}
			got, err := Run(t.Context(), r, f, nil)
			if err != nil || got.Outcome != whole.Outcome || got.Pairs != whole.Pairs || got.Effect != whole.Effect || got.Earlier != cut || got.Runs != 2*(whole.Pairs-cut) {
				t.Errorf("×%g, cut after %d: %+v %v, want %+v", gain, cut, got, err, whole)
			}
			if len(PairsOf(got.Samples)) != got.Pairs || len(f.order)%2 != 0 || f.order[0] == f.order[1] || !slices.Contains([]Side{Baseline, Candidate}, f.order[0]) {
				t.Errorf("cut after %d: order %v, %d pairs", cut, f.order, len(PairsOf(got.Samples)))
			}
		}
	}
}

// The share of the time that others wait for ends an experiment that shows
// nothing yet, and not one that leads clearly.
func TestTheShareOfOneThatLeads(t *testing.T) {
	for _, c := range []struct {
		gain        float64
		cut, shared bool
	}{{1.15, false, true}, {1.15, false, false}, {1.02, true, true}, {1.02, true, false}} {
		r := DefaultRule()
		r.Alpha = 0.00001 // so that no verdict comes within five pairs
		r.Shared, r.Deadline, r.Latest = c.shared, time.Now().Add(long), time.Now().Add(time.Hour)
		v, err := Run(t.Context(), r, &scripted{scores: script(6, c.gain), waits: 10}, nil)
		if err != nil || v.Shared != (c.cut && c.shared) || v.OutOfTime != c.cut || c.cut && v.Pairs > 5 || !c.cut && v.Outcome != Improved {
			t.Errorf("×%g: %s after %d pairs, %+.3f (%+.3f to %+.3f): %s %v", c.gain, v.Outcome, v.Pairs, v.Effect, v.Low, v.High, v.Reason, err)
		}
	}
}
