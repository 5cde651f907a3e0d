package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"kasoku/internal/stat"
	"kasoku/internal/ui"
)

const (
	// worthFinding: an experiment goes on while an effect of half as much again
	// as the smallest one worth keeping is not unlikely. One of just that size is
	// found by chance only, however long it takes, and to go on for it costs a
	// candidate without effect a third more runs on a quiet machine (bench/verdict
	// explore).
	worthFinding = 1.5
	// forNow is the confidence, one-sided, with which an effect is unlikely
	// enough to let others come first, or a loss likely enough to go on for it.
	// stat.Sequential's own ends it for good.
	forNow = 0.90
)

// Run measures baseline and candidate in randomized pairs until the verdict is
// sure. It returns an error only when ctx ends or the runner fails; a
// candidate that breaks is a verdict.
func Run(ctx context.Context, r Rule, runner Runner, progress func(Verdict)) (Verdict, error) {
	seq, err := stat.NewSequential(r.Alpha, r.MaxPairs)
	if err != nil {
		return Verdict{}, fmt.Errorf("experiment: %w", err)
	}
	e := &running{rule: r, verdict: Verdict{Level: r.Alpha, MaxPairs: r.MaxPairs, Fitted: r.Fitted}, seq: seq, runner: runner, started: time.Now(),
		coin: rand.New(rand.NewPCG(r.Seed, 0x6b61736f6b75)), watched: progress != nil || !r.Deadline.IsZero()}
	e.takeUp(r.Earlier)
	for pair := e.before + 1; ; pair++ {
		done, err := e.pair(ctx, pair)
		e.verdict.Took = time.Since(e.started)
		if err != nil {
			return e.verdict, err
		}
		if progress != nil {
			progress(e.verdict)
		}
		if done {
			return e.verdict, nil
		}
		if end := e.deadline(); !end.IsZero() && time.Now().After(end) {
			shared := r.Shared && end.Equal(r.Deadline) // otherwise it has had what there was
			e.verdict.OutOfTime, e.verdict.Shared = true, shared
			reason := fmt.Sprintf("the time was used up after %d pairs; give a larger budget", pair)
			if shared {
				reason = fmt.Sprintf("its share of the time was used up after %d pairs, while others wait", pair)
			}
			e.end(Inconclusive, reason)
			return e.verdict, nil
		}
	}
}

// deadline after which no pair begins any more.
func (e *running) deadline() time.Time {
	if e.rule.Latest.After(e.rule.Deadline) && e.leads() {
		return e.rule.Latest
	}
	return e.rule.Deadline
}

// takeUp makes the complete pairs of an earlier experiment the first ones.
func (e *running) takeUp(earlier []Sample) {
	for _, p := range PairsOf(earlier) {
		if p.Candidate.Score <= 0 || len(e.logs) == e.seq.Max()-1 {
			continue
		}
		e.before++
		p.Baseline.Pair, p.Candidate.Pair = e.before, e.before
		e.verdict.Samples = append(e.verdict.Samples, p.Baseline, p.Candidate)
		e.base, e.cand = append(e.base, p.Baseline), append(e.cand, p.Candidate)
		e.noteRatio(p.Baseline.Score, p.Candidate.Score)
	}
	e.verdict.Earlier = e.before
	if t, err := stat.Trimmed(e.logs); err == nil {
		e.noteTest(t)
	}
}

// running is an experiment under way.
type running struct {
	rule    Rule
	seq     stat.Sequential
	runner  Runner
	coin    *rand.Rand
	second  Side // of the latest odd pair of its own, first of the next
	before  int  // pairs of an earlier experiment
	watched bool // between looks, too: by people, or by a deadline
	started time.Time
	verdict Verdict
	logs    []float64 // log ratios candidate / baseline of the pairs so far
	base    []Sample
	cand    []Sample

	nothings int // pairs whose baseline scored nothing
	ended    int // of the latest runs of one side in a row: in which a service ended
}

// pair measures one pair in random order and reports whether the verdict is sure.
func (e *running) pair(ctx context.Context, n int) (bool, error) {
	for _, side := range e.order(n) {
		s, err := e.measure(ctx, side, n)
		if err != nil {
			return false, err
		}
		if s.Unfit != "" && side == Candidate && e.ended > 1 {
			return true, e.endsServices(ctx, n, s)
		}
		if s.Unfit != "" {
			e.end(Inconclusive, fmt.Sprintf("%d runs in a row were no evidence: %s", e.rule.MaxRepeats, s.Unfit))
			return true, nil
		}
		if side == Baseline {
			e.base = append(e.base, s)
		} else {
			e.cand = append(e.cand, s)
		}
		if why := e.broken(); why != "" {
			e.end(Broke, why)
			return true, nil
		}
		if why := e.scarce(); why != "" {
			e.end(Regressed, why)
			return true, nil
		}
	}
	return e.look()
}

// order of the n-th pair, from 1. The coin is tossed for two pairs at a time: the
// second has the other order (AB BA or BA AB). A steady drift then cancels
// within four runs instead of on average only, and between the two pairs nothing
// is switched.
func (e *running) order(n int) [2]Side {
	if (n-e.before)%2 == 1 {
		e.second = Candidate
		if e.coin.IntN(2) == 1 {
			e.second = Baseline
		}
		return [2]Side{other(e.second), e.second}
	}
	return [2]Side{e.second, other(e.second)}
}

func other(s Side) Side {
	if s == Baseline {
		return Candidate
	}
	return Baseline
}

// measure repeats a run until it is fit as evidence.
func (e *running) measure(ctx context.Context, side Side, n int) (Sample, error) {
	var s Sample
	e.ended = 0
	for range max(e.rule.MaxRepeats, 1) {
		var err error
		if s, err = e.runner.Measure(ctx, side, n); err != nil {
			return s, err
		}
		s.Side, s.Pair = side, n
		e.verdict.Runs++
		e.verdict.Samples = append(e.verdict.Samples, s)
		if s.Unfit == "" {
			return s, nil
		}
		if side == Candidate && e.wrong(s) != "" { // whoever else was at work
			s.Unfit = ""
			return s, nil
		}
		if s.Ended != "" {
			e.ended++
		}
		e.verdict.Warnings = append(e.verdict.Warnings, Warning{Kind: WarnRepeated, Run: s.RunID, Side: side, Why: s.Unfit,
			Text: fmt.Sprintf("run %d of the %s was repeated: %s", s.RunID, side, s.Unfit)})
		if side == Candidate && e.ended > 1 {
			return s, nil // it would only end it once more
		}
	}
	return s, nil
}

// endsServices judges a candidate in two of whose runs a service ended: it failed,
// unless no run of the baseline is fit either.
func (e *running) endsServices(ctx context.Context, n int, s Sample) error {
	if len(e.base) == 0 {
		b, err := e.measure(ctx, Baseline, n)
		if err != nil {
			return err
		}
		if b.Unfit != "" {
			e.end(Inconclusive, fmt.Sprintf("%d runs in a row were no evidence: %s", e.rule.MaxRepeats, b.Unfit))
			return nil
		}
		e.base = append(e.base, b)
	}
	e.end(Failed, "twice, and not without it: "+s.Ended)
	return nil
}

// look takes the latest pair into the statistics and asks the sequential rule.
func (e *running) look() (bool, error) {
	b, c := e.base[len(e.base)-1], e.cand[len(e.cand)-1]
	switch {
	case b.Score <= 0 && c.Score <= 0:
		e.end(Inconclusive, "neither side scored: lengthen the run or look at its errors (kasoku show RUN)")
		return true, nil
	case c.Score <= 0:
		e.end(Regressed, "the candidate scored nothing")
		return true, nil
	}
	e.noteRatio(b.Score, c.Score)
	if o, reason := e.few(); o != "" {
		e.end(o, reason)
		return true, nil
	}
	if len(e.logs) < 2 || !e.watched && !e.looks() {
		return false, nil
	}
	d, t, err := e.seq.Look(e.logs, e.worth())
	if err != nil {
		return false, err
	}
	e.noteTest(t)
	tail := e.tail()
	if d == stat.Greater && e.byChance(t.N) {
		if t.N >= e.seq.Max() {
			e.end(Inconclusive, fmt.Sprintf("the baseline scored nothing in %d of %d pairs, which may be chance: lengthen the run or look at its errors (kasoku show RUN)", e.nothings, t.N))
			return true, nil
		}
		d = stat.Continue
	}
	if d == stat.Futile && e.rule.Losses && t.Upper(forNow) < 0 && t.N < e.seq.Max() {
		d = stat.Continue
	}
	switch {
	case d == stat.Greater && e.verdict.Effect < e.rule.SmallestEffect:
		e.end(NoDifference, fmt.Sprintf("faster, but by less than %.1f %%", 100*e.rule.SmallestEffect))
	case d == stat.Greater && tail.ratio > maxP99Ratio:
		e.end(Regressed, fmt.Sprintf("the score rose, but the 99th percentile of latency grew %.2f times", tail.ratio))
	case d == stat.Greater && e.plain() <= 0:
		e.end(NoDifference, fmt.Sprintf("most pairs are faster (%s), but a few so slow that it does not pay on the whole; look at the runs (kasoku show RUN)", ui.Percent(e.verdict.Effect)))
	case d == stat.Greater:
		e.end(Improved, fmt.Sprintf("p = %.2g after %d pairs, below %.2g", t.PGreater, t.N, e.seq.Level(t.N)))
	case d == stat.Less:
		e.end(Regressed, fmt.Sprintf("p = %.2g after %d pairs, below %.2g", t.PLess, t.N, e.seq.Level(t.N)))
	case d == stat.Futile && t.PLess < e.rule.Alpha && !e.rule.Losses:
		e.end(Regressed, fmt.Sprintf("slower (p = %.2g after %d pairs)", t.PLess, t.N))
	case d == stat.Futile && e.rule.Fitted && t.Upper(e.seq.Futility) > e.worth():
		e.verdict.TooFew = true
		e.end(Inconclusive, fmt.Sprintf("the %d pairs that fit into the time left cannot show it: an effect above %s is unlikely, a smaller one is not ruled out; give a larger budget",
			e.seq.Max(), ui.Percent(math.Expm1(t.Upper(e.seq.Futility)))))
	case d == stat.Futile && t.N >= e.seq.Max() && t.Upper(e.seq.Futility) > math.Log1p(greatEffect):
		e.verdict.TooFew = true
		e.end(Inconclusive, fmt.Sprintf("%d pairs cannot show it, as the runs differ too much: an effect above %s is unlikely, a smaller one is not ruled out; lengthen the run, or raise tune.max_pairs",
			t.N, ui.Percent(math.Expm1(t.Upper(e.seq.Futility)))))
	case d == stat.Futile:
		e.end(NoDifference, e.unlikely(t))
	case e.looks() && tail.p < tailLevel:
		e.end(Regressed, fmt.Sprintf("the 99th percentile of latency grew %.2f times (above %g: p = %.2g after %d pairs)", tail.ratio, maxP99Ratio, tail.p, len(e.logs)))
	case e.makesWay(t):
		e.verdict.Shared = true
		e.end(Inconclusive, fmt.Sprintf("an effect above %s is unlikely; it is postponed for others that wait, and goes on after them",
			ui.Percent(math.Expm1(t.Upper(forNow)))))
	default:
		return false, nil
	}
	return true, nil
}

// worth is the least effect that an experiment goes on for, as a log-ratio.
func (e *running) worth() float64 { return math.Log1p(worthFinding * e.rule.SmallestEffect) }

// byChance reports whether the baseline scored nothing in a pair, and n pairs are
// too few to say that this comes of the change. A ratio to nothing has no size, so
// the t-test tells nothing of it. Where a share q of all runs scores nothing on
// either side, a pair with a score on the candidate's side alone comes up in q(1-q)
// of all pairs, which is a quarter at most.
func (e *running) byChance(n int) bool {
	return e.nothings > 0 && math.Pow(4, -float64(n)) > e.seq.Level(n)
}

// unlikely says why nothing more is to be expected.
func (e *running) unlikely(t stat.TTest) string {
	most := ui.Percent(math.Expm1(t.Upper(e.seq.Futility)))
	if t.N >= e.seq.Max() {
		return fmt.Sprintf("nothing was shown in %d pairs; an effect above %s is unlikely", t.N, most)
	}
	return fmt.Sprintf("an effect above %s is unlikely", most)
}

// makesWay reports whether others that wait should come first (Rule.Patience).
func (e *running) makesWay(t stat.TTest) bool {
	n := len(e.logs)
	switch {
	case e.rule.Patience == 0 || n <= e.before || !e.looks() || e.leads():
		return false
	case n >= e.rule.Patience || e.before > 0: // what has come to turn again uses it
		return n >= e.rule.Patience
	}
	shown := t.Detectable(e.rule.Patience, e.seq.Level(e.rule.Patience))
	return t.Upper(forNow) < math.Max(math.Log1p(e.rule.SmallestEffect), shown)
}

// leads reports whether a verdict is near: even the lower end of the 95 %
// interval is worth keeping.
func (e *running) leads() bool { return e.verdict.Low > e.rule.SmallestEffect }

// plain is the mean log ratio of all pairs. The test leaves the best and the
// worst out, so that a burst of somebody else's work cannot decide; a candidate
// that itself stalls now and then must not gain by that.
func (e *running) plain() float64 {
	mean, _ := stat.MeanSD(e.logs)
	return mean
}

// estimate fills the verdict's effect and scores from the pairs so far.
func (e *running) estimate() {
	e.verdict.Effect = math.Expm1(e.plain())
	scores := func(ss []Sample) []float64 {
		out := make([]float64, 0, len(ss))
		for _, s := range ss {
			out = append(out, s.Score)
		}
		return out
	}
	e.verdict.BaselineScore = stat.GeoMean(scores(e.base))
	e.verdict.CandidateScore = stat.GeoMean(scores(e.cand))
}

func (e *running) end(o Outcome, reason string) {
	e.verdict.Outcome, e.verdict.Reason = o, reason
}

// ErrCandidate wraps a Runner's error that says the candidate could not be
// applied or did not come up: a verdict (Failed), not the end of a session.
var ErrCandidate = errors.New("candidate could not be put in place")
