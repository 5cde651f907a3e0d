package tune

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/foreign"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// TestForeignBenchTells: what a scenario would say comes from kasoku.yaml and
// from the runs so far.
func TestForeignBenchTells(t *testing.T) {
	c := &foreign.Command{Argv: []string{"wrk"}}
	b := &Bench{Stack: &stack.Stack{Load: stack.LoadConfig{Command: c}}}
	if !b.Foreign() || b.Users() != 0 || b.runTime() != foreignRunTime {
		t.Errorf("before the first run: %d users, %s", b.Users(), b.runTime())
	}
	c.Timeout = 10 * time.Second
	if b.runTime() != 10*time.Second {
		t.Errorf("no run is longer than its time limit: %s", b.runTime())
	}
	b.benchmark.took = 3 * time.Second
	ev := &evidence.Evidence{Load: &load.Result{Workload: 32}, System: evidence.System{CPUs: 2}}
	b.known(ev)
	if b.Users() != 32 || b.runTime() != 4*time.Second {
		t.Errorf("after the first run: %d users, %s", b.Users(), b.runTime())
	}
	ev.Load.Workload = 0
	b.known(ev)
	if ev.Load.Workload != 2 || !ev.Load.UsersAssumed || !b.benchmark.assumed || (&store.Session{UsersAssumed: b.benchmark.assumed}).WithUsers(2) != "" {
		t.Errorf("%d users, want one for each CPU", ev.Load.Workload)
	}
	b.Stack.Load.Workload = 8
	if b.Users() != 8 {
		t.Errorf("%d users, want what kasoku.yaml says", b.Users())
	}
}

// TestForeignBenchAnswered: a benchmark that found the service wrong stops the
// session; one that merely tells failed requests does not.
func TestForeignBenchAnswered(t *testing.T) {
	b := &Bench{Stack: &stack.Stack{Load: stack.LoadConfig{URL: "http://127.0.0.1:1", Command: &foreign.Command{Argv: []string{"b"}}}}}
	for _, c := range []struct {
		load load.Result
		ok   bool
	}{
		{load.Result{Score: 5, Succeeded: 5}, true},
		{load.Result{Score: 5, Succeeded: 5, Mismatches: 2}, true},
		{load.Result{Score: 0, Succeeded: 5, Mismatches: 1}, false},
		{load.Result{Score: 0}, false},
	} {
		if err := b.Answered(&store.Run{Evidence: &evidence.Evidence{Load: &c.load}}); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.load, err)
		}
	}
}

// How long a benchmark prepares is learnt from the first run that tells it, and whose
// tables it makes anew; what kasoku.yaml says is left as it is.
func TestForeignBenchPrepares(t *testing.T) {
	run := func(preparing, window time.Duration) *evidence.Evidence {
		return &evidence.Evidence{Load: &load.Result{Workload: 2, Window: window}, Preparing: preparing,
			Counters: map[string]evidence.CounterDelta{"db": {Delta: map[string]float64{"Com_create_table": 2, "Com_drop_db": 1}}, "other": {Delta: map[string]float64{"Com_create_table": 2}}}}
	}
	for _, c := range []struct {
		said       time.Duration
		runs       []*evidence.Evidence
		want       time.Duration
		told, made int
	}{
		{0, []*evidence.Evidence{run(41*time.Second, 100*time.Second)}, 40 * time.Second, 1, 1},
		{0, []*evidence.Evidence{run(0, 100*time.Second), run(20*time.Second, 100*time.Second), run(5*time.Second, 60*time.Second)}, 19 * time.Second, 1, 1},
		{0, []*evidence.Evidence{run(2*time.Second, 100*time.Second)}, 0, 0, 1},
		{0, []*evidence.Evidence{run(80*time.Second, 100*time.Second)}, 0, 0, 1}, // most of it: that is no preparing
		{10 * time.Second, []*evidence.Evidence{run(41*time.Second, 100*time.Second)}, 0, 0, 0},
	} {
		told := 0
		b := &Bench{Stack: &stack.Stack{Load: stack.LoadConfig{Command: &foreign.Command{Argv: []string{"b"}, Warmup: c.said}}}, Listeners: Listeners{Note: func(string) { told++ }}}
		for _, ev := range c.runs {
			b.known(ev)
		}
		if b.benchmark.prepares != c.want || told != c.told || len(b.benchmark.remade) != c.made || b.benchmark.remade["other"] {
			t.Errorf("%+v: %s, told %d times, made anew %v", c, b.benchmark.prepares, told, b.benchmark.remade)
		}
	}
}

// What is expected is of requests; a score of somebody else's may be of some of them only,
// which is said rather than guessed.
func TestExpectedIsOfRequests(t *testing.T) {
	b := &Bench{Stack: &stack.Stack{}}
	if said := b.counts(); said != "" {
		t.Errorf("of a scenario of our own: %q", said)
	}
	b.Stack.Load.Command = &foreign.Command{Argv: []string{"bench"}}
	if said := b.counts(); !strings.Contains(said, "of requests") || !strings.Contains(said, "score may rise by less") {
		t.Errorf("of a command: %q", said)
	}
}
