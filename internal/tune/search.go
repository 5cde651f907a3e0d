package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/stat"
	"kasoku/internal/store"
)

// search measures the plan's values and makes the best one the candidate.
func (t *Tuner) search(ctx context.Context, step *store.Step, sw *switcher) (stop bool, err error) {
	s := step.Plan.Search
	coin := rand.New(rand.NewPCG(uint64(step.ID), 1))
	unknown, wrong := 0, 0.0
	scores, err := climb(s.Values, s.Current, s.Threshold, coin, func(v int) (float64, error) {
		run, err := t.probe(ctx, step, sw, v)
		if err != nil || run == nil {
			return 0, err
		}
		if run.Unfit != "" {
			unknown++
			return noEvidence, nil
		}
		bad := float64(run.Evidence.Load.Mismatches) / math.Max(1, float64(run.Evidence.Load.Requests))
		if v == 0 {
			wrong = math.Max(wrong, bad)
		}
		if bad > experiment.WrongRatio*wrong {
			return 0, nil
		}
		return run.Score, nil
	})
	if err != nil {
		return false, err
	}
	if err := sw.to(ctx, experiment.Baseline); err != nil {
		return false, err
	}
	best := bestValue(scores)
	if best == 0 && unknown > 0 {
		step.Verdict = experiment.Verdict{Outcome: experiment.Inconclusive, Took: time.Since(step.Started),
			Reason: fmt.Sprintf("%d probes of %s were no evidence, and no other scored better: %s", unknown, s.Name, probeText(scores, s.Current))}
		return true, nil
	}
	t.UI.Info(fmt.Sprintf("probed %s: %s", s.Name, probeText(scores, s.Current)))
	if best == 0 {
		step.Verdict = experiment.Verdict{Outcome: experiment.NoDifference,
			Reason: fmt.Sprintf("no other value of %s scored better in %d probes each: %s", s.Name, probeRounds, probeText(scores, s.Current)), Took: time.Since(step.Started)}
		return true, nil
	}
	changes, err := s.At(best)
	if err != nil {
		return false, err
	}
	step.Chosen = best
	step.Plan.Changes, sw.intent.Changes = changes, changes
	step.Plan.Title = fmt.Sprintf("%s: %d", step.Plan.Title, best)
	sw.intent.Title = step.Plan.Title
	return false, nil
}

// probe measures one value; 0 = as set now. No run comes of a value with which the
// service does not come up.
func (t *Tuner) probe(ctx context.Context, step *store.Step, sw *switcher, value int) (run *store.Run, err error) {
	side := experiment.Baseline
	if err := sw.to(ctx, experiment.Baseline); err != nil {
		return nil, err
	}
	if value != 0 {
		changes, err := step.Plan.Search.At(value)
		if err != nil {
			return nil, err
		}
		sw.intent.Changes = changes
		side = experiment.Candidate
		if err := sw.to(ctx, side); err != nil {
			if isCandidate(err) {
				return nil, nil
			}
			return nil, err
		}
	}
	for range probeTries {
		if run, err = t.Bench.Run(ctx, RunOptions{Kind: store.Probe, Side: side, Step: step.ID, Workload: t.course.workload,
			Label: fmt.Sprintf("%s = %d", step.Plan.Search.Name, value)}); err != nil || run.Unfit == "" {
			return run, err
		}
	}
	return run, nil
}

// probeTries bounds the repetition of a probe that is no evidence.
const probeTries = 2

// bestValue is the cheapest value within plateau of the top score, 0 if what
// is set now is among those.
func bestValue(scores map[int][]float64) int {
	// Probes are few and noisy: within 2 % values count as equal.
	const plateau = 0.02
	top := 0.0
	var values []int
	for v, s := range scores {
		top = max(top, stat.GeoMean(s))
		values = append(values, v)
	}
	sort.Ints(values) // 0, what is set now, comes first
	for _, v := range values {
		if stat.GeoMean(scores[v]) >= top*(1-plateau) {
			return v
		}
	}
	return 0
}

func probeText(scores map[int][]float64, current int) string {
	var values []int
	for v := range scores {
		values = append(values, v)
	}
	sort.Ints(values)
	text := ""
	for _, v := range values {
		name := fmt.Sprint(v)
		if v == 0 {
			name = fmt.Sprintf("as set (%d)", current)
		}
		text += fmt.Sprintf("%s → %s  ", name, score(stat.GeoMean(scores[v])))
	}
	return text
}

// searchWorkload finds the load that scores best and makes it the candidate.
func (t *Tuner) searchWorkload(ctx context.Context, step *store.Step, sw *switcher) (stop bool, err error) {
	var values []int
	for n := t.course.workload; n <= 32*t.course.workload && n <= maxWorkload; n *= 2 {
		values = append(values, n)
	}
	opts := t.Bench.loadOptions(t.course.workload)
	opts.Progress = t.Bench.Listeners.feed.progress
	points, best, err := load.FindWorkload(ctx, opts, values, probeWindow)
	if err != nil {
		return false, err
	}
	if err := t.Bench.noteDrawn(); err != nil {
		return false, err
	}
	text := ""
	for _, p := range points {
		text += fmt.Sprintf("%d → %s  ", p.Workload, score(p.Score))
	}
	t.UI.Info("probed workload: " + text)
	step.Chosen = best
	if best == t.course.workload {
		step.Verdict = experiment.Verdict{Outcome: experiment.NoDifference, Reason: "no larger workload scored better: " + text, Took: time.Since(step.Started)}
		return true, nil
	}
	sw.candWorkload = best
	step.Plan.Workload = best
	step.Plan.Title = fmt.Sprintf("Raise the workload from %d to %d users", t.course.workload, best)
	return false, nil
}

const (
	probeWindow = 2 * time.Second
	// maxWorkload bounds what one generator process is asked to hold.
	maxWorkload = 1024
)
