package experiment

import (
	"fmt"
	"math"

	"kasoku/internal/stat"
)

const (
	// fewPairs: a great effect may be judged after two, three or four pairs. From then
	// on the ratios of the pairs tell as much.
	fewPairs = 4
	// greatEffect is from where on so few may decide: a factor of 1.15, or one of
	// 1/1.15. With three degrees of freedom only, it is 1.3: the spread that two or three
	// runs show may be a third of the true one.
	greatEffect, greatAtLeast = 0.15, 0.3
	// fewFreedom: degrees of freedom of the variance from run to run, below which
	// few pairs decide nothing, and from which greatEffect does. After two pairs the two
	// sides have two.
	fewFreedom, manyFreedom = 3, 5
	// fewShare of Alpha is the level of each of these three tests. The looks of
	// stat.Sequential are made for four fifths of it: where runs are normal, 0.90 % of
	// experiments are kept in vain at 1 %, 0.12 % by these (TestFewPairsFalseKeeps -v).
	// Where runs differ by less than a twentieth it is far less, as the effect must be
	// great as well.
	fewShare = 0.2 / (fewPairs - 1)
)

// few judges after two to four pairs what is so great that no spread of runs which
// the session has seen makes it. A pair takes minutes where somebody's benchmark
// takes one. The ratios of two pairs have one degree of freedom and never show
// anything; but how far runs of the same state differ is known from more runs than
// these. "" if it is not sure yet.
func (e *running) few() (Outcome, string) {
	n := len(e.base)
	if n < 2 || n > fewPairs || len(e.cand) != n || e.nothings > 0 || e.before > 0 || e.rule.Spread.Freedom == 0 {
		return "", ""
	}
	t, err := stat.Pooled(logScores(e.base), logScores(e.cand), e.rule.Spread)
	if err != nil || t.DF < fewFreedom {
		return "", ""
	}
	level := fewShare * e.rule.Alpha
	reason := func(p float64) string {
		return fmt.Sprintf("p = %.2g after %d pairs, below %.2g, by how far %d runs of like states differ", p, n, level, t.DF)
	}
	great := math.Log1p(greatEffect)
	if t.DF < manyFreedom {
		great = math.Log1p(greatAtLeast)
	}
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
