package load

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// run is one Run under way.
type run struct {
	ctx      context.Context
	opts     Options
	target   *target
	meter    *meter
	statics  *statics
	pages    pages
	found    *assetMemory // what pages and style sheets refer to
	samples  samples
	perms    []permutation   // by pool
	shares   uint64          // that unique pools are divided into
	sequence []atomic.Uint64 // rows drawn from sequential pools
	draws    []uint64        // open model: rows that one session may draw, by pool
	mix      mix             // which session comes when
	hostLine []byte
	added    []byte          // further header lines, with their ends
	recorder *goldenRecorder // Record
	fixed    []*fixedRequest // by serial number; nil: built each time
	users    []*user

	plan     *plan // open model
	slack    time.Duration
	patience time.Duration // how long a planned session may wait for a user

	engine    Engine
	loops     []*loop
	goroutine []*blocking
	setup     *blocking
	teardown  *blocking

	engaged, most atomic.Int64 // users with a planned session: now, and at most

	stop      chan struct{} // closed when the window is over
	stopped   atomic.Bool   // the same, cheaper to ask
	cancelled atomic.Bool
	exhausted atomic.Pointer[string] // what the machine had no more of
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
	defer r.close()
	defer context.AfterFunc(ctx, r.interrupt)()
	res, err := r.drive()
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("run of scenario %s stopped: %w", r.opts.Scenario.Name, ctx.Err())
	}
	if err != nil {
		return nil, nil, err
	}
	used := r.rowsUsed()
	if r.opts.Rows != nil {
		r.opts.Rows.note(r.opts.Scenario, used)
	}
	return res, used, nil
}

func newRun(ctx context.Context, opts Options) (*run, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	t, err := newTarget(ctx, opts.URL, opts.Allow, opts.SkipTLSVerify)
	if err != nil {
		return nil, err
	}
	sc := opts.Scenario
	if opts.Rows != nil && opts.firstRow == nil {
		opts.firstRow = opts.Rows.of(sc)
	}
	r := &run{ctx: ctx, opts: opts, target: t, found: newAssetMemory(t.inside), statics: newStatics(len(sc.assets)), shares: uint64(opts.Workload) + sc.extraShares(),
		sequence: make([]atomic.Uint64, len(sc.pools)), hostLine: []byte("Host: " + t.host + "\r\n"), stop: make(chan struct{}),
		patience: sc.Timeout}
	if r.engine, err = opts.engine(t); err != nil {
		return nil, err
	}
	for _, p := range sc.pools {
		r.perms = append(r.perms, newPermutation(p.rows, opts.Seed+uint64(p.index)<<32))
	}
	shards := r.shardCount()
	open := opts.Arrivals != nil
	r.meter = newMeter(shards, len(sc.routes), opts.Window, opts.Warmup, open)
	r.meter.silent = sc.score.silent()
	r.meter.limit(&sc.score)
	r.mix = newMix(sc, opts.Seed, uint64(opts.Workload))
	if open {
		r.plan, r.slack, r.draws = newPlan(r.meter, opts.Arrivals, opts.Seed), opts.Arrivals.slack(), sc.drawsOf()
	}
	r.fixRequests()
	for i := range opts.Workload + 2 { // the last two do setup and teardown
		var s *shard
		if i < opts.Workload {
			s = &r.meter.shards[i%shards]
		}
		r.users = append(r.users, newUser(r, i, s))
	}
	return r, r.hire()
}

// shardCount: one for each loop; else twice as many as can be held at once,
// which keeps the locks mostly free.
func (r *run) shardCount() int {
	if r.engine != EngineEpoll {
		return min(2*runtime.GOMAXPROCS(0), r.opts.Workload)
	}
	n := r.opts.Loops
	if n == 0 {
		n = runtime.GOMAXPROCS(0) / 4
	}
	return min(max(n, 1), r.opts.Workload)
}

// hire makes the drivers.
func (r *run) hire() error {
	users := r.users[:r.opts.Workload]
	r.setup, r.teardown = r.newBlocking(r.users[len(users)]), r.newBlocking(r.users[len(users)+1])
	if r.engine != EngineEpoll {
		for _, u := range users {
			r.goroutine = append(r.goroutine, r.newBlocking(u))
		}
		return nil
	}
	shards := len(r.meter.shards)
	for i := range shards {
		var own []*user
		for j := i; j < len(users); j += shards {
			own = append(own, users[j])
		}
		l, err := newLoop(r, own, &r.meter.shards[i])
		if err != nil {
			r.close()
			return fmt.Errorf("start the load engine: %w", err)
		}
		r.loops = append(r.loops, l)
	}
	return nil
}

func (r *run) newBlocking(u *user) *blocking {
	b := newBlocking(u)
	if r.engine == EngineHTTP2 {
		b.http2, b.exchange = &http2Client{}, exchangeHTTP2
	}
	return b
}

func (r *run) close() {
	for _, l := range r.loops {
		l.close()
	}
}

// over reports whether users shall stop.
func (r *run) over() bool { return r.stopped.Load() || r.cancelled.Load() }

// interrupt ends everything under way, because ctx ended.
func (r *run) interrupt() {
	r.cancelled.Store(true)
	for _, l := range r.loops {
		l.wake()
	}
	for _, b := range append(r.goroutine, r.setup, r.teardown) {
		b.interrupt()
	}
}

// trouble notes an error that is the generator's own: the machine has no more
// of something.
func (r *run) trouble(err error) {
	var text string
	switch {
	case errors.Is(err, syscall.EMFILE):
		text = "the generator ran out of file descriptors (EMFILE); raise the limit (ulimit -n) or lower the workload"
	case errors.Is(err, syscall.ENFILE):
		text = "the machine ran out of file descriptors (ENFILE); raise fs.file-max or lower the workload"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		text = "the generator ran out of local ports (EADDRNOTAVAIL); widen net.ipv4.ip_local_port_range, or keep connections alive"
	case errors.Is(err, syscall.ENOBUFS), errors.Is(err, syscall.ENOMEM):
		text = "the generator ran out of memory for sockets; lower the workload"
	default:
		return
	}
	r.exhausted.CompareAndSwap(nil, &text)
}

// drive goes through the phases.
func (r *run) drive() (*Result, error) {
	o, m, sc := &r.opts, r.meter, r.opts.Scenario
	o.Progress(m.progress(PhaseSetup, m.now(), 0))
	setup, teardown := r.setup.user, r.teardown.user
	if !r.setup.once(sc.setup) {
		return nil, r.setupError(setup)
	}
	m.first = m.now()
	for _, u := range r.users[:o.Workload] {
		for slot := range sc.globals {
			u.vars[slot] = append([]byte(nil), setup.vars[slot]...)
		}
	}
	if len(r.loops) == 1 {
		defer withSpare()()
	}
	first := readGenerator()
	var running sync.WaitGroup
	for _, l := range r.loops {
		running.Go(l.work)
	}
	for _, l := range r.loops {
		<-l.ready
	}
	for _, b := range r.goroutine {
		running.Go(b.work)
	}
	defer running.Wait()
	defer r.end()
	warm, ok := r.warmUp(first)
	if !ok {
		return nil, r.cut()
	}
	o.Progress(r.progress(PhaseMeasure, m.now(), o.Window, first))
	before := r.readGenerator()
	started := time.Now()
	m.begin.Store(int64(m.now()))
	r.wakeLoops()
	if !r.wait(PhaseMeasure, o.Window, first) {
		return nil, r.cut()
	}
	used := r.readGenerator().since(before)
	r.end()
	o.Progress(r.progress(PhaseTeardown, m.now(), 0, first))
	running.Wait()
	for _, l := range r.loops {
		if l.err != nil && r.ctx.Err() == nil {
			return nil, fmt.Errorf("load engine: %w", l.err)
		}
	}
	for slot := range sc.globals {
		teardown.vars[slot] = setup.vars[slot]
	}
	failed := !r.teardown.once(sc.teardown)
	return r.result(started, used, failed, warm), nil
}

// cut says what ended a phase early.
func (r *run) cut() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return ErrEnough
}

// end tells the users that the window is over.
func (r *run) end() {
	if r.stopped.CompareAndSwap(false, true) {
		close(r.stop)
		r.wakeLoops()
	}
}

// engage counts a user that begins a planned session.
func (r *run) engage() {
	n := r.engaged.Add(1)
	for most := r.most.Load(); n > most && !r.most.CompareAndSwap(most, n); most = r.most.Load() {
	}
}

func (r *run) wakeLoops() {
	for _, l := range r.loops {
		l.wake()
	}
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

// progress is the meter's with what only the run knows.
func (r *run) progress(phase Phase, since, length time.Duration, first generator) Progress {
	p := r.meter.progress(phase, since, length)
	p.GeneratorCPU, p.Window = readGenerator().own-first.own, r.opts.Window
	if r.plan != nil && phase != PhaseSetup {
		p.Planned, p.Dropped = r.plan.sofar()
	}
	return p
}

// wait lets a phase last, reporting progress; false if ctx or Options.Enough ended it.
func (r *run) wait(phase Phase, length time.Duration, first generator) bool {
	since := r.meter.now()
	if phase == PhaseWarmup {
		r.opts.Progress(r.progress(phase, since, length, first))
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return false
		case <-r.opts.Enough:
			return false
		case <-timer.C:
			return true
		case <-tick.C:
			r.opts.Progress(r.progress(phase, since, length, first))
		}
	}
}

func (r *run) result(started time.Time, used generator, failed bool, warm warmth) *Result {
	o := &r.opts
	if failed {
		r.meter.shards[0].late++
	}
	res := &Result{Scenario: o.Scenario.Name, ScenarioHash: o.Scenario.hash, Workload: o.Workload, Seed: o.Seed, Started: started, Warmup: o.Warmup, Window: o.Window,
		Engine: string(r.engine)}
	if r.plan != nil {
		res.Open = r.meter.open(r.plan.planned(r.slack))
		res.Open.MaxUsers = int(r.most.Load())
		for _, l := range r.loops {
			res.Open.MaxUsers += l.most
		}
	}
	r.meter.result(res, o.Scenario)
	r.visited(res, time.Since(r.meter.base))
	warm.told(res, o.Arrivals)
	res.Samples = r.samples.sorted()
	res.Refusals = refusalsOf(r.users, o.Scenario.routes)
	res.Assets = r.statics.samples(r.users)
	res.Pages, res.TellingHeaders = r.pages.samples(r.users), o.Scenario.OwnHeaders()
	res.TakesBrotli = o.Scenario.TakesBrotli()
	res.GeneratorCPU = used.own
	res.Saturated = r.saturated(res, used)
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
