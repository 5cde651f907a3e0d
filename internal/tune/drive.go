package tune

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/foreign"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// foreignRunTime is what a run of somebody else's benchmark is taken to last
// before the first one has told.
const foreignRunTime = time.Minute

// scenarioHash names the load; "" for somebody else's benchmark.
func (b *Bench) scenarioHash() string {
	if b.Foreign() || b.Scenario == nil {
		return ""
	}
	return b.Scenario.Hash()
}

// Foreign reports whether somebody else's benchmark puts the load on.
func (b *Bench) Foreign() bool { return b.Stack.Load.Command != nil }

// counts says what an expected factor is of, where that is not the score: somebody else's
// benchmark may pause as it likes, and score only some of what it asks for.
func (b *Bench) counts() string {
	if !b.Foreign() {
		return ""
	}
	return "; of requests: load.command may pause between them, and may score only some, so its score may rise by less"
}

// Users is how many virtual users a run has unless it is asked for others; 0
// if only somebody else's benchmark knows.
func (b *Bench) Users() int {
	switch {
	case b.Stack.Load.Workload > 0:
		return b.Stack.Load.Workload
	case b.Scenario != nil:
		return cmp.Or(b.scored.users, b.Scenario.Workload)
	}
	return b.benchmark.users
}

// runTime is about what one run takes, with reset and set-up.
func (b *Bench) runTime() time.Duration {
	if b.Foreign() {
		if b.benchmark.took > 0 {
			return b.benchmark.took + time.Second
		}
		return min(foreignRunTime, b.Stack.Load.Command.Limit())
	}
	w, m := b.Window, b.Warmup
	if w == 0 {
		w = b.whole(b.Scenario.Duration)
	}
	if m == 0 {
		m = b.Scenario.Warmup
	}
	if b.pace != nil && b.pace.Known.Cost.Weight > 0 {
		// What runs cost beside their window is known.
		return w + time.Duration(b.pace.Known.Cost.Value()*float64(time.Second))
	}
	return w + m + time.Second
}

// mostHeat bounds RunOptions.Heat: after that a compiler has seen what is asked for.
const mostHeat = 20 * time.Second

// driver puts the load on and tells its progress.
type driver func(ctx context.Context, progress func(load.Progress)) (*load.Result, error)

// driver returns what drives one run, and lets the collectors know a benchmark.
func (b *Bench) driver(run RunOptions, opts *evidence.CollectorOptions) (driver, error) {
	workload := run.Workload
	if !b.Foreign() {
		o := b.loadOptions(workload)
		if run.Step != 0 && run.Kind != store.Diagnostic {
			o.Window = b.window()
		}
		if o.Window = cmp.Or(run.Window, o.Window); b.pace != nil && b.pace.Least > 0 {
			o.Window = b.whole(cmp.Or(o.Window, b.Scenario.Duration))
		}
		if run.Heat {
			o.LeastWarmup = min(cmp.Or(o.Window, b.Scenario.Duration), mostHeat)
		}
		return func(ctx context.Context, progress func(load.Progress)) (*load.Result, error) {
			o.Progress = progress
			res, err := load.Run(ctx, o)
			if err != nil {
				return nil, fmt.Errorf("load: %w", err)
			}
			return res, nil
		}, nil
	}
	runner, err := foreign.Compile(b.Hosts[stack.LocalHost], *b.Stack.Load.Command, b.Stack.Dir, b.Stack.Load.URL)
	if err != nil {
		return nil, err
	}
	runner.Skip(b.benchmark.prepares)
	opts.Benchmark = runner.CPU
	return func(ctx context.Context, progress func(load.Progress)) (*load.Result, error) {
		begun := time.Now()
		res, err := runner.Run(ctx, progress)
		if err != nil {
			return nil, err
		}
		b.benchmark.took = max(b.benchmark.took, time.Since(begun))
		if res.Workload == 0 {
			res.Workload = workload
		}
		return res, nil
	}, nil
}

// counted takes the number of requests from the access log, where somebody else's
// benchmark tells none: what is said "per request" is of requests then, not of points.
func (b *Bench) counted(ev *evidence.Evidence) {
	failed, requests, _ := erring(ev)
	l := ev.Load
	if !b.Foreign() || !l.Uncounted || requests == 0 || l.Mismatches > 0 && l.Score <= 0 {
		return
	}
	l.Requests, l.Succeeded = requests, max(requests-failed-l.Mismatches, 0)
	if s := l.Window.Seconds(); s > 0 {
		l.RequestsPerSecond, l.Goodput = float64(requests)/s, float64(l.Succeeded)/s
	}
}

// known fills in what somebody else's benchmark did not tell: without a number
// of users it is taken to have enough for every CPU, so that no bound of the
// diagnosis comes from a number that nobody knows.
func (b *Bench) known(ev *evidence.Evidence) {
	b.counted(ev)
	if b.Foreign() && ev.Load.Workload == 0 {
		ev.Load.Workload, ev.Load.UsersAssumed = max(1, serviceCPUs(ev)), true
	}
	b.learnPreparing(ev)
	b.benchmark.users, b.benchmark.assumed, b.benchmark.perRun = ev.Load.Workload, ev.Load.UsersAssumed, ev.Load.PerRun
}

// leastPreparing of a benchmark is worth being left out; a second more is taken for
// evidence, as logs tell whole seconds.
const leastPreparing = 3 * time.Second

// learnPreparing notes, from the first run of somebody else's benchmark that tells, how
// long it prepares before it puts its load on, unless kasoku.yaml says that: the evidence
// of later runs is of its load. It also notes whose tables are made anew meanwhile, which
// later runs do not see.
func (b *Bench) learnPreparing(ev *evidence.Evidence) {
	if !b.Foreign() || b.Stack.Load.Command.Warmup > 0 || b.benchmark.prepares > 0 {
		return
	}
	for name, c := range ev.Counters {
		if c.Delta["Com_create_table"] > 0 && c.Delta["Com_drop_table"]+c.Delta["Com_drop_db"] > 0 {
			if b.benchmark.remade == nil {
				b.benchmark.remade = map[string]bool{}
			}
			b.benchmark.remade[name] = true
		}
	}
	if ev.Preparing < leastPreparing || ev.Preparing > ev.Load.Window/2 {
		return
	}
	b.benchmark.prepares = ev.Preparing - time.Second
	b.note(fmt.Sprintf("load.command prepares for %.0f s before its load comes: later runs' evidence leaves that out (load.command.warmup in kasoku.yaml says otherwise)", b.benchmark.prepares.Seconds()))
}

// serviceCPUs counts the CPUs of all hosts that services use.
func serviceCPUs(ev *evidence.Evidence) int {
	n := ev.System.CPUs
	for _, sys := range ev.Hosts {
		if sys.ServicesCPU > 0 {
			n += sys.CPUs
		}
	}
	return n
}
