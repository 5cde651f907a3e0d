package tune

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/stack"
)

// load.reset: snapshot copies before the first run, puts back before each further one
// and at the end, and leaves alone what a change put in place.
func TestSnapshotReset(t *testing.T) {
	l := useLab(t)
	st := *l.stack
	st.Load.Reset, st.Load.Snapshot = []string{stack.SnapshotReset}, stack.Snapshot{Databases: []string{"kept"}, Shared: true}
	db, err := stack.OpenDB(t.Context(), l.hosts["local"], st.Service("db"))
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	t.Cleanup(func() {
		if err := l.exec.UndoAll(context.Background()); err != nil {
			t.Error(err)
		}
		exec("DROP DATABASE IF EXISTS kept")
		db.Close()
	})
	exec("CREATE DATABASE kept", "CREATE TABLE kept.visits (id INT AUTO_INCREMENT PRIMARY KEY, who INT) ENGINE=InnoDB", "INSERT INTO kept.visits (who) VALUES (1), (2)")
	rows := func() (n int) {
		t.Helper()
		if err := db.QueryRow("SELECT COUNT(*) * 100 + SUM(who) FROM kept.visits").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	bench := *l.bench
	var told []string
	bench.Stack, bench.Data.Dir, bench.Listeners.Inform = &st, t.TempDir(), func(text string) { told = append(told, text) }
	runs := func(what string) {
		t.Helper()
		if err := bench.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := rows(); got != 203 {
			t.Fatalf("%s begins with other rows (%d)", what, got)
		}
		exec("INSERT INTO kept.visits (who) VALUES (3)", "UPDATE kept.visits SET who = 9 WHERE id = 1")
		if err := bench.noteWritten(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	runs("the first run")
	index := change.Change{Kind: change.KindIndex, Service: "db", Index: &change.Index{Schema: "kept", Table: "visits", Name: "kasoku_who", Columns: []string{"who"}}}
	tx, err := l.exec.Apply(t.Context(), change.Intent{Title: "an index", Changes: []change.Change{index}})
	if err != nil {
		t.Fatal(err)
	}
	runs("the second run")
	runs("the third run")
	if drifts, err := l.exec.VerifyTx(t.Context(), tx.ID); err != nil || len(drifts) > 0 {
		t.Errorf("the index that is under trial: %v %v", drifts, err)
	}
	if err := bench.Leave(); err != nil {
		t.Fatal(err)
	}
	if got := rows(); got != 203 {
		t.Errorf("it was left with other rows (%d)", got)
	}
	if text := strings.Join(told, "\n"); strings.Count(text, "load.reset") != 2 || !strings.Contains(text, "1 tables (2 rows)") {
		t.Errorf("told:\n%s", text)
	}
	bench.Data.keeper = nil
	login := st.Service("db").Login // the lab's own
	t.Cleanup(func() { st.Service("db").Login = login })
	st.Service("db").Login = nil
	var failed *ResetError
	if err := bench.prepare(t.Context()); !errors.As(err, &failed) || !strings.Contains(err.Error(), "no login") {
		t.Errorf("without a login: %v", err)
	}
}
