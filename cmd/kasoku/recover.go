package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"kasoku/internal/change"
	"kasoku/internal/host"
	"kasoku/internal/stack"
	"kasoku/internal/ui"
)

// RecoverCmd finishes what an interrupted Kasoku left.
type RecoverCmd struct {
	DryRun     bool   `short:"n" help:"Tell what would be put back; change nothing."`
	FromTarget string `placeholder:"HOST" help:"First write this machine's journal anew from the copy on a host (a name of kasoku.yaml, or local). What is there is moved aside."`
	Project    string `placeholder:"ID" help:"With --from-target: the copy's ID, if the host has several of this name."`
	Abandon    int64  `placeholder:"TX" help:"Give up an unfinished journal entry that cannot be put back because somebody else changed the same file; what is there stays."`
}

// Help is shown below the flags.
func (RecoverCmd) Help() string {
	return "Every command that changes something does this first; this one does nothing else, and may be repeated. Hosts that cannot be reached are left out and named; ends with 6 if something is left. A file that somebody else changed meanwhile is never overwritten: look at it, then abandon the entry.\n\nExamples:\n  kasoku recover --dry-run\n  kasoku recover\n  kasoku recover --abandon 12\n  kasoku recover --from-target db1"
}

// Run implements the command.
func (c *RecoverCmd) Run(ctx context.Context, a *App) error {
	if c.Project != "" && c.FromTarget == "" {
		return ui.Coded(ui.Usage, errors.New("recover: --project belongs to --from-target"), "name the host, too")
	}
	p, err := a.read()
	if err != nil {
		return err
	}
	defer p.Close()
	p.connectSome(ctx, a.UI)
	if c.FromTarget != "" {
		if err := c.fetch(ctx, p); err != nil {
			return err
		}
	}
	if p.Exec, err = p.executor(ctx, a.UI); err != nil {
		return err
	}
	if c.DryRun {
		return c.tell(ctx, a, p)
	}
	if err := endKilled(p.Store); err != nil {
		return err
	}
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
			fmt.Fprintln(w, nothingToRecover(p))
		}
		return nil
	})
}

// nothingToRecover says of what that is known.
func nothingToRecover(p *Project) string {
	if len(p.Unreachable) > 0 {
		return "nothing to recover is known; the hosts named above were not looked at"
	}
	return "nothing to recover: every change is kept or put back"
}

// fetch writes the journal anew from a host's copy.
func (c *RecoverCmd) fetch(ctx context.Context, p *Project) error {
	h := p.Hosts[c.FromTarget]
	if h == nil {
		err := p.Unreachable[c.FromTarget]
		if err == nil {
			err = fmt.Errorf("kasoku.yaml has no host %q with a service on it", c.FromTarget)
		}
		return ui.Coded(ui.BadInput, fmt.Errorf("recover from host %s: %w", c.FromTarget, err), "name one of hosts: in kasoku.yaml, or local")
	}
	if err := change.FromTarget(ctx, p.Dir, h, p.stateDir(), c.Project, p.Stack.Name); err != nil {
		return ui.Coded(ui.NeedsRecovery, fmt.Errorf("recover from host %s: %w", c.FromTarget, err), "--project ID chooses among several copies")
	}
	return nil
}

// tell prints what recovery would do.
func (c *RecoverCmd) tell(ctx context.Context, a *App, p *Project) error {
	x := p.Exec
	outlook := x.Outlook(ctx)
	conflicts := 0
	for _, o := range outlook {
		if o.Conflict {
			conflicts++
		}
	}
	err := a.print(outlook, func(w io.Writer) error {
		for _, o := range outlook {
			fmt.Fprintf(w, "#%d %s: host %s: %s: %s\n", o.Tx, o.Title, o.Host, o.Change, o.Will)
			if o.Activate != "" {
				fmt.Fprintf(w, "    then %s\n", o.Activate)
			}
		}
		if n := len(x.Pending()); len(outlook) == 0 && n > 0 {
			fmt.Fprintf(w, "%d unfinished entries that changed nothing would be closed\n", n)
		} else if n == 0 {
			fmt.Fprintln(w, nothingToRecover(p))
		}
		return nil
	})
	if err == nil && len(x.Pending()) > 0 {
		return ui.Coded(ui.NeedsRecovery, fmt.Errorf("%d unfinished entries, %d changes that need a person", len(x.Pending()), conflicts), "kasoku recover")
	}
	return err
}

// connectSome opens the hosts that can be reached and keeps why the others
// cannot.
func (p *Project) connectSome(ctx context.Context, u *ui.UI) {
	p.Hosts, p.Unreachable = map[string]host.Host{stack.LocalHost: host.NewLocal()}, map[string]error{}
	var ends []func() error
	for _, name := range p.Stack.HostNames() {
		if name == stack.LocalHost {
			continue
		}
		h, end, err := stack.OpenHost(ctx, name, p.Stack.Hosts[name])
		if err != nil {
			p.Unreachable[name] = err
			u.Warn(fmt.Sprintf("host %s cannot be reached and is left out: %v", name, err), "")
			continue
		}
		p.Hosts[name] = h
		ends = append(ends, end)
	}
	p.closeHosts = func() error {
		var errs []error
		for _, end := range ends {
			errs = append(errs, end())
		}
		ends = nil
		return errors.Join(errs...)
	}
}
