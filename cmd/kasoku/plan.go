package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// PlanCmd shows what tune would try.
type PlanCmd struct {
	RunID int64 `name:"run" help:"A stored diagnostic run to plan from; default: the latest."`
	New   bool  `help:"Make a measured run first: it puts the load on, and records statements meanwhile."`

	Duration time.Duration `short:"d" help:"Measured window of that run; default: the scenario's."`
	Budget   time.Duration `default:"30m" help:"The budget of the kasoku tune that is foreseen: what does not fit into it does not come first; 0 = until nothing pays."`
}

// Help is shown below the flags.
func (PlanCmd) Help() string {
	return "Prints every plan with its diffs and statements, the one first that `kasoku tune` would try first, and what the regulation forbids. It plans from a stored diagnostic run (kasoku run, kasoku tune) and the configuration as it is now, and only reads.\n\nWith --new it makes such a run first, as `kasoku run` does: with load, with statements recorded and logs given times meanwhile, all of which is journaled and taken away again; it follows single requests, too (half a minute in all on a slow service).\n\nExamples:\n  kasoku plan\n  kasoku plan --new\n  kasoku plan --run 17 --json"
}

// Validate refuses what cannot be meant.
func (c *PlanCmd) Validate() error { return budgetError(c.Budget) }

// Run implements the command.
func (c *PlanCmd) Run(ctx context.Context, a *App) error {
	run, res, ahead, err := c.plan(ctx, a)
	if err != nil {
		return err
	}
	a.UI.Clear()
	warnUnseen(a, run)
	if a.cli.JSON {
		return writeJSON(a.Out, planned(run.Diagnosis, res, ahead))
	}
	return planText(a.Out, run.Diagnosis, res, ahead)
}

// warnUnseen says of which databases the run has seen no statements, so that what is
// missing in the plan is not taken for what needs nothing.
func warnUnseen(a *App, run *store.Run) {
	for _, h := range run.Evidence.Health {
		if h.Sampled > 0 {
			a.UI.Warn(fmt.Sprintf("the statements of %s are known from %d looks at what ran, since most came by connections that are older than their record: shares of time, estimates of the rest", h.OldConnections, h.Sampled),
				"`kasoku tune` restarts what holds such connections and looks again; for a plan restart that yourself, and then `kasoku plan --new`")
			continue
		}
		if h.OldConnections != "" {
			a.UI.Warn(fmt.Sprintf("most statements of %s came by connections that are older than their record, so nothing is planned for them: no index, for instance", h.OldConnections),
				fmt.Sprintf("`kasoku tune` restarts what holds such connections and looks again; for a plan restart that yourself, and then `kasoku plan --new` (`kasoku show %d --all` tells how many were seen)", run.ID))
		}
	}
}

func (c *PlanCmd) plan(ctx context.Context, a *App) (run *store.Run, res remedy.Result, ahead tune.Ahead, err error) {
	if c.New && c.RunID != 0 {
		return nil, res, ahead, ui.Coded(ui.BadInput, errors.New("--new and --run name two different runs"), "leave one of them out")
	}
	if !c.New && c.Duration != 0 {
		return nil, res, ahead, ui.Coded(ui.BadInput, errors.New("-d is how long a new run measures, and none is made"), "kasoku plan --new -d 30s")
	}
	if !c.New {
		run, err = a.diagnosed(c.RunID)
		if err != nil {
			return nil, res, ahead, err
		}
		if run == nil {
			return nil, res, ahead, ui.Coded(ui.BadInput, errors.New("nothing is known of the service yet: no diagnostic run is stored"),
				"`kasoku plan --new` makes one: it puts the load on, and records statements and request times meanwhile")
		}
		a.UI.Info(fmt.Sprintf("planned from run %d of %s; `kasoku plan --new` makes another first", run.ID, run.Started.Local().Format(time.DateTime)))
		res, ahead, err = a.planAhead(ctx, run, c.Budget)
		return run, res, ahead, err
	}
	p, bench, err := a.loadable(ctx)
	if err != nil {
		return nil, res, ahead, err
	}
	defer p.Close()
	a.measureFor(bench, c.Duration)
	rights, err := a.rights(ctx, p)
	if err != nil {
		return nil, res, ahead, err
	}
	var snap *evidence.Snapshot
	run, snap, err = tune.Observe(ctx, p.Exec, bench, bench.Users(), "plan", a.UI)
	if err != nil {
		return nil, res, ahead, p.failed(err)
	}
	in := remedy.Input{Stack: p.Stack, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis, Rights: rights}
	res, ahead, err = a.ahead(p, bench, in, c.Budget)
	return run, res, ahead, err
}

// ahead plans what the findings call for, in the order in which `kasoku tune` would try it
// if it had so much time.
func (a *App) ahead(p *Project, bench *tune.Bench, in remedy.Input, budget time.Duration) (res remedy.Result, ahead tune.Ahead, err error) {
	res = remedy.PlanAll(in)
	t := &tune.Tuner{Stack: p.Stack, Store: p.Store, Exec: p.Exec, Bench: bench, Rule: p.rule(), UI: a.UI, Rights: in.Rights, Options: tune.Options{Budget: budget}}
	if ahead, err = t.Ahead(in, res.Plans); err != nil {
		return res, ahead, err
	}
	res.Plans = ahead.Plans
	return res, ahead, nil
}

// untried is an error while a change is in place that is not decided upon: what would be
// planned from such a configuration is no plan for the service as it is.
func (p *Project) untried() error {
	txs, err := change.Read(p.Dir)
	if err != nil {
		return ui.Coded(ui.Failure, err, "the journal's README.txt tells how to put things back by hand")
	}
	for _, t := range txs {
		if t.Pending() {
			return ui.Coded(ui.Busy, fmt.Errorf("#%d (%s) is in place and not decided upon: a plan would be made from what is only being tried", t.ID, t.Title),
				"wait for the end of the step (kasoku history), or, if no Kasoku is at work any more, `kasoku recover` puts it back")
		}
	}
	return nil
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
	// Expected is the factor of throughput, ≥ 1, that is expected of it; 0: it is refused.
	Expected float64 `json:"expected,omitempty"`
	// Within is the ID of a plan before it that does all of this, too; "": none.
	Within string `json:"within,omitempty"`
}

// refusedStep is a plan that the regulation refuses.
type refusedStep struct {
	Plan plannedStep `json:"plan"`
	Why  string      `json:"why"`
}

// plannedList is what kasoku plan --json prints.
type plannedList struct {
	Binds    string        `json:"binds"` // the bottleneck, in a sentence
	Plans    []plannedStep `json:"plans"` // in the order of the report
	Refusals []refusedStep `json:"refusals"`
	Skipped  []string      `json:"skipped"` // what could not be planned, and why
	// First is the ID of the plan that kasoku tune would try first; "": none, and
	// NothingFirst says why.
	First        string `json:"first"`
	NothingFirst string `json:"nothing_first,omitempty"`
}

// planned is what kasoku plan --json prints.
func planned(d *diagnose.Diagnosis, res remedy.Result, ahead tune.Ahead) plannedList {
	steps := func(p remedy.Plan) plannedStep {
		s := plannedStep{Plan: p, Acts: []plannedAct{}}
		for _, ch := range p.All() {
			s.Acts = append(s.Acts, act(ch))
		}
		return s
	}
	out := plannedList{Binds: d.BindsText, Plans: []plannedStep{}, Refusals: []refusedStep{}, Skipped: res.Skipped, NothingFirst: ahead.Why}
	if ahead.First {
		out.First = ahead.Plans[0].ID
	}
	within := remedy.MadeBy(res.Plans)
	for i, p := range res.Plans {
		s := steps(p)
		s.Expected = ahead.Expected(p)
		if within[i] >= 0 {
			s.Within = res.Plans[within[i]].ID
		}
		out.Plans = append(out.Plans, s)
	}
	for _, r := range res.Refusals {
		out.Refusals = append(out.Refusals, refusedStep{steps(r.Plan), r.Why})
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

func planText(w io.Writer, d *diagnose.Diagnosis, res remedy.Result, ahead tune.Ahead) error {
	fmt.Fprintf(w, "Bottleneck: %s\n\n", d.BindsText)
	if !ahead.First && len(res.Plans) > 0 {
		fmt.Fprintf(w, "`kasoku tune` would try none of these now: %s\n\n", ahead.Why)
	}
	within := remedy.MadeBy(res.Plans)
	for i, p := range res.Plans {
		fmt.Fprintf(w, "%d. %s (expected: about %s, %s)\n   %s\n", i+1, p.Title, ui.Factor(ahead.Expected(p)), ui.Bound(p.Bound), p.Why)
		if within[i] >= 0 {
			fmt.Fprintf(w, "   %d. does all of this, too; it is tried alone if that is not kept.\n\n", within[i]+1)
			continue
		}
		planActs(w, p)
	}
	for _, r := range res.Refusals {
		fmt.Fprintf(w, "refused: %s: %s\n", r.Plan.Title, r.Why)
	}
	for i, s := range res.Skipped {
		if !slices.Contains(res.Skipped[:i], s) { // two findings may call for the same
			fmt.Fprintf(w, "not planned: %s\n", s)
		}
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
