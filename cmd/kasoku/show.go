package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// ShowCmd prints one thing.
type ShowCmd struct {
	What     string `arg:"" help:"A run (17 or run/17), a step (step/3) or a journal entry (tx/5 or '#5')."`
	All      bool   `help:"Every row and whole texts; default: the first 10 of each table."`
	Artifact string `help:"Write this file of a run, such as a profile, to standard output; '?' lists them." placeholder:"NAME"`
}

// Help is shown below the flags.
func (ShowCmd) Help() string {
	return "Examples:\n  kasoku show 17\n  kasoku show 17 --all\n  kasoku show step/3\n  kasoku show tx/5 --json\n  kasoku show 17 --artifact '?'\n  kasoku show 17 --artifact profile-php-excimer.pb.gz > php.pb.gz; go tool pprof php.pb.gz"
}

// Run implements the command.
func (c *ShowCmd) Run(ctx context.Context, a *App) error {
	kind, num, found := strings.Cut(c.What, "/")
	switch {
	case found:
	case strings.HasPrefix(c.What, "#"): // as history and undo write entries of the journal
		kind, num = "tx", c.What[1:]
	default:
		kind, num = "run", c.What
	}
	id, err := strconv.ParseInt(num, 10, 64)
	if err != nil {
		return ui.Coded(ui.Usage, fmt.Errorf("%q is not a number", num), "kasoku show run/17, step/3 or tx/5")
	}
	p, err := a.read()
	if err != nil {
		return err
	}
	defer p.Store.Close()
	if c.Artifact != "" {
		return c.artifact(a, p, kind, id)
	}
	switch kind {
	case "run":
		run, err := p.Store.Run(id)
		if err != nil {
			return ui.Coded(ui.BadInput, err, "kasoku history --runs lists them")
		}
		if run.Evidence == nil || run.Evidence.Load == nil {
			return ui.Coded(ui.BadInput, fmt.Errorf("run %d holds no evidence", id), "kasoku history --runs lists those that do")
		}
		limit := report.Most
		if c.All {
			limit = report.All
		}
		return a.print(run, func(w io.Writer) error { return report.RunText(w, run, run, limit) })
	case "step":
		st, err := p.Store.Step(id)
		if err != nil {
			return ui.Coded(ui.BadInput, err, "kasoku history lists them")
		}
		return a.print(st, func(w io.Writer) error { return report.StepText(w, st) })
	case "tx":
		return c.tx(a, p, id)
	}
	return ui.Coded(ui.Usage, fmt.Errorf("%q: there are run/N, step/N and tx/N", c.What), "")
}

// artifact writes one file of a run, or lists what there is.
func (c *ShowCmd) artifact(a *App, p *Project, kind string, id int64) error {
	if kind != "run" {
		return ui.Coded(ui.Usage, fmt.Errorf("only runs have artifacts, not %s", kind), "kasoku show RUN --artifact NAME")
	}
	if c.Artifact != "?" {
		data, err := p.Store.Artifact(id, c.Artifact)
		if err != nil {
			return ui.Coded(ui.BadInput, err, fmt.Sprintf("kasoku show %d --artifact '?' lists them", id))
		}
		_, err = a.Out.Write(data)
		return err
	}
	all, err := p.Store.Artifacts(id)
	if err != nil {
		return err
	}
	return a.print(all, func(w io.Writer) error {
		for _, x := range all {
			fmt.Fprintf(w, "%s\t%d bytes\n", x.Name, x.Bytes)
		}
		return nil
	})
}

func (c *ShowCmd) tx(a *App, p *Project, id int64) error {
	txs, err := change.Read(p.Dir)
	if err != nil {
		return err
	}
	for _, tx := range txs {
		if tx.ID != id {
			continue
		}
		if tx, err = change.Load(p.Dir, tx); err != nil {
			return err
		}
		step, err := p.Store.StepOfTx(id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return a.print(tx, func(w io.Writer) error {
			fmt.Fprintf(w, "#%d %s: %s\n", tx.ID, tx.Title, tx.State)
			if step != nil {
				fmt.Fprintf(w, "step/%d: %s\n", step.ID, report.Effect(step.Verdict))
				for _, text := range report.Shifts(step.Verdict) {
					fmt.Fprintf(w, "also changed: %s\n", text)
				}
			}
			for _, ch := range tx.Changes {
				fmt.Fprintln(w, change.Diff(ch))
			}
			return nil
		})
	}
	return ui.Coded(ui.BadInput, fmt.Errorf("no journal entry %d", id), "kasoku history lists them")
}
