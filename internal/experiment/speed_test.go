package experiment

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// wandering is a service on a machine whose speed wanders. Its score follows
// that speed; the candidate's is multiplied with what it is worth, and it may
// itself slow the machine's caches, which costs neither side any score.
type wandering struct {
	rng      *rand.Rand
	speed    float64 // logarithm
	effect   float64
	pressure float64
	blind    bool // the speed is not measured
}

func (w *wandering) Measure(_ context.Context, side Side, _ int) (Sample, error) {
	w.speed = 0.7*w.speed + 0.07*w.rng.NormFloat64()
	s := Sample{Score: 1000 * math.Exp(w.speed+0.02*w.rng.NormFloat64()), Requests: 1000, Speed: 1e8 * math.Exp(w.speed+0.01*w.rng.NormFloat64())}
	if side == Candidate {
		s.Score *= 1 + w.effect
		s.Speed *= 1 - w.pressure
	}
	if w.blind {
		s.Speed = 0
	}
	return s, nil
}

// kept of n experiments, and their mean pairs.
func keptOf(t *testing.T, n int, make func(rng *rand.Rand) *wandering, slope Slope) (share, pairs float64) {
	t.Helper()
	for seed := range uint64(n) {
		r := DefaultRule()
		known := slope
		r.Seed, r.Slope = seed, &known
		v, err := Run(t.Context(), r, make(rand.New(rand.NewPCG(seed, 7))), nil)
		if err != nil {
			t.Fatal(err)
		}
		pairs += float64(v.Pairs) / float64(n)
		if v.Outcome == Improved {
			share += 1 / float64(n)
		}
	}
	return share, pairs
}

// What the machine's speed explains is no noise any more.
func TestSpeedIsTakenOut(t *testing.T) {
	better := func(blind bool) func(*rand.Rand) *wandering {
		return func(rng *rand.Rand) *wandering { return &wandering{rng: rng, effect: 0.05, blind: blind} }
	}
	with, pairs := keptOf(t, 200, better(false), Slope{})
	without, _ := keptOf(t, 200, better(true), Slope{})
	if with < 0.9 || without > 0.8 {
		t.Errorf("+5 %% is kept in %.0f %% with the machine's speed known (%.0f pairs), in %.0f %% without", 100*with, pairs, 100*without)
	}
}

// The correction makes no gain where there is none.
func TestSpeedKeepsTheLevel(t *testing.T) {
	for name, slope := range map[string]Slope{"nothing known": {}, "known": {Products: 0.5, Squares: 0.5}} {
		none := func(rng *rand.Rand) *wandering { return &wandering{rng: rng} }
		if share, _ := keptOf(t, 3000, none, slope); share > 0.015 {
			t.Errorf("%s: %.2f %% of candidates without effect were kept", name, 100*share)
		}
	}
}

// A candidate that leaves something running that slows the caches for good
// gains nothing by that: its raw scores must show the same.
func TestACandidateThatPressesOnTheCaches(t *testing.T) {
	none := func(rng *rand.Rand) *wandering { return &wandering{rng: rng, pressure: 0.3} }
	if share, _ := keptOf(t, 300, none, Slope{Products: 0.5, Squares: 0.5}); share > 0.05 {
		t.Errorf("%.1f %% of candidates without effect were kept", 100*share)
	}
	// One that relieves them is not lost by that.
	good := func(rng *rand.Rand) *wandering { return &wandering{rng: rng, pressure: -0.3, effect: 0.5} }
	if share, _ := keptOf(t, 100, good, Slope{Products: 0.5, Squares: 0.5}); share < 0.9 {
		t.Errorf("only %.0f %% of good candidates that relieve the caches were kept", 100*share)
	}
}

func TestSlope(t *testing.T) {
	var s Slope
	if s.Value() != 0 {
		t.Errorf("knows %g of nothing", s.Value())
	}
	rng := rand.New(rand.NewPCG(1, 2))
	was := Sample{Score: 1000, Speed: 1e8}
	for range 100 {
		x := 0.1 * rng.NormFloat64()
		is := Sample{Score: 1000 * math.Exp(0.6*x), Speed: 1e8 * math.Exp(x)}
		s.Note(was, is)
		was = is
	}
	if s.Value() < 0.55 || s.Value() > 0.61 {
		t.Errorf("slope %g, want 0.6", s.Value())
	}
	before := s
	s.Note(Sample{Score: 1000}, was)
	s.Note(was, Sample{Score: 0, Speed: 1})
	if s != before {
		t.Error("a run without speed or score taught something")
	}
	if got := (Slope{Products: 5, Squares: 1}).Value(); got != mostSlope {
		t.Errorf("slope %g above the most", got)
	}
	if got := (Slope{Products: -5, Squares: 1}).Value(); got != 0 {
		t.Errorf("slope %g below 0", got)
	}
}
