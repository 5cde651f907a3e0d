package experiment

import (
	"math"
	"slices"

	"kasoku/internal/stat"
)

// SoFar is what an experiment under way shows, read from the scores of its fit
// runs in the order in which they were made: the verdict's pairs, effect,
// interval (none before the second pair) and scores, as Run tells them.
func SoFar(baseline, candidate []float64) Verdict {
	e := &running{watched: true}
	for i := range min(len(baseline), len(candidate)) {
		e.base, e.cand = append(e.base, Sample{Score: baseline[i]}), append(e.cand, Sample{Score: candidate[i]})
		b, c := baseline[i], candidate[i]
		if c <= 0 {
			break // it ends the experiment without an effect
		}
		e.noteRatio(b, c)
	}
	if t, err := stat.Trimmed(e.logs); err == nil {
		e.noteTest(t)
	}
	return e.verdict
}

// noteRatio takes a pair into the verdict's effect and scores.
func (e *running) noteRatio(baseline, candidate float64) {
	if baseline <= 0 {
		baseline = candidate / 1000 // a score of nothing: any ratio beyond measure will do
		e.nothings++
	}
	e.logs = append(e.logs, math.Log(candidate/baseline))
	e.verdict.Pairs = len(e.logs)
	if e.watched || e.looks() {
		e.estimate()
	}
}

// looks reports whether the test may decide on the pairs so far.
func (e *running) looks() bool { return slices.Contains(e.seq.Looks, len(e.logs)) }

// noteTest takes the pairs' test into the verdict's effect and interval.
func (e *running) noteTest(t stat.TTest) {
	e.verdict.Effect = math.Expm1(t.Mean)
	e.verdict.Low, e.verdict.High = math.Expm1(t.Lower(0.975)), math.Expm1(t.Upper(0.975))
}
