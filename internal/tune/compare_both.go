package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/experiment"
)

// bothWays runs an experiment that is as ready to find a loss as a gain. The
// loop's own ends as soon as a gain is unlikely, because it need not know
// whether the candidate is equal or worse. Then the question is turned round,
// with the runs that there are and as many more as that takes: is the baseline
// faster than the candidate? Each of the two wrong answers, a gain and a loss
// that are none, keeps the error rate of the rule.
func bothWays(ctx context.Context, rule experiment.Rule, runner experiment.Runner, progress func(experiment.Verdict)) (experiment.Verdict, error) {
	tape := &tape{runner: runner, runs: map[tapeKey][]experiment.Sample{}}
	first := rule
	first.Losses = true
	v, err := experiment.Run(ctx, first, tape, progress)
	if err != nil || v.Outcome != experiment.NoDifference {
		return v, err
	}
	// The guards have been asked by now; they are the candidate's.
	rule.AnyTail, rule.AnyAnswers, rule.MemoryHeadroom = true, true, 0
	tape.rewind()
	known := v.Pairs
	back, err := experiment.Run(ctx, rule, turned{tape}, func(b experiment.Verdict) {
		if b.Pairs > known && progress != nil {
			progress(turnedBack(b))
		}
	})
	back.Took += v.Took
	back = turnedBack(back)
	if err == nil && back.Outcome == experiment.Improved {
		// The question for a gain was answered. Turned round, what ends for
		// futility is called a loss by a single test, and that of the baseline
		// would be a second chance for the candidate.
		back.Outcome, back.Reason = v.Outcome, v.Reason
	}
	if err == nil && back.Pairs < v.Pairs { // told by the first of them; the numbers are of all
		v.Outcome, v.Reason, v.Took = back.Outcome, back.Reason, back.Took
		back = v
	}
	if err == nil && back.Outcome == experiment.Failed { // the baseline failed where the candidate did not
		back.Outcome, back.Reason = experiment.Inconclusive, "the baseline "+back.Reason
	}
	return back, err
}

// tape remembers runs, and plays them again after rewind.
type tape struct {
	runner experiment.Runner
	runs   map[tapeKey][]experiment.Sample
	played map[tapeKey]int
}

type tapeKey struct {
	side experiment.Side
	pair int
}

func (t *tape) rewind() { t.played = map[tapeKey]int{} }

func (t *tape) Measure(ctx context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	key := tapeKey{side, pair}
	if n := t.played[key]; t.played != nil && n < len(t.runs[key]) {
		t.played[key]++
		return t.runs[key][n], nil
	}
	s, err := t.runner.Measure(ctx, side, pair)
	if err == nil {
		t.runs[key] = append(t.runs[key], s)
		if t.played != nil {
			t.played[key]++
		}
	}
	return s, err
}

// turned swaps the sides.
type turned struct{ runner experiment.Runner }

func (t turned) Measure(ctx context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	s, err := t.runner.Measure(ctx, otherSide(side), pair)
	s.Side = side
	return s, err
}

func otherSide(s experiment.Side) experiment.Side {
	if s == experiment.Baseline {
		return experiment.Candidate
	}
	return experiment.Baseline
}

// turnedBack makes a verdict about swapped sides one about the real ones.
func turnedBack(v experiment.Verdict) experiment.Verdict {
	inverse := func(effect float64) float64 { return 1/(1+effect) - 1 }
	if v.Pairs > 0 {
		v.Effect = inverse(v.Effect)
	}
	if v.Pairs > 1 {
		v.Low, v.High = inverse(v.High), inverse(v.Low)
	}
	v.BaselineScore, v.CandidateScore = v.CandidateScore, v.BaselineScore
	v.Samples = slices.Clone(v.Samples)
	for i := range v.Samples {
		v.Samples[i].Side = otherSide(v.Samples[i].Side)
	}
	swap := strings.NewReplacer("baseline", "candidate", "candidate", "baseline")
	v.Warnings = slices.Clone(v.Warnings)
	for i := range v.Warnings {
		w := &v.Warnings[i]
		if w.Text = swap.Replace(w.Text); w.Side != "" {
			w.Side = otherSide(w.Side)
		}
	}
	v.Shifts = nil // of the swapped sides
	switch v.Outcome {
	case experiment.Improved:
		v.Outcome = experiment.Regressed
	case experiment.Regressed:
		v.Outcome = experiment.Improved
	case experiment.NoDifference:
		v.Reason = fmt.Sprintf("neither a gain nor a loss could be shown in %d pairs, and more of them are unlikely to", v.Pairs)
	case experiment.Broke:
		v.Outcome, v.Reason = experiment.Failed, swap.Replace(v.Reason)
	case experiment.Tampered, experiment.Inconclusive, experiment.Failed: // the same from both sides
	}
	return v
}
