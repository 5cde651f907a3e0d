package tune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// killed is what ends a session at once, without any of its own last words.
type killedHere struct{ at string }

// killer ends a session before one write: of the journal or a file (the
// executor tells each step), or of the store (a trigger lets no more through).
type killer struct {
	db     *sql.DB
	v      *virtual
	writes int // steps of the executor so far
	at     int // the one before which it ends; 0 = never
	// runsAt are how many runs of experiments came before each step.
	runsAt []int
	seen   int // steps that the interrupted session had begun
}

const storeTriggers = `
CREATE TABLE IF NOT EXISTS left_to_write (n INTEGER);
DELETE FROM left_to_write;
INSERT INTO left_to_write VALUES (?);`

// watch lets the store take so many writes of sessions and steps, with LONG=1
// also of runs.
func (k *killer) watch(t *testing.T, storeWrites int) {
	t.Helper()
	if _, err := k.db.Exec(strings.Replace(storeTriggers, "?", "1000000000", 1)); err != nil {
		t.Fatal(err)
	}
	tables := []string{"sessions", "steps"}
	if everyPoint() {
		tables = append(tables, "runs")
	}
	for _, table := range tables {
		for _, op := range []string{"INSERT", "UPDATE"} {
			name := "t_" + table + "_" + op
			if _, err := k.db.Exec("CREATE TRIGGER IF NOT EXISTS " + name + " BEFORE " + op + " ON " + table +
				" BEGIN SELECT RAISE(FAIL, 'killed') WHERE (SELECT n FROM left_to_write) <= 0; UPDATE left_to_write SET n = n - 1; END"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := k.db.Exec("UPDATE left_to_write SET n = ?", storeWrites); err != nil {
		t.Fatal(err)
	}
}

func (k *killer) left() (n int) {
	if err := k.db.QueryRow("SELECT n FROM left_to_write").Scan(&n); err != nil {
		panic(err)
	}
	return n
}

// many is more than any session here writes.
const many = 1 << 30

// everyPoint: with LONG=1 (make test-long) sessions end before every single
// write, else before some of them.
func everyPoint() bool { return os.Getenv("LONG") != "" }

// stuckAfter ends the test with all goroutines where a session, which takes some
// tenths of a second, does not end by itself.
const stuckAfter = 2 * time.Minute

// session runs one, which is killed before the executor's step `at` or after so
// many writes of the store, and says whether it was.
func (k *killer) session(t *testing.T, at, storeWrites int, ctrlC bool) (killed bool) {
	t.Helper()
	k.watch(t, storeWrites)
	k.at, k.writes = at, 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer time.AfterFunc(stuckAfter, func() {
		panic(fmt.Sprintf("a session to end before step %d, after %d writes of the store, Ctrl-C %v, has not ended after %s", at, storeWrites, ctrlC, stuckAfter))
	}).Stop()
	k.v.trace = func(step string) {
		k.writes++
		k.runsAt = append(k.runsAt, k.v.runs)
		dead := k.at > 0 && k.writes >= k.at
		switch {
		case dead && ctrlC:
			cancel()
		case dead || storeWrites < many && k.left() <= 0:
			panic(killedHere{step})
		}
	}
	defer func() {
		k.v.trace = nil
		if r := recover(); r != nil {
			if _, ok := r.(killedHere); !ok {
				panic(r)
			}
			killed = true
		}
	}()
	_, err := k.v.tuner().Run(ctx)
	if err != nil && !strings.Contains(err.Error(), "killed") && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return err != nil
}

// again is a new process: it recovers, says of the session that it was killed
// and goes on.
func (k *killer) again(t *testing.T) {
	t.Helper()
	k.v.close()
	k.v.open()
	k.watch(t, many)
	if _, err := k.v.exec.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := k.v.store.LastSession(); err == nil && s.State == "running" {
		s.State = "interrupted"
		if err := k.v.store.SaveSession(s); err != nil {
			t.Fatal(err)
		}
	}
}

func newKiller(t *testing.T) *killer {
	bad := good("c", 8)
	bad.factor = 0.93 // is kept behind the others, and taken out at the end
	v := newVirtual(t, knob{name: "big", factor: 3, bound: 4, reach: 0.9}, good("a", 9), good("b", 9), bad, little("p", 5), little("q", 4),
		knob{name: "s", factor: 0.8, bound: 1.05, reach: 0.5})
	v.alone("s") // after the others
	db, err := sql.Open("sqlite", filepath.Join(v.dir, ".kasoku", store.FileName)+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &killer{db: db, v: v}
}

// finished are the experiments whose verdict is on disk, with their runs.
func finished(v *virtual, t *testing.T) map[int64]int {
	out := map[int64]int{}
	s, err := v.store.LastSession()
	if err != nil {
		return out
	}
	runs, err := v.store.Runs(store.RunFilter{Session: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range v.steps(s.ID) {
		if st.Verdict.Outcome == "" || st.Verdict.Outcome == experiment.Inconclusive {
			continue
		}
		out[st.ID] = 0
		for _, r := range runs {
			if r.Step == st.ID {
				out[st.ID]++
			}
		}
	}
	return out
}

// A session is killed, or interrupted by Ctrl-C, before each of its writes to
// journal, target and store; the next one takes it up. Nothing that was judged
// is measured again, the target ends as without the interruption, the store
// tells what the journal tells, and nothing is left pending.
func TestResumeAtEveryPoint(t *testing.T) {
	await.SkipShort(t)
	whole := newKiller(t)
	if whole.session(t, 0, many, false) {
		t.Fatal("it was not to be killed")
	}
	steps := whole.writes
	storeWrites := many - whole.left()
	s, err := whole.v.store.LastSession()
	if err != nil {
		t.Fatal(err)
	}
	whole.v.tell(s.ID)
	want := whole.v.on()
	if want != "big a b p q" {
		t.Fatalf("on at the end: %s", want)
	}
	if parts := whole.v.steps(s.ID)[0].Plan.Parts; len(parts) != 5 || !slices.ContainsFunc(parts, func(p remedy.Part) bool { return len(p.Of) == 2 }) {
		t.Fatalf("parts of the first step: %+v", parts)
	}
	t.Logf("%d steps of the executor, %d writes of the store", steps, storeWrites)
	runsOf, done := map[string]int{}, 0
	var points []int // right after a verdict, and a little later
	for _, st := range whole.v.steps(s.ID) {
		runsOf[st.Plan.ID] = st.Verdict.Runs
		done += st.Verdict.Runs
		if i := slices.Index(whole.runsAt, done); i >= 0 {
			points = append(points, i+1, min(i+5, steps))
		}
	}
	stride, storeStride := 1, 1
	if !everyPoint() {
		stride, storeStride = 83, 7 // the points fall everywhere in experiments
	}
	for at := 1; at <= steps; at += stride {
		points = append(points, at)
		resumed(t, min(at+stride/2, steps), many, true, want, runsOf) // Ctrl-C
	}
	for _, at := range points {
		resumed(t, at, many, false, want, runsOf)
	}
	for n := 1; n < storeWrites; n += storeStride {
		resumed(t, 0, n, false, want, nil)
	}
}

// resumed is one such interruption. runsOf are how many runs each plan's
// experiment takes: until the interruption every session is the same.
func resumed(t *testing.T, at, storeWrites int, ctrlC bool, want string, runsOf map[string]int) {
	t.Helper()
	t.Run("", func(t *testing.T) { resumedOnce(t, at, storeWrites, ctrlC, want, runsOf) })
}

func resumedOnce(t *testing.T, at, storeWrites int, ctrlC bool, want string, runsOf map[string]int) {
	t.Helper()
	k := newKiller(t)
	k.session(t, at, storeWrites, ctrlC)
	k.again(t)
	before := finished(k.v, t)
	first, err := k.v.store.LastSession()
	if err == nil {
		k.seen = len(k.v.steps(first.ID))
	}
	if k.session(t, 0, many, false) {
		t.Fatal("the second was not to be killed")
	}
	last, lerr := k.v.store.LastSession()
	if lerr != nil {
		t.Fatal(lerr)
	}
	fail := func(format string, args ...any) {
		k.v.tell(last.ID)
		t.Fatalf("killed before step %d, after %d writes of the store, Ctrl-C %v: "+format, append([]any{at, storeWrites, ctrlC}, args...)...)
	}
	if err == nil && first.AsFound > 0 && first.State == "interrupted" && last.ID != first.ID {
		fail("it was not taken up")
	}
	if got := k.v.on(); got != want {
		fail("on at the end: %s; want %s", got, want)
	}
	if p := k.v.exec.Pending(); len(p) > 0 {
		fail("pending: %v", p)
	}
	after := finished(k.v, t)
	for id, runs := range before {
		if err == nil && last.ID == first.ID && after[id] != runs {
			fail("step %d was judged and is measured again: %d runs, then %d", id, runs, after[id])
		}
	}
	if err == nil {
		k.lost(first.ID, before, runsOf, fail)
	}
	k.consistent(last.ID, fail)
}

// lost looks for an experiment that had all its runs before the interruption,
// and whose verdict was not on disk.
func (k *killer) lost(session int64, before map[int64]int, runsOf map[string]int, fail func(string, ...any)) {
	for _, st := range k.v.steps(session) {
		runs, err := k.v.store.Runs(store.RunFilter{Session: session, Step: st.ID})
		if err != nil {
			k.v.t.Fatal(err)
		}
		_, saved := before[st.ID]
		if need := runsOf[st.Plan.ID]; need > 0 && len(runs) >= need && !saved && st.Seq <= k.seen {
			fail("step %d had all its %d runs and its verdict was lost", st.Seq, need)
		}
	}
}

// consistent compares the steps with the journal.
func (k *killer) consistent(session int64, fail func(string, ...any)) {
	kept, judged := map[int64]bool{}, map[string]int{}
	for _, st := range k.v.steps(session) {
		if st.Tx != 0 {
			kept[st.Tx] = true
		}
		if st.Verdict.Outcome != "" && st.Verdict.Outcome != experiment.Inconclusive {
			judged[st.Plan.ID]++
			if st.Ended.IsZero() {
				fail("step %d has a verdict and no end", st.Seq)
			}
		}
	}
	for plan, n := range judged {
		if n > 1 {
			fail("%s was judged %d times", plan, n)
		}
	}
	for _, tx := range k.v.exec.Kept() {
		if tx.Session == session && !kept[tx.ID] {
			fail("tx %d (%s) is kept, and no step says so", tx.ID, tx.Title)
		}
	}
}

// What a killed session's last step says is put right by the journal.
func TestReconcile(t *testing.T) {
	v := newVirtual(t, good("a", 9))
	tu := v.tuner()
	if err := tu.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tu.observe(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	verdict := func(o experiment.Outcome) experiment.Verdict { return experiment.Verdict{Outcome: o, Effect: 0.1} }
	save := func(st store.Step) *store.Step {
		st.Session, st.Started = tu.session.ID, time.Now()
		if err := v.store.SaveStep(&st); err != nil {
			t.Fatal(err)
		}
		return &st
	}
	save(store.Step{Seq: 1, Verdict: verdict(experiment.NoDifference)})
	save(store.Step{Seq: 2, Verdict: verdict("")})
	proved := store.Step{Seq: 3, Verdict: verdict(experiment.Improved)}
	proved.Plan.ID = "p"
	save(proved)
	load := store.Step{Seq: 4, Verdict: verdict(experiment.Improved)}
	load.Plan.Workload = 32
	save(load)
	save(store.Step{Seq: 5, Verdict: verdict(experiment.Improved), Kept: true, Tx: 99, Ended: time.Now()}) // undone since
	steps := v.steps(tu.session.ID)
	if err := tu.reconcile(steps); err != nil {
		t.Fatal(err)
	}
	ended := []bool{true, false, false, true, true}
	for i, st := range v.steps(tu.session.ID) {
		if kept := st.Kept && !st.LeftOut; st.Ended.IsZero() == ended[i] || kept != (i == 3) {
			t.Errorf("step %d: ended %v, kept %v", st.Seq, st.Ended, kept)
		}
	}
	if _, ok := tu.schedule.proved["p"]; !ok || len(tu.schedule.proved) != 1 {
		t.Errorf("proved: %v", tu.schedule.proved)
	}
	if slices.ContainsFunc(steps, changesTarget) {
		t.Error("a transaction that does not exist is told as kept")
	}
}
