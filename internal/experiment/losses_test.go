package experiment

import (
	"math"
	"strings"
	"testing"
)

// TestALossIsShown: who asks for losses hears of one, surely, where the loop only
// needs to know that nothing is to be gained.
func TestALossIsShown(t *testing.T) {
	const trials = 200
	for _, asked := range []bool{false, true} {
		shown, pairs := 0, 0
		for seed := range uint64(trials) {
			r := DefaultRule()
			r.Losses, r.Seed = asked, seed
			v, err := Run(t.Context(), r, newFake(100, 75, 0.08, seed), nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome == Regressed && strings.Contains(v.Reason, "below") {
				shown++
			}
			if asked && v.Outcome == NoDifference && v.High < 0 {
				t.Fatalf("no difference, of %+.1f %% (%+.1f to %+.1f)", 100*v.Effect, 100*v.Low, 100*v.High)
			}
			pairs += v.Pairs
		}
		if asked && (shown < 195 || pairs > 12*trials) || !asked && (shown > 40 || pairs > 4*trials) {
			t.Errorf("asked for losses %v: %d of %d are shown, in %d pairs", asked, shown, trials, pairs)
		}
	}
}

// TestALossThatIsNone: two that are alike are called a loss as rarely as a gain.
func TestALossThatIsNone(t *testing.T) {
	const trials = 1500
	lost := 0
	for seed := range uint64(trials) {
		r := DefaultRule()
		r.Losses, r.Seed = true, seed
		v, err := Run(t.Context(), r, newFake(100, 100, 0.05, seed), nil)
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome == Regressed {
			lost++
		}
	}
	// 1 % plus three standard errors of the simulation.
	if limit := 0.01 + 3*math.Sqrt(0.01*0.99/trials); float64(lost)/trials > limit {
		t.Errorf("%d of %d are called a loss", lost, trials)
	}
}
