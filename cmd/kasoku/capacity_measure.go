package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kasoku/internal/capacity"
	"kasoku/internal/change"
	"kasoku/internal/load"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// measureURL drives the ladder on a URL or a scenario, without a stack.
func (c *CapacityCmd) measureURL(ctx context.Context, a *App, goal load.Objective) (*capacity.Measured, error) {
	like := &LoadCmd{Target: c.From, URL: c.URL, Duration: c.Duration, Allow: c.Allow, Engine: "auto", ExpectSize: -1}
	l, err := like.prepare(a)
	if err != nil {
		return nil, err
	}
	if err := like.probe(ctx, l); err != nil {
		return nil, loadError(ctx, err)
	}
	screen := newLoadScreen(a.UI, l.request)
	l.opts.Progress = screen.show
	if l.opts.Warmup == 0 {
		l.opts.Warmup = max(c.Duration/2, 200*time.Millisecond)
	}
	closed := *l.opts.Scenario // users are what is varied
	closed.Arrivals, l.opts.Scenario = nil, &closed
	l.opts.Rows = load.Rows{}
	return c.ladder(ctx, a, goal, func(ctx context.Context, users int) (capacity.Rung, error) {
		screen.reset()
		o := l.opts
		o.Workload = users
		res, err := load.Run(ctx, o)
		if err != nil {
			return capacity.Rung{}, loadError(ctx, err)
		}
		if res.Requests == 0 {
			return capacity.Rung{}, loadVerdict(l, res)
		}
		return capacity.Rung{Level: capacity.LevelOf(res, fmt.Sprintf("%d users", users)), Unfit: generatorLimit(res), Stop: res.Saturated != ""}, nil
	})
}

func generatorLimit(res *load.Result) string {
	if res.Saturated == "" {
		return ""
	}
	return "the load generator was the limit: " + res.Saturated
}

// measureStack drives the ladder on kasoku.yaml's scenario; its runs are stored,
// with what each host spent.
func (c *CapacityCmd) measureStack(ctx context.Context, a *App, goal load.Objective) (*capacity.Measured, error) {
	p, bench, err := a.loadable(ctx)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if bench.Foreign() {
		return nil, ui.Coded(ui.BadInput, errors.New("load.command has its own users, so they cannot be varied"), "run it with several numbers by hand and give a table: kasoku capacity levels.csv")
	}
	bench.Window = c.Duration
	var runs []*store.Run
	m, err := c.ladder(ctx, a, goal, func(ctx context.Context, users int) (capacity.Rung, error) {
		run, err := bench.Run(ctx, tune.RunOptions{Kind: store.Probe, Label: fmt.Sprintf("capacity: %d users", users), Workload: users})
		if err == nil {
			err = bench.Answered(run)
		}
		if err != nil {
			return capacity.Rung{}, p.failed(err)
		}
		runs = append(runs, run)
		res := run.Evidence.Load
		return capacity.Rung{Level: capacity.LevelOf(res, fmt.Sprintf("run %d", run.ID)), Unfit: run.Unfit, Stop: res.Saturated != ""}, nil
	})
	if err != nil {
		return nil, err
	}
	// The same runs with their costs; what the ladder left out stays so.
	costs, err := capacity.FromRuns(runs, p.Stack)
	if err != nil {
		return nil, ui.Coded(ui.Target, err, "stop what else uses the machine, and measure again")
	}
	m.Costs, m.Hosts = costs.Costs, costs.Hosts
	return m, nil
}

// mostStored runs are looked at.
const mostStored = 200

// stored takes the runs that were named, or those since the configuration
// changed last.
func (c *CapacityCmd) stored(a *App) (*capacity.Measured, error) {
	p, err := a.read()
	if err != nil {
		return nil, err
	}
	defer p.Store.Close()
	ids := c.RunIDs
	since := time.Time{}
	if len(ids) == 0 {
		if since, err = lastChange(p.Dir); err != nil {
			return nil, ui.Coded(ui.Failure, err, "name the runs: --run")
		}
		if ids, err = ofThisState(p.Store, since); err != nil {
			return nil, err
		}
	}
	var runs []*store.Run
	for _, id := range ids {
		run, err := p.Store.Run(id)
		if err != nil {
			return nil, ui.Coded(ui.BadInput, err, "kasoku history --runs lists them")
		}
		runs = append(runs, run)
	}
	m, err := capacity.FromRuns(runs, p.Stack)
	if errors.Is(err, capacity.ErrNoRuns) {
		if !since.IsZero() {
			err = fmt.Errorf("%w; only runs since the last change (%s) count", err, since.Local().Format(time.DateTime))
		}
		return nil, ui.Coded(ui.BadInput, err, "kasoku capacity --measure, or kasoku run -c N --score-only with several N")
	}
	return m, err
}

// lastChange is when something was last kept or taken back; zero if never.
func lastChange(dir string) (last time.Time, err error) {
	txs, err := change.Read(dir)
	for _, tx := range txs {
		if (tx.State == change.StateKept || tx.State == change.StateUndone) && tx.Ended.After(last) {
			last = tx.Ended
		}
	}
	return last, err
}

// ofThisState are the runs, newest first, that were made on what is in place:
// not those of experiments, which have two sides, and none before since.
func ofThisState(s *store.Store, since time.Time) ([]int64, error) {
	all, err := s.Runs(store.RunFilter{})
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, r := range all {
		if r.Kind != store.Diagnostic && r.Side == "" && r.Step == 0 && r.Started.After(since) && len(ids) < mostStored {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}
