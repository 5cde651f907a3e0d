package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/ui"
)

// NotRegressed: the candidate is proved not to be slower than the baseline by
// more than what is allowed.
const NotRegressed experiment.Outcome = "not regressed"

// judgeComparison runs the experiment.
func (t *Tuner) judgeComparison(ctx context.Context, c *Comparison, sw *switcher) (experiment.Verdict, error) {
	rule := t.Rule
	rule.Seed = uint64(sw.step)
	if c.MaxRegression > 0 {
		// The question is whether anything is lost, not what is worth keeping.
		rule.SmallestEffect = 0
	}
	var runner experiment.Runner = &budgeted{runner: sw, deadline: t.course.deadline, now: time.Now}
	runner = lenient{runner, c.MaxRegression}
	v, err := bothWays(ctx, rule, runner, func(v experiment.Verdict) {
		t.sofar(allowed(v, c.MaxRegression))
	})
	v = allowed(v, c.MaxRegression)
	var seen *TamperedError
	switch {
	case errors.As(err, &seen): // whatever else went wrong
	case errors.Is(err, errBudget):
		v.Outcome, v.Reason = experiment.Inconclusive, fmt.Sprintf("the budget of %s is used after %d pairs of runs; a longer one, shorter runs or a quieter machine can tell", t.Options.Budget, v.Pairs)
		err = nil
	case isCandidate(err):
		v.Outcome, v.Reason, v.Refused = experiment.Failed, err.Error(), errors.Is(err, change.ErrRefused)
		err = nil
	}
	return v, err
}

// lenient lets a candidate be slower by a fraction: its scores are measured
// against a baseline that is slower by that much. That it is "improved" then
// means that the loss is below the limit, with the error rate that the rule has
// for a gain, at every look: non-inferiority by the shifted hypothesis (Wellek
// 2010, Testing Statistical Hypotheses of Equivalence and Noninferiority, ch. 2).
type lenient struct {
	runner experiment.Runner
	allow  float64
}

func (l lenient) Measure(ctx context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	s, err := l.runner.Measure(ctx, side, pair)
	if side == experiment.Candidate {
		s.Score /= 1 - l.allow
	}
	return s, err
}

// allowed turns the verdict about shifted scores into one about the real ones.
func allowed(v experiment.Verdict, allow float64) experiment.Verdict {
	if allow == 0 {
		return v
	}
	real := func(effect float64) float64 { return (1+effect)*(1-allow) - 1 }
	v.CandidateScore *= 1 - allow
	if v.Pairs > 0 {
		v.Effect = real(v.Effect)
	}
	if v.Pairs > 1 {
		v.Low, v.High = real(v.Low), real(v.High)
	}
	v.Samples = slices.Clone(v.Samples)
	for i := range v.Samples {
		if v.Samples[i].Side == experiment.Candidate {
			v.Samples[i].Score *= 1 - allow
		}
	}
	limit := ui.Percent(-allow)
	switch v.Outcome {
	case experiment.Improved:
		v.Outcome, v.Reason = NotRegressed, fmt.Sprintf("that it is slower by %s or more is ruled out: %s", ui.Share(allow), v.Reason)
	case experiment.NoDifference:
		v.Outcome, v.Reason = experiment.Inconclusive, fmt.Sprintf("an effect below %s is neither shown nor ruled out after %d pairs", limit, v.Pairs)
	case experiment.Regressed:
		v.Reason = fmt.Sprintf("more than %s is allowed: %s", limit, v.Reason)
	case experiment.Tampered, experiment.Inconclusive, experiment.Broke, experiment.Failed: // not about speed
	}
	return v
}

// budgeted ends an experiment before a pair that would not fit into the time.
type budgeted struct {
	runner   experiment.Runner
	deadline time.Time // zero: none
	now      func() time.Time
	pair     int
	began    time.Time
	longest  time.Duration // of a pair
}

// errBudget ends an experiment for lack of time.
var errBudget = errors.New("the budget is used")

func (b *budgeted) Measure(ctx context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	if pair != b.pair {
		now := b.now()
		if b.pair > 0 {
			b.longest = max(b.longest, now.Sub(b.began))
		}
		if !b.deadline.IsZero() && now.Add(b.longest).After(b.deadline) {
			return experiment.Sample{}, errBudget
		}
		b.pair, b.began = pair, now
	}
	return b.runner.Measure(ctx, side, pair)
}

// RuledOut is the largest regression that the verdict leaves possible, as a
// fraction: minus the lower end of its 95 % interval, 0 if that is a gain. ok is
// false if there is no interval.
func RuledOut(v experiment.Verdict) (loss float64, ok bool) {
	if v.Pairs < 2 {
		return 0, false
	}
	return math.Max(0, -v.Low), true
}
