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
	"kasoku/internal/stat"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

const (
	// endPairs compare the service as found with the service as left: the fewest
	// whose mean has a standard error that says something.
	endPairs = 3
	// endLevel of each end of the 95 % interval of their ratio.
	endLevel = 0.975
)

// compareEnds compares the service as left with the service as found, in runs that
// alternate: what is said to have been gained comes of nothing else. Where one
// step was kept, its own experiment was just that. Where as found cannot be put in
// place for a while, because something of it can only be undone as the journal
// does, or where the time left does not allow it, what the kept steps' experiments
// showed is multiplied.
func (t *Tuner) compareEnds(ctx context.Context) error {
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(steps), func(s store.Step) bool { return s.Tx == 0 || !s.Kept && len(s.LeavesOut) == 0 })
	bySteps := store.ComparedBySteps(steps)
	switch {
	case len(kept) == 1 && kept[0].Verdict.Pairs > 0 && kept[0].Verdict.BaselineScore > 0 && !t.loadChanged():
		v := kept[0].Verdict
		t.session.Compared = &store.Compared{By: store.ByStep, Step: kept[0].Seq, Factor: 1 + v.Effect, Pairs: v.Pairs,
			AsFound: v.BaselineScore, Final: v.CandidateScore, Low: 1 + v.Low, High: 1 + v.High}
		return t.Store.SaveSession(t.session)
	case t.endPairs() == 0:
		t.session.Compared = bySteps
		t.session.Compared.Why = "the budget left no time for it"
		return t.Store.SaveSession(t.session)
	}
	slices.SortStableFunc(kept, func(a, b store.Step) int { return int(a.Tx - b.Tx) })
	back, err := t.without(ctx, kept, nil)
	if err != nil {
		t.session.Compared = bySteps
		t.session.Compared.Why = err.Error()
		t.UI.Info(fmt.Sprintf("as found is not put in place once more to compare with: %v; the factor is what the kept steps' experiments showed", err))
		return t.Store.SaveSession(t.session)
	}
	if err := t.alternate(ctx, back, slices.ContainsFunc(kept, func(s store.Step) bool { return s.Plan.Fills })); err != nil {
		if !isCandidate(err) {
			return err
		}
		t.session.Compared = bySteps
		t.session.Compared.Why = "the service as found did not come up again: " + err.Error()
		t.UI.Warn(t.session.Compared.Why, "what was kept is in place; the factor is what the kept steps' experiments showed")
	}
	return t.Store.SaveSession(t.session)
}

// endPairs is how many pairs the time left allows, at most endPairs.
func (t *Tuner) endPairs() int {
	if t.course.deadline.IsZero() {
		return endPairs
	}
	left := time.Until(t.course.deadline) - t.afterwards()
	return max(0, min(endPairs, int(left/(time.Duration(t.endRuns())*t.Bench.runTime()+1))))
}

// endRuns are the runs of one pair: a third has the load as found where that was raised.
func (t *Tuner) endRuns() int {
	if t.loadChanged() {
		return 3
	}
	return 2
}

// alternate makes the pairs, as left first in every other one, and notes in the
// session what they showed. As left is in place when it ends.
func (t *Tuner) alternate(ctx context.Context, back []change.Change, fills bool) (err error) {
	n := t.endPairs()
	t.UI.Step("Compare the service as left with the service as found, " + ui.Plural(n, "pair of runs", "pairs of runs"))
	sw := &switcher{exec: t.Exec, bench: t.Bench, baseWorkload: t.course.workload, candWorkload: t.session.AsFoundWorkload,
		intent: change.Intent{Title: "As found, for a while", Session: t.session.ID, Changes: back}}
	if fills {
		sw.fillBase = true
		sw.fill = sw.fillCache
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime) // also when ctx has ended
		defer cancel()
		err = errors.Join(err, sw.to(end, experiment.Baseline))
	}()
	var left, found, same []float64
	run := func(label string, workload, pair int, to *[]float64) error {
		raised := t.course.workload
		t.course.workload = workload
		defer func() { t.course.workload = raised }()
		scores, err := t.measure(ctx, fmt.Sprintf("%s, pair %d", label, pair), 1)
		if err == nil {
			*to = append(*to, max(scores[0], store.NoScore))
		}
		return err
	}
	one := func(side experiment.Side, pair int) error {
		if err := sw.turn(ctx, side); err != nil {
			return err
		}
		if side == experiment.Candidate {
			return run("as found", sw.candWorkload, pair, &found)
		}
		if err := run("as left", sw.baseWorkload, pair, &left); err != nil || !t.loadChanged() {
			return err
		}
		return run("as left with the load as found", sw.candWorkload, pair, &same)
	}
	for pair := 1; pair <= n; pair++ {
		order := []experiment.Side{experiment.Baseline, experiment.Candidate}
		if pair%2 == 0 {
			slices.Reverse(order)
		}
		for _, side := range order {
			if err := one(side, pair); err != nil {
				return err
			}
		}
	}
	t.session.Compared = comparedByPairs(left, found)
	if len(same) > 0 {
		t.session.Compared.SameLoad = comparedByPairs(same, found)
	}
	t.UI.Info(fmt.Sprintf("as left %s, as found %s %s: %s", score(t.session.Compared.Final), score(t.session.Compared.AsFound), t.session.Unit(), ui.Factor(t.session.Compared.Factor)))
	return nil
}

// comparedByPairs are the geometric means of both sides, and the interval of
// Student's t for the mean of the pairs' log-ratios, from two pairs on.
func comparedByPairs(left, found []float64) *store.Compared {
	c := &store.Compared{By: store.ByPairs, Pairs: len(left), Final: level(left), AsFound: level(found)}
	c.Factor = c.Final / c.AsFound
	ratios := make([]float64, len(left))
	for i := range left {
		ratios[i] = math.Log(left[i] / found[i])
	}
	if test, err := stat.OneSample(ratios); err == nil { // from two on
		c.Low, c.High = math.Exp(test.Lower(endLevel)), math.Exp(test.Upper(endLevel))
	}
	return c
}
