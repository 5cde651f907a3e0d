package experiment

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// scripted measures the n-th run of a side as the list says.
type scripted struct {
	scores map[Side][]float64
	order  []Side
	waits  int // the run that takes long; 0: none
}

// long is how long that takes and a moment less, of virtual time.
const long = time.Second

func (f *scripted) Measure(_ context.Context, side Side, _ int) (Sample, error) {
	if len(f.order)+1 == f.waits {
		time.Sleep(long + 1)
	}
	s := Sample{Side: side, Score: f.scores[side][0], Requests: 1000, P99: time.Millisecond}
	f.scores[side] = f.scores[side][1:]
	f.order = append(f.order, side)
	return s, nil
}

func script(seed uint64, gain float64) map[Side][]float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	s := map[Side][]float64{}
	for range DefaultRule().MaxPairs {
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
func TestTheShareOfOneThatLeads(t *testing.T) { synctest.Test(t, theShareOfOneThatLeads) }

func theShareOfOneThatLeads(t *testing.T) {
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

// One that leads and goes on until all time is used up did not make way.
func TestAllTheTimeOfOneThatLeads(t *testing.T) { synctest.Test(t, allTheTimeOfOneThatLeads) }

func allTheTimeOfOneThatLeads(t *testing.T) {
	r := DefaultRule()
	r.Alpha = 0.00001
	r.Shared, r.Deadline, r.Latest = true, time.Now().Add(long/2), time.Now().Add(long)
	v, err := Run(t.Context(), r, &scripted{scores: script(6, 1.15), waits: 10}, nil)
	if err != nil || v.Shared || !v.OutOfTime || v.Outcome != Inconclusive {
		t.Errorf("%s, shared %v, out of time %v: %s %v", v.Outcome, v.Shared, v.OutOfTime, v.Reason, err)
	}
}

// loud is a machine on which no run is evidence.
type loud struct{}

func (loud) Measure(_ context.Context, side Side, _ int) (Sample, error) {
	return Sample{Side: side, Score: 100, Requests: 1000, Unfit: "foreign load"}, nil
}

// One that goes on and comes to no further pair tells what its pairs had shown.
func TestEarlierPairsAreTold(t *testing.T) {
	first, err := Run(t.Context(), DefaultRule(), &scripted{scores: script(5, 1)}, nil)
	if err != nil || first.Pairs < 10 {
		t.Fatalf("%+v %v", first, err)
	}
	r := DefaultRule()
	r.Earlier = first.Samples[:20]
	v, err := Run(t.Context(), r, loud{}, nil)
	if err != nil || v.Outcome != Inconclusive || v.Pairs != 10 || !(v.Low < v.Effect && v.Effect < v.High) {
		t.Errorf("%s after %d pairs, %+.3f (%+.3f to %+.3f) %v", v.Outcome, v.Pairs, v.Effect, v.Low, v.High, err)
	}
}

// While others wait, an experiment that shows nothing makes way for them after so
// many pairs, or before if so many cannot show it. With its pairs it then ends as
// if it had not; what leads and what does harm end as ever.
func TestMakesWay(t *testing.T) {
	for _, c := range []struct {
		name     string
		gain     float64
		patience int
		way      bool
	}{
		{"without an effect", 1, 12, true},
		{"a small effect", 1.03, 12, true},
		{"a large effect", 1.3, 4, false},
		{"harm", 0.8, 12, false},
	} {
		whole, err := Run(t.Context(), DefaultRule(), &scripted{scores: script(11, c.gain)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := DefaultRule()
		r.Patience = c.patience
		first, err := Run(t.Context(), r, &scripted{scores: script(11, c.gain)}, nil)
		if err != nil || first.Shared != c.way || first.OutOfTime || c.way && (first.Pairs > c.patience || first.Outcome != Inconclusive) {
			t.Errorf("%s: %s after %d pairs, shared %v: %s %v", c.name, first.Outcome, first.Pairs, first.Shared, first.Reason, err)
			continue
		}
		rest := script(11, c.gain)
		for side := range rest {
			rest[side] = rest[side][first.Pairs:]
		}
		last := first
		if c.way {
			r.Patience, r.Earlier = 0, first.Samples
			if last, err = Run(t.Context(), r, &scripted{scores: rest}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if last.Outcome != whole.Outcome || last.Pairs != whole.Pairs {
			t.Errorf("%s: ended as %s after %d pairs, at once it is %s after %d", c.name, last.Outcome, last.Pairs, whole.Outcome, whole.Pairs)
		}
	}
}
