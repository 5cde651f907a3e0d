package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/mcp"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// MCPCmd serves coding agents.
type MCPCmd struct {
	AllowTry      bool `help:"Let the agent have changes judged: settings, patches of applications and configuration files, and branches. They disturb the service."`
	AllowCommands bool `help:"With --allow-try: let it run shell commands as candidates, too, with this user's rights, and patch any file."`
}

// Help is shown below the flags.
func (MCPCmd) Help() string {
	return "Speaks the Model Context Protocol on standard input and output until the client leaves; a coding agent starts it (docs/how-to/connect-an-agent.md). Without --allow-try it only reads: status, evidence, findings, where, plan, history, show. What is under way when the client leaves is put back.\n\nExamples:\n  kasoku mcp\n  kasoku -f /srv/shop/kasoku.yaml mcp --allow-try"
}

// Run implements the command.
func (c *MCPCmd) Run(ctx context.Context, a *App) error {
	if c.AllowCommands && !c.AllowTry {
		return ui.Coded(ui.Usage, errors.New("mcp: --allow-commands needs --allow-try"), "kasoku mcp --allow-try --allow-commands")
	}
	// Standard output is the protocol's: whatever is told goes elsewhere.
	a = &App{cli: a.cli, Out: a.Err, Err: a.Err, UI: ui.New(a.Err, a.Err, ui.Options{Quiet: true, NoColor: true})}
	p, err := a.read() // what is wrong with kasoku.yaml is told at once
	if err != nil {
		return err
	}
	p.Close()
	err = mcp.New(c.options(a)).Run(ctx, &sdk.IOTransport{Reader: os.Stdin, Writer: leftOpen{os.Stdout}})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// leftOpen is standard output, which outlives the session.
type leftOpen struct{ io.Writer }

func (leftOpen) Close() error { return nil }

// options connect the server to the project.
func (c *MCPCmd) options(a *App) mcp.Options {
	return mcp.Options{Version: Version, AllowTry: c.AllowTry, AllowCommands: c.AllowCommands,
		Open: func(context.Context) (*mcp.View, error) {
			p, err := a.read()
			if err != nil {
				return nil, err
			}
			return &mcp.View{Stack: p.Stack, Store: p.Store, Dir: p.Dir, Close: p.Close}, nil
		},
		Plan: a.planStored,
		Try: func(ctx context.Context, proposal tune.Proposal, tell tune.Reporter) (*store.Step, error) {
			t, p, err := a.tuner(ctx, 0, tell)
			if err != nil {
				return nil, err
			}
			defer p.Close()
			step, err := t.Try(ctx, proposal)
			return step, p.failed(err)
		}}
}

// planStored plans for a stored diagnostic run. It reads the configuration of
// the hosts and takes no lease, but is refused while a change is under trial.
func (a *App) planStored(ctx context.Context, run *store.Run) (remedy.Result, error) {
	res, _, err := a.planAhead(ctx, run, tuneBudget)
	return res, err
}

// planAhead is planStored, with what `kasoku tune` would do with the plans if it had so
// much time.
func (a *App) planAhead(ctx context.Context, run *store.Run, budget time.Duration) (res remedy.Result, ahead tune.Ahead, err error) {
	p, err := a.read()
	if err != nil {
		return res, ahead, err
	}
	defer p.Close()
	if err := p.untried(); err != nil {
		return res, ahead, err
	}
	if err := passwords(p.Stack); err != nil {
		return res, ahead, err
	}
	if err := p.connect(ctx); err != nil {
		return res, ahead, err
	}
	snap, err := evidence.Take(ctx, p.Stack, p.Hosts, evidence.TakeOptions{Assets: run.Evidence.Load.Assets})
	if err != nil {
		return res, ahead, targetError(fmt.Errorf("read the configuration: %w", err))
	}
	snap.GoProfiles = tune.GoProfiles(p.Store, run)
	txs, err := change.Read(p.Dir)
	if err != nil {
		return res, ahead, err
	}
	tune.SourcePatches(ctx, p.Stack, p.Hosts, run.Evidence, change.HeldFiles(txs, stack.LocalHost)).Into(snap)
	rights, err := stack.CheckRights(ctx, p.Hosts, p.Stack)
	if err != nil {
		return res, ahead, targetError(err)
	}
	in := remedy.Input{Stack: p.Stack, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis, Rights: rights}
	bench := &tune.Bench{Stack: p.Stack, Hosts: p.Hosts, Store: p.Store}
	if !bench.Foreign() {
		if bench.Scenario, err = load.LoadScenario(p.Stack.Load.Scenario); err != nil { // nothing is measured: how long runs were is enough
			bench.Scenario = &load.Scenario{Duration: run.Evidence.Load.Window}
		}
	}
	return a.ahead(p, bench, in, budget)
}
