package main

import (
	"context"
	"io"
	"time"

	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// RunCmd makes one measured run.
type RunCmd struct {
	Workload  int           `short:"c" help:"Virtual users; default: the stack file's or the scenario's."`
	Duration  time.Duration `short:"d" help:"Measured window; default: the scenario's."`
	ScoreOnly bool          `help:"Leave out the second run that records statements."`
	Web       webFlag       `placeholder:"HOST:PORT" help:"Show it in a browser meanwhile; default address: 127.0.0.1:7399."`
	Label     string        `default:"run" help:"What to call it in the history."`
}

// Help is shown below the flags.
func (RunCmd) Help() string {
	return "Makes a scored run, then a diagnostic one whose score is not used: statements, the access log and profiles are recorded, and requests followed one at a time to see what each calls. What that needs on the target is set and taken away through the journal. Everything is stored: kasoku show RUN --all prints it whole.\n\nExamples:\n  kasoku run\n  kasoku run -c 16 -d 10s --label 'after deploy'\n  kasoku run --json > run.json"
}

// Run implements the command.
func (c *RunCmd) Run(ctx context.Context, a *App) error {
	p, bench, err := a.loadable(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	a.measureFor(bench, c.Duration)
	publish, endWeb, err := a.startWeb(ctx, p, c.Web)
	if err != nil {
		return err
	}
	defer endWeb()
	users := bench.Users()
	switch {
	case c.Workload > 0 && bench.Foreign():
		a.UI.Warn("--workload is left out: load.command has its own users", "change its arguments in kasoku.yaml")
	case c.Workload > 0:
		users = c.Workload
	}
	scored, full, err := c.measure(ctx, a, p, bench, users, publish)
	a.UI.Clear()
	if err != nil {
		return p.failed(err)
	}
	return a.print(ranTwice{Scored: scored, Diagnostic: full}, func(w io.Writer) error {
		return report.RunText(w, scored, full, report.Most)
	})
}

// ranTwice is what kasoku run --json prints.
type ranTwice struct {
	Scored     *store.Run `json:"scored"`
	Diagnostic *store.Run `json:"diagnostic"` // null with --score-only
}

// measure makes the scored run, and the diagnostic one if it is wanted.
func (c *RunCmd) measure(ctx context.Context, a *App, p *Project, bench *tune.Bench, users int, publish func(tune.Live)) (scored, full *store.Run, err error) {
	if watch := both(a.watch(bench), publish); watch != nil {
		defer bench.Watch(ctx, watch)()
	}
	if scored, err = bench.Run(ctx, tune.RunOptions{Kind: store.Scored, Label: c.Label, Workload: users}); err != nil {
		return nil, nil, err
	}
	if err := bench.Answered(scored); err != nil || c.ScoreOnly {
		return scored, scored, err
	}
	full, _, err = tune.Observe(ctx, p.Exec, bench, users, c.Label+" (statements recorded)", a.UI)
	return scored, full, err
}
