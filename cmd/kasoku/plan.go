package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// PlanCmd shows what tune would try.
type PlanCmd struct{}

// Help is shown below the flags.
func (PlanCmd) Help() string {
	return "Makes a measured run, with load as in `kasoku run`, follows single requests (half a minute in all on a slow service), and prints every plan with its diffs and statements, best promise first, and what the regulation forbids. Besides the statement log of that run nothing is changed.\n\nExamples:\n  kasoku plan\n  kasoku plan --json"
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
		return p.failed(err)
	}
	in := remedy.Input{Stack: p.Stack, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis, Rights: rights}
	res := remedy.PlanAll(in)
	res.Plans = remedy.Together(in, res.Plans)
	a.UI.Clear()
	if a.cli.JSON {
		return writeJSON(a.Out, planned(run.Diagnosis, res))
	}
	return planText(a.Out, run.Diagnosis, res)
}

// plannedAct is one change as people read it.
type plannedAct struct {
	Title   string `json:"title"`
	Diff    string `json:"diff"`              // of a file, or the statement or command, with what undoes it
	Command string `json:"command,omitempty"` // what a person would type
	Then    string `json:"then,omitempty"`    // "reload web"
}

// plannedStep is one plan with its changes as people read them.
type plannedStep struct {
	remedy.Plan
	Acts []plannedAct `json:"acts"`
}

// planned is what kasoku plan --json prints.
func planned(d *diagnose.Diagnosis, res remedy.Result) any {
	steps := func(p remedy.Plan) plannedStep {
		s := plannedStep{Plan: p, Acts: []plannedAct{}}
		for _, ch := range p.All() {
			s.Acts = append(s.Acts, act(ch))
		}
		return s
	}
	type refused struct {
		Plan plannedStep `json:"plan"`
		Why  string      `json:"why"`
	}
	out := struct {
		Binds    string        `json:"binds"`
		Plans    []plannedStep `json:"plans"`
		Refusals []refused     `json:"refusals"`
		Skipped  []string      `json:"skipped"`
	}{d.BindsText, []plannedStep{}, []refused{}, res.Skipped}
	for _, p := range res.Plans {
		out.Plans = append(out.Plans, steps(p))
	}
	for _, r := range res.Refusals {
		out.Refusals = append(out.Refusals, refused{steps(r.Plan), r.Why})
	}
	return out
}

func act(ch change.Change) plannedAct {
	a := plannedAct{Title: change.Redact(ch.Title()), Diff: change.Diff(ch), Command: change.Redact(ch.Command)}
	if ch.Service != "" && ch.Activate != change.None {
		a.Then = ch.Activate.String() + " " + ch.Service
	}
	return a
}

func planText(w io.Writer, d *diagnose.Diagnosis, res remedy.Result) error {
	fmt.Fprintf(w, "Binds: %s\n\n", d.BindsText)
	for i, p := range res.Plans {
		fmt.Fprintf(w, "%d. %s (%s)\n   %s\n", i+1, p.Title, ui.Bound(p.Bound), p.Why)
		planActs(w, p)
	}
	for _, r := range res.Refusals {
		fmt.Fprintf(w, "refused: %s: %s\n", r.Plan.Title, r.Why)
	}
	for _, s := range res.Skipped {
		fmt.Fprintf(w, "not planned: %s\n", s)
	}
	return nil
}

// planActs prints what a plan would do, in order: what is changed, then what
// takes it on.
func planActs(w io.Writer, p remedy.Plan) {
	var then []string
	for _, ch := range p.All() {
		x := act(ch)
		fmt.Fprintf(w, "%s\n", x.Diff)
		if x.Command != "" && !strings.Contains(x.Diff, strings.TrimSuffix(x.Command, ";")) { // of an index it is the same
			fmt.Fprintf(w, "by hand: %s\n", x.Command)
		}
		if x.Then != "" && !slices.Contains(then, x.Then) {
			then = append(then, x.Then)
		}
	}
	if p.Workload != 0 {
		fmt.Fprintf(w, "the load with %d virtual users\n", p.Workload)
	}
	if s := p.Search; s != nil {
		fmt.Fprintf(w, "a search for the best %s, now %d, among %v\n", s.Name, s.Current, s.Values)
	}
	if len(then) > 0 {
		fmt.Fprintf(w, "then: %s\n", strings.Join(then, ", "))
	}
	fmt.Fprintln(w)
}
