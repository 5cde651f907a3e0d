package main

import (
	"context"
	"fmt"
	"io"

	"kasoku/internal/report"
	"kasoku/internal/ui"
)

// ExportCmd writes kept changes for use elsewhere.
type ExportCmd struct {
	Dir   string `arg:"" help:"Folder to write to; it must be new or empty."`
	Force bool   `help:"Write into a folder that holds something."`
}

// Help is shown below the flags.
func (ExportCmd) Help() string {
	return "Writes the final configuration files, the SQL, the commands in order, and a README.\n\nExample:\n  kasoku export ./tuned"
}

// Run implements the command.
func (c *ExportCmd) Run(ctx context.Context, a *App) error {
	p, err := a.write(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	kept := p.Exec.Kept()
	if len(kept) == 0 {
		return ui.Coded(ui.BadInput, fmt.Errorf("nothing is kept, so there is nothing to export"), "kasoku tune")
	}
	files, err := report.Export(c.Dir, kept, p.Exec, c.Force)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "name a new folder, or use --force")
	}
	return a.print(files, func(w io.Writer) error {
		for _, f := range files {
			fmt.Fprintln(w, f)
		}
		return nil
	})
}
