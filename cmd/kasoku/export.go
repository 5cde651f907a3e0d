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
	Dir    string `arg:"" help:"Folder to write to; it must be new or empty."`
	Format string `enum:"all,files,ansible,shell,sql" default:"all" placeholder:"FORMAT" help:"files (with diffs), ansible (a playbook), shell (scripts), sql, or all (default)."`
	Force  bool   `help:"Write into a folder that holds something."`
}

// Help is shown below the flags.
func (ExportCmd) Help() string {
	return "Writes the final configuration files with their diffs, the SQL, a script and an Ansible playbook that put them in place, and a README. The script looks at every file's hash before it overwrites any, and can be run again.\n\nExamples:\n  kasoku export ./tuned\n  kasoku export --format ansible ./playbook"
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
	files, err := report.Export(c.Dir, kept, p.Exec, report.ExportOptions{Format: c.Format, Force: c.Force, Stack: p.Stack})
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
