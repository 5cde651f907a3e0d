package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
)

const (
	// lookEvery is how often the process tree is looked at and Progress told:
	// 1 ms of 250, so 0.4 % of one CPU.
	lookEvery = 250 * time.Millisecond
	// endGrace bounds the last look at the process tree after a cancelled run.
	endGrace = 5 * time.Second
)

// Runner runs one Command once.
type Runner struct {
	host    host.Host
	command Command
	dir     string
	url     string
	tree    *tree

	score, errors, requests *finder // nil: not given
	latency                 map[string]*finder
	failIf                  *regexp.Regexp

	// skip is how long it is known to prepare where the command does not say it.
	skip       time.Duration
	begun      time.Time
	window     time.Time     // when the measured part began
	cpu        time.Duration // used when it began
	measuring  bool
	progressed func(load.Progress)
}

// Compile prepares a run on h. dir is the working folder; url is told to the
// command as KASOKU_URL. The error lists what is wrong with the command.
func Compile(h host.Host, c Command, dir, url string) (*Runner, error) {
	if problems := c.Check(); len(problems) > 0 {
		var text []string
		for _, p := range problems {
			text = append(text, strings.TrimSuffix("load.command."+p.Path, ".")+": "+p.Text)
		}
		return nil, errors.New(strings.Join(text, "\n"))
	}
	r := &Runner{host: h, command: c, dir: dir, url: url, tree: newTree(h), latency: map[string]*finder{}}
	compiled := func(v *Value) *finder {
		if v == nil {
			return nil
		}
		f, _ := v.compile() // Check did
		return f
	}
	r.score, r.errors, r.requests = compiled(c.Score), compiled(c.Errors), compiled(c.Requests)
	if c.Latency != nil {
		for name, v := range c.Latency.values() {
			if *v != nil {
				r.latency[name] = compiled(*v)
			}
		}
	}
	if c.FailIf != nil {
		r.failIf = regexp.MustCompile(c.FailIf.Regexp)
	}
	return r, nil
}

// Skip leaves so much of the begin out of the measured part, where the command says no
// warmup: a benchmark that was seen to prepare for that long. One that ends within it is
// measured at its end.
func (r *Runner) Skip(d time.Duration) { r.skip = max(d, 0) }

// warmup is how long after its start the benchmark begins to score.
func (r *Runner) warmup() time.Duration { return cmp.Or(r.command.Warmup, r.skip) }

// CPU is the CPU time that the benchmark and everything it started have used
// so far. It may be called at any time, from any goroutine.
func (r *Runner) CPU() time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), endGrace)
	defer cancel()
	r.tree.look(ctx)
	return r.tree.cpu()
}

// name is how messages call the command.
func (r *Runner) name() string {
	return fmt.Sprintf("load.command (%s)", shorten(strings.Join(r.command.Argv, " "), 200))
}

// Run starts the benchmark and waits for its end. progress, which may be nil,
// is called with load.PhaseMeasure when the measured part begins, then about
// four times a second, and with load.PhaseTeardown right after the end; always
// from the goroutine of Run. A benchmark that could not do its work is an
// error; one that judged the service wrong is a Result with score 0 and
// mismatches.
func (r *Runner) Run(ctx context.Context, progress func(load.Progress)) (*load.Result, error) {
	r.progressed = progress
	if progress == nil {
		r.progressed = func(load.Progress) {}
	}
	type ending struct {
		res host.Result
		err error
	}
	ended := make(chan ending, 1)
	r.begun = time.Now()
	warmup := r.warmup()
	if warmup == 0 {
		r.measure()
	} else {
		r.tell(load.PhaseWarmup, warmup)
	}
	go func() {
		res, err := r.host.Run(ctx, r.hostCommand())
		ended <- ending{res, err}
	}()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	warm := time.NewTimer(warmup)
	defer warm.Stop()
	for {
		select {
		case <-warm.C:
			if !r.measuring {
				r.measure()
			}
		case <-tick.C:
			r.tree.look(ctx)
			if r.measuring {
				r.tell(load.PhaseMeasure, 0)
			} else {
				r.tell(load.PhaseWarmup, warmup)
			}
		case e := <-ended:
			return r.conclude(ctx, e.res, e.err)
		}
	}
}

func (r *Runner) hostCommand() host.Command {
	env := []string{"KASOKU_URL=" + r.url}
	for _, name := range slices.Sorted(maps.Keys(r.command.Environment)) {
		env = append(env, name+"="+r.command.Environment[name])
	}
	return host.Command{Argv: r.command.Argv, Dir: r.dir, Env: env, Timeout: r.command.Limit(),
		Keep: keep, Started: r.tree.begin, EndGroup: true}
}

// measure begins the measured part.
func (r *Runner) measure() {
	r.measuring, r.window = true, time.Now()
	r.tell(load.PhaseMeasure, 0) // takes the collectors a few milliseconds
	r.window, r.cpu = time.Now(), r.CPU()
}

func (r *Runner) tell(phase load.Phase, length time.Duration) {
	since := r.begun
	if phase != load.PhaseWarmup && !r.window.IsZero() {
		since = r.window
	}
	r.progressed(load.Progress{Phase: phase, Elapsed: time.Since(since), Length: length, GeneratorCPU: r.tree.cpu()})
}

// conclude turns the end of the command into a Result.
func (r *Runner) conclude(ctx context.Context, res host.Result, err error) (*load.Result, error) {
	if !r.measuring && r.command.Warmup == 0 {
		r.measure()
	}
	now := time.Now()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endGrace)
	defer cancel()
	r.tree.end(last, res.CPU)
	if !r.measuring && err == nil {
		return nil, fmt.Errorf("%s ended with %d after %s, within load.command.warmup (%s); write a shorter warmup: %s", r.name(), res.ExitCode,
			res.Took.Round(time.Millisecond), r.command.Warmup, readOutput(res.Stdout, res.Stderr, res.ExitCode).tail())
	}
	out := &load.Result{Started: r.window, Warmup: r.warmup(), Window: now.Sub(r.window), GeneratorCPU: r.tree.cpu() - r.cpu}
	r.tell(load.PhaseTeardown, 0)
	o := readOutput(res.Stdout, res.Stderr, res.ExitCode)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", r.name(), ctx.Err())
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%s did not end within %s and was killed with all it started; write a longer load.command.timeout, or make it shorter: %s",
			r.name(), r.command.Limit(), o.tail())
	case err != nil:
		return nil, fmt.Errorf("%s could not be run: %w; check load.command.argv", r.name(), err)
	}
	return out, r.judge(o, out)
}
