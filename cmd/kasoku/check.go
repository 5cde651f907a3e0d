package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// CheckCmd says which rights are lacking.
type CheckCmd struct {
	All bool `help:"Also list what is there."`
}

// Help is shown below the flags.
func (CheckCmd) Help() string {
	return "Looks, without changing anything, whether the user who runs it may do what tuning needs: replace configuration files, reload and restart services, set variables and build indexes, read logs and processes, take profiles, and whether there is space for the journal. For what is lacking it prints the command that grants it, to be run by an administrator. `kasoku tune`, `try` and `plan` look first, too, and leave out what may not be done.\n\n" +
		"It also reads the scenario, and says if it may change data that nothing brings back.\n\nEnds with 4 only if nothing at all could be tuned, and with 3 if the scenario cannot be read.\n\nExamples:\n  kasoku check\n  kasoku check --all\n  sudo -u kasoku kasoku check --json"
}

// Run implements the command.
func (c *CheckCmd) Run(ctx context.Context, a *App) error {
	st, err := stack.Load(a.cli.File)
	if err != nil {
		hint := "write one with `kasoku init`, or name it with --file"
		if !errors.Is(err, fs.ErrNotExist) {
			hint = "correct the file; `kasoku init --print` shows a complete one"
		}
		return ui.Coded(ui.BadInput, err, hint)
	}
	if err := passwords(st); err != nil {
		return err
	}
	// Without the store: that it cannot be opened is one of the answers.
	p := &Project{Stack: st, Dir: filepath.Join(st.Dir, ".kasoku"), Hosts: map[string]host.Host{stack.LocalHost: host.NewLocal()}}
	if err := p.connect(ctx); err != nil {
		return err
	}
	defer p.closeHosts()
	r, err := stack.CheckRights(ctx, p.Hosts, st)
	if err != nil {
		return targetError(err)
	}
	if err := a.print(r, func(w io.Writer) error { return rightsText(w, r, c.All) }); err != nil {
		return err
	}
	if err := nothingToTune(r); err != nil {
		return err
	}
	return a.checkLoad(st)
}

// checkLoad looks at the scenario: whether it can be read, and whether what it
// does to the data is taken back.
func (a *App) checkLoad(st *stack.Stack) error {
	if st.Load.Command != nil {
		return nil
	}
	sc, err := load.LoadScenario(st.Load.Scenario)
	if err != nil {
		return ui.Coded(ui.BadInput, err, "docs/reference/scenario.md lists every key")
	}
	if writes := sc.Writes(); len(writes) > 0 && !st.Load.Reset.Set() {
		a.UI.Warn(fmt.Sprintf("load.reset is not set, and the scenario may change data (%s)", strings.Join(writes, ", ")),
			"write reset: snapshot, and Kasoku puts the data back itself, or name a command; without either every run meets what earlier ones left, and draws rows of unique pools that they did not use")
	}
	return nil
}

func nothingToTune(r *stack.Rights) error {
	if r.Any() {
		return nil
	}
	return ui.Coded(ui.Target, fmt.Errorf("%s may change nothing on this stack", r.User), "grant what `kasoku check` lists, or run as root")
}

// rightsText lists what is lacking, with what grants it.
func rightsText(w io.Writer, r *stack.Rights, all bool) error {
	lacking := r.Lacking()
	for _, x := range r.All {
		if all && x.Have {
			fmt.Fprintf(w, "  may      %s\n", rightName(x))
		}
	}
	for _, x := range lacking {
		fmt.Fprintf(w, "  lacking  %s: %s\n", rightName(x), x.Why)
		if x.Without != "" {
			fmt.Fprintf(w, "           left out: %s\n", x.Without)
		}
		if x.Grant != "" {
			fmt.Fprintf(w, "           to grant: %s\n", x.Grant)
		}
	}
	_, err := fmt.Fprintf(w, "%s has %d of %d rights\n", r.User, len(r.All)-len(lacking), len(r.All))
	return err
}

// rightName is one line about what a right is for.
func rightName(x stack.Right) string {
	s := string(x.Need)
	if x.Service != "" {
		s += " " + x.Service
	}
	if x.Object != "" && x.Object != "*" {
		s += " " + x.Object
	}
	if x.Host != stack.LocalHost {
		s = x.Host + ": " + s
	}
	return s
}

// rights looks at the rights before a command that changes something starts,
// and tells what is lacking.
func (a *App) rights(ctx context.Context, p *Project) (*stack.Rights, error) {
	r, err := stack.CheckRights(ctx, p.Hosts, p.Stack)
	if err != nil {
		return nil, targetError(err)
	}
	for _, x := range r.Lacking() {
		a.UI.Warn("lacking: "+rightName(x)+": "+x.Why, x.Grant)
	}
	return r, nothingToTune(r)
}
