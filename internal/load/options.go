package load

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Options of one run.
type Options struct {
	Scenario *Scenario
	// URL is the base: http://host:port, https://host:port or
	// http+unix:///path/to/socket. It must be this machine, or in Allow.
	URL string
	// Workload is the number of virtual users; 0: the scenario's.
	Workload int
	// Warmup before the window is the most that it lasts: it ends when the
	// service is steady (settling), not before 300 ms. 0: the scenario's,
	// negative: none. FixedWarmup: it lasts exactly that long.
	Warmup      time.Duration
	FixedWarmup bool
	// LeastWarmup: it does not end before, also where Warmup is less.
	LeastWarmup time.Duration
	// Window is the measured time; 0: the scenario's.
	Window time.Duration
	// Seed of everything random; 0: the scenario's.
	Seed uint64
	// Allow lists addresses or networks (CIDR) besides this machine's own.
	Allow []string
	// SkipTLSVerify takes any certificate of a target elsewhere; on this machine any is taken.
	SkipTLSVerify bool
	// Arrivals plan when sessions begin (open model); nil: the scenario's
	// arrivals, and without them the closed model. In the open model Workload
	// is how many sessions may be under way at once.
	Arrivals *Arrivals
	// Engine: EngineAuto, EngineEpoll, EngineNet or EngineHTTP2; docs/adr/0006
	// has the measurement behind the choice.
	Engine Engine
	// Loops is the number of epoll loops, one processor each; 0: one for each
	// four processors.
	Loops int
	// Progress is called at the begin of every phase and then about every
	// 250 ms, always from the same goroutine as Run. The call with PhaseMeasure
	// returns before the window begins; the first with PhaseTeardown comes
	// right after it ended, even if there is nothing to tear down.
	Progress func(Progress)
	// Reset brings the data back to the state that a run starts from.
	// FindWorkload calls it before each of its runs; Run does not.
	Reset func(context.Context) error

	// Enough ends a run early when it is closed: users finish the requests that they
	// have under way, so that the service has nothing left to do, and Run returns
	// ErrEnough. nil: never.
	Enough <-chan struct{}

	// Rows remembers which rows of unique pools were drawn: the run begins after
	// them and adds its own. nil: every run begins with the first row, which is
	// right if Reset or its like ran before.
	Rows Rows

	// firstRow moves the start in unique pools: rows used before, by pool.
	firstRow []uint64
}

// ErrEnough is what a run ends with that Options.Enough ended: there is no result.
var ErrEnough = errors.New("the run was ended before its window was over")

// Engine is a way to move bytes; the scenario and its checks are the same.
type Engine string

// The engines. EngineAuto takes EngineEpoll for plain HTTP/1.1 over TCP and
// unix sockets, and EngineNet for TLS.
const (
	EngineAuto  Engine = ""
	EngineEpoll Engine = "epoll" // own event loop on raw sockets
	EngineNet   Engine = "net"   // a goroutine and a net.Conn for each user
	EngineHTTP2 Engine = "http2" // as net, HTTP/2 by net/http; h2c without TLS
)

// Phase of a run.
type Phase string

// The phases in their order. Each occurs once in every run that is not
// cancelled.
const (
	PhaseSetup    Phase = "setup"
	PhaseWarmup   Phase = "warm-up"
	PhaseMeasure  Phase = "measure"
	PhaseTeardown Phase = "teardown"
)

// Progress of a run under way. Counts are of the present phase; in the
// teardown they are those of the window.
type Progress struct {
	Phase     Phase
	Elapsed   time.Duration // since the phase began
	Length    time.Duration // of the phase as planned; 0: not known
	Window    time.Duration // that is or will be measured; 0: not known
	Succeeded int64
	Failed    int64 // wrong answers, errors and time-outs
	// RequestsPerSecond is right answers per second of the phase so far.
	RequestsPerSecond float64
	P50, P99          time.Duration
	// Planned and Dropped sessions of the open model; 0 in the closed one.
	Planned, Dropped int64
	GeneratorCPU     time.Duration // CPU time this process used since the run began
}

// Left is the time until the window ends, in the warm-up the most that it may
// be, because that ends when throughput is steady; 0: not known.
func (p Progress) Left() time.Duration {
	switch {
	case p.Phase == PhaseMeasure && p.Length > 0:
		return max(0, p.Length-p.Elapsed)
	case p.Phase == PhaseWarmup && p.Window > 0:
		return max(0, p.Length-p.Elapsed) + p.Window
	}
	return 0
}

// progressEvery is how often Progress is called.
const progressEvery = 250 * time.Millisecond

// complete fills in what the scenario says and checks the rest.
func (o Options) complete() (Options, error) {
	if o.Scenario == nil {
		return o, errors.New("load: no scenario given")
	}
	if o.Arrivals == nil {
		o.Arrivals = o.Scenario.Arrivals
	}
	if err := o.Arrivals.check(len(o.Scenario.sessions)); err != nil {
		return o, err
	}
	if o.Loops < 0 || o.Loops > maxLoops {
		return o, fmt.Errorf("loops is %d; write a number from 1 to %d, or 0 to leave it to Kasoku", o.Loops, maxLoops)
	}
	if o.Workload == 0 {
		o.Workload = o.Scenario.Workload
	}
	if o.Workload < 1 || o.Workload > maxWorkload {
		return o, fmt.Errorf("workload is %d; write a number of users from 1 to %d", o.Workload, maxWorkload)
	}
	if o.Warmup == 0 {
		o.Warmup = o.Scenario.Warmup
	}
	o.Warmup = max(o.Warmup, o.LeastWarmup, 0)
	if o.Window == 0 {
		o.Window = o.Scenario.Duration
	}
	if o.Window <= 0 || o.Window > maxWindow || o.Warmup > maxWindow {
		return o, fmt.Errorf("window is %s and warm-up %s; write durations up to %s, and a window above 0", o.Window, o.Warmup, maxWindow)
	}
	if o.Seed == 0 {
		o.Seed = o.Scenario.Seed
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o, nil
}

// maxLoops: more threads than any one machine needs for load.
const maxLoops = 256

// engine chooses how bytes are moved to a target.
func (o *Options) engine(t *target) (Engine, error) {
	switch o.Engine {
	case EngineAuto:
		if t.tls != nil {
			return EngineNet, nil
		}
		return EngineEpoll, nil
	case EngineEpoll:
		if t.tls != nil {
			return "", errors.New("the engine epoll speaks no TLS; leave the engine to Kasoku, or use net")
		}
		return EngineEpoll, nil
	case EngineNet, EngineHTTP2:
		return o.Engine, nil
	}
	return "", fmt.Errorf("there is no engine %q; write epoll, net or http2, or leave it to Kasoku", o.Engine)
}
