package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/tune"
	"kasoku/internal/web"
)

const (
	// viewersBar is the most that five viewers and a slow one may take of the
	// throughput, and of the machine's CPU time.
	viewersBar = 0.005
	// dashboards that are watched at once, by so many viewers each: what one costs
	// is less than what runs differ by, and ten cost ten times as much.
	dashboards = 10
	// steps of the session that they look at: as many as one of an hour has.
	steps = 20
	// cpuBlock of seconds with or without viewers, cpuBlocks of each.
	cpuBlock  = 10
	cpuBlocks = 3
	// fiveASecond is the pace of a feed (tune's stateEvery).
	fiveASecond = 200 * time.Millisecond
	// oneStep is how often a step ends; the pages come again then. It takes three
	// pairs of runs of a second or more.
	oneStep = 10 * time.Second
)

// shown is what the dashboards show of a run under way.
type shown struct {
	all     []*web.Running
	session int64

	mu      sync.Mutex
	last    tune.Live
	begin   time.Time     // of the measured window; zero: not yet
	started chan struct{} // closed when it begins
	longest time.Duration // that one Publish took
}

// publish passes a moment of the run on and times that.
func (s *shown) publish(l tune.Live) {
	l.Session, l.Steps = s.session, steps
	s.mu.Lock()
	s.last = l
	if l.Load != nil && l.Load.Phase == load.PhaseMeasure && s.begin.IsZero() {
		s.begin = time.Now().Add(-l.Load.Elapsed)
		close(s.started)
	}
	s.mu.Unlock()
	s.timed(l)
}

func (s *shown) timed(l tune.Live) {
	for _, x := range s.all {
		from := time.Now()
		x.Publish(l)
		took := time.Since(from)
		s.mu.Lock()
		s.longest = max(s.longest, took)
		s.mu.Unlock()
	}
}

// viewers measures what five viewers and one that does not read cost a run, as
// a tenth of what those of ten dashboards cost: by one long run during which they
// come and go, of which the CPU time for each answer varies less than the
// throughput, and by the CPU time of who serves them, which tells far smaller
// costs. Where the CPU binds, the throughput is what CPU there is by what an
// answer takes (utilization law).
func (c *login) viewers(ctx context.Context, pairs int) (bool, error) {
	session, err := c.someSession(ctx)
	if err != nil {
		return false, err
	}
	state := filepath.Join(c.dir, ".kasoku")
	db, err := store.Open(state) // as tune --web has its own
	if err != nil {
		return false, err
	}
	defer db.Close()
	s := &shown{session: session, started: make(chan struct{})}
	var urls []string
	for range dashboards {
		x, err := web.Start(ctx, web.StartOptions{Listen: "127.0.0.1:0", Options: web.Options{Stack: c.bench.Stack.Name, Store: db, Dir: state, Rule: experiment.DefaultRule()}})
		if err != nil {
			return false, err
		}
		defer x.Stop()
		s.all, urls = append(s.all, x), append(urls, x.URL)
	}
	who, err := newAudience(ctx, urls)
	if err != nil {
		return false, err
	}
	defer who.close()
	run, err := c.watchedRun(ctx, s, who, pairs)
	if err != nil {
		return false, err
	}
	cpu, err := c.watchedCPU(ctx, s, who)
	if err != nil {
		return false, err
	}
	fmt.Printf("with %d viewers and a slow one, a tenth of %d dashboards with as many each (95 %%, %d pairs of %d s; bar: %.1f %% each):\n",
		manyViewers, dashboards, pairs, block, 100*viewersBar)
	least, most := run.loss-run.lossHalf, run.loss+run.lossHalf
	fmt.Printf("loss of throughput, the viewers' own CPU time in it: %.2f %% (%+.2f to %+.2f)\n", 100*run.loss, 100*least, 100*most)
	fmt.Printf("CPU time of the machine for each right answer, without the viewers' own: %+.2f %% ± %.2f\n", 100*run.cpu, 100*run.cpuHalf)
	fmt.Printf("CPU time to serve them: %.3f %% of the machine's\n", 100*cpu)
	fmt.Printf("the longest that a moment held the run up: %s\n", s.longest)
	if least <= viewersBar && most > viewersBar {
		fmt.Println("not judged by the throughput: its interval holds the bar; more -pairs make it narrower")
	}
	return most <= viewersBar && run.cpu-run.cpuHalf <= viewersBar && cpu <= viewersBar, nil
}

// someSession stores a session as one of an hour leaves it, with the evidence
// of a real run.
func (c *login) someSession(ctx context.Context) (int64, error) {
	run, _, err := tune.Observe(ctx, c.exec, c.bench, c.bench.Users(), "to be looked at", silent{})
	if err != nil {
		return 0, err
	}
	x := &store.Session{Command: "tune", Stack: c.bench.Stack.Name, Started: time.Now(), Budget: time.Hour, State: "running", AsFound: 100, AsFoundRun: run.ID, FinalRun: run.ID}
	if err := c.bench.Store.SaveSession(x); err != nil {
		return 0, err
	}
	for n := range steps {
		if err := c.someStep(x.ID, n+1); err != nil {
			return 0, err
		}
	}
	c.bench.Stamp.Session = x.ID
	return x.ID, nil
}

func (c *login) someStep(session int64, seq int) error {
	v := experiment.Verdict{Outcome: experiment.NoDifference, Reason: "an effect above +2 % is unlikely", Effect: 0.004, Low: -0.01, High: 0.018, Pairs: 12, Runs: 24, BaselineScore: 100, CandidateScore: 100.4}
	for n := range v.Runs {
		side := experiment.Baseline
		if n%2 == 1 {
			side = experiment.Candidate
		}
		v.Samples = append(v.Samples, experiment.Sample{Side: side, Pair: n / 2, Score: 98 + 4*rand.Float64()}) //nolint:gosec // no secret
	}
	return c.bench.Store.SaveStep(&store.Step{Session: session, Seq: seq, Started: time.Now(), Ended: time.Now(), Verdict: v,
		Plan:  remedy.Plan{ID: fmt.Sprint("step-", seq), Title: fmt.Sprintf("Raise worker_connections to %d", 512*seq), Why: "nginx has few connections for each worker.", Bound: 1.2},
		Diffs: []store.Diff{{Kind: "file", Title: "/etc/nginx/nginx.conf", Text: "@@ -1 +1 @@\n-worker_connections 512;\n+worker_connections 1024;\n"}}})
}

// watched is what the viewers of one dashboard cost a run: shares with
// half-widths of their 95 % intervals.
type watched struct {
	loss, lossHalf float64 // of the throughput
	cpu, cpuHalf   float64 // more CPU time of the machine for each right answer
}

// watchedRun is one long run in which the viewers are there and gone in turn.
func (c *login) watchedRun(ctx context.Context, s *shown, who *audience, pairs int) (watched, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	var failed error
	used := make([]time.Duration, 2*pairs)
	work.Go(func() {
		if failed = s.inTurns(ctx, who, used); failed != nil {
			cancel()
		}
	})
	c.bench.Window = time.Duration(pairs*2*block) * time.Second
	stop := c.bench.Watch(ctx, s.publish)
	run, err := c.bench.Run(ctx, tune.RunOptions{Kind: store.Probe, Label: "with and without viewers", Workload: c.bench.Users()})
	cancel()
	work.Wait()
	stop()
	if failed != nil && !isCancel(failed) {
		return watched{}, failed
	}
	if err != nil {
		return watched{}, err
	}
	res := run.Evidence.Load
	if res.Mismatches > res.Requests/10000 {
		return watched{}, fmt.Errorf("%d wrong answers; the first: %+v", res.Mismatches, res.Samples[0])
	}
	var w watched
	less, half := turns(pairs, func(n int) float64 { return answers(res, n) })
	w.loss, w.lossHalf = -less/dashboards, half/dashboards
	more, half := turns(pairs, func(n int) float64 { return used[n].Seconds() / answers(res, n) })
	w.cpu, w.cpuHalf = more/dashboards, half/dashboards
	return w, who.set(false)
}

// inTurns sends the viewers in and out from the begin of the window on, and
// notes the CPU time that everything but them uses in each block.
func (s *shown) inTurns(ctx context.Context, who *audience, used []time.Duration) error {
	select {
	case <-s.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	for n := range used {
		from := s.begin.Add(time.Duration(n*block) * time.Second)
		if err := until(ctx, from); err != nil {
			return err
		}
		if err := who.set(on(n)); err != nil {
			return err
		}
		var err error
		if used[n], err = usage(ctx, from, who.cmd.Process.Pid); err != nil {
			return err
		}
	}
	return nil
}

// watchedCPU is the share of the machine's CPU time that this process uses more
// while one dashboard is watched: moments at a feed's pace and a step now and then, in
// turns of some seconds, without a load.
func (c *login) watchedCPU(ctx context.Context, s *shown, who *audience) (float64, error) {
	var with, without time.Duration
	seq := steps
	for n := range 2 * cpuBlocks {
		watched := n%2 == 0 == (n/2%2 == 0) // ABBA
		if err := who.set(watched); err != nil {
			return 0, err
		}
		from := processCPU()
		end := time.Now().Add(cpuBlock * time.Second)
		step := time.Now().Add(oneStep / 2)
		for time.Now().Before(end) {
			if time.Now().After(step) {
				seq++
				if err := c.someStep(s.session, seq); err != nil {
					return 0, err
				}
				step = step.Add(oneStep)
			}
			l := s.last
			l.Steps = seq
			s.timed(l)
			if err := until(ctx, time.Now().Add(fiveASecond)); err != nil {
				return 0, err
			}
		}
		if used := processCPU() - from; watched {
			with += used
		} else {
			without += used
		}
	}
	fmt.Printf("CPU time of %d s: %s with the viewers of %d dashboards, %s without\n", cpuBlocks*cpuBlock, with, dashboards, without)
	return (with - without).Seconds() / (cpuBlocks * cpuBlock) / float64(runtime.NumCPU()) / dashboards, who.set(false)
}

// processCPU is what this process has used so far (getrusage(2)).
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
