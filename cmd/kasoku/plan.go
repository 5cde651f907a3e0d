package main

import (
	"context"
	"fmt"
	"io"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy"
	"kasoku/internal/tune"
)

// PlanCmd shows what tune would try.
type PlanCmd struct{}

// Help is shown below the flags.
func (PlanCmd) Help() string {
	return "Makes a diagnostic run and prints every plan with its diffs and statements, best promise first, and what the regulation forbids. Besides the statement log of that run nothing is changed.\n\nExamples:\n  kasoku plan\n  kasoku plan --json"
}

// Run implements the command.
func (c *PlanCmd) Run(ctx context.Context, a *App) error {
	p, bench, err := a.loadable(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	rights, err := a.rights(ctx, p)
	if err != nil {
		return err
	}
	run, snap, err := tune.Observe(ctx, p.Exec, bench, bench.Users(), "plan", a.UI)
	if err != nil {
		return targetError(err)
	}
	in := remedy.Input{Stack: p.Stack, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis, Rights: rights}
	res := remedy.PlanAll(in)
	res.Plans = remedy.Together(in, res.Plans)
	a.UI.Clear()
	return a.print(res, func(w io.Writer) error { return planText(w, run.Diagnosis, res) })
}

func planText(w io.Writer, d *diagnose.Diagnosis, res remedy.Result) error {
	fmt.Fprintf(w, "Binds: %s\n\n", d.BindsText)
	for i, p := range res.Plans {
		fmt.Fprintf(w, "%d. %s (at most ×%.3g)\n   %s\n", i+1, p.Title, p.Bound, p.Why)
		for _, ch := range p.Changes {
			fmt.Fprintf(w, "%s\n", change.Diff(ch))
		}
	}
	for _, r := range res.Refusals {
		fmt.Fprintf(w, "refused: %s: %s\n", r.Plan.Title, r.Why)
	}
	for _, s := range res.Skipped {
		fmt.Fprintf(w, "not planned: %s\n", s)
	}
	return nil
}
