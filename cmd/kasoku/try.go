package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// TryCmd judges somebody's change.
type TryCmd struct {
	Set      []string      `placeholder:"SERVICE.KEY=VALUE" help:"A setting, in the service's own words; may be repeated." sep:"none"`
	Patch    string        `placeholder:"FILE" help:"A unified diff (git apply -p1) against --dir."`
	Branch   string        `placeholder:"REF" help:"A branch or tag that the application's checkout is moved to, with its build and restart."`
	Commit   string        `placeholder:"REV" help:"The same with a commit."`
	Dir      string        `placeholder:"DIR" help:"Folder that the patch applies to and where commands run, or inside the checkout; default: the working folder, for --branch and --commit that of the only application."`
	Host     string        `placeholder:"NAME" help:"Host that --dir is on; default: that of the app whose root holds it, or the only one."`
	Apply    string        `placeholder:"COMMAND" help:"A shell command that puts the candidate in place; needs --undo."`
	Undo     string        `placeholder:"COMMAND" help:"The shell command that takes it away again. Both must be idempotent."`
	Restart  []string      `placeholder:"SERVICE" help:"Services to restart after the change."`
	Reload   []string      `placeholder:"SERVICE" help:"Services to reload after the change."`
	Title    string        `help:"What to call it in history and report."`
	Keep     bool          `help:"Keep it if it improved; default: put it back and only tell."`
	Budget   time.Duration `placeholder:"TIME" help:"Begin no pair of runs after this wall-clock time (10m); what is not sure by then is inconclusive. Default: until the verdict is sure."`
	Duration time.Duration `short:"d" help:"Measured window of each run; default: the scenario's."`
	Web      webFlag       `placeholder:"HOST:PORT" help:"Show it in a browser meanwhile; default address: 127.0.0.1:7399."`
}

// Help is shown below the flags.
func (TryCmd) Help() string {
	return "The verdict is the exit code: 0 improved, 10 no difference, 11 regressed, 12 inconclusive, 13 wrong answers, 14 refused because it touches what judges it; 3 if the service's own check refuses it. With --json the result has the form of docs/reference/json.md.\n\n" +
		"Scenario, regulation, the load's commands and Kasoku's own state are watched while it is tried: what changes them is put back and refused. --branch needs a clean checkout; services[].build of kasoku.yaml says how it is built. A patch of what is built is committed there, built and restarted; other applications are restarted, so that the patch is in force.\n\n" +
		"Examples:\n  kasoku try --set php.pm.max_children=20\n  kasoku try --set web.keepalive_timeout=30s --set db.table_open_cache=4000\n  kasoku try --patch faster.diff --dir app --restart php --keep\n  kasoku try --branch faster-list --json\n  kasoku try --apply 'cp new.so app/' --undo 'cp old.so app/' --restart app --json"
}

// Run implements the command.
func (c *TryCmd) Run(ctx context.Context, a *App) error {
	if err := c.complete(); err != nil {
		return err
	}
	t, p, err := a.tuner(ctx, c.Duration, a.UI)
	if err != nil {
		return err
	}
	defer p.Close()
	publish, endWeb, err := a.startWeb(ctx, p, c.Web)
	if err != nil {
		return err
	}
	defer endWeb()
	t.Watch = both(a.watch(t.Bench), publish)
	step, err := t.Try(ctx, c.proposal())
	if err != nil {
		return p.failed(err)
	}
	a.UI.Clear()
	if err := a.print(report.Trial(step), func(w io.Writer) error { return report.StepText(w, step) }); err != nil {
		return err
	}
	return a.told(step.Verdict)
}

// tuner opens the project as its only writer; who calls it closes p. Each run
// measures for d, 0: as the scenario says.
func (a *App) tuner(ctx context.Context, d time.Duration, tell tune.Reporter) (t *tune.Tuner, p *Project, err error) {
	p, bench, err := a.loadable(ctx)
	if err != nil {
		return nil, nil, err
	}
	rights, err := a.rights(ctx, p)
	if err != nil {
		p.Close()
		return nil, nil, err
	}
	a.measureFor(bench, d)
	return &tune.Tuner{Stack: p.Stack, Store: p.Store, Exec: p.Exec, Bench: bench, Rule: p.rule(), UI: tell, Rights: rights}, p, nil
}

// complete refuses a command line that proposes nothing, or half of something.
func (c *TryCmd) complete() error {
	p := c.proposal()
	if c.Branch != "" && c.Commit != "" {
		return ui.Coded(ui.Usage, errors.New("try: use one of --branch and --commit"), "kasoku try --help")
	}
	return ui.Coded(ui.Usage, p.Incomplete(), "kasoku try --help")
}

func (c *TryCmd) proposal() tune.Proposal {
	return tune.Proposal{Title: c.Title, Set: c.Set, Patch: c.Patch, Rev: c.Branch + c.Commit, Dir: c.Dir, Host: c.Host,
		Apply: c.Apply, Undo: c.Undo, Restart: c.Restart, Reload: c.Reload, Keep: c.Keep, Budget: c.Budget}
}

// told is verdictError after a result that tells the reason already, unless that
// went as JSON to a program.
func (a *App) told(v experiment.Verdict) error {
	err := verdictError(v)
	if err == nil || a.cli.JSON {
		return err
	}
	return ui.Coded(ui.Code(err), errors.New(string(v.Outcome)), ui.Hint(err))
}

// verdictError turns a verdict into the documented exit code.
func verdictError(v experiment.Verdict) error {
	code := report.VerdictCode(v)
	if code == ui.OK {
		return nil
	}
	return ui.Coded(code, fmt.Errorf("%s: %s", v.Outcome, v.Reason), report.NextStep(&store.Step{Verdict: v}))
}
