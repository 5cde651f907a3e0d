package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// DiagnoseCmd prints findings.
type DiagnoseCmd struct {
	ID       int64         `arg:"" optional:"" name:"id" help:"The number of a stored diagnostic run; default: the latest, and a new one if there is none."`
	RunID    int64         `name:"run" placeholder:"ID" help:"The same."`
	New      bool          `help:"Measure anew."`
	Duration time.Duration `short:"d" help:"Measured window of a new run; default: the scenario's."`
}

// Help is shown below the flags.
func (DiagnoseCmd) Help() string {
	return "Ranks what was found by the most that removing it could bring, with the formula and its numbers.\n\nExamples:\n  kasoku diagnose\n  kasoku diagnose 17\n  kasoku diagnose --new -d 30s --json"
}

// Run implements the command.
func (c *DiagnoseCmd) Run(ctx context.Context, a *App) error {
	run, err := c.find(ctx, a)
	if err != nil {
		return err
	}
	a.UI.Clear()
	return a.print(run.Diagnosis, func(w io.Writer) error { return report.DiagnosisText(w, run) })
}

func (c *DiagnoseCmd) find(ctx context.Context, a *App) (*store.Run, error) {
	if c.ID != 0 && c.RunID != 0 && c.ID != c.RunID {
		return nil, ui.Coded(ui.BadInput, fmt.Errorf("diagnose: %d and --run %d name two different runs", c.ID, c.RunID), "leave one of them out")
	}
	if !c.New {
		if run, err := a.diagnosed(cmp.Or(c.ID, c.RunID)); run != nil || err != nil {
			return run, err
		}
	}
	p, bench, err := a.loadable(ctx)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	a.measureFor(bench, c.Duration)
	run, _, err := tune.Observe(ctx, p.Exec, bench, bench.Users(), "diagnose", a.UI)
	return run, p.failed(err)
}

// diagnosed is a stored diagnostic run, the latest one for 0; nil if there is none.
func (a *App) diagnosed(id int64) (*store.Run, error) {
	p, err := a.read()
	if err != nil {
		return nil, err
	}
	defer p.Store.Close()
	if id == 0 {
		runs, err := p.Store.Runs(store.RunFilter{Kind: store.Diagnostic, Limit: 1})
		if err != nil || len(runs) == 0 {
			return nil, err
		}
		id = runs[0].ID
	}
	run, err := p.Store.Run(id)
	if err != nil {
		return nil, ui.Coded(ui.BadInput, err, "kasoku history --runs lists them")
	}
	if run.Diagnosis == nil {
		return nil, ui.Coded(ui.BadInput, fmt.Errorf("run %d is a scored run without a diagnosis", id), "name a diagnostic run (kasoku history --runs) or use --new")
	}
	return run, nil
}
