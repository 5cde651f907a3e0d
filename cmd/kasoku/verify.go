package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"kasoku/internal/change"
	"kasoku/internal/ui"
)

// VerifyCmd compares hosts and journal.
type VerifyCmd struct{}

// Help is shown below the flags.
func (VerifyCmd) Help() string {
	return "Compares everything that is kept with the hosts. For each difference it tells what the journal says, what is there, when and by whom as far as that leaves a trace, and how files differ; what is found is saved in the journal's folder.\n\nEnds with 0 if all is as the journal says, 1 if something differs, 4 if a host could not be looked at, 6 if a change is unfinished.\n\nExamples:\n  kasoku verify\n  kasoku verify --json"
}

// verification is what --json prints.
type verification struct {
	Kept    int            `json:"kept"`
	Pending []change.Tx    `json:"pending"`
	Drift   []change.Drift `json:"drift"`
	// NotSeen is why some things could not be looked at; "" if all could.
	NotSeen string `json:"not_seen,omitempty"`
}

// Run implements the command.
func (c *VerifyCmd) Run(ctx context.Context, a *App) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	defer p.Close()
	p.connectSome(ctx, a.UI)
	if p.Exec, err = p.executor(ctx, a.UI); err != nil {
		return err
	}
	drifts, unseen := p.Exec.Verify(ctx)
	for name, err := range p.Unreachable {
		unseen = errors.Join(unseen, fmt.Errorf("host %s was not looked at: %w", name, err))
	}
	v := verification{Kept: len(p.Exec.Kept()), Pending: p.Exec.Pending(), Drift: drifts}
	if unseen != nil {
		v.NotSeen = unseen.Error()
	}
	if err := a.print(v, v.text); err != nil {
		return err
	}
	switch {
	case len(v.Pending) > 0:
		return ui.Coded(ui.NeedsRecovery, fmt.Errorf("%d unfinished, %d different", len(v.Pending), len(drifts)), "kasoku recover --dry-run tells what would be put back")
	case unseen != nil && len(drifts) == 0:
		return ui.Coded(ui.Target, unseen, "the rest is as the journal says")
	case len(drifts) > 0:
		return ui.Coded(ui.Failure, errors.Join(fmt.Errorf("%d different", len(drifts)), unseen), "put it right by hand, or undo the change: kasoku undo TX")
	}
	return nil
}

func (v verification) text(w io.Writer) error {
	for _, tx := range v.Pending {
		fmt.Fprintf(w, "#%d %s is unfinished: kasoku recover\n", tx.ID, tx.Title)
	}
	for _, d := range v.Drift {
		fmt.Fprintln(w, d)
	}
	if len(v.Pending)+len(v.Drift) == 0 && v.NotSeen == "" {
		fmt.Fprintf(w, "the target matches the journal: %s in force\n", counted(v.Kept, "kept change"))
	}
	return nil
}

// counted is a number with what it counts: "1 kept change", "2 kept changes".
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
