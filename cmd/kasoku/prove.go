package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kasoku/internal/prove"
	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// ProveCmd makes the regulation checks.
type ProveCmd struct {
	Only     []string      `help:"Make only these checks: equality, staleness, durability, reboot." placeholder:"CHECK"`
	Record   bool          `help:"Record what the service answers now, for later comparisons, instead of checking."`
	Duration time.Duration `short:"d" help:"Measured window of the runs before and after a reboot; default: the scenario's."`
}

// Help is shown below the flags.
func (ProveCmd) Help() string {
	return "Checks on the service as it is now what the regulation promises; `kasoku tune` does the same at its end:\n\n" +
		"equality: answers under load are those recorded as found (by `kasoku tune`, or with --record); staleness: after a write every reader sees it within the time allowed; durability: acknowledged writes outlive SIGKILL of the database; reboot: all hosts restarted, everything comes back by itself, with at least 0.95 of the score.\n\n" +
		"Nothing is killed or rebooted that checks.kill and checks.reboot in kasoku.yaml do not name. docs/reference/checks.md tells how to describe a write and its readers.\n\nEnds with 15 if a check failed.\n\nExamples:\n  kasoku prove\n  kasoku prove --only staleness,equality\n  kasoku prove --record"
}

// checkNames in the order in which they are made.
var checkNames = []string{prove.Equality, prove.Staleness, prove.Durability, prove.Restart}

// proof is what --json prints.
type proof struct {
	Checks []prove.Result `json:"checks"`
}

// Run implements the command.
func (c *ProveCmd) Run(ctx context.Context, a *App) error {
	for _, name := range c.Only {
		if !slices.Contains(checkNames, name) {
			return ui.Coded(ui.Usage, fmt.Errorf("--only %s: there is no such check", name), "checks are "+strings.Join(checkNames, ", "))
		}
	}
	p, bench, err := a.loadable(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	a.measureFor(bench, c.Duration)
	prover := tune.NewProver(bench, a.UI)
	prover.Only, prover.Exec = c.Only, p.Exec
	if c.Record {
		return p.failed(c.record(ctx, a, bench, prover))
	}
	if len(p.Stack.Checks.Reboot) > 0 && (len(c.Only) == 0 || slices.Contains(c.Only, prove.Restart)) {
		a.UI.Step("Measure before the reboot")
		if prover.Before, err = prover.Score(ctx, "before a reboot"); err != nil {
			return p.failed(err)
		}
	}
	results, err := prover.Run(ctx)
	if err != nil {
		return p.failed(err)
	}
	a.UI.Clear()
	if err := a.print(proof{results}, func(w io.Writer) error { return report.ChecksText(w, results) }); err != nil {
		return err
	}
	return regulationError(results)
}

// record keeps what is answered now with a run of its own.
func (c *ProveCmd) record(ctx context.Context, a *App, bench *tune.Bench, p *tune.Prover) error {
	run, err := bench.Run(ctx, tune.RunOptions{Kind: store.Scored, Label: "answers recorded", Workload: p.Workload})
	if err != nil {
		return err
	}
	if err := bench.Answered(run); err != nil {
		return err
	}
	why, err := p.Record(ctx, run.ID)
	if err != nil {
		return err
	}
	if why != "" {
		return ui.Coded(ui.BadInput, fmt.Errorf("answers cannot be recorded: %s", why), "")
	}
	a.UI.Info(fmt.Sprintf("recorded with run %d; `kasoku prove` compares with it", run.ID))
	return nil
}

// regulationError is nil if no check failed.
func regulationError(all []prove.Result) error {
	broken := prove.Broken(all)
	if len(broken) == 0 {
		return nil
	}
	return ui.Coded(ui.Broken, fmt.Errorf("the regulation does not hold: %s failed", strings.Join(broken, ", ")),
		"what was seen is told above; `kasoku history` lists kept changes, `kasoku undo` puts them back")
}
