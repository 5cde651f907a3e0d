package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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

// A candidate without effect is kept after few pairs in a fifth of the false keeps
// that an experiment may have at most, however far runs differ, and with the looks at the
// pairs' ratios in no more than it may.
func TestFewPairsFalseKeeps(t *testing.T) {
	const tries = 10_000
	few, all, experiments := 0, 0, 0
	for _, sd := range []float64{0.03, 0.06, 0.1, 0.15, 0.25, 0.5} {
		for _, freedom := range []int{1, 4, 12} {
			coin := rand.New(rand.NewPCG(7, uint64(1000*sd)+uint64(freedom)))
			rule := DefaultRule()
			rule.MaxPairs, rule.Fitted = 6, true
			kept, early := 0, 0
			for i := range uint64(tries) {
				rule.Spread, rule.Seed = stat.Variance{}, i
				for range freedom { // two runs of like states
					rule.Spread.Add([]float64{sd * coin.NormFloat64(), sd * coin.NormFloat64()})
				}
				v, err := Run(t.Context(), rule, scattered{coin, sd, 1}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if v.Outcome == Improved {
					kept++
					if strings.Contains(v.Reason, "like states") {
						early++
					}
				}
			}
			for _, c := range []struct {
				what string
				n    int
				most float64
			}{{"after few pairs", early, 0.002}, {"in all", kept, 0.01}} {
				if rate := float64(c.n) / tries; rate > c.most+3*math.Sqrt(c.most/tries) {
					t.Errorf("runs that differ by %.0f %%, %d known: %.3f %% kept in vain %s", 100*sd, freedom, 100*rate, c.what)
				}
			}
			few, all, experiments = few+early, all+kept, experiments+tries
		}
	}
	rate := float64(all) / float64(experiments)
	t.Logf("of %d experiments %.2f %% kept in vain, %.2f %% after few pairs", experiments, 100*rate, 100*float64(few)/float64(experiments))
	if rate > 0.01 {
		t.Errorf("%.2f %% of all are kept in vain", 100*rate)
	}
}

// What few pairs are enough for, and what not.
func TestFewPairs(t *testing.T) {
	quiet := stat.Variance{Sum: 4 * 0.02 * 0.02, Freedom: 4}
	for _, c := range []struct {
		effect  float64
		known   stat.Variance
		least   int // pairs
		pairs   int // at most
		outcome Outcome
	}{
		{1.35, quiet, 2, 2, Improved},
		{1.2, quiet, 2, 3, Improved},
		{2, stat.Variance{Sum: 0.0004, Freedom: 1}, 2, 2, Improved},
		{1.25, stat.Variance{Sum: 0.0004, Freedom: 1}, 3, 4, Improved}, // three degrees of freedom after two
		{0.5, quiet, 2, 2, Regressed},
		{2, stat.Variance{}, 3, 12, Improved}, // nothing is known: three at least
		{1.1, quiet, 3, 40, Improved},
	} {
		t.Run(fmt.Sprint(c.effect, c.known.Freedom), func(t *testing.T) {
			r := DefaultRule()
			r.Spread = c.known
			v, err := Run(t.Context(), r, scattered{rand.New(rand.NewPCG(1, 2)), 0.02, c.effect}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != c.outcome || v.Pairs > c.pairs || v.Pairs < c.least {
				t.Errorf("%s after %d pairs: %s; %+.3f (%+.3f to %+.3f)", v.Outcome, v.Pairs, v.Reason, v.Effect, v.Low, v.High)
			}
			if v.Pairs == 2 && (math.Log1p(v.Low) > math.Log(c.effect) || math.Log1p(v.High) < math.Log(c.effect)) {
				t.Errorf("the interval %+.3f to %+.3f does not hold %.2f", v.Low, v.High, c.effect)
			}
		})
	}
}

// Where six pairs fit into the time, levels made for them find what levels made for 400
// do not, and what they cannot tell is not called without effect.
func TestPairsThatFit(t *testing.T) {
	if got := []int{Fit(400, time.Minute, 6*time.Minute), Fit(400, time.Minute, 0), Fit(4, time.Second, time.Hour), Fit(400, 0, 0)}; !slices.Equal(got, []int{6, stat.FirstLook, 4, 400}) {
		t.Errorf("pairs that fit: %v", got)
	}
	const tries = 400
	kept := func(r Rule, effect float64) (improved, few, none int) {
		for i := range uint64(tries) {
			most := Fit(400, time.Minute, 6*time.Minute)
			v, err := Run(t.Context(), r, &brief{scattered{rand.New(rand.NewPCG(i, 2)), 0.04, effect}, most}, nil)
			switch {
			case v.Outcome == Improved:
				improved++
			case v.TooFew && v.Outcome == Inconclusive:
				few++
			case err == nil && v.Outcome == NoDifference:
				none++
			}
		}
		return improved, few, none
	}
	long, fitted := DefaultRule(), DefaultRule()
	fitted.MaxPairs, fitted.Fitted = 6, true
	if was, _, _ := kept(long, 1.2); was > tries*3/4 {
		t.Errorf("with levels for 400 pairs %d of %d are kept in six", was, tries)
	}
	if is, _, _ := kept(fitted, 1.2); is < tries*9/10 {
		t.Errorf("with levels for six pairs %d of %d are kept", is, tries)
	}
	if is, few, none := kept(fitted, 1); is > tries/100+6 || few < tries*9/10 || none > tries/8 {
		t.Errorf("of %d without effect %d are kept, %d cannot be told in six pairs, %d are without effect", tries, is, few, none)
	}
	r := fitted
	r.Fitted = false // what the user says is the most
	if _, few, none := kept(r, 1); few != 0 || none < tries*9/10 {
		t.Errorf("with six pairs at most %d of %d are without effect, %d cannot be told", none, tries, few)
	}
}

// brief is a runner whose time is used up after so many pairs.
type brief struct {
	scattered
	most int
}

func (b *brief) Measure(ctx context.Context, side Side, pair int) (Sample, error) {
	if pair > b.most {
		return Sample{}, errors.New("its time is used up")
	}
	return b.scattered.Measure(ctx, side, pair)
}
