package tune

import (
	"cmp"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment/effecttest"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// show shows one remedy alone, as showWith does, with the case's own users.
func show(t *testing.T, id string, prepare ...string) { showWith(t, 0, id, prepare...) }

// showWith starts from the bad state of the case as found (or as prepare leaves
// it), sees the remedy planned from evidence under so many users (0: the case's),
// applies it through the journal, checks that every answer is still right and the
// sign is gone, puts it back and compares the hash of everything.
//
// All remedies for the case's own users are shown together in TestRemediesTogether,
// and alone some of them, which a seed draws; with LONG=1, and where effects are
// measured, all of them are.
func showWith(t *testing.T, users int, id string, prepare ...string) {
	t.Helper()
	l := useLab(t)
	if users == 0 && !alone(t) {
		t.Skip("this time it is shown by TestRemediesTogether only; LONG=1 shows each alone")
	}
	asFound := l.hash(t)
	var under []int64
	for _, p := range prepare {
		under = append(under, l.apply(t, p).ID)
	}
	l.crowd(t, users)
	before := l.hash(t)
	plan := l.wanted(t, id)
	l.effect(t, plan)
	tx := l.put(t, plan)
	if l.hash(t) == before {
		t.Errorf("%s changed nothing", id)
	}
	// One run shows both: that every answer is right, and that the sign is gone.
	l.holds(t, tx.Plan)
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

// aloneOneIn of so many remedies is shown alone in each run of the tests.
const aloneOneIn = 6

// aloneSeed draws them; KASOKU_SEED repeats the draw.
var aloneSeed = sync.OnceValue(func() string {
	return cmp.Or(os.Getenv("KASOKU_SEED"), strconv.FormatUint(rand.Uint64N(1<<20)+1, 10))
})

// alone reports whether this test's remedy is one of those.
func alone(t *testing.T) bool {
	if everyPoint() || effecttest.Measuring() {
		return true
	}
	h := fnv.New32a()
	h.Write([]byte(aloneSeed() + t.Name()))
	if h.Sum32()%aloneOneIn != 0 {
		return false
	}
	t.Logf("drawn by KASOKU_SEED=%s", aloneSeed())
	return true
}

// crowd puts so many users on the case until the test ends; 0: its own.
func (l *lab) crowd(t *testing.T, users int) {
	if users == 0 {
		return
	}
	old := l.bench.Scenario.Workload
	l.bench.Scenario.Workload = users
	t.Cleanup(func() { l.bench.Scenario.Workload = old })
}

// holds looks once more, now that plans are in force: every answer must be right,
// and none of the plans made again.
func (l *lab) holds(t *testing.T, plans ...string) {
	t.Helper()
	now := l.observe(t)
	if ev := now.run.Evidence.Load; ev.Mismatches+ev.Errors+ev.Timeouts > 0 || ev.Succeeded == 0 {
		t.Errorf("with %v: %d right, %d wrong, %d errors, %d time-outs: %s", plans, ev.Succeeded, ev.Mismatches, ev.Errors, ev.Timeouts, sample(now.run).Broken)
	}
	for _, p := range l.planned(now, relaxed()).Plans {
		if slices.Contains(plans, p.ID) {
			t.Errorf("%s is planned again although it is in force: %s", p.ID, p.Why)
		}
	}
}

// tooFewToKeep reports whether no connection to PHP-FPM may be kept, since what is in force
// leaves too few processes for that. How many there are to be follows from what the
// processes take here.
func tooFewToKeep(res remedy.Result) bool {
	return slices.ContainsFunc(res.Skipped, func(why string) bool {
		return strings.HasPrefix(why, "nginx.keep-php: pm.max_children is ") && strings.Contains(why, "too few for the kept connections")
	})
}

// TestRemediesTogether shows the remedies for the case on real servers: each is
// planned from evidence and put in force, then every answer is right, and no sign is
// left; all is put back, hash for hash.
func TestRemediesTogether(t *testing.T) {
	l := useLab(t)
	asFound := l.hash(t)
	var txs []int64
	t.Cleanup(func() { // only after a failure there is something left
		if err := l.exec.UndoAll(context.Background()); err != nil {
			t.Error(err)
		}
	})
	var inForce []string
	force := func(p remedy.Plan) {
		before := l.hash(t)
		txs = append(txs, l.put(t, p).ID)
		if l.hash(t) == before {
			t.Errorf("%s changed nothing", p.ID)
		}
		inForce = append(inForce, p.PlanIDs()...)
	}
	// What is called for as found; the first is not any more with the others in force.
	// Of two that set the same one is left for the next group.
	first := "nginx.workers"
	ids := []string{"mariadb.index", "mariadb.memory", "mariadb.commit-flush", "nginx.static", "nginx.php-socket", "app.db-socket", "php.opcache",
		"php.workers", "php.session-memory", "nginx.delivery", "nginx.keep-php", "nginx.access-log"}
	found := l.called(t, append(ids, first)...)
	force(l.wanted(t, first))
	found.run.Diagnosis.Binds = "cpu: php" // another number of processes then comes after what goes by their number
	st := *l.stack
	st.Regulation = relaxed()
	for left := ids; len(left) > 0; {
		in := remedy.Input{Stack: &st, Evidence: found.run.Evidence, Snapshot: l.take(t, evidence.TakeOptions{Assets: found.run.Evidence.Load.Assets}), Diagnosis: found.run.Diagnosis}
		res := remedy.PlanAll(in)
		plans := slices.DeleteFunc(res.Plans, func(p remedy.Plan) bool { return !slices.Contains(left, p.Remedy) })
		left = slices.DeleteFunc(left, func(id string) bool { return id == "nginx.keep-php" && tooFewToKeep(res) })
		if len(left) == 0 {
			break
		}
		if len(plans) < len(left) {
			t.Fatalf("with %v in force, of %v only %v are planned", inForce, left, titles(plans))
		}
		joined, rest := remedy.Group(in, plans)
		force(joined)
		left = nil
		for _, p := range rest {
			left = append(left, p.Remedy)
		}
	}
	l.holds(t, inForce...)
	// What is called for then.
	for _, id := range []string{"php.jit", "nginx.file-cache"} {
		force(l.wanted(t, id))
	}
	l.holds(t, inForce...)
	for _, tx := range slices.Backward(txs) {
		if err := l.exec.Revert(t.Context(), tx); err != nil {
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
		bench.Window, bench.Warmup, bench.Instruments.Plain = effecttest.Window, effecttest.Warmup, true
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

// wanted plans one remedy from evidence.
func (l *lab) wanted(t *testing.T, id string) remedy.Plan {
	t.Helper()
	for _, p := range l.planned(l.called(t, id), relaxed()).Plans {
		if p.Remedy == id {
			return p
		}
	}
	panic("called does not return without it")
}

// called is an observation that calls for all these remedies. A short run on a loud
// machine may miss what calls for one, so it looks up to three times, each time for
// longer.
func (l *lab) called(t *testing.T, ids ...string) observation {
	t.Helper()
	var res remedy.Result
	var lacking []string
	old := l.bench.Window
	defer func() { l.bench.Window = old }()
	for ; l.bench.Window <= 9*old; l.bench.Window *= 3 {
		o := l.observe(t)
		res = l.planned(o, relaxed())
		lacking = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			return slices.ContainsFunc(res.Plans, func(p remedy.Plan) bool { return p.Remedy == id })
		})
		if len(lacking) == 0 {
			return o
		}
	}
	t.Fatalf("%v not planned; planned: %v; skipped: %v", lacking, titles(res.Plans), res.Skipped)
	return observation{}
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
	showWith(t, 200, "nginx.connections", "mariadb.index", "nginx.static")
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
