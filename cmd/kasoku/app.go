package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/screen"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// App is what every command works with.
type App struct {
	cli *CLI
	Out io.Writer
	Err io.Writer // where it matters that it is not Out; messages go through UI
	UI  *ui.UI
	// changes: the command has opened the journal to change a target.
	changes bool
}

func newApp(cli *CLI, stdout, stderr io.Writer) *App {
	progress := stdout
	if cli.JSON {
		progress = stderr
	}
	return &App{cli: cli, Out: stdout, Err: stderr,
		UI: ui.New(progress, stderr, ui.Options{JSON: cli.JSON, Quiet: cli.Quiet, NoColor: cli.NoColor, TTY: isTerminal(progress)})}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&fs.ModeCharDevice != 0
}

// print writes v as JSON, with secrets masked, if asked for, else calls text.
func (a *App) print(v any, text func(w io.Writer) error) error {
	if !a.cli.JSON {
		return text(a.Out)
	}
	change.RedactAll(&v)
	return writeJSON(a.Out, v)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Project is an opened kasoku.yaml with its state.
type Project struct {
	Stack *stack.Stack
	Dir   string               // .kasoku
	Hosts map[string]host.Host // only "local" when opened for reading
	Store *store.Store
	Exec  *change.Executor // nil when opened for reading

	// Unreachable are the hosts that recover and verify do without, and why.
	Unreachable map[string]error

	closeHosts func() error
	leave      func() // puts the data back that runs changed; nil: nothing does
}

// read opens the stack and the store, but not the journal for writing, and
// connects to no host.
func (a *App) read() (*Project, error) {
	st, err := stack.Load(a.cli.File)
	if err != nil {
		hint := "write one with `kasoku init`, or name it with --file"
		if !errors.Is(err, fs.ErrNotExist) {
			hint = "correct the file; `kasoku init --print` shows a complete one"
		}
		return nil, ui.Coded(ui.BadInput, err, hint)
	}
	if err := st.TakePasswords(); err != nil {
		return nil, err
	}
	p := &Project{Stack: st, Dir: filepath.Join(st.Dir, ".kasoku"), Hosts: map[string]host.Host{stack.LocalHost: host.NewLocal()}}
	if p.Store, err = store.Open(p.Dir); err != nil {
		return nil, ui.Coded(ui.Failure, err, "check that the folder can be written and that the disk is not full")
	}
	return p, nil
}

// write also takes the lease, opens the journal and puts back what an
// interrupted Kasoku left behind.
func (a *App) write(ctx context.Context) (*Project, error) {
	p, err := a.read()
	if err != nil {
		return nil, err
	}
	a.changes = true
	if p.Exec, err = p.executor(ctx, a.UI); err != nil {
		p.Close()
		return nil, err
	}
	if err := endKilled(p.Store); err != nil {
		p.Close()
		return nil, ui.Coded(ui.Failure, err, "check that the folder can be written and that the disk is not full")
	}
	if len(p.Exec.Pending()) > 0 {
		a.UI.Warn("an earlier Kasoku was interrupted in the middle of a change", "it is put back first")
		if err := p.recover(ctx, a); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// connect opens the hosts that services run on.
func (p *Project) connect(ctx context.Context) error {
	if p.closeHosts != nil {
		return nil
	}
	hosts, end, err := stack.OpenHosts(ctx, p.Stack)
	if err != nil {
		return ui.Coded(ui.Target, err, "try `ssh DESTINATION true` by hand with the same configuration; hosts: in kasoku.yaml names the destination")
	}
	p.Hosts, p.closeHosts = hosts, end
	return nil
}

// executor connects to the hosts and opens the journal for writing.
func (p *Project) executor(ctx context.Context, u *ui.UI) (*change.Executor, error) {
	if err := passwords(p.Stack); err != nil {
		return nil, err
	}
	if err := p.connect(ctx); err != nil {
		return nil, err
	}
	x, err := tune.OpenExecutor(ctx, p.Dir, p.Stack, p.Hosts, p.safety(u))
	if err != nil {
		_ = p.closeHosts() // the error above says what is wrong
		p.closeHosts = nil
	}
	switch {
	case errors.Is(err, change.ErrBusy):
		return nil, ui.Coded(ui.Busy, err, "only one Kasoku may measure and change a host at a time")
	case err != nil:
		return nil, ui.Coded(ui.Failure, err, "the journal's README.txt tells how to put things back by hand")
	}
	return x, nil
}

func (p *Project) recover(ctx context.Context, a *App) error {
	txs, err := p.Exec.Recover(ctx)
	for _, tx := range txs {
		a.UI.Info(fmt.Sprintf("put back #%d %s", tx.ID, tx.Title))
	}
	if err != nil {
		return ui.Coded(ui.NeedsRecovery, err, "`kasoku verify` shows what differs; .kasoku/journal/README.txt tells how to put it back by hand")
	}
	return nil
}

// loadable also opens the scenario, if there is one.
func (a *App) loadable(ctx context.Context) (*Project, *tune.Bench, error) {
	p, err := a.write(ctx)
	if err != nil {
		return nil, nil, err
	}
	bench := &tune.Bench{Stack: p.Stack, Hosts: p.Hosts, Store: p.Store, Listeners: tune.Listeners{Note: func(s string) { a.UI.Warn(s, "") }, Inform: a.UI.Info}, Data: tune.Data{Dir: p.Dir}}
	p.leave = func() {
		if err := bench.Leave(); err != nil {
			a.UI.Warn(err.Error(), "what the last run wrote is still there")
		}
	}
	if bench.Foreign() {
		bench.Listeners.Progress = a.benchmarkProgress(p.Hosts[stack.LocalHost])
		return p, bench, nil
	}
	if bench.Scenario, err = load.LoadScenario(p.Stack.Load.Scenario); err != nil {
		p.Close()
		return nil, nil, ui.Coded(ui.BadInput, err, "docs/reference/scenario.md lists every key")
	}
	bench.Listeners.Progress = a.loadProgress(p.Hosts[stack.LocalHost])
	return p, bench, nil
}

// measureFor sets a run's length, which somebody else's benchmark has its own.
func (a *App) measureFor(bench *tune.Bench, d time.Duration) {
	if d > 0 && bench.Foreign() {
		a.UI.Warn("--duration is left out: load.command decides how long it runs", "change its arguments in kasoku.yaml")
	}
	bench.Window = d
}

// benchmarkProgress draws one line about somebody else's benchmark, which tells
// its results only at its end.
func (a *App) benchmarkProgress(h host.Host) func(load.Progress) {
	cpu := &cpuSplit{host: h}
	return func(pr load.Progress) {
		cpu.others = pr.GeneratorCPU.Seconds()
		a.UI.Progress(fmt.Sprintf("%-9s %4.1f s  load.command runs  %s", pr.Phase, pr.Elapsed.Seconds(), cpu.text()))
	}
}

// tellAfter is how far a phase must be to have something to tell.
const tellAfter = 100 * time.Millisecond

// loadProgress draws one line about the run under way.
func (a *App) loadProgress(h host.Host) func(load.Progress) {
	cpu := &cpuSplit{host: h}
	return func(pr load.Progress) {
		if pr.Elapsed < tellAfter { // nothing has been counted yet
			return
		}
		head := fmt.Sprintf("%-9s %4.1f s  ", pr.Phase, pr.Elapsed.Seconds())
		if pr.P99 == 0 && pr.Failed == 0 {
			a.UI.Progress(head + "no answer yet  " + cpu.text())
			return
		}
		a.UI.Progress(fmt.Sprintf("%s%8s req/s  p50 %s  p99 %s  failed %d  %s",
			head, ui.Number(pr.RequestsPerSecond), ui.Duration(pr.P50), ui.Duration(pr.P99), pr.Failed, cpu.text()))
	}
}

// watch returns what draws a session, instead of the progress line; nil where
// nothing can be rewritten.
func (a *App) watch(bench *tune.Bench) func(tune.Live) {
	if !a.UI.Draws() {
		return nil
	}
	bench.Listeners.Progress = nil
	return screen.Session(a.UI)
}

// both tells two watchers; either may be nil, and with neither it is.
func both(one, other func(tune.Live)) func(tune.Live) {
	switch {
	case one == nil:
		return other
	case other == nil:
		return one
	}
	return func(l tune.Live) {
		one(l)
		other(l)
	}
}

// Close gives the lease back and ends the connections.
func (p *Project) Close() {
	if p.leave != nil {
		p.leave()
	}
	_ = p.closeJournal()
	if p.closeHosts != nil {
		_ = p.closeHosts() // nothing is left to be done on them
	}
	p.Store.Close()
}

// closeJournal gives the leases back, and says what went wrong at it.
func (p *Project) closeJournal() error {
	x := p.Exec
	if p.Exec = nil; x == nil {
		return nil
	}
	return x.Close()
}

// rule is the stack file's decision rule with its defaults.
func (p *Project) rule() experiment.Rule {
	r, t := experiment.DefaultRule(), p.Stack.Tune
	r.SmallestEffect, r.Alpha, r.MaxPairs = t.Effect(), t.FalseKeepRate(), t.Pairs()
	r.MemoryHeadroom = float64(p.Stack.Regulation.Headroom()) / 100
	return r
}
