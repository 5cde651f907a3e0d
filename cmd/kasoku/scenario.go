package main

import (
	"context"
	"fmt"
	"io"

	"kasoku/internal/load"
	"kasoku/internal/ui"
)

// ScenarioCmd groups work on scenario files.
type ScenarioCmd struct {
	Check ScenarioCheckCmd `cmd:"" help:"Check a scenario file."`
}

// ScenarioCheckCmd validates one file.
type ScenarioCheckCmd struct {
	File string `arg:"" help:"scenario.yaml"`
}

// Help is shown below the flags.
func (ScenarioCheckCmd) Help() string {
	return "Ends with 3 and names the line if something is wrong. docs/scenario.md lists every key.\n\nExample:\n  kasoku scenario check scenario.yaml"
}

// Run implements the command.
func (c *ScenarioCheckCmd) Run(_ context.Context, a *App) error {
	s, err := load.LoadScenario(c.File)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "docs/scenario.md lists every key")
	}
	return a.print(map[string]any{"ok": true, "name": s.Name, "workload": s.Workload}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: scenario %s is right (%d users, %s)\n", c.File, s.Name, s.Workload, s.Duration)
		return err
	})
}

// VersionCmd prints the version.
type VersionCmd struct{}

// Run implements the command.
func (VersionCmd) Run(a *App) error {
	_, err := fmt.Fprintln(a.Out, Version)
	return err
}
