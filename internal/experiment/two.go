package experiment

import (
	"fmt"
	"math"

	"kasoku/internal/stat"
)

const (
	// greatEffect is from where on two pairs may decide: a factor of 1.3, or one
	// of 1/1.3.
	greatEffect = 0.3
	// twoFreedom: degrees of freedom of the variance from run to run, below which
	// two pairs decide nothing. The two sides have two.
	twoFreedom = 3
	// twoShare of Alpha is the level of the test after two pairs: the looks of
	// stat.Sequential are made for four fifths of it. Where runs differ by less than
	// a tenth it is far less, as the effect must be great as well
	// (TestTwoPairsFalseKeeps).
	twoShare = 0.2
)

// twoPairs judges after two pairs what is so great that no spread of runs which
// the session has seen makes it. A pair takes minutes where somebody's benchmark
// takes one. The ratios of two pairs have one degree of freedom and never show
// anything; but how far runs of the same state differ is known from more runs than
// these. "" if it is not sure yet.
func (e *running) twoPairs() (Outcome, string) {
	if len(e.base) != 2 || len(e.cand) != 2 || e.nothings > 0 || e.before > 0 {
		return "", ""
	}
	base, cand := logScores(e.base), logScores(e.cand)
	t, err := stat.Pooled(base, cand, e.rule.Spread)
	if err != nil || t.DF < twoFreedom {
		return "", ""
	}
	level := twoShare * e.rule.Alpha
	reason := func(p float64) string {
		return fmt.Sprintf("p = %.2g after 2 pairs, below %.2g, by how far %d runs of like states differ", p, level, t.DF)
	}
	great := math.Log1p(greatEffect)
	switch {
	case t.Mean >= great && t.PGreater < level && e.tail().ratio <= maxP99Ratio:
		e.noteTest(t)
		return Improved, reason(t.PGreater)
	case t.Mean <= -great && t.PLess < level:
		e.noteTest(t)
		return Regressed, reason(t.PLess)
	}
	return "", ""
}

func logScores(samples []Sample) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = math.Log(s.Score)
	}
	return out
}

// SpreadOf is the variance of the log of scores from run to run on each side of an
// experiment. Runs that are no evidence or scored nothing say nothing.
func SpreadOf(samples []Sample) stat.Variance {
	sides := map[Side][]float64{}
	for _, s := range samples {
		if s.Unfit == "" && s.Score > 0 {
			sides[s.Side] = append(sides[s.Side], math.Log(s.Score))
		}
	}
	var v stat.Variance
	v.Add(sides[Baseline])
	v.Add(sides[Candidate])
	return v
}
