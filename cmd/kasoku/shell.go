package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"kasoku/internal/completion"
	"kasoku/internal/manual"
	"kasoku/internal/ui"
)

// CompletionCmd prints a shell's completion.
type CompletionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is printed below the flags.
func (CompletionCmd) Help() string {
	return `The script completes commands, flags and their values. The Debian package brings all three.

Examples:
  kasoku completion bash > ~/.local/share/bash-completion/completions/kasoku
  kasoku completion zsh > "${fpath[1]}/_kasoku"
  kasoku completion fish > ~/.config/fish/completions/kasoku.fish`
}

// Run implements the command.
func (c *CompletionCmd) Run(a *App, k *kong.Context) error {
	return completion.Write(a.Out, c.Shell, k.Model)
}

// ManCmd prints manual pages.
type ManCmd struct {
	Command []string `arg:"" optional:"" complete:"commands" help:"The command whose page is printed (scenario check); none: the program's."`
	All     string   `placeholder:"DIR" help:"Write the pages of all commands into this folder, which is there or is made."`
}

// Help is printed below the flags.
func (ManCmd) Help() string {
	return "The Debian package brings the pages.\n\nExamples:\n  kasoku man tune | man -l -\n  kasoku man --all ~/.local/share/man/man1"
}

// Run implements the command.
func (c *ManCmd) Run(a *App, k *kong.Context) error {
	b := thisBuild()
	date, _, _ := strings.Cut(b.Date, "T")
	p := &manual.Program{Model: k.Model, Version: b.Version, Date: date,
		Exit:  strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(exitCodes), "Exit codes:")),
		Files: "kasoku.yaml describes the stack, scenario.yaml the load; the folder .kasoku beside them holds runs, the journal and what undo needs."}
	if c.All != "" {
		if len(c.Command) > 0 {
			return ui.Coded(ui.Usage, fmt.Errorf("both a command and --all"), "one page is printed, or all are written into a folder")
		}
		return writePages(p, c.All)
	}
	name := strings.Join(append([]string{k.Model.Name}, c.Command...), "-")
	for _, page := range p.Pages() {
		if page.Name == name {
			return p.Write(a.Out, page)
		}
	}
	return ui.Coded(ui.Usage, fmt.Errorf("no command is called %q", strings.Join(c.Command, " ")), "kasoku --help lists the commands")
}

func writePages(p *manual.Program, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, page := range p.Pages() {
		var text bytes.Buffer
		if err := p.Write(&text, page); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, page.Name+".1"), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
