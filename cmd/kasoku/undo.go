package main

import (
	"context"
	"fmt"
	"io"

	"kasoku/internal/ui"
)

// UndoCmd puts kept changes back.
type UndoCmd struct {
	ID        int64 `arg:"" optional:"" help:"The journal's number of a kept change (kasoku history)."`
	All       bool  `help:"Put everything back as it was found."`
	WithLater bool  `help:"Also put back later changes of the same files, newest first."`
}

// Help is shown below the flags.
func (UndoCmd) Help() string {
	return "Every file gets back its bytes, mode, owner and time; variables and indexes their values; services are reloaded or restarted. A file that somebody else changed meanwhile is not overwritten.\n\nExamples:\n  kasoku undo 4\n  kasoku undo 2 --with-later\n  kasoku undo --all"
}

// Run implements the command.
func (c *UndoCmd) Run(ctx context.Context, a *App) error {
	if (c.ID == 0) == !c.All {
		return ui.Coded(ui.Usage, fmt.Errorf("undo: name one kept change, or --all"), "kasoku history lists them")
	}
	p, err := a.write(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	before := p.Exec.Kept()
	if c.All {
		err = p.Exec.UndoAll(ctx)
	} else {
		err = p.Exec.Undo(ctx, c.ID, c.WithLater)
	}
	if err != nil {
		return ui.Coded(ui.Failure, err, "nothing else was touched; kasoku verify shows the state")
	}
	left := map[int64]bool{}
	for _, tx := range p.Exec.Kept() {
		left[tx.ID] = true
	}
	undone := before[:0]
	for _, tx := range before {
		if !left[tx.ID] {
			undone = append(undone, tx)
		}
	}
	return a.print(undone, func(w io.Writer) error {
		for _, tx := range undone {
			fmt.Fprintf(w, "put back #%d %s\n", tx.ID, tx.Title)
		}
		if len(undone) == 0 {
			fmt.Fprintln(w, "nothing is kept, so there is nothing to put back")
		}
		return nil
	})
}
