package tune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/remedy/planning"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// virtual is a target whose settings are lines of a real file, changed through
// the real journal, and whose score is computed from them.
type virtual struct {
	t     *testing.T
	dir   string
	stack *stack.Stack
	knobs []knob
	binds func(on map[string]bool) string
	coin  *rand.Rand
	store *store.Store
	exec  *change.Executor
	trace func(string)
	runs  int // of experiments
	made  int // runs of any kind
	// drift is what else makes the service faster from run to run, as a factor of
	// each; 0: nothing.
	drift float64
	// control of its services; default: nothing.
	control change.Controller
}

// knob is one setting that a plan turns on.
type knob struct {
	name   string
	factor float64 // of the score when it is on
	breaks bool    // wrong answers when it is on
	bound  float64
	reach  float64
	small  bool
}

// nothing is a Controller of a service that needs no telling.
type nothing struct{}

func (nothing) Check(context.Context) error       { return nil }
func (nothing) Reload(context.Context) error      { return nil }
func (nothing) Restart(context.Context) error     { return nil }
func (nothing) WaitHealthy(context.Context) error { return nil }

func newVirtual(t *testing.T, knobs ...knob) *virtual {
	v := &virtual{t: t, dir: quickDir(t), knobs: knobs, control: nothing{}}
	text := ""
	for _, k := range knobs { // apart from each other, so that edits do not touch
		text += "# about " + k.name + "\n" + k.name + " = off\n\n"
	}
	v.write(text)
	// It runs in another service, so that nobody looks for its process: that
	// would take longer than all the rest where many run.
	v.stack = &stack.Stack{Name: "virtual", Dir: v.dir, Path: filepath.Join(v.dir, "kasoku.yaml"),
		Services: []stack.Service{{Name: "app", Kind: stack.App, Root: v.dir, Settings: []string{v.path()}, RunsIn: "elsewhere"}}}
	old := remedy.Table
	remedy.Table = nil
	for _, k := range knobs {
		remedy.Table = append(remedy.Table, remedy.Remedy{ID: k.name + ".on", Rules: []string{"slow." + k.name}, Reach: k.reach, Small: k.small, Plan: v.planOf(k)})
	}
	t.Cleanup(func() {
		remedy.Table = old
		v.close()
	})
	v.open()
	return v
}

// quickDir is a folder in memory where there is one: the journal and the store
// wait for the disk at every write.
func quickDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "kasoku-virtual-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (v *virtual) path() string { return filepath.Join(v.dir, "app.conf") }

func (v *virtual) write(text string) {
	if err := os.WriteFile(v.path(), []byte(text), 0o644); err != nil {
		v.t.Fatal(err)
	}
}

func (v *virtual) text() string {
	b, err := os.ReadFile(v.path())
	if err != nil {
		v.t.Fatal(err)
	}
	return string(b)
}

// on are the names of the settings that are on now, in their order.
func (v *virtual) on() string {
	var out []string
	text := v.text()
	for _, k := range v.knobs {
		if strings.Contains(text, k.name+" = on\n") {
			out = append(out, k.name)
		}
	}
	return strings.Join(out, " ")
}

func (v *virtual) open() {
	var err error
	if v.store, err = store.Open(filepath.Join(v.dir, ".kasoku")); err != nil {
		v.t.Fatal(err)
	}
	v.exec, err = change.Open(v.t.Context(), change.Options{Dir: filepath.Join(v.dir, ".kasoku"), Stack: v.stack,
		Hosts:   map[string]host.Host{"local": host.NewLocal()},
		Control: func(string) (change.Controller, error) { return v.control, nil },
		DB:      func(context.Context, string) (*sql.DB, error) { return nil, errors.New("there is no database") },
		Trace: func(step string) {
			if v.trace != nil {
				v.trace(step)
			}
		}})
	if err != nil {
		v.t.Fatal(err)
	}
}

func (v *virtual) close() {
	v.exec.Close()
	v.store.Close()
}

// planOf turns one setting on.
func (v *virtual) planOf(k knob) func(remedy.Input, diagnose.Finding) ([]remedy.Plan, error) {
	return func(in remedy.Input, _ diagnose.Finding) ([]remedy.Plan, error) {
		text := string(in.Snapshot.Files["local"][v.path()].Content)
		was := k.name + " = off\n"
		if !strings.Contains(text, was) {
			return nil, nil
		}
		c, err := planning.FileChange(in.Snapshot, in.Stack.Service("app"), v.path(), []byte(strings.Replace(text, was, k.name+" = on\n", 1)), change.None, "faster")
		return []remedy.Plan{{ID: "v." + k.name + ":on", Title: "Turn on " + k.name, Why: k.name + " is off.", Changes: []change.Change{c}}}, err
	}
}

// alone lets plans for settings trade something, so that each is tried by itself.
func (v *virtual) alone(names ...string) {
	v.stack.Regulation.Allow = []regulation.Trade{regulation.Staleness}
	for i, r := range remedy.Table {
		if !slices.Contains(names, strings.TrimSuffix(r.ID, ".on")) {
			continue
		}
		remedy.Table[i].Plan = func(in remedy.Input, f diagnose.Finding) ([]remedy.Plan, error) {
			plans, err := r.Plan(in, f)
			for i := range plans {
				plans[i].Trades = []regulation.Trade{regulation.Staleness}
			}
			return plans, err
		}
	}
}

// looked is a session that has looked at the target once, and what it plans from.
func (v *virtual) looked() (*Tuner, remedy.Input) {
	v.t.Helper()
	t := v.tuner()
	if err := t.begin(v.t.Context()); err != nil {
		v.t.Fatal(err)
	}
	if err := t.observe(v.t.Context(), "look"); err != nil {
		v.t.Fatal(err)
	}
	return t, remedy.Input{Stack: t.Stack, Evidence: t.seen.evidence, Snapshot: t.seen.snapshot, Diagnosis: t.seen.diag}
}

// run makes up a run of the configuration that is in place.
func (v *virtual) run(ctx context.Context, o RunOptions) (*store.Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	on := v.on()
	result, wrong := 100*math.Exp(0.004*v.coin.NormFloat64()), int64(0)
	if v.made++; v.drift > 0 {
		result *= math.Pow(v.drift, float64(v.made))
	}
	for _, k := range v.knobs {
		if strings.Contains(" "+on+" ", " "+k.name+" ") {
			result *= k.factor
			if k.breaks {
				wrong = 500
			}
		}
	}
	if o.Step != 0 {
		v.runs++
	}
	run := &store.Run{Session: v.session(), Step: o.Step, Kind: o.Kind, Side: o.Side, Label: o.Label, Started: time.Now(), Score: result,
		Evidence: &evidence.Evidence{Load: &load.Result{Workload: o.Workload, Window: time.Second, Requests: 1000, Succeeded: 1000 - wrong, Mismatches: wrong, Score: result}}}
	if wrong > 0 {
		run.Evidence.Load.Samples = []load.Mismatch{{Request: "GET /", Expected: "right", Got: "wrong"}}
	}
	return run, v.store.SaveRun(run)
}

func (v *virtual) session() int64 {
	if s, err := v.store.LastSession(); err == nil {
		return s.ID
	}
	return 0
}

// tuner is a new one on the target, as a new process makes it.
func (v *virtual) tuner() *Tuner {
	hosts := map[string]host.Host{"local": host.NewLocal()}
	bench := &Bench{Stack: v.stack, Hosts: hosts, Store: v.store, Window: 100 * time.Millisecond, Warmup: 10 * time.Millisecond,
		Scenario: &load.Scenario{Workload: 8}, instead: v.run}
	v.coin = rand.New(rand.NewPCG(3, 5))
	t := &Tuner{Stack: v.stack, Store: v.store, Exec: v.exec, Bench: bench, Rule: experiment.DefaultRule(), UI: quiet{}, Options: Options{NoRestart: true}}
	t.standIns.observes = func(ctx context.Context, label string) (*store.Run, *evidence.Snapshot, error) {
		run, err := v.run(ctx, RunOptions{Kind: store.Diagnostic, Label: label})
		if err != nil {
			return nil, nil, err
		}
		snap, err := evidence.Take(ctx, v.stack, hosts, evidence.TakeOptions{Brief: true})
		if err != nil {
			return nil, nil, err
		}
		run.Diagnosis = &diagnose.Diagnosis{Binds: "cpu: app"}
		if v.binds != nil {
			run.Diagnosis.Binds = v.binds(v.isOn())
		}
		for _, k := range v.knobs {
			run.Diagnosis.Findings = append(run.Diagnosis.Findings, diagnose.Finding{Rule: "slow." + k.name, Bound: k.bound})
		}
		return run, snap, nil
	}
	return t
}

func (v *virtual) isOn() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(v.on()) {
		out[name] = true
	}
	return out
}

func (v *virtual) steps(session int64) []store.Step {
	v.t.Helper()
	steps, err := v.store.Steps(session)
	if err != nil {
		v.t.Fatal(err)
	}
	return steps
}

// tell logs the steps of a session.
func (v *virtual) tell(session int64) {
	for _, s := range v.steps(session) {
		v.t.Logf("%d. %s: %s %s, %d pairs, kept %v, left out %v (%s)", s.Seq, s.Plan.Title, s.Verdict.Outcome, ui.Percent(s.Verdict.Effect), s.Verdict.Pairs, s.Kept, s.LeftOut, s.Verdict.Reason)
	}
}

// good is a plan that brings what is expected of it.
func good(name string, percent float64) knob {
	return knob{name: name, factor: 1 + percent/100, bound: 1 + 2*percent/100, reach: 0.5}
}

// little is a small remedy's plan that brings about as much as one hopes for.
func little(name string, percent float64) knob {
	k := good(name, percent)
	k.small = true
	return k
}

// oneByOne tries every plan alone, best promise first, and says how many
// experiments and runs that took.
func (v *virtual) oneByOne() (experiments, runs int) {
	v.t.Helper()
	t := v.tuner()
	if err := t.begin(v.t.Context()); err != nil {
		v.t.Fatal(err)
	}
	v.runs = 0
	done := map[string]bool{}
	for {
		if err := t.observe(v.t.Context(), "one by one"); err != nil {
			v.t.Fatal(err)
		}
		var plan *remedy.Plan
		for _, p := range remedy.PlanAll(remedy.Input{Stack: t.Stack, Evidence: t.seen.evidence, Snapshot: t.seen.snapshot, Diagnosis: t.seen.diag}).Plans {
			if !done[p.ID] {
				plan = &p
				break
			}
		}
		if plan == nil {
			return experiments, v.runs
		}
		done[plan.ID] = true
		if _, err := t.try(v.t.Context(), *plan, nil, ""); err != nil {
			v.t.Fatal(fmt.Errorf("%s: %w", plan.ID, err))
		}
		experiments++
	}
}
