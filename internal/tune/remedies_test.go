package tune

import (
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/experiment/effecttest"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// show starts from the bad state of the case as found (or as prepare leaves
// it), sees the remedy planned from evidence, applies it through the journal,
// checks that every answer is still right and the sign is gone, puts it back
// and compares the hash of everything.
func show(t *testing.T, id string, prepare ...string) {
	t.Helper()
	l := useLab(t)
	asFound := l.hash(t)
	var under []int64
	for _, p := range prepare {
		under = append(under, l.apply(t, p).ID)
	}
	before := l.hash(t)
	plan := l.wanted(t, id)
	l.effect(t, plan)
	tx := l.put(t, plan)
	if l.hash(t) == before {
		t.Errorf("%s changed nothing", id)
	}
	// One run shows both: that every answer is right, and that the sign is gone.
	now := l.observe(t)
	if ev := now.run.Evidence.Load; ev.Mismatches+ev.Errors+ev.Timeouts > 0 || ev.Succeeded == 0 {
		t.Errorf("with %s: %d right, %d wrong, %d errors, %d time-outs: %s", id, ev.Succeeded, ev.Mismatches, ev.Errors, ev.Timeouts, sample(now.run).Broken)
	}
	for _, p := range l.planned(now, relaxed()).Plans {
		if p.ID == tx.Plan {
			t.Errorf("%s is planned again although it is in force: %s", p.ID, p.Why)
		}
	}
	if err := l.exec.Revert(t.Context(), tx.ID); err != nil {
		t.Fatal(err)
	}
	if l.hash(t) != before {
		t.Errorf("%s: the target is not as before", id)
	}
	for i := len(under) - 1; i >= 0; i-- {
		if err := l.exec.Revert(t.Context(), under[i]); err != nil {
			t.Fatal(err)
		}
	}
	if l.hash(t) != asFound {
		t.Errorf("the target is not as found")
	}
}

// effect measures what a plan brings to the case, if that is asked for
// (effecttest.Measure).
func (l *lab) effect(t *testing.T, p remedy.Plan) {
	t.Helper()
	rate := func() float64 {
		bench := *l.bench
		bench.Window, bench.Warmup, bench.Plain = effecttest.Window, effecttest.Warmup, true
		run, err := bench.Run(t.Context(), RunOptions{Kind: store.Scored, Label: p.ID})
		if err != nil {
			t.Fatal(err)
		}
		return float64(run.Evidence.Load.Succeeded) / run.Evidence.Load.Window.Seconds()
	}
	var tx change.Tx
	named := p
	named.ID = strings.ReplaceAll(p.ID, l.dir+"/", "") // a folder of this run only
	effecttest.Measure(t, named, effecttest.Answers, rate, rate, func() { tx = l.put(t, p) }, func() {
		if err := l.exec.Revert(t.Context(), tx.ID); err != nil {
			t.Fatal(err)
		}
	})
}

// apply plans one remedy from evidence and puts it in force.
func (l *lab) apply(t *testing.T, id string) change.Tx {
	t.Helper()
	return l.put(t, l.wanted(t, id))
}

func (l *lab) put(t *testing.T, p remedy.Plan) change.Tx {
	t.Helper()
	tx, err := l.exec.Apply(t.Context(), change.Intent{Title: p.Title, Plan: p.ID, Changes: p.Changes})
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// wanted plans one remedy from evidence. A short run on a loud machine may miss
// what calls for it, so it looks up to three times, each time for longer.
func (l *lab) wanted(t *testing.T, id string) remedy.Plan {
	t.Helper()
	var res remedy.Result
	old := l.bench.Window
	defer func() { l.bench.Window = old }()
	for ; l.bench.Window <= 9*old; l.bench.Window *= 3 {
		res = l.plans(t, relaxed())
		for _, p := range res.Plans {
			if p.Remedy == id {
				return p
			}
		}
	}
	t.Fatalf("%s was not planned; planned: %v; skipped: %v", id, titles(res.Plans), res.Skipped)
	return remedy.Plan{}
}

func titles(ps []remedy.Plan) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.ID)
	}
	return out
}

func TestRemedyIndex(t *testing.T)          { show(t, "mariadb.index") }
func TestRemedyMemory(t *testing.T)         { show(t, "mariadb.memory") }
func TestRemedyCommitFlush(t *testing.T)    { show(t, "mariadb.commit-flush") }
func TestRemedyStatic(t *testing.T)         { show(t, "nginx.static") }
func TestRemedyWebSocket(t *testing.T)      { show(t, "nginx.php-socket") }
func TestRemedyDatabaseSocket(t *testing.T) { show(t, "app.db-socket") }
func TestRemedyOPcache(t *testing.T)        { show(t, "php.opcache") }
func TestRemedyJIT(t *testing.T)            { show(t, "php.jit", "php.opcache") }
func TestRemedyWorkers(t *testing.T)        { show(t, "php.workers") }
func TestRemedySessions(t *testing.T)       { show(t, "php.session-memory") }
func TestRemedyNginxWorkers(t *testing.T)   { show(t, "nginx.workers") }
func TestRemedyDelivery(t *testing.T)       { show(t, "nginx.delivery") }
func TestRemedyKeepUpstream(t *testing.T)   { show(t, "nginx.keep-php") }
func TestRemedyFileCache(t *testing.T)      { show(t, "nginx.file-cache", "nginx.static") }
func TestRemedyAccessLog(t *testing.T)      { show(t, "nginx.access-log") }

// The case's 256 connections are enough for its 8 users; with 200 they are not.
func TestRemedyConnections(t *testing.T) {
	l := useLab(t)
	old := l.bench.Scenario.Workload
	l.bench.Scenario.Workload = 200
	t.Cleanup(func() { l.bench.Scenario.Workload = old })
	show(t, "nginx.connections", "mariadb.index", "nginx.static")
}

// With the strict regulation no plan makes any trade, and those that would
// are listed as refused.
func TestStrictPlansTradeNothing(t *testing.T) {
	l := useLab(t)
	res := l.plans(t, l.stack.Regulation)
	if len(res.Plans) == 0 || len(res.Refusals) == 0 {
		t.Fatalf("planned %v, refused %d", titles(res.Plans), len(res.Refusals))
	}
	for _, p := range res.Plans {
		if len(p.Trades) > 0 {
			t.Errorf("%s trades %v", p.ID, p.Trades)
		}
		for _, c := range p.Changes {
			if lowersDurability(c) {
				t.Errorf("%s lowers durability: %s", p.ID, change.Diff(c))
			}
		}
	}
}

// lowersDurability looks at the bytes, not at what the plan says of itself.
func lowersDurability(c change.Change) bool {
	text := change.Diff(c)
	for _, word := range []string{"innodb_flush_log_at_trx_commit", "sync_binlog", "doublewrite", "O_DIRECT_NO_FSYNC", "nosync", "log_bin", "/dev/shm", "aria_"} {
		if containsAdded(text, word) {
			return true
		}
	}
	return false
}

// containsAdded reports whether a line that the diff adds, or a statement,
// holds the word.
func containsAdded(diff, word string) bool {
	for _, line := range strings.Split(diff, "\n") {
		if !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, " ") && strings.Contains(line, word) {
			return true
		}
	}
	return false
}
