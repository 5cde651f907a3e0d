package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"kasoku/internal/report"
	"kasoku/internal/tune"
)

// tuneBudget is the default of TuneCmd.Budget, and of PlanCmd.Budget.
const tuneBudget = 30 * time.Minute

// TuneCmd is the loop.
type TuneCmd struct {
	Budget    time.Duration `default:"30m" help:"Wall-clock time for the whole session; 0 = until nothing pays."`
	Duration  time.Duration `short:"d" help:"Measured window of each run; default: the scenario's, and chosen by measurement for experiments."`
	Target    float64       `placeholder:"FACTOR" help:"End as soon as the service is this many times as fast as found, such as 2; default: until nothing pays."`
	New       bool          `help:"Begin a new session even if an interrupted one could go on."`
	NoRestart bool          `help:"Do not restart the services at the end."`
	Web       webFlag       `placeholder:"HOST:PORT" help:"Show the session in a browser meanwhile; default address: 127.0.0.1:7399."`
}

// Help is shown below the flags.
func (TuneCmd) Help() string {
	return "Measures, finds the bottleneck, tries one remedy after another by interleaved runs, keeps what is proved better and puts everything else back. Ctrl-C puts the step under way back; `kasoku tune` then goes on where it stopped.\n\nExamples:\n  kasoku tune\n  kasoku tune --budget 10m -d 3s\n  kasoku tune --target 2\n  kasoku tune --new --json > session.json"
}

// Validate refuses what cannot be meant.
func (c *TuneCmd) Validate() error {
	if c.Target != 0 && !(c.Target > 1) {
		return fmt.Errorf("--target: %g is no factor above 1; give one such as 2 for twice as fast as found", c.Target)
	}
	return budgetError(c.Budget)
}

// Run implements the command.
func (c *TuneCmd) Run(ctx context.Context, a *App) error {
	p, bench, err := a.loadable(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	rights, err := a.rights(ctx, p)
	if err != nil {
		return err
	}
	a.measureFor(bench, c.Duration)
	publish, endWeb, err := a.startWeb(ctx, p, c.Web)
	if err != nil {
		return err
	}
	defer endWeb()
	t := &tune.Tuner{Stack: p.Stack, Store: p.Store, Exec: p.Exec, Bench: bench, Rule: p.rule(), UI: a.UI,
		Options: tune.Options{Budget: c.Budget, Target: c.Target, Fresh: c.New, NoRestart: c.NoRestart}, Rights: rights, Watch: both(a.watch(bench), publish)}
	session, err := t.Run(ctx)
	noisy := errors.Is(err, tune.ErrNoisy)
	if err != nil && !noisy {
		return p.failed(err)
	}
	a.UI.Clear()
	m, err := report.Build(ctx, p.Store, session.ID, report.Options{Rule: p.rule(), Version: Version})
	if err != nil {
		return err
	}
	locate(ctx, m, p.Stack)
	if err := a.print(m, func(w io.Writer) error { return report.SessionText(w, m) }); err != nil {
		return err
	}
	if noisy { // told after what the session came to
		return p.failed(err)
	}
	return regulationError(session.Checks)
}
