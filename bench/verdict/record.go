package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// caseScript makes and ends copies of the case.
const caseScript = "cases/login/case.sh"

// recordOptions are record's flags.
type recordOptions struct {
	name, dir, state, switching, beside string
	window, warmup, length              time.Duration
	runs                                int
	foreign                             float64
}

func parseRecord(args []string) (recordOptions, error) {
	var o recordOptions
	f := flag.NewFlagSet("verdict record", flag.ContinueOnError)
	f.StringVar(&o.name, "name", "", "name of the recording, e.g. tuned-quiet-2s (needed)")
	f.StringVar(&o.dir, "dir", "bench/verdict/noise", "folder that the recording goes to")
	f.StringVar(&o.state, "state", "found", "the service: found, or tuned (by hand)")
	f.StringVar(&o.switching, "switch", "none", "before a run, when the coin changes the side: none, reload (nginx), restart (MariaDB)")
	f.StringVar(&o.beside, "beside", "nothing else", "what else runs on the machine, for the README")
	f.DurationVar(&o.window, "window", 2*time.Second, "measured window of a run")
	f.DurationVar(&o.warmup, "warmup", 500*time.Millisecond, "warm-up of a run")
	f.DurationVar(&o.length, "for", 0, "end after this time; 0: after -runs")
	f.IntVar(&o.runs, "runs", 200, "runs to record")
	f.Float64Var(&o.foreign, "foreign", 1, "share of the machine that others may use before a run waits for them and is no evidence")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.name == "" || f.NArg() > 0:
		return o, fmt.Errorf("write: verdict record -name NAME [flags]; -h tells them")
	case o.state != "found" && o.state != "tuned":
		return o, fmt.Errorf("-state %s: write found or tuned", o.state)
	case o.switching != "none" && o.switching != "reload" && o.switching != "restart":
		return o, fmt.Errorf("-switch %s: write none, reload or restart", o.switching)
	case o.runs < 1 || o.window <= 0:
		return o, fmt.Errorf("-runs and -window must be above 0")
	}
	return o, nil
}

func record(ctx context.Context, args []string) error {
	o, err := parseRecord(args)
	if err != nil {
		return err
	}
	r, err := startRecorder(ctx, o)
	if err != nil {
		return err
	}
	defer r.close()
	out := &Recording{Made: time.Now().UTC().Format(time.DateOnly), CPUs: runtime.NumCPU(), State: o.state, Switch: o.switching,
		WindowMS: int(o.window.Milliseconds()), WarmupMS: int(o.warmup.Milliseconds()), Beside: o.beside}
	path := filepath.Join(o.dir, o.name+suffix)
	begun := time.Now()
	for n := range o.runs {
		if o.length > 0 && time.Since(begun) > o.length {
			break
		}
		run, err := r.run(ctx, n)
		if err != nil {
			return fmt.Errorf("run %d: %w", n+1, err)
		}
		run.StartMS = time.Since(begun).Milliseconds() - run.TookMS
		out.Runs = append(out.Runs, run)
		if n%20 == 19 { // what is recorded is not lost
			if err := out.save(path); err != nil {
				return err
			}
			fmt.Printf("%s: %d runs, %s\n", o.name, n+1, time.Since(begun).Round(time.Second))
		}
	}
	return out.save(path)
}

// recorder makes runs of one copy of the case.
type recorder struct {
	work  string // folder to remove
	bench *tune.Bench
	exec  *change.Executor
	// intent changes a comment; empty without switching.
	intent change.Intent
	tx     int64 // of the intent that is applied
	coin   *rand.Rand
	second experiment.Side // of the pair under way
	series *Recorded       // of the run under way
	last   load.Phase
}

func startRecorder(ctx context.Context, o recordOptions) (*recorder, error) {
	work, err := os.MkdirTemp("", "kv")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(work, 0o755); err != nil { // the database's user must reach it
		return nil, err
	}
	r := &recorder{work: work, coin: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))}
	if err := r.start(ctx, o); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *recorder) start(ctx context.Context, o recordOptions) error {
	dir := filepath.Join(r.work, "case")
	steps := []string{"up"}
	if o.state == "tuned" {
		steps = append(steps, "hand")
	}
	for _, s := range steps {
		if out, err := exec.CommandContext(ctx, caseScript, s, dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%s %s: %w: %s", caseScript, s, err, out)
		}
	}
	st, err := stack.Load(filepath.Join(dir, "kasoku.yaml"))
	if err != nil {
		return err
	}
	st.Tune.MaxForeignCPU = o.foreign
	sc, err := load.LoadScenario(st.Load.Scenario)
	if err != nil {
		return err
	}
	state := filepath.Join(dir, ".kasoku")
	db, err := store.Open(state)
	if err != nil {
		return err
	}
	hosts := map[string]host.Host{stack.LocalHost: host.NewLocal()}
	r.bench = &tune.Bench{Stack: st, Hosts: hosts, Scenario: sc, Store: db, Window: o.window, Warmup: o.warmup, Listeners: tune.Listeners{Progress: r.progress}}
	if r.exec, err = tune.OpenExecutor(ctx, state, st, hosts); err != nil {
		return err
	}
	return r.comment(ctx, o.switching)
}

// comment plans the change that changes nothing.
func (r *recorder) comment(ctx context.Context, switching string) error {
	service, how := "web", change.Reload
	switch switching {
	case "none":
		return nil
	case "restart":
		service, how = "db", change.Restart
	}
	path := r.bench.Stack.Service(service).Config
	h := r.bench.Hosts[stack.LocalHost]
	content, err := h.ReadFile(ctx, path)
	if err != nil {
		return err
	}
	info, err := h.Stat(ctx, path)
	if err != nil {
		return err
	}
	before := change.FileState{Hash: host.HashOf(content), Content: content, Mode: info.Mode.Perm(), UID: info.UID, GID: info.GID, ModTime: info.ModTime}
	after := before
	after.Content = append([]byte("# This line changes nothing.\n"), content...)
	after.Hash, after.ModTime = host.HashOf(after.Content), time.Time{}
	r.intent = change.Intent{Title: "a comment in " + path, Plan: "noise", Changes: []change.Change{
		{Kind: change.KindFile, Service: service, Activate: how, Path: path, Before: &before, After: &after, Why: "to record what a switch does to the runs"}}}
	return nil
}

// run makes the n-th run, from 0, as an experiment does: pairs in an order
// that a coin tells.
func (r *recorder) run(ctx context.Context, n int) (Recorded, error) {
	began := time.Now()
	switched, err := r.to(ctx, r.side(n))
	if err != nil {
		return Recorded{}, err
	}
	r.series, r.last = &Recorded{}, ""
	got, err := r.bench.Run(ctx, tune.RunOptions{Kind: store.Scored, Label: fmt.Sprintf("noise %d", n)})
	if err != nil {
		return Recorded{}, err
	}
	if err := r.bench.Answered(got); err != nil {
		return Recorded{}, err
	}
	ev, out := got.Evidence, *r.series
	out.TookMS = time.Since(began).Milliseconds()
	out.Score, out.Unfit, out.Switched = got.Score, got.Unfit, switched
	out.P99US, out.Requests = ev.Load.Latency.P99.Microseconds(), ev.Load.Requests
	out.CPUUS = int64(1e6 * ev.ServicesCPU() / float64(ev.Load.Succeeded))
	out.Foreign = foreignShare(&ev.System)
	if last := len(out.Times) - 1; last < 1 {
		return Recorded{}, fmt.Errorf("the window of %s is too short for a series", ev.Load.Window)
	}
	return out, nil
}

// side of the n-th run; the coin is tossed for every pair.
func (r *recorder) side(n int) experiment.Side {
	if n%2 == 1 {
		return r.second
	}
	if r.coin.IntN(2) == 0 {
		r.second = experiment.Candidate
		return experiment.Baseline
	}
	r.second = experiment.Baseline
	return experiment.Candidate
}

// to puts a side in place, through the journal, and reports whether anything
// was switched.
func (r *recorder) to(ctx context.Context, side experiment.Side) (bool, error) {
	switch {
	case len(r.intent.Changes) == 0:
		return false, nil
	case side == experiment.Candidate && r.tx == 0:
		tx, err := r.exec.Apply(ctx, r.intent)
		r.tx = tx.ID
		return true, err
	case side == experiment.Baseline && r.tx != 0:
		err := r.exec.Revert(ctx, r.tx)
		r.tx = 0
		return true, err
	}
	return false, nil
}

// progress notes the series; load calls it from one goroutine, within Run.
func (r *recorder) progress(p load.Progress) {
	s := r.series
	switch {
	case p.Phase == load.PhaseMeasure && r.last != load.PhaseMeasure:
		s.Times, s.Counts = []int64{0}, []int64{0}
	case p.Phase == load.PhaseMeasure:
		s.Times, s.Counts = append(s.Times, p.Elapsed.Milliseconds()), append(s.Counts, p.Succeeded)
	case r.last == load.PhaseMeasure:
		s.Times, s.Counts = append(s.Times, r.bench.Window.Milliseconds()), append(s.Counts, p.Succeeded)
	}
	r.last = p.Phase
}

// foreignShare of all CPUs, as the bench judges it.
func foreignShare(sys *evidence.System) float64 {
	total := sys.User + sys.Sys + sys.Idle + sys.IOWait + sys.Steal
	if total <= 0 {
		return 0
	}
	return sys.ForeignCPU / total
}

// close takes the copy down; the recording does not depend on how that ends.
func (r *recorder) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if r.exec != nil {
		if _, err := r.to(ctx, experiment.Baseline); err != nil {
			fmt.Fprintln(os.Stderr, "verdict: put back the comment:", err)
		}
		r.exec.Close()
	}
	if r.bench != nil {
		r.bench.Store.Close()
	}
	if out, err := exec.CommandContext(ctx, caseScript, "down", filepath.Join(r.work, "case"), "--purge").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "verdict: take down the case: %v: %s\n", err, out)
	}
	os.RemoveAll(r.work)
}
