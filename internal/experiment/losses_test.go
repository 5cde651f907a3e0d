package experiment

import (
	"math"
	"strings"
	"testing"
)

// judged is the verdict about a candidate beside a baseline of 100.
func judged(t *testing.T, losses bool, cand, sd float64, seed uint64) Verdict {
	t.Helper()
	r := DefaultRule()
	r.Losses, r.Seed = losses, seed
	v, err := Run(t.Context(), r, newFake(100, cand, sd, seed), nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestALossIsShown: who asks for losses hears of one, surely, where the loop only
// needs to know that nothing is to be gained.
func TestALossIsShown(t *testing.T) {
	const trials = 200
	for _, asked := range []bool{false, true} {
		shown, pairs := 0, 0
		for seed := range uint64(trials) {
			v := judged(t, asked, 75, 0.08, seed)
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
		if judged(t, true, 100, 0.05, seed).Outcome == Regressed {
			lost++
		}
	}
	// 1 % plus three standard errors of the simulation.
	if limit := 0.01 + 3*math.Sqrt(0.01*0.99/trials); float64(lost)/trials > limit {
		t.Errorf("%d of %d are called a loss", lost, trials)
	}
}
