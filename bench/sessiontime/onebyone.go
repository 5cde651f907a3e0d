package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/remedy"
	"kasoku/internal/stat"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// oneByOne tries plans as one does without a sequential rule: each alone, with
// as many runs of either side, all of the same length. It is given what is good
// for it: the same diagnosis, the plans of the tuned copy alone, the best
// promise first, and the number that a search found.
type oneByOne struct {
	bench           *tune.Bench
	exec            *change.Executor
	window          time.Duration
	limit           time.Duration
	runs            int
	goal            float64  // score
	need            []string // plans of which all together are the goal, too
	users           int
	tried, measured int
	reached         time.Duration
	there           bool
}

// all tries every plan until the goal is reached, the time is over or no plan is left.
func (o *oneByOne) all(ctx context.Context, plans []wanted) error {
	begun := time.Now()
	o.users = o.bench.Users()
	want := map[string]int{}
	for _, w := range plans {
		want[w.id] = w.chosen
	}
	done, stay, fresh, in := map[string]bool{}, map[string]bool{}, true, remedy.Input{Stack: o.bench.Stack}
	for {
		if fresh {
			run, snap, err := tune.Observe(ctx, o.exec, o.bench, o.users, "one by one", silent{})
			if err != nil {
				return err
			}
			in.Evidence, in.Snapshot, in.Diagnosis = run.Evidence, snap, run.Diagnosis
		}
		o.reached = time.Since(begun)
		plan := next(remedy.PlanAll(in).Plans, want, done)
		if plan == nil || o.limit > 0 && o.reached > o.limit {
			return nil
		}
		done[family(plan.ID)] = true
		score, kept, err := o.try(ctx, *plan, want)
		if err != nil {
			return fmt.Errorf("%s: %w", plan.ID, err)
		}
		fresh, stay[family(plan.ID)] = kept, kept
		o.reached = time.Since(begun)
		if kept && (score >= o.goal || all(o.need, stay)) {
			o.there = true
			return nil
		}
	}
}

// all says whether each of the plans stays; of none it is not known.
func all(plans []string, stay map[string]bool) bool {
	for _, id := range plans {
		if !stay[family(id)] {
			return false
		}
	}
	return len(plans) > 0
}

// family names a search whatever number it begins from.
func family(id string) string {
	parts := strings.SplitN(id, ":", 3)
	if len(parts) == 3 {
		return parts[0] + ":" + parts[1]
	}
	return id
}

// next is the best of plans that are wanted and were not tried.
func next(plans []remedy.Plan, want map[string]int, done map[string]bool) *remedy.Plan {
	for _, p := range plans { // best promise first
		if done[family(p.ID)] {
			continue
		}
		for id := range want {
			if family(id) == family(p.ID) {
				return &p
			}
		}
	}
	return nil
}

// try compares one plan with what is in place and keeps it if it is faster by
// more than 1 %, by the means alone.
func (o *oneByOne) try(ctx context.Context, plan remedy.Plan, want map[string]int) (score float64, kept bool, err error) {
	users := o.users
	chosen := 0
	for id, n := range want {
		if family(id) == family(plan.ID) {
			chosen = n
		}
	}
	switch {
	case plan.Workload > 0 && chosen > 0:
		users = chosen
	case plan.Search != nil:
		if chosen == 0 { // the session found none that was better: any will do
			chosen = plan.Search.Values[0]
		}
		if plan.Changes, err = plan.Search.At(chosen); err != nil {
			return 0, false, err
		}
	}
	o.tried++
	base, err := o.side(ctx, plan.Title+": as it is", o.users)
	if err != nil {
		return 0, false, err
	}
	tx, err := o.put(ctx, plan)
	if err != nil {
		fmt.Printf("%2d. %s: it does not come up: %v\n", o.tried, plan.Title, err)
		return 0, false, nil
	}
	cand, err := o.side(ctx, plan.Title, users)
	kept = err == nil && cand > 1.01*base
	if tx != 0 {
		if kept {
			err = o.exec.Keep(ctx, tx)
		} else {
			err = errors.Join(err, o.exec.Revert(context.WithoutCancel(ctx), tx))
		}
	}
	if kept {
		o.users = users
	}
	fmt.Printf("%2d. %s: %.1f → %.1f points/s, kept %v\n", o.tried, plan.Title, base, cand, kept)
	return cand, kept, err
}

// put puts a plan in force; 0 if it changes the load alone.
func (o *oneByOne) put(ctx context.Context, plan remedy.Plan) (int64, error) {
	if len(plan.Changes) == 0 {
		return 0, nil
	}
	tx, err := o.exec.Apply(ctx, change.Intent{Title: plan.Title, Plan: plan.ID, Changes: plan.Changes})
	return tx.ID, err
}

// side is the mean score of all runs of one side; wrong answers score nothing.
func (o *oneByOne) side(ctx context.Context, label string, users int) (float64, error) {
	var scores []float64
	for range o.runs {
		r, err := o.bench.Run(ctx, tune.RunOptions{Kind: store.Scored, Label: label, Workload: users})
		if err != nil {
			return 0, err
		}
		o.measured++
		if r.Evidence.Load.Mismatches > 0 {
			return 0, nil
		}
		scores = append(scores, max(r.Score, 1e-6))
	}
	return stat.GeoMean(scores), nil
}

// silent is told nothing that belongs into the table.
type silent struct{}

func (silent) Step(string)         {}
func (silent) Info(string)         {}
func (silent) Warn(string, string) {}
