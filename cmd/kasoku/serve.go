package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"

	"github.com/alecthomas/kong"

	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
	"kasoku/internal/web"
)

// ServeCmd shows the dashboard.
type ServeCmd struct {
	Listen    string   `default:"127.0.0.1:7399" placeholder:"HOST:PORT" help:"Where to listen. Anything but loopback needs the token for every page."`
	TokenFile string   `placeholder:"FILE" help:"The token to log in with; default: .kasoku/web-token, made if absent."`
	Name      []string `placeholder:"HOST" help:"Another name that browsers ask this machine by, such as a proxy's; every page then needs the token."`
	ReadOnly  bool     `help:"No buttons that put changes back."`
}

// Help is shown below the flags.
func (ServeCmd) Help() string {
	return "A dashboard of sessions, runs, comparisons and the journal for a browser. It follows a session that another Kasoku runs. On loopback everybody on this machine may read it; putting changes back needs the address with the token, which is printed. Reach it from elsewhere by ssh -L 7399:127.0.0.1:7399.\n\nExamples:\n  kasoku serve\n  kasoku serve --listen 0.0.0.0:7399 --name tuner.example.com\n  kasoku tune --web"
}

// Run implements the command.
func (c *ServeCmd) Run(ctx context.Context, a *App) error {
	if err := c.check(ctx); err != nil { // before anything is written
		return err
	}
	p, err := a.read()
	if err != nil {
		return err
	}
	defer p.Close()
	x, err := web.Start(ctx, a.dashboard(p, p.Store, c.Listen, func(o *web.StartOptions) {
		o.TokenFile, o.Names = c.TokenFile, c.Name
		if !c.ReadOnly {
			o.Undo = a.undoOne
		}
	}))
	if err != nil {
		return ui.Coded(ui.Failure, err, "--listen and --token-file choose others")
	}
	a.toldWeb(x)
	return x.Wait(ctx)
}

// listenHint says what a good address looks like.
const listenHint = "write HOST:PORT: --listen 127.0.0.1:7400 for this machine alone, --listen 0.0.0.0:7400 for all of its addresses"

// check reads the flags, and tries the address: a wrong one leaves no trace.
func (c *ServeCmd) check(ctx context.Context) error {
	if err := checkListen(c.Listen); err != nil {
		return usage(listenHint, "--listen: %w", err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return ui.Coded(ui.Failure, fmt.Errorf("--listen: %w", err), listenHint)
	}
	if err := l.Close(); err != nil {
		return ui.Coded(ui.Failure, fmt.Errorf("--listen: %w", err), listenHint)
	}
	if c.TokenFile == "" {
		return nil
	}
	if _, err := os.Stat(c.TokenFile); errors.Is(err, fs.ErrNotExist) {
		return nil // made later
	}
	if _, err := web.Token(c.TokenFile); err != nil {
		return ui.Coded(ui.Failure, err, "--token-file names another")
	}
	return nil
}

// checkListen says what is wrong with an address to listen at.
func checkListen(at string) error {
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		return fmt.Errorf("%q is no HOST:PORT", at)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q: the port must be a number from 0 (any) to 65535", at)
	}
	return nil
}

// dashboard's options for a project; st is a store of its own where this
// process also measures.
func (a *App) dashboard(p *Project, st *store.Store, listen string, more func(*web.StartOptions)) web.StartOptions {
	o := web.StartOptions{Listen: listen, Options: web.Options{Stack: p.Stack.Name, Version: Version, Store: st, Dir: p.Dir, Rule: p.rule(),
		HostOf: func(service string) string {
			if svc := p.Stack.Service(service); svc != nil {
				return svc.HostName()
			}
			return ""
		}}}
	if more != nil {
		more(&o)
	}
	return o
}

func (a *App) toldWeb(x *web.Running) { fmt.Fprintln(a.Err, x.Told()) }

// webFlag is --web or --web=HOST:PORT; "" = not asked for.
type webFlag string

// IsBool lets the flag stand without a value (kong).
func (webFlag) IsBool() bool { return true }

// Decode reads the flag (kong).
func (w *webFlag) Decode(ctx *kong.DecodeContext) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		*w = web.DefaultListen
		return nil
	}
	if err := ctx.Scan.PopValueInto("address", (*string)(w)); err != nil {
		return err
	}
	if err := checkListen(string(*w)); err != nil {
		return fmt.Errorf("%w; write for example --web=%s", err, web.DefaultListen)
	}
	return nil
}

// startWeb shows the session of this process while it runs, if at says where:
// publish takes its moments and never waits (nil: nowhere), end ends it. The store is opened
// once more, so that reading never waits for the session's writes.
func (a *App) startWeb(ctx context.Context, p *Project, at webFlag) (publish func(tune.Live), end func(), err error) {
	if at == "" {
		return nil, func() {}, nil
	}
	st, err := store.Open(p.Dir)
	if err != nil {
		return nil, nil, ui.Coded(ui.Failure, err, "")
	}
	x, err := web.Start(ctx, a.dashboard(p, st, string(at), nil))
	if err != nil {
		st.Close()
		return nil, nil, ui.Coded(ui.Failure, err, "--web=HOST:PORT chooses another address")
	}
	a.toldWeb(x)
	return x.Publish, func() {
		x.Stop()
		st.Close()
	}, nil
}

// undoOne puts one entry back as `kasoku undo` does, for the dashboard.
func (a *App) undoOne(ctx context.Context, tx int64) error {
	p, err := a.write(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Exec.Undo(ctx, tx, false); err != nil {
		return undoError(err)
	}
	return nil
}
