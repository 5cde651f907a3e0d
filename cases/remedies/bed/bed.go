// Package bed shows remedies on real servers: from the bad state it sees the
// finding, applies the plan through the journal, sees every answer right and
// the sign gone, takes it back and compares hashes. Tests of the families of
// remedies (cases/remedies/<family>) share it.
package bed

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment/effecttest"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
	"kasoku/internal/tune"
)

// Bed is a stack of real servers in a private folder.
type Bed struct {
	Dir   string
	Stack *stack.Stack
	Bench *tune.Bench
	Exec  *change.Executor
	Hosts map[string]host.Host
	// Window of the runs that Answers makes; 0: the bench's.
	Window time.Duration

	// Unmeasured: Effect would disturb what the test looks at.
	Unmeasured bool

	measured map[string]bool // plans whose effect is known, by ID
}

// Folder is a short private folder that servers' users may enter, removed at
// the end of the test. Short tests are skipped: they start no servers.
func Folder(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers; run without -short")
	}
	dir, err := os.MkdirTemp("", "kr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Write puts a file into the bed's folder; %DIR% in it stands for the folder.
func Write(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "%DIR%", dir)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Pause stands in a step of a scenario, "{Pause() + name: page, …}": its users think for
// a moment after it. Without one they ask as fast as they are answered, and each run
// takes all CPUs for as long as its window. Where a sign needs no busy server, that
// shows nothing; effects are measured without it.
func Pause() string {
	if effecttest.Measuring() {
		return ""
	}
	return "think: 25ms, "
}

// Open reads dir/kasoku.yaml, whose servers run, and opens its journal.
func Open(t testing.TB, dir string) *Bed {
	t.Helper()
	t.Setenv("KASOKU_STATE_DIR", filepath.Join(dir, "state"))
	b := &Bed{Dir: dir, Hosts: map[string]host.Host{"local": host.NewLocal()}}
	var err error
	if b.Stack, err = stack.Load(filepath.Join(dir, "kasoku.yaml")); err != nil {
		t.Fatal(err)
	}
	// Other tests may use the machine: nothing waits for it to be quiet.
	b.Stack.Tune.MaxForeignCPU = 1
	sc, err := load.LoadScenario(b.Stack.Load.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(filepath.Join(dir, ".kasoku"))
	if err != nil {
		t.Fatal(err)
	}
	b.Bench = &tune.Bench{Stack: b.Stack, Hosts: b.Hosts, Scenario: sc, Store: st, Window: 500 * time.Millisecond, Warmup: 100 * time.Millisecond, Instruments: tune.Instruments{Plain: true}}
	if b.Exec, err = tune.OpenExecutor(context.Background(), filepath.Join(dir, ".kasoku"), b.Stack, b.Hosts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(b.Exec.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

type silent struct{}

func (silent) Step(string)         {}
func (silent) Info(string)         {}
func (silent) Warn(string, string) {}

// Snapshot is the configuration as it is now.
func (b *Bed) Snapshot(t testing.TB) *evidence.Snapshot {
	t.Helper()
	snap, err := evidence.Take(t.Context(), b.Stack, b.Hosts, evidence.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// Hash of everything that undo must bring back.
func (b *Bed) Hash(t testing.TB) string {
	t.Helper()
	return b.Snapshot(t).Hash()
}

// Plans observes the stack once and plans everything, every trade and package
// allowed. Observing takes a short run.
func (b *Bed) Plans(t testing.TB) remedy.Result {
	t.Helper()
	return b.PlansUnder(t, Relaxed())
}

// PlansUnder is Plans with a regulation.
func (b *Bed) PlansUnder(t testing.TB, reg regulation.Regulation) remedy.Result {
	t.Helper()
	return remedy.PlanAll(b.Look(t, reg))
}

// Input observes the stack once, and plans as Plans does.
func (b *Bed) Input(t testing.TB) (remedy.Input, remedy.Result) {
	t.Helper()
	in := b.Look(t, Relaxed())
	return in, remedy.PlanAll(in)
}

// Look observes the stack once: what planning under a regulation works from.
func (b *Bed) Look(t testing.TB, reg regulation.Regulation) remedy.Input {
	t.Helper()
	bench := *b.Bench // a new bench knows nothing of earlier configurations
	run, snap, err := tune.Observe(t.Context(), b.Exec, &bench, 0, t.Name(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	st := *b.Stack
	st.Regulation = reg
	return remedy.Input{Stack: &st, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis}
}

// Relaxed allows every trade, packages, and changes of applications' settings.
func Relaxed() regulation.Regulation {
	r := regulation.Regulation{Install: true, ApplicationSettings: true}
	for _, t := range regulation.Trades {
		r.Allow = append(r.Allow, t.Trade)
	}
	return r
}

// Want is the first plan of a remedy, or the plan with that ID.
func Want(t testing.TB, res remedy.Result, id string) remedy.Plan {
	t.Helper()
	var have []string
	for _, p := range res.Plans {
		if p.Remedy == id || p.ID == id {
			return p
		}
		have = append(have, p.ID)
	}
	t.Fatalf("%s was not planned; planned %v; skipped %v; refused %d", id, have, res.Skipped, len(res.Refusals))
	return remedy.Plan{}
}

// Apply puts a plan in force through the journal, after its effect was measured
// if that is asked for (Effect).
func (b *Bed) Apply(t testing.TB, p remedy.Plan) change.Tx {
	t.Helper()
	b.Effect(t, p)
	return b.apply(t, p)
}

func (b *Bed) apply(t testing.TB, p remedy.Plan) change.Tx {
	t.Helper()
	tx, err := b.Exec.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
	if err != nil {
		t.Fatalf("%s: %v", p.ID, err)
	}
	return tx
}

// Revert takes a plan back.
func (b *Bed) Revert(t testing.TB, tx change.Tx) {
	t.Helper()
	if err := b.Exec.Revert(t.Context(), tx.ID); err != nil {
		t.Fatal(err)
	}
}

// Answers makes a scored run and expects every answer to be right.
func (b *Bed) Answers(t testing.TB, label string) *store.Run {
	t.Helper()
	bench := *b.Bench
	bench.Window = cmp.Or(b.Window, bench.Window)
	run, err := bench.Run(t.Context(), tune.RunOptions{Kind: store.Scored, Label: label})
	if err != nil {
		t.Fatal(err)
	}
	right(t, label, run.Evidence.Load)
	return run
}

// right expects every answer of a run to be.
func right(t testing.TB, label string, ev *load.Result) {
	t.Helper()
	if ev.Mismatches+ev.Errors+ev.Timeouts > 0 || ev.Succeeded == 0 {
		t.Errorf("%s: %d right, %d wrong, %d errors, %d time-outs", label, ev.Succeeded, ev.Mismatches, ev.Errors, ev.Timeouts)
	}
}

// Show shows remedies one by one, all planned from one look at the bad state:
// finding → apply → right answers → sign gone → undo → bytes back. inForce, if
// not nil, looks while the plan is in force (a server's own word for a setting).
func (b *Bed) Show(t *testing.T, inForce func(t *testing.T, p remedy.Plan), ids ...string) {
	t.Helper()
	bad := b.Plans(t)
	for range 2 {
		// On a busy machine a profile may have too few samples to be judged.
		if b.Bench.Instruments.Plain || planned(bad, ids) {
			break
		}
		b.Bench.Window *= 2
		bad = b.Plans(t)
	}
	b.ShowFrom(t, bad, inForce, ids...)
}

// ShowFrom is Show with a look at the bad state that was taken before. One run
// serves both for the answers and for the sign.
func (b *Bed) ShowFrom(t *testing.T, bad remedy.Result, inForce func(t *testing.T, p remedy.Plan), ids ...string) {
	t.Helper()
	before := "" // each plan is taken back, so what the one before left is what the next one finds
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			p := Want(t, bad, id)
			if before == "" {
				before = b.Hash(t)
			}
			tx := b.Apply(t, p)
			seen := b.Look(t, Relaxed())
			right(t, id, seen.Evidence.Load)
			if seen.Snapshot.Hash() == before {
				t.Errorf("%s changed nothing", id)
			}
			if inForce != nil {
				inForce(t, p)
			}
			gone(t, p, remedy.PlanAll(seen))
			b.Revert(t, tx)
			if b.Hash(t) != before {
				t.Errorf("%s: the target is not as before", id)
			}
		})
	}
}

// gone expects of a look at a plan in force that neither the plan is made nor another
// one of its remedy for the same sign and service, e.g. with a larger value. A
// search asks at each number whether another would be better, and a choice has its
// way back.
func gone(t *testing.T, p remedy.Plan, now remedy.Result) {
	t.Helper()
	of := func(id string) string { // "nginx.gzip:web:…" is of web
		_, rest, _ := strings.Cut(id, ":")
		name, _, _ := strings.Cut(rest, ":")
		return name
	}
	for _, again := range now.Plans {
		if again.ID == p.ID || p.Back == "" && p.Search == nil && again.Remedy == p.Remedy && again.Rule == p.Rule && of(again.ID) == of(p.ID) {
			t.Errorf("%s is in force, and %s is planned: %s", p.ID, again.ID, again.Why)
		}
	}
}

// planned reports whether every remedy is.
func planned(res remedy.Result, ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		return !slices.ContainsFunc(res.Plans, func(p remedy.Plan) bool { return p.Remedy == id })
	})
}
