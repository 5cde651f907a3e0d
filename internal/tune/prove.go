package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/prove"
	"kasoku/internal/regulation"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// AnswersArtifact is what the answers of a service as found are kept as, with
// the run that was made just before.
const AnswersArtifact = "answers.json.gz"

const (
	// answerTakes are compared with each other as found, so that what differs
	// by itself is known; answerRounds through all sessions in each.
	answerTakes  = 3
	answerRounds = 2
	// lightLoad: one of so many users is beside the take with load.
	lightLoad = 4
	// provingLoad is the longest that load is put on beside a check.
	provingLoad = time.Hour
)

// Prover makes the regulation checks of docs/reference/checks.md on what is in place.
type Prover struct {
	Bench *Bench
	UI    Reporter
	// Workload of the load beside the checks; 0: the scenario's.
	Workload int
	// Before is the score that must be there after a reboot; 0: not judged.
	Before float64
	// Only names the checks to make; nil: all.
	Only []string
	// Limit of one walk through the scenario; 0: a minute.
	Limit time.Duration
	// Session whose answers as found are compared with; 0: those recorded last.
	Session int64

	// StandDown lets hosts be rebooted, as change.Executor's; nil: nothing keeps
	// them from it.
	StandDown func(context.Context) error

	// Exec takes kept indexes away for a comparison and makes them again; nil: they stay.
	Exec keeper
	// Restart starts the applications anew, as prove.EqualOptions has it.
	Restart func(context.Context) (bool, error)

	rows  load.Rows    // that the checks' writes have drawn, by pool
	inUse *stack.Stack // without fronts that serve nothing; nil: not looked yet
}

// NewProver makes all checks with the users that runs have.
func NewProver(b *Bench, out Reporter) *Prover {
	return &Prover{Bench: b, UI: out, Workload: b.Users()}
}

// Score is the mean of two runs with the load of the checks.
func (p *Prover) Score(ctx context.Context, label string) (float64, error) {
	var scores []float64
	for range 2 {
		run, err := p.Bench.Run(ctx, RunOptions{Kind: store.Scored, Label: label, Workload: p.Workload})
		if err != nil {
			return 0, err
		}
		if err := p.Bench.Answered(run); err != nil {
			return 0, err
		}
		scores = append(scores, run.Score)
	}
	return level(scores), nil
}

// Run makes the checks, those that harm nothing first. A check that cannot be
// made is in the results, too, with the reason; the error is ctx's.
func (p *Prover) Run(ctx context.Context) ([]prove.Result, error) {
	var out []prove.Result
	add := func(r prove.Result, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r = r.Ended(err)
		p.tell(r)
		out = append(out, r)
		return nil
	}
	fronts, err := stack.FrontStates(ctx, p.Bench.Hosts, p.Bench.Stack)
	if err != nil {
		return nil, err
	}
	standbys, err := stack.StandbyStates(ctx, p.Bench.Hosts, p.Bench.Stack)
	if err != nil {
		return nil, err
	}
	p.inUse = p.Bench.Stack.WithFronts(fronts).WithStandbys(standbys)
	w, err := p.witness()
	if err != nil {
		return nil, err
	}
	defer p.noteRows()
	defer p.putBack(ctx)
	for _, c := range []struct {
		name string
		make func(context.Context, *load.Witness) (prove.Result, error)
	}{
		{prove.Equality, p.equality}, {prove.Staleness, p.staleness}, {prove.Durability, p.durability}, {prove.Restart, p.reboot},
	} {
		if len(p.Only) > 0 && !slices.Contains(p.Only, c.name) {
			continue
		}
		r, err := c.make(ctx, w)
		r.Check = c.name
		if err := add(r, err); err != nil {
			return out, err
		}
	}
	return out, nil
}

// tell one result.
func (p *Prover) tell(r prove.Result) {
	text := fmt.Sprintf("%s: %s: %s", r.Check, r.Outcome, r.Text)
	if r.Outcome != prove.Failed {
		p.UI.Info(text)
		return
	}
	hint := "`kasoku prove` makes the check again"
	if len(r.Problems) > 0 {
		hint = r.Problems[0].What
		if by := r.Problems[0].By; by != "" {
			hint += "; by " + by
		}
	}
	p.UI.Warn(text, hint)
}

func (p *Prover) stack() *stack.Stack { return cmp.Or(p.inUse, p.Bench.Stack) }

// options of load and walks, without the rows that runs have used up: what the
// checks draw they note themselves.
func (p *Prover) options() load.Options {
	opts := p.Bench.loadOptions(p.Workload)
	opts.Rows, opts.Reset = maps.Clone(p.Bench.Data.drawn), nil
	return opts
}

// witness of the checks' own scenario, nil if there is none.
func (p *Prover) witness() (*load.Witness, error) {
	path := p.stack().Checks.Scenario
	if path == "" {
		return nil, nil
	}
	sc, err := load.LoadScenario(path)
	if err != nil {
		return nil, ui.Coded(ui.BadInput, err, "checks.scenario in kasoku.yaml: docs/reference/checks.md tells how to write it")
	}
	opts := p.options()
	opts.Scenario, opts.Workload = sc, 1
	if p.rows, err = p.Bench.Store.Drawn(); err != nil {
		return nil, err
	}
	opts.Rows = p.rows
	w, err := load.NewWitness(opts)
	if err != nil {
		return nil, ui.Coded(ui.BadInput, err, "checks.scenario in kasoku.yaml: docs/reference/checks.md tells how to write it")
	}
	return w, nil
}

// putBack brings the data back where something does that: the checks write, and
// so does the load beside them.
func (p *Prover) putBack(ctx context.Context) {
	if err := p.Bench.reset(context.WithoutCancel(ctx)); err != nil {
		p.UI.Warn("after the checks the data was not brought back: "+err.Error(), "")
	}
}

// noteRows stores which rows the checks' writes have used up.
func (p *Prover) noteRows() {
	if p.rows == nil {
		return
	}
	if err := p.Bench.Store.SaveDrawn(p.rows); err != nil {
		p.UI.Warn("what the checks have drawn from pools could not be stored: "+err.Error(), "")
	}
}

// underLoad does something while the scenario's load goes on, with so many
// users; 0: those of the scenario. When it returns, the service has answered what
// the load asked for, and writes nothing of it any more.
func (p *Prover) underLoad(ctx context.Context, users int, do func(context.Context) error) error {
	opts := p.options()
	enough := make(chan struct{})
	opts.Window, opts.Workload, opts.Enough = provingLoad, users, enough
	done := make(chan error, 1)
	go func() {
		_, err := load.Run(ctx, opts)
		done <- err
	}()
	err := do(ctx)
	close(enough)
	if failed := <-done; failed != nil && !errors.Is(failed, context.Canceled) && !errors.Is(failed, load.ErrEnough) {
		err = errors.Join(err, fmt.Errorf("the load beside it: %w", failed))
	}
	return err
}

// take brings the data back, puts load on and walks meanwhile.
func (p *Prover) take(ctx context.Context, walk func(context.Context) error) error {
	if err := p.Bench.reset(ctx); err != nil {
		return err
	}
	return p.underLoad(ctx, p.Workload, walk)
}

// lightly takes with few users beside it, so that a slow service answers soon.
func (p *Prover) lightly(ctx context.Context, walk func(context.Context) error) error {
	if err := p.Bench.reset(ctx); err != nil {
		return err
	}
	return p.underLoad(ctx, max(1, cmp.Or(p.Workload, p.Bench.Users())/lightLoad), walk)
}

// alone brings the data back and walks.
func (p *Prover) alone(ctx context.Context, walk func(context.Context) error) error {
	if err := p.Bench.reset(ctx); err != nil {
		return err
	}
	return walk(ctx)
}

// comparable says why answers of two times cannot be compared; "" if they can.
func (p *Prover) comparable() string {
	switch b := p.Bench; {
	case b.Foreign() || b.Scenario == nil:
		return "load.command's requests cannot be sent by Kasoku"
	case !b.Stack.Load.Reset.Set() && len(b.Scenario.Writes()) > 0:
		return "the scenario may change data, and nothing brings it back before a comparison (load.reset in kasoku.yaml)"
	}
	return ""
}

// Record keeps what the service answers now with the run that was made last, as
// what later answers are compared with. why is not "" if nothing can be.
func (p *Prover) Record(ctx context.Context, run int64) (why string, err error) {
	if why := p.comparable(); why != "" {
		return why, nil
	}
	// With load beside one take and none beside the others: what depends on it
	// differs between them, and a slow service answers soon.
	around := prove.Around(p.lightly)
	book, err := prove.Record(ctx, p.options(), prove.RecordOptions{Takes: answerTakes, Rounds: answerRounds, Limit: p.Limit,
		Around: func(ctx context.Context, walk func(context.Context) error) error {
			err := around(ctx, walk)
			around = p.alone
			return err
		}})
	if err != nil {
		return "", err
	}
	data, err := book.Encode()
	if err != nil {
		return "", err
	}
	return "", p.Bench.Store.SaveArtifact(run, AnswersArtifact, data)
}

func (p *Prover) equality(ctx context.Context, _ *load.Witness) (prove.Result, error) {
	if why := p.comparable(); why != "" {
		return prove.Skipped(prove.Equality, why), nil
	}
	data, run, err := p.Bench.Store.LastArtifact(AnswersArtifact)
	if errors.Is(err, store.ErrNotFound) {
		return prove.Skipped(prove.Equality, "no answers of the service as found are known; `kasoku tune` records them, and so does `kasoku prove --record`"), nil
	}
	if err != nil {
		return prove.Result{}, err
	}
	recorded, err := p.Bench.Store.Run(run)
	if p.Session != 0 && (err != nil || recorded.Session != p.Session) {
		return prove.Skipped(prove.Equality, "the answers of the service as found were not recorded in this session"), err
	}
	book, err := prove.DecodeBook(data)
	if err != nil {
		return prove.Result{}, err
	}
	opts := p.options()
	o := prove.EqualOptions{Around: p.take, Alone: p.alone, Restart: p.Restart, Blamer: &prove.Blamer{Stack: p.stack(), Opts: opts}}
	if err == nil && p.Exec != nil {
		o.Unindexed = func(ctx context.Context, take func(context.Context) error) ([]string, error) {
			return p.unindexed(ctx, recorded.Started, take)
		}
	}
	r, err := prove.Equal(ctx, opts, book, o)
	if err == nil {
		r.Notes = append(r.Notes, fmt.Sprintf("compared with the answers recorded after run %d", run))
	}
	return r, err
}

// noWitness is why checks that write are not made without a scenario of them.
const noWitness = "kasoku.yaml names no scenario of a write and its readers (checks.scenario)"

func (p *Prover) staleness(ctx context.Context, w *load.Witness) (r prove.Result, err error) {
	if w == nil {
		return prove.Skipped(prove.Staleness, noWitness), nil
	}
	opts := p.options()
	stale := func(ctx context.Context) error {
		r, err = prove.Stale(ctx, w, prove.StaleOptions{Limit: p.stack().VisibleWithin(), Writes: p.stack().Checks.Writes,
			Blamer: &prove.Blamer{Stack: p.stack(), Opts: opts}})
		return err
	}
	if p.Bench.Foreign() {
		err := stale(ctx)
		return r, err
	}
	if err := p.Bench.reset(ctx); err != nil {
		return r, err
	}
	err = p.underLoad(ctx, p.Workload, stale)
	return r, err
}

func (p *Prover) durability(ctx context.Context, w *load.Witness) (prove.Result, error) {
	st := p.stack()
	dbs := st.OfKind(stack.MariaDB, stack.MySQL)
	switch {
	case st.Regulation.Allows(regulation.Durability):
		return prove.Skipped(prove.Durability, "regulation.allow lists durability: acknowledged writes may be lost"), nil
	case len(dbs) == 0:
		return prove.Skipped(prove.Durability, "the stack has no database"), nil
	}
	var all []prove.Result
	for _, svc := range dbs {
		r, err := p.durable(ctx, svc, w)
		if err != nil { // what it found, and the other databases, count all the same
			r = r.Ended(fmt.Errorf("%s: %w", svc.Name, err))
		}
		all = append(all, r)
	}
	return prove.Join(all), ctx.Err()
}

// durable is durability of one database.
func (p *Prover) durable(ctx context.Context, svc *stack.Service, w *load.Witness) (prove.Result, error) {
	st, h := p.stack(), p.Bench.Hosts[svc.HostName()]
	switch {
	case h == nil:
		return prove.Result{}, fmt.Errorf("host %s is not connected", svc.HostName())
	case !slices.Contains(st.Checks.Kill, svc.Name):
		return prove.Settings(ctx, st, h, svc)
	case w == nil:
		r, err := prove.Settings(ctx, st, h, svc)
		if err == nil && r.Outcome == prove.NotJudged {
			r.Text = noWitness
		}
		return r, err
	}
	return prove.Crash(ctx, st, h, svc, w, prove.CrashOptions{Back: st.Checks.Back()})
}

func (p *Prover) reboot(ctx context.Context, w *load.Witness) (prove.Result, error) {
	st := p.stack()
	if len(st.Checks.Reboot) == 0 {
		return prove.Skipped(prove.Restart, "no host may be rebooted (checks.reboot in kasoku.yaml)"), nil
	}
	if st.Regulation.Allows(regulation.Durability) {
		w = nil // what is lost is allowed to be
	}
	o := prove.RebootOptions{Opts: p.options(), Witness: w, Back: st.Checks.Back(), Before: p.Before}
	if p.Before > 0 {
		o.Score = func(ctx context.Context) (float64, error) { return p.Score(ctx, "after a reboot") }
	}
	if p.StandDown != nil {
		if err := p.StandDown(ctx); err != nil {
			return prove.Result{}, fmt.Errorf("disarm the guards of the hosts before they reboot: %w", err)
		}
	}
	return prove.Reboot(ctx, st, p.Bench.Hosts, o)
}
