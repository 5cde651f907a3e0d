package load

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// run is one Run under way.
type run struct {
	ctx      context.Context
	opts     Options
	target   *target
	meter    *meter
	statics  *statics
	samples  samples
	perms    []permutation // by pool
	shares   uint64        // that unique pools are divided into
	hostLine []byte
	users    []*user

	stop      chan struct{} // closed when the window is over
	stopped   atomic.Bool   // the same, cheaper to ask
	cancelled atomic.Bool
}

// Run puts the scenario's load on the target and measures one window. It ends
// soon after ctx does, with its error. Otherwise it lasts at most the setup,
// warm-up, window and teardown, each request bounded by its time-out.
//
// An error means that there is no result: the options are wrong, the target
// is not allowed, a setup step failed, or ctx ended. Wrong answers and broken
// connections are not errors but counts in the Result.
func Run(ctx context.Context, opts Options) (*Result, error) {
	res, _, err := execute(ctx, opts)
	return res, err
}

// execute is Run; it also returns how many rows of each pool were used.
func execute(ctx context.Context, opts Options) (*Result, []uint64, error) {
	r, err := newRun(ctx, opts)
	if err != nil {
		return nil, nil, err
	}
	defer context.AfterFunc(ctx, r.interrupt)()
	res, err := r.drive()
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("run of scenario %s stopped: %w", r.opts.Scenario.Name, ctx.Err())
	}
	if err != nil {
		return nil, nil, err
	}
	return res, r.rowsUsed(), nil
}

func newRun(ctx context.Context, opts Options) (*run, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	t, err := newTarget(ctx, opts.URL, opts.Allow)
	if err != nil {
		return nil, err
	}
	sc := opts.Scenario
	// Twice as many shards as can be held at once keeps the locks mostly free.
	shards := min(2*runtime.GOMAXPROCS(0), opts.Workload)
	r := &run{ctx: ctx, opts: opts, target: t, meter: newMeter(shards, len(sc.routes), opts.Window, opts.Warmup),
		statics: newStatics(len(sc.assets)), shares: uint64(opts.Workload) + sc.extraShares(),
		hostLine: []byte("Host: " + t.host + "\r\n"), stop: make(chan struct{})}
	for _, p := range sc.pools {
		r.perms = append(r.perms, newPermutation(p.rows, opts.Seed+uint64(p.index)<<32))
	}
	for i := range opts.Workload + 2 { // the last two do setup and teardown
		var s *shard
		if i < opts.Workload {
			s = &r.meter.shards[i%shards]
		}
		r.users = append(r.users, newUser(r, i, s))
	}
	return r, nil
}

// extraShares of unique pools: two if setup or teardown draws.
func (s *Scenario) extraShares() uint64 {
	for _, once := range []*session{s.setup, s.teardown} {
		for i := range once.steps {
			if len(once.steps[i].draws) > 0 {
				return 2
			}
		}
	}
	return 0
}

// over reports whether users shall stop.
func (r *run) over() bool { return r.stopped.Load() || r.cancelled.Load() }

// interrupt ends everything under way, because ctx ended.
func (r *run) interrupt() {
	r.cancelled.Store(true)
	for _, u := range r.users {
		u.interrupt()
	}
}

// drive goes through the phases.
func (r *run) drive() (*Result, error) {
	o, m, sc := &r.opts, r.meter, r.opts.Scenario
	o.Progress(m.progress(PhaseSetup, m.now(), 0))
	setup, teardown := r.users[o.Workload], r.users[o.Workload+1]
	if !r.once(setup, sc.setup) {
		return nil, r.setupError(setup)
	}
	var running sync.WaitGroup
	m.plan = m.now() + o.Warmup
	for _, u := range r.users[:o.Workload] {
		for slot := range sc.globals {
			u.vars[slot] = append([]byte(nil), setup.vars[slot]...)
		}
		running.Go(u.loop)
	}
	defer running.Wait()
	defer r.end()
	if !r.wait(PhaseWarmup, o.Warmup) {
		return nil, r.ctx.Err()
	}
	o.Progress(m.progress(PhaseMeasure, m.now(), o.Window))
	before := readGenerator()
	started := time.Now()
	m.begin.Store(int64(m.now()))
	if !r.wait(PhaseMeasure, o.Window) {
		return nil, r.ctx.Err()
	}
	r.end()
	used := readGenerator().since(before)
	o.Progress(m.progress(PhaseTeardown, m.now(), 0))
	running.Wait()
	for slot := range sc.globals {
		teardown.vars[slot] = setup.vars[slot]
	}
	failed := !r.once(teardown, sc.teardown)
	return r.result(started, used, failed), nil
}

// end tells the users that the window is over.
func (r *run) end() {
	if r.stopped.CompareAndSwap(false, true) {
		close(r.stop)
	}
}

// once does setup or teardown.
func (r *run) once(u *user, s *session) bool {
	defer u.disconnect()
	return u.session(s)
}

func (r *run) setupError(u *user) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	for _, m := range r.samples.sorted() {
		return fmt.Errorf("setup step %q failed: %s: expected %s, got %s; no load was sent", m.Step, m.Request, m.Expected, m.Got)
	}
	return fmt.Errorf("setup failed: %s", u.why.got)
}

// wait lets a phase last, reporting progress; false if ctx ended.
func (r *run) wait(phase Phase, length time.Duration) bool {
	since := r.meter.now()
	if phase == PhaseWarmup {
		r.opts.Progress(r.meter.progress(phase, since, length))
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-tick.C:
			r.opts.Progress(r.meter.progress(phase, since, length))
		}
	}
}

func (r *run) result(started time.Time, used generator, failed bool) *Result {
	o := &r.opts
	if failed {
		r.meter.shards[0].late++
	}
	res := &Result{Scenario: o.Scenario.Name, Workload: o.Workload, Seed: o.Seed, Started: started, Warmup: o.Warmup, Window: o.Window}
	r.meter.result(res, o.Scenario)
	res.Samples = r.samples.sorted()
	res.Assets = r.statics.samples(r.users)
	res.GeneratorCPU = used.own
	res.Saturated = used.saturated(o.Window, res.Latency.P50, r.target.onMachine)
	return res
}

// recorded gathers one set over all users.
func (r *run) recorded(name string) map[string]bool {
	all := map[string]bool{}
	for i, set := range r.opts.Scenario.sets {
		if set != name {
			continue
		}
		for _, u := range r.users {
			m, begin := &u.memory[i], 0
			for _, end := range m.ends {
				all[string(m.data[begin:end])] = true
				begin = end
			}
		}
	}
	return all
}

// rowsUsed is how far each pool was drawn from, in rows.
func (r *run) rowsUsed() []uint64 {
	used := make([]uint64, len(r.perms))
	for i := range used {
		for _, u := range r.users {
			used[i] = max(used[i], u.cursor[i]*r.shares)
		}
	}
	return used
}
