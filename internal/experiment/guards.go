package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"kasoku/internal/stat"
)

// Guards that are never traded for score.
const (
	// maxP99Ratio: a candidate whose 99th percentile is half as long again is
	// not better, whatever its throughput.
	maxP99Ratio = 1.5
	// tailLevel: so small must the p-value of "the tail is at most maxP99Ratio
	// times as long" be at a look for the experiment to end there, whatever the
	// score is. It only ever rejects, so it needs no share of Rule.Alpha.
	tailLevel = 0.01
	// memorySlack is the share of a host's memory by which two runs differ
	// without anybody's doing.
	memorySlack = 0.01
	// WrongRatio: wrong answers may be twice as many, per request, as in the
	// baseline's worst run; without any there, none.
	WrongRatio = 2
	// chanceLevel: wrong answers of a candidate that are less likely than this beside those
	// that there were without it are its own doing.
	chanceLevel = 0.05
	// chanceOfAll is the same for all runs of the candidate so far, which are looked at again
	// after each: a little more in every run is seen in the sum.
	chanceOfAll = 0.01
	// failureSlack is the share of failing requests that a candidate may have
	// above the baseline's worst run before it counts as broken.
	failureSlack = 0.001
)

// broken compares the latest candidate run's answers with the baseline's.
func (e *running) broken() string {
	if e.rule.AnyAnswers || len(e.cand) == 0 || len(e.base) == 0 {
		// The baseline's own rate is not known yet: judged after its run.
		return ""
	}
	c := e.cand[len(e.cand)-1]
	if why := e.wrong(c); why != "" {
		return why
	}
	if limit := e.worst(func(s Sample) int64 { return s.Failures }); share(c.Failures, c.Requests) > limit+failureSlack {
		return fmt.Sprintf("%d of %d requests failed (baseline: at most %.2f %%): %s",
			c.Failures, c.Requests, 100*limit, c.Broken)
	}
	return ""
}

// wrong says that a run's answers are wrong more often than the baseline's ever
// were, "" if they are not or no run of the baseline is known.
func (e *running) wrong(c Sample) string {
	limit := e.worst(func(s Sample) int64 { return s.Mismatches })
	if e.rule.AnyAnswers || len(e.base) == 0 || c.Mismatches == 0 || share(c.Mismatches, c.Requests) <= WrongRatio*limit || e.wrongBefore(c) {
		return ""
	}
	return fmt.Sprintf("%d of %d answers were wrong (baseline: at most %.2f %%): %s",
		c.Mismatches, c.Requests, 100*limit, c.Broken)
}

// wrongBefore says that answers were wrong without the candidate, too, and that its own
// are no more than chance: given all wrong answers of both, each falls on the candidate
// with its share of all requests (the conditional test of two Poisson rates, Przyborowski
// and Wilenski 1940). A faster candidate is asked more, so one wrong answer in a
// thousand, as there was before any experiment, is no sign that it breaks anything.
func (e *running) wrongBefore(c Sample) bool {
	wrong, asked := e.rule.WrongBefore, e.rule.AskedBefore
	for _, b := range e.base {
		wrong, asked = wrong+b.Mismatches, asked+b.Requests
	}
	if wrong <= 0 || asked <= 0 {
		return false
	}
	sum := Sample{}
	for _, s := range e.cand {
		sum.Mismatches, sum.Requests = sum.Mismatches+s.Mismatches, sum.Requests+s.Requests
	}
	return chanceOf(c, wrong, asked) > chanceLevel && chanceOf(sum, wrong, asked) > chanceOfAll
}

// chanceOf is the probability (0–1) of as many wrong answers as c has, or more, where answers
// are wrong as often as wrong of asked.
func chanceOf(c Sample, wrong, asked int64) float64 {
	split := distuv.Binomial{N: float64(wrong + c.Mismatches), P: float64(c.Requests) / float64(c.Requests+asked)}
	return 1 - split.CDF(float64(c.Mismatches)-1)
}

// worst is the largest share of its requests that any run of the baseline has.
func (e *running) worst(of func(Sample) int64) float64 {
	w := 0.0
	for _, b := range e.base {
		w = math.Max(w, share(of(b), b.Requests))
	}
	return w
}

// scarce says that the latest candidate run left too little memory on a host, and
// less than the baseline does there.
func (e *running) scarce() string {
	if len(e.cand) == 0 || len(e.base) == 0 || e.rule.MemoryHeadroom <= 0 {
		return ""
	}
	left := e.cand[len(e.cand)-1].memory()
	for _, name := range slices.Sorted(maps.Keys(left)) {
		m := left[name]
		total, least := float64(m.Total), m.Total // where the baseline's is not known
		for _, b := range e.base {
			if was := b.memory()[name]; was.Available > 0 {
				least = min(least, was.Available)
			}
		}
		if m.Total <= 0 || m.Available <= 0 || float64(m.Available) >= e.rule.MemoryHeadroom*total || float64(m.Available) >= float64(least)-memorySlack*total {
			continue
		}
		where := ""
		if name != "" {
			where = " on " + name
		}
		return fmt.Sprintf("only %d MiB of %d MiB of memory were left%s (baseline: %d MiB); the regulation keeps %.0f %% free",
			m.Available>>20, m.Total>>20, where, least>>20, 100*e.rule.MemoryHeadroom)
	}
	return ""
}

func share(n, of int64) float64 {
	if of <= 0 {
		if n > 0 {
			return 1
		}
		return 0
	}
	return float64(n) / float64(of)
}

// longer is how much longer a tail of latency became.
type longer struct {
	ratio float64 // geometric mean over pairs of candidate's / baseline's
	p     float64 // one-sided p-value of "the ratio is at most maxP99Ratio"
}

// tail compares the 99th percentiles; a ratio of 1 where they are not judged or
// not known.
func (e *running) tail() longer {
	var beyond []float64
	for i := range min(len(e.base), len(e.cand)) {
		if b, c := e.base[i].P99, e.cand[i].P99; b > 0 && c > 0 {
			beyond = append(beyond, math.Log(float64(c)/float64(b)/maxP99Ratio))
		}
	}
	t, err := stat.OneSample(beyond)
	if err != nil || e.rule.AnyTail {
		return longer{ratio: 1, p: 1}
	}
	return longer{ratio: maxP99Ratio * math.Exp(t.Mean), p: t.PGreater}
}
