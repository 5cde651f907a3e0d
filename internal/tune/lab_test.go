package tune

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// lab is the login case in a private folder with real servers, shared by all
// tests of this package: starting it takes seconds. Tests leave it as found.
type lab struct {
	dir   string
	stack *stack.Stack
	bench *Bench
	exec  *change.Executor
	hosts map[string]host.Host
	seen  map[string]observation // by the hash of what was in place, and the workload
}

// observation is what was seen of one state of the case.
type observation struct {
	run  *store.Run
	snap *evidence.Snapshot
}

var (
	theLab  *lab
	labOnce sync.Once
	labErr  error
)

func TestMain(m *testing.M) {
	code := m.Run()
	if theLab != nil {
		theLab.exec.Close()
		theLab.bench.Store.Close()
		if out, err := exec.Command(caseScript(), "down", theLab.dir, "--purge").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "stop the case: %v\n%s", err, out)
			code = 1
		}
	}
	os.Exit(code)
}

func caseScript() string {
	p, err := filepath.Abs("../../cases/login/case.sh")
	if err != nil {
		panic(err)
	}
	return p
}

// useLab starts the case on first use. Short tests do not start servers.
func useLab(t *testing.T) *lab {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers; run without -short")
	}
	labOnce.Do(func() { theLab, labErr = startLab() })
	if labErr != nil {
		t.Fatal(labErr)
	}
	return theLab
}

func startLab() (*lab, error) {
	dir, err := os.MkdirTemp("", "kl")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(dir); err != nil {
		return nil, err
	}
	if out, err := exec.Command(caseScript(), "up", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("start the case: %w\n%s", err, out)
	}
	l := &lab{dir: dir, hosts: map[string]host.Host{"local": host.NewLocal()}}
	if l.stack, err = stack.Load(filepath.Join(dir, "kasoku.yaml")); err != nil {
		return nil, err
	}
	// Other tests may use the machine, and these look at what happens, not how fast:
	// they would wait for the machine to be quiet.
	l.stack.Tune.MaxForeignCPU = 1
	sc, err := load.LoadScenario(l.stack.Load.Scenario)
	if err != nil {
		return nil, err
	}
	sc.Timeout = 30 * time.Second // the case's 5 s are over before an answer comes beside other tests
	st, err := store.Open(filepath.Join(dir, ".kasoku"))
	if err != nil {
		return nil, err
	}
	l.bench = &Bench{Stack: l.stack, Hosts: l.hosts, Scenario: sc, Store: st, Window: 800 * time.Millisecond, Warmup: 200 * time.Millisecond}
	l.exec, err = OpenExecutor(context.Background(), filepath.Join(dir, ".kasoku"), l.stack, l.hosts)
	return l, err
}

// quicken makes a login take a part of its time until the test ends: two of the three
// indexes that are missing are there, one is left to be found. For tests that switch
// between indexes again and again and need some great effect, not the case's whole one:
// each switch and each answer costs a fraction then.
func (l *lab) quicken(t *testing.T) {
	t.Helper()
	ask := func(statement string) error {
		out, err := exec.Command("mariadb", "--defaults-file="+filepath.Join(l.dir, "secrets", "client.cnf"), "-e", statement).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", statement, err, out)
		}
		return nil
	}
	if err := ask("CREATE INDEX quick_user ON login.login_log (user_id, succeeded, id); CREATE INDEX quick_ip ON login.login_log (ip, succeeded, id)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ask("DROP INDEX quick_user ON login.login_log; DROP INDEX quick_ip ON login.login_log"); err != nil {
			t.Error(err)
		}
	})
}

// calm is quicken with three users who think after each step until the test ends: a page
// that waits or reads a table still halves their answers, and a run no longer takes all CPUs
// for as long as it lasts.
func (l *lab) calm(t *testing.T) {
	t.Helper()
	l.quicken(t)
	text, err := os.ReadFile(l.stack.Load.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	const step = "\n        request: "
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(file, bytes.ReplaceAll(text, []byte(step), []byte("\n        think: 40ms"+step)), 0o644); err != nil {
		t.Fatal(err)
	}
	sc, err := load.LoadScenario(file)
	if err != nil {
		t.Fatal(err)
	}
	busy := l.bench.Scenario
	sc.Timeout, sc.Workload = busy.Timeout, 3
	l.bench.Scenario = sc
	t.Cleanup(func() { l.bench.Scenario = busy })
}

// told lets runs be short and real, with their answers, and their scores be told until the test
// ends: those of what is in place, and a little noise. So the fewest pairs decide, however busy
// the machine is. For tests of what a session does after a verdict, not of the verdict.
func (l *lab) told(t *testing.T, level func() float64) {
	t.Helper()
	window, noise := l.bench.Window, rand.New(rand.NewPCG(7, 11))
	l.bench.Window = 300 * time.Millisecond
	var run func(context.Context, RunOptions) (*store.Run, error)
	run = func(ctx context.Context, o RunOptions) (*store.Run, error) {
		l.bench.instead = nil
		defer func() { l.bench.instead = run }()
		made, err := l.bench.run(ctx, o)
		if err != nil {
			return nil, err
		}
		made.Score, made.Unfit = level()*(1+0.02*noise.Float64()), ""
		return made, l.bench.Store.SaveRun(made)
	}
	l.bench.instead = run
	t.Cleanup(func() { l.bench.Window, l.bench.instead = window, nil })
}

// holdsIndex reports whether an index of Kasoku's is in place.
func (l *lab) holdsIndex(t *testing.T) bool {
	t.Helper()
	db, err := stack.OpenDB(t.Context(), l.hosts["local"], l.stack.OfKind(stack.MariaDB)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'login' AND INDEX_NAME LIKE 'kasoku%'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// hash of everything that undo must bring back.
func (l *lab) hash(t *testing.T) string {
	t.Helper()
	return l.take(t, evidence.TakeOptions{Brief: true}).Hash() // the rest of it is in no hash
}

func (l *lab) take(t *testing.T, o evidence.TakeOptions) *evidence.Snapshot {
	t.Helper()
	snap, err := evidence.Take(t.Context(), l.stack, l.hosts, o)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// observe looks at the case as it is now; at a state that was seen before, byte
// for byte, it does not look again.
func (l *lab) observe(t *testing.T) observation {
	t.Helper()
	key := fmt.Sprint(l.bench.Scenario.Workload, " ", l.bench.Window, " ", l.hash(t))
	if o, ok := l.seen[key]; ok {
		return o
	}
	// No remedy is planned by profiles or by what single requests call, and
	// tests change the case behind the bench's back.
	l.bench.Instruments.Plain, l.bench.scored.reference = true, nil
	run, snap, err := Observe(t.Context(), l.exec, l.bench, 0, t.Name(), quiet{})
	if err != nil {
		t.Fatal(err)
	}
	if l.seen == nil {
		l.seen = map[string]observation{}
	}
	l.seen[key] = observation{run, snap}
	return l.seen[key]
}

// plans plans everything under reg from what is observed.
func (l *lab) plans(t *testing.T, reg regulation.Regulation) remedy.Result {
	t.Helper()
	return l.planned(l.observe(t), reg)
}

func (l *lab) planned(o observation, reg regulation.Regulation) remedy.Result {
	st := *l.stack
	st.Regulation = reg
	return remedy.PlanAll(remedy.Input{Stack: &st, Evidence: o.run.Evidence, Snapshot: o.snap, Diagnosis: o.run.Diagnosis})
}

// relaxed allows every trade, so that every remedy can be seen.
func relaxed() regulation.Regulation {
	var r regulation.Regulation
	for _, t := range regulation.Trades {
		r.Allow = append(r.Allow, t.Trade)
	}
	return r
}

// tuner works on the lab with the strict regulation.
func (l *lab) tuner() *Tuner {
	return &Tuner{Stack: l.stack, Store: l.bench.Store, Exec: l.exec, Bench: l.bench, Rule: experiment.DefaultRule(), UI: quiet{}}
}

// quiet is a Reporter that says nothing.
type quiet struct{}

func (quiet) Step(string)         {}
func (quiet) Info(string)         {}
func (quiet) Warn(string, string) {}
