package tune

import (
	"context"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// Of two indexes that were kept together the one that no statement of the real service
// uses is taken out without an experiment, and the one that it uses stays.
func TestUnusedIndexIsTakenOut(t *testing.T) {
	l := useLab(t)
	asFound := l.hash(t)
	t.Cleanup(func() {
		if err := l.exec.UndoAll(context.Background()); err != nil {
			t.Error(err)
		}
	})
	var real change.Change
	for _, p := range l.plans(t, relaxed()).Plans {
		if p.Remedy == "mariadb.index" && len(p.Changes) > 0 && p.Changes[0].Index != nil {
			real = p.Changes[0]
		}
	}
	if real.Index == nil {
		t.Fatal("no index is planned")
	}
	idle := real
	idle.Index = &change.Index{Schema: real.Index.Schema, Table: "users", Name: "idle_rider", Columns: []string{"salt(20)"}}
	changes := []change.Change{real, idle}
	tx, err := l.exec.Apply(t.Context(), change.Intent{Title: "two indexes", Changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.exec.Keep(t.Context(), tx.ID); err != nil {
		t.Fatal(err)
	}
	tu := l.tuner()
	tu.session = &store.Session{Command: "tune", Stack: l.stack.Name, Started: time.Now(), State: "running"}
	if err := l.bench.Store.SaveSession(tu.session); err != nil {
		t.Fatal(err)
	}
	tu.schedule.tried, tu.course.seq = map[string]attempt{}, 1
	step := &store.Step{Session: tu.session.ID, Seq: 1, Kept: true, Tx: tx.ID, Started: time.Now(), Ended: time.Now(),
		Plan: remedy.Plan{ID: "group:used+idle", Title: "two indexes", Changes: changes, Parts: []remedy.Part{
			{ID: "used", Title: "used", First: 0, Count: 1}, {ID: "idle", Title: "idle", First: 1, Count: 1}}},
		Verdict: experiment.Verdict{Outcome: experiment.Improved, Effect: 3, Pairs: 3}}
	if err := l.bench.Store.SaveStep(step); err != nil {
		t.Fatal(err)
	}
	run, _, err := Observe(t.Context(), l.exec, l.bench, l.bench.Users(), "look", quiet{})
	if err != nil {
		t.Fatal(err)
	}
	tu.seen.evidence, tu.seen.diag = run.Evidence, run.Diagnosis
	if err := tu.takeOutUnused(t.Context()); err != nil {
		t.Fatal(err)
	}
	steps, err := l.bench.Store.Steps(tu.session.ID)
	if err != nil {
		t.Fatal(err)
	}
	parts := steps[0].Plan.Parts
	if len(steps) != 2 || parts[0].LeftOut || !parts[1].LeftOut || steps[1].Tx == 0 {
		t.Fatalf("%d steps; used: %+v, idle: %+v", len(steps), parts[0], parts[1])
	}
	db, err := stack.OpenDB(t.Context(), l.hosts["local"], l.stack.OfKind(stack.MariaDB)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	have := func(name string) (n int) {
		if err := db.QueryRow("SELECT COUNT(DISTINCT INDEX_NAME) FROM information_schema.STATISTICS WHERE INDEX_NAME = ?", name).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	if have("idle_rider") != 0 || have(real.Index.Name) != 1 {
		t.Errorf("the idle one is there %d times, the used one %d times", have("idle_rider"), have(real.Index.Name))
	}
	if err := l.exec.UndoAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.hash(t) != asFound {
		t.Error("after undo the target is not as found")
	}
}

// Without the plans of nearly all statement time nothing is said of an index.
func TestUnused(t *testing.T) {
	plan := func(key string) string {
		return `{"query_block": {"table": {"table_name": "t", "access_type": "ref", "key": "` + key + `", "rows": 1, "filtered": 100}}}`
	}
	statement := func(total time.Duration, explain string) digest.Statement {
		return digest.Statement{Example: "SELECT * FROM t WHERE a = 1", Total: total, Explain: explain}
	}
	commit := digest.Statement{Example: "COMMIT", Total: time.Hour}
	for name, c := range map[string]struct {
		statements []digest.Statement
		want       bool
	}{
		"another is read":        {[]digest.Statement{statement(time.Second, plan("b")), commit}, true},
		"it is read":             {[]digest.Statement{statement(time.Second, plan("b")), statement(time.Millisecond, plan("i"))}, false},
		"half is not known":      {[]digest.Statement{statement(time.Second, plan("b")), statement(time.Second, "")}, false},
		"nothing was recorded":   {nil, false},
		"it is one of a merge":   {[]digest.Statement{statement(time.Second, plan("union(b,i)"))}, false},
		"a tenth is not known":   {[]digest.Statement{statement(95*time.Millisecond, plan("b")), statement(5*time.Millisecond, "")}, true},
		"only a commit was seen": {[]digest.Statement{commit}, false},
	} {
		if got := unused(&evidence.Evidence{Statements: c.statements}, []string{"i"}); got != c.want {
			t.Errorf("%s: unused %v", name, got)
		}
	}
}
