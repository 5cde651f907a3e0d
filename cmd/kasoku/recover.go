package main

import (
	"context"
	"fmt"
	"io"

	"kasoku/internal/ui"
)

// RecoverCmd finishes what an interrupted Kasoku left.
type RecoverCmd struct {
	Abandon int64 `placeholder:"ID" help:"Give up an unfinished journal entry that cannot be put back because somebody else changed the same file; what is there stays."`
}

// Help is shown below the flags.
func (RecoverCmd) Help() string {
	return "Every command that changes something does this first; this one does nothing else. A file that somebody else changed meanwhile is never overwritten: look at it, then abandon the entry.\n\nExamples:\n  kasoku recover\n  kasoku recover --abandon 12"
}

// Run implements the command.
func (c *RecoverCmd) Run(ctx context.Context, a *App) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	if p.Exec, err = p.executor(ctx, a.UI); err != nil {
		p.Store.Close()
		return err
	}
	defer p.Close()
	if c.Abandon != 0 {
		if err := p.Exec.Abandon(ctx, c.Abandon); err != nil {
			return ui.Coded(ui.BadInput, err, "kasoku verify lists unfinished entries")
		}
		a.UI.Info(fmt.Sprintf("#%d is given up; the target stays as it is", c.Abandon))
	}
	txs, err := p.Exec.Recover(ctx)
	if err != nil {
		return ui.Coded(ui.NeedsRecovery, err, "`kasoku verify` shows what differs; .kasoku/journal/README.txt tells how to put it back by hand")
	}
	return a.print(txs, func(w io.Writer) error {
		for _, tx := range txs {
			fmt.Fprintf(w, "put back #%d %s\n", tx.ID, tx.Title)
		}
		if len(txs) == 0 {
			fmt.Fprintln(w, "nothing to recover: every change is kept or put back")
		}
		return nil
	})
}

// VerifyCmd compares target and journal.
type VerifyCmd struct{}

// Help is shown below the flags.
func (VerifyCmd) Help() string {
	return "Compares every kept file, variable and index with the target. Ends with 6 if something differs.\n\nExample:\n  kasoku verify"
}

// Run implements the command.
func (c *VerifyCmd) Run(ctx context.Context, a *App) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	if p.Exec, err = p.executor(ctx, a.UI); err != nil {
		p.Store.Close()
		return err
	}
	defer p.Close()
	drifts, err := p.Exec.Verify(ctx)
	if err != nil {
		return err
	}
	pending := p.Exec.Pending()
	err = a.print(map[string]any{"pending": pending, "drift": drifts}, func(w io.Writer) error {
		for _, tx := range pending {
			fmt.Fprintf(w, "#%d %s is unfinished: kasoku recover\n", tx.ID, tx.Title)
		}
		for _, d := range drifts {
			fmt.Fprintln(w, d)
		}
		if len(pending)+len(drifts) == 0 {
			fmt.Fprintf(w, "the target matches the journal: %d kept changes in force\n", len(p.Exec.Kept()))
		}
		return nil
	})
	if err == nil && len(pending)+len(drifts) > 0 {
		return ui.Coded(ui.NeedsRecovery, fmt.Errorf("%d unfinished, %d different", len(pending), len(drifts)), "")
	}
	return err
}
