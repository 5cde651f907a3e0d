package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"kasoku/internal/load"
	"kasoku/internal/ui"
)

// ScenarioRecordCmd writes golden answers.
type ScenarioRecordCmd struct {
	File  string   `arg:"" help:"scenario.yaml"`
	URL   string   `arg:"" help:"The service whose answers are right, for example http://127.0.0.1:8080."`
	Force bool     `help:"Replace answers that are recorded already."`
	Allow []string `help:"Address or network (CIDR) besides this machine's own that requests may go to." placeholder:"CIDR"`
}

// Help is shown below the flags.
func (ScenarioRecordCmd) Help() string {
	return "Does the setup and each session once and writes the answers of the steps that have golden: FILE in their expect. Look at them before you trust them: from then on they are what is right.\n\nExample:\n  kasoku scenario record scenario.yaml http://127.0.0.1:8080"
}

// recordedAnswers is the result of record as --json prints it.
type recordedAnswers struct {
	Written []string `json:"written"` // files
	Kept    []string `json:"kept"`    // files that were there already
}

// Run implements the command.
func (c *ScenarioRecordCmd) Run(ctx context.Context, a *App) error {
	s, err := load.LoadForRecording(c.File)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "docs/reference/scenario.md lists every key")
	}
	files, err := load.Record(ctx, load.Options{Scenario: s, URL: c.URL, Allow: c.Allow})
	if err != nil {
		return targetError(err)
	}
	var written, kept []string
	for _, f := range files {
		if _, err := os.Stat(f.Path); !c.Force && !errors.Is(err, fs.ErrNotExist) {
			kept = append(kept, f.Path)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return fmt.Errorf("write golden answer: %w", err)
		}
		if err := os.WriteFile(f.Path, f.Body, 0o644); err != nil {
			return fmt.Errorf("write golden answer: %w", err)
		}
		written = append(written, f.Path)
	}
	return a.print(recordedAnswers{written, kept}, func(w io.Writer) error {
		for _, p := range written {
			fmt.Fprintf(w, "recorded %s\n", p)
		}
		for _, p := range kept {
			fmt.Fprintf(w, "kept     %s (--force replaces it)\n", p)
		}
		return nil
	})
}
