package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// InitCmd writes kasoku.yaml from what runs here.
type InitCmd struct {
	Force bool `help:"Overwrite an existing file."`
	Print bool `help:"Print it instead of writing it."`
}

// Help is shown below the flags.
func (InitCmd) Help() string {
	return "Reads /proc and the configuration files of nginx, PHP-FPM, MariaDB, memcached, Redis, Varnish and application processes. Nothing is changed and no password is copied.\n\nExamples:\n  kasoku init\n  kasoku init --print\n  kasoku -f shop.yaml init"
}

// Run implements the command.
func (c *InitCmd) Run(ctx context.Context, a *App) error {
	st, notes, err := stack.Discover(ctx, host.NewLocal())
	if err != nil {
		return ui.Coded(ui.Target, err, "run it on the machine where the services run, as a user who may see them (root)")
	}
	if st.Name == "" {
		if abs, err := filepath.Abs(a.cli.File); err == nil {
			st.Name = filepath.Base(filepath.Dir(abs))
		}
	}
	text, err := st.Render()
	if err != nil {
		return err
	}
	for _, n := range notes {
		a.UI.Warn(n, "")
	}
	if c.Print {
		_, err := a.Out.Write(text)
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.Force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(a.cli.File, flags, 0o644)
	if err != nil {
		if os.IsExist(err) {
			err = fmt.Errorf("%s exists: %w", a.cli.File, fs.ErrExist)
		}
		return ui.Coded(ui.BadInput, err, "kasoku init --force overwrites it; --print only shows it")
	}
	if _, err := f.Write(text); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	a.UI.Info(fmt.Sprintf("%s: %d services found. Fill in load.url and load.scenario, then: kasoku run", a.cli.File, len(st.Services)))
	return nil
}
