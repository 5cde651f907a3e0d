package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kasoku/internal/stat"
)

// scattered is a runner whose runs differ by a normal spread of the log of scores.
type scattered struct {
	coin       *rand.Rand
	sd, effect float64
}

func (s scattered) Measure(_ context.Context, side Side, _ int) (Sample, error) {
	score := 100 * math.Exp(s.sd*s.coin.NormFloat64())
	if side == Candidate {
		score *= s.effect
	}
	return Sample{Score: score, Requests: 1000}, nil
}

// A candidate without effect is kept after two pairs in a fifth of the false keeps
// that an experiment may have at most, however far runs differ.
func TestTwoPairsFalseKeeps(t *testing.T) {
	const tries = 40_000
	for _, sd := range []float64{0.03, 0.06, 0.1, 0.15, 0.25, 0.5} {
		for _, freedom := range []int{1, 4, 12} {
			coin := rand.New(rand.NewPCG(7, uint64(1000*sd)+uint64(freedom)))
			kept := 0
			for range tries {
				var known stat.Variance
				for range freedom { // two runs of like states
					known.Add([]float64{sd * coin.NormFloat64(), sd * coin.NormFloat64()})
				}
				e := &running{rule: Rule{Alpha: 0.01, Spread: known}}
				for range 2 {
					b, _ := scattered{coin, sd, 1}.Measure(t.Context(), Baseline, 1)
					c, _ := scattered{coin, sd, 1}.Measure(t.Context(), Candidate, 1)
					e.base, e.cand = append(e.base, b), append(e.cand, c)
				}
				if o, _ := e.twoPairs(); o == Improved {
					kept++
				}
			}
			if rate := float64(kept) / tries; rate > 0.002+3*math.Sqrt(0.002/tries) {
				t.Errorf("runs that differ by %.0f %%, %d known: %.3f %% kept in vain", 100*sd, freedom, 100*rate)
			}
		}
	}
}

// What two pairs are enough for, and what not.
func TestTwoPairs(t *testing.T) {
	quiet := stat.Variance{Sum: 4 * 0.02 * 0.02, Freedom: 4}
	for _, c := range []struct {
		effect  float64
		known   stat.Variance
		pairs   int // at most
		outcome Outcome
	}{
		{1.35, quiet, 2, Improved},
		{2, stat.Variance{Sum: 0.0004, Freedom: 1}, 2, Improved},
		{0.5, quiet, 2, Regressed},
		{2, stat.Variance{}, 12, Improved}, // nothing is known: three at least
		{1.1, quiet, 40, Improved},
	} {
		t.Run(fmt.Sprint(c.effect, c.known.Freedom), func(t *testing.T) {
			r := DefaultRule()
			r.Spread = c.known
			v, err := Run(t.Context(), r, scattered{rand.New(rand.NewPCG(1, 2)), 0.02, c.effect}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != c.outcome || v.Pairs > c.pairs || (v.Pairs == 2) != (c.pairs == 2) {
				t.Errorf("%s after %d pairs: %s; %+.3f (%+.3f to %+.3f)", v.Outcome, v.Pairs, v.Reason, v.Effect, v.Low, v.High)
			}
			if v.Pairs == 2 && (math.Log1p(v.Low) > math.Log(c.effect) || math.Log1p(v.High) < math.Log(c.effect)) {
				t.Errorf("the interval %+.3f to %+.3f does not hold %.2f", v.Low, v.High, c.effect)
			}
		})
	}
}
