package tune

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/rewind"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// Bench measures runs of one stack and stores them. The load, and the command
// that resets the data, are this machine's.
type Bench struct {
	Stack    *stack.Stack
	Hosts    map[string]host.Host
	Scenario *load.Scenario // nil with load.command
	Store    *store.Store
	Stamp    Stamp // of each run
	// Window and Warmup override the scenario's when not 0.
	Window, Warmup time.Duration
	Instruments    Instruments // of diagnostic runs
	Listeners      Listeners
	Data           Data

	scored      scored
	disturbance disturbance
	benchmark   benchmark
	// pace is how long runs of experiments are; nil: as the scenario says.
	pace *experiment.Pace
	// instead makes runs up, without load and collectors; tests set it.
	instead func(ctx context.Context, o RunOptions) (*store.Run, error)
}

// Stamp is what each run is stored with beside what it showed.
type Stamp struct {
	Session int64
	// ConfigHash of what is in place, set by the loop.
	ConfigHash string
}

// Instruments are what diagnostic runs use beside the statement log, and what they have
// seen for the next ones.
type Instruments struct {
	// Walk is how long single requests may be followed; 0: 20 s, the most.
	Walk time.Duration
	// Plain leaves out all instruments but the statement log: profiles and the access
	// log.
	Plain bool
	// Unwalked leaves out following single requests alone.
	Unwalked bool
	// restarts are restarts of services that a session may do, and those that it may
	// not, with the reason; nil: nothing is restarted to see more.
	restarts func() ([]change.Change, []store.NotRestarted)
	exec     *change.Executor // that does them
	// goProfiles are the latest CPU profiles of Go programs, by service.
	goProfiles map[string][]byte
	// unkept are pages, by URL, that were too old when a cache kept them, with what was
	// seen.
	unkept map[string]string
}

// Listeners are told what runs do; each may be nil.
type Listeners struct {
	// Note is told what a run waits for, Inform what is no problem.
	Note   func(string)
	Inform func(string)
	// Progress is called about four times a second while load runs.
	Progress func(load.Progress)
	feed     *feed // of those who watch
	// refused: they were told of answers that say that they failed.
	refused bool
}

// Data is what is known of the data that runs use, and of how it is put back before each.
type Data struct {
	// Dir is where the copy of load.reset: snapshot lies; empty: the system's folder for
	// temporary files.
	Dir string
	// keeper has what load.reset: snapshot puts back; rewound: it was said how long
	// that takes.
	keeper  *rewind.Keeper
	rewound bool
	// suspected: it was said that the data may be what is wrong.
	suspected bool
	// drawn are the rows of pools that runs without a reset have used up.
	drawn load.Rows
}

// scored is what scored runs have shown so far.
type scored struct {
	// reference is the last fit one of the configuration in place: what throughput and
	// CPU are without a diagnostic run's instruments. sides are the last fit ones of an
	// experiment, before is the last fit one of whichever side.
	reference *store.Run
	sides     map[experiment.Side]*store.Run
	before    *store.Run
	// users that runs have where the scenario says none; 0: as it assumes. forgiving: they
	// have no penalties. settled: that stays, since runs are compared with earlier ones.
	users              int
	forgiving, settled bool
	// wrong of asked answers were wrong in all runs of what was in place.
	wrong, asked int64
	// erred is the largest share (0–1) of errors of the server in a run before the first
	// experiment, with somebody else's benchmark; known if errors is set.
	erred float64
	// deadlocks is what a run of the service as left told of transactions that were rolled back
	// where more answers were errors than as found; "" where none did.
	deadlocks string
	errors    bool
}

// disturbance is what else than the stack uses the machines.
type disturbance struct {
	// noisy is set after a run that was no evidence because of others: the next one
	// waits for them to end.
	noisy bool
	// steal is what other virtual machines take as a rule, others what processes
	// outside the stack do.
	steal, others stealing
	// restless: services use CPU without load, all the time.
	restless bool
	// unhelped: a restart of the applications does not end what is left, or may not be.
	unhelped bool
	// working is how many CPUs the services use over a second; nil: they are asked.
	working func(ctx context.Context) (float64, error)
}

// benchmark is what runs have told of somebody else's benchmark (load.command).
type benchmark struct {
	// took is its longest run so far, users how many the last run had; assumed: nobody
	// told.
	took    time.Duration
	users   int
	assumed bool
	perRun  bool // scores are points of a whole run (load.Result)
	// prepares is how long it was seen to prepare, remade the databases whose tables are
	// made anew meanwhile; see learnPreparing.
	prepares time.Duration
	remade   map[string]bool
}

// RunOptions of one run.
type RunOptions struct {
	Kind     string // store.Scored …
	Side     experiment.Side
	Step     int64
	Label    string
	Workload int // 0: the scenario's
	// Window of this run; 0: as chosen for all.
	Window time.Duration
	// Heat: the warm-up lasts as long as the window at least (mostHeat), not only until
	// throughput is steady.
	Heat bool

	// ready is asked when the data is reset, before the load begins; nil: nobody
	// asks.
	ready func(ctx context.Context) error
	watch []func(*evidence.CollectorOptions) // of instruments that are in place
}

// Run resets the data, drives the load, collects evidence over the measured
// window, judges whether the run is evidence at all, and stores it. A run that
// ended before anything was answered is made again, longer.
func (b *Bench) Run(ctx context.Context, o RunOptions) (*store.Run, error) {
	b.Listeners.feed.begins(o)
	run, err := b.run(ctx, o)
	if err == nil {
		for range mostLonger {
			if !b.again(run, &o) {
				break
			}
			if run, err = b.run(ctx, o); err != nil {
				break
			}
		}
	}
	b.Listeners.feed.ends(err == nil)
	if err == nil {
		b.noteRefusals(run)
	}
	return run, err
}

func (b *Bench) note(text string) {
	if b.Listeners.Note != nil {
		b.Listeners.Note(text)
	}
}

func (b *Bench) run(ctx context.Context, o RunOptions) (*store.Run, error) {
	if b.instead != nil {
		return b.instead(ctx, o)
	}
	if b.disturbance.noisy {
		if err := b.awaitQuiet(ctx); err != nil {
			return nil, err
		}
	}
	begun := time.Now()
	res, ev, jump, err := b.driven(ctx, o)
	if err != nil {
		return nil, err
	}
	b.known(ev)
	run := &store.Run{Session: b.Stamp.Session, Step: o.Step, Kind: o.Kind, Side: o.Side, Label: o.Label,
		Started: res.Started, Score: res.Score, Evidence: ev, ConfigHash: b.Stamp.ConfigHash, Unfit: unfit(ev, b.allowOthers(o.Kind, ev), b.allowSteal(o.Kind, ev))}
	if run.Unfit == "" {
		run.Unfit = poor(run, jump)
	}
	b.judgeErrors(run)
	if run.Kind == store.Scored && run.Side == "" {
		b.scored.wrong, b.scored.asked = b.scored.wrong+res.Mismatches, b.scored.asked+res.Requests
	}
	b.disturbance.noisy = run.Unfit != ""
	if err := b.Store.SaveRun(run); err != nil {
		return nil, err
	}
	b.remember(run)
	b.notePace(run, time.Since(begun)-res.Window)
	if res.Unsteady != "" && run.Unfit == "" && run.Kind == store.Scored && run.Step == 0 {
		b.note(fmt.Sprintf("run %d: %s", run.ID, res.Unsteady)) // a verdict tells those of its runs
	}
	return run, nil
}

// driven prepares the target, drives the load and collects what is seen meanwhile. jump
// is what window.jump tells.
func (b *Bench) driven(ctx context.Context, o RunOptions) (res *load.Result, ev *evidence.Evidence, jump time.Duration, err error) {
	if err := b.drain(ctx); err != nil {
		return nil, nil, jump, err
	}
	if err := b.prepare(ctx); err != nil {
		return nil, nil, jump, err
	}
	if o.ready != nil && b.Stack.Load.Reset.Set() {
		if err := o.ready(ctx); err != nil {
			return nil, nil, jump, err
		}
	}
	watch := evidence.CollectorOptions{Generator: os.Getpid(), Diagnostic: o.Kind == store.Diagnostic, Profile: o.Kind == store.Diagnostic && b.profiled()}
	for _, set := range o.watch {
		set(&watch)
	}
	drive, err := b.driver(o, &watch)
	if err != nil {
		return nil, nil, jump, err
	}
	col, err := evidence.NewCollector(ctx, b.Stack, b.Hosts, watch)
	if err != nil {
		return nil, nil, jump, fmt.Errorf("prepare collectors: %w", err)
	}
	defer col.Close()
	w := &window{ctx: ctx, col: col, progress: b.progress}
	res, err = drive(ctx, w.phase)
	if err != nil {
		return nil, nil, jump, err
	}
	b.tellHeld(ctx, res)
	if err := b.noteDrawn(); err != nil {
		return nil, nil, jump, err
	}
	if err := b.noteWritten(ctx); err != nil {
		return nil, nil, jump, err
	}
	b.suspectData(res)
	if w.err != nil {
		return nil, nil, jump, fmt.Errorf("collect evidence: %w", w.err)
	}
	ev, err = col.Stop(ctx, res)
	if err != nil {
		return nil, nil, jump, fmt.Errorf("collect evidence: %w", err)
	}
	return res, ev, w.jump(), nil
}

// remember keeps fit scored runs for the diagnosis.
func (b *Bench) remember(run *store.Run) {
	switch {
	case run.Kind != store.Scored || run.Unfit != "" || run.Evidence.Load.Succeeded == 0:
	case run.Side == "":
		b.scored.reference = run
	default:
		if b.scored.sides == nil {
			b.scored.sides = map[experiment.Side]*store.Run{}
		}
		b.scored.sides[run.Side] = run
	}
}

// kept says that the candidate is what is in place now.
func (b *Bench) kept() {
	if b.scored.reference = b.scored.sides[experiment.Candidate]; b.scored.reference != nil {
		b.noteVisits(b.scored.reference)
	}
}

func (b *Bench) loadOptions(workload int) load.Options {
	o := load.Options{Scenario: b.Scenario, URL: b.Stack.Load.URL, Workload: workload,
		Warmup: b.Warmup, Window: b.Window, Allow: b.Stack.Load.Allow, SkipTLSVerify: b.Stack.Load.SkipTLSVerify, Rows: b.Data.drawn}
	if b.Stack.Load.Reset.Set() {
		o.Reset = b.reset
	}
	return o
}

// window starts and ends the collectors with the measured window.
type window struct {
	ctx      context.Context
	col      *evidence.Collector
	progress func(load.Progress)
	mu       sync.Mutex
	last     load.Phase
	err      error
	// began and ended are what the clock told at the window's ends.
	began, ended time.Time
}

// jump is how far the clock was set within the window.
func (w *window) jump() time.Duration { return clockJump(w.began, w.ended) }

func (w *window) phase(p load.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Phase != w.last {
		switch {
		case p.Phase == load.PhaseMeasure:
			w.note(w.col.Start(w.ctx))
			w.began = time.Now()
		case w.last == load.PhaseMeasure:
			w.ended = time.Now()
			w.note(w.col.End(w.ctx))
		}
		w.last = p.Phase
	}
	w.progress(p)
}

// progress tells everyone how far the load is.
func (b *Bench) progress(p load.Progress) {
	b.Listeners.feed.progress(p)
	if b.Listeners.Progress != nil {
		b.Listeners.Progress(p)
	}
}

func (w *window) note(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Answered is an error if a run got no right answer at all, or if somebody
// else's benchmark judged the service wrong; it names the target and the first
// answer.
func (b *Bench) Answered(run *store.Run) error {
	l := run.Evidence.Load
	if b.Foreign() && l.Score <= 0 && l.Mismatches > 0 {
		return fmt.Errorf("%s: load.command judged the service wrong: %s", b.Stack.Load.URL, sample(run).Broken)
	}
	if l.Succeeded > 0 {
		return nil
	}
	first := sample(run).Broken
	if first == "" {
		first = "nothing was answered within the window"
	}
	return fmt.Errorf("%s: no request was answered rightly: %s", b.Stack.Load.URL, first)
}

func tail(b []byte) string {
	const most = 500
	s := strings.TrimSpace(string(b))
	if len(s) > most {
		s = "…" + s[len(s)-most:]
	}
	return s
}
