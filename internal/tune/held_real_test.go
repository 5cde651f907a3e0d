package tune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kasoku/internal/await"
	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/foreign"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// A benchmark that makes tables anew waits for a transaction that the run before left open.
// What it complains of then names that, and whom to restart.
func TestComplaintOfTransactionLeftOpen(t *testing.T) {
	l := useLab(t)
	st := *l.stack
	st.Load.Command = &foreign.Command{Argv: []string{"true"}}
	bench := *l.bench
	bench.Stack = &st
	open := func() *sql.DB {
		db, err := stack.OpenDB(t.Context(), l.hosts["local"], st.Service("db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	db := open()
	run := func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	run("DROP DATABASE IF EXISTS held")
	run("CREATE DATABASE held")
	t.Cleanup(func() { _, _ = db.Exec("DROP DATABASE IF EXISTS held") })
	run("CREATE TABLE held.items (id INT PRIMARY KEY) ENGINE=InnoDB")
	left, err := open().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = left.Rollback() }()
	if _, err := left.Exec("INSERT INTO held.items VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	complaint := func() string {
		res := &load.Result{Mismatches: 1, Samples: []load.Mismatch{{Got: "POST /initialize timed out"}}}
		bench.tellHeld(t.Context(), res)
		return res.Samples[0].Got
	}
	if got := complaint(); got != "POST /initialize timed out" {
		t.Errorf("nothing waits: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	dropped := make(chan error, 1)
	waiter := open()
	go func() {
		_, err := waiter.ExecContext(ctx, "DROP TABLE held.items")
		dropped <- err
	}()
	await.For(t, "the statement to wait", func() bool {
		var n int
		err := db.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'Waiting for table metadata lock'").Scan(&n)
		return err == nil && n > 0
	})
	got := complaint()
	for _, want := range []string{"timed out; in db a statement waits for a table that an idle connection of ", "left open ", "have load.reset restart "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if err := left.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-dropped; err != nil {
		t.Fatal(err)
	}
	cancel()
}

// An index waits for a transaction that a run left open. load.reset, which restarts the
// application, ends it, and then the index is made; without load.reset the step fails.
func TestIndexAfterTransactionLeftOpen(t *testing.T) {
	r := renew(t, func(*renewed) bool { return false }, "")
	left, err := stack.OpenDB(t.Context(), r.hosts["local"], r.stack.Service("db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { left.Close() })
	conn, err := left.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"BEGIN", "UPDATE renewed.items SET owner = 8 WHERE id = 1"} {
		if _, err := conn.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	index := change.Change{Kind: change.KindIndex, Service: "db", Index: &change.Index{Schema: "renewed", Table: "items", Name: "kasoku_items_1", Columns: []string{"owner"}}}
	sw := &switcher{exec: r.exec, bench: r.tuner.Bench, intent: change.Intent{Title: "an index", Plan: "x", Changes: []change.Change{index}}}
	r.tuner.Bench.Stack.Load.Reset = nil
	if err := sw.to(t.Context(), experiment.Candidate); !errors.Is(err, change.ErrTableHeld) {
		t.Fatalf("without load.reset: %v", err)
	}
	r.tuner.Bench.Stack.Load.Reset = []string{"mariadb", "--defaults-file=secrets/client.cnf", "-e", fmt.Sprintf("KILL %d", id)}
	if err := sw.to(t.Context(), experiment.Candidate); err != nil || !r.hasIndex() {
		t.Fatalf("with load.reset: %v, index %t", err, r.hasIndex())
	}
	if err := sw.to(t.Context(), experiment.Baseline); err != nil || r.hasIndex() {
		t.Errorf("back: %v, index %t", err, r.hasIndex())
	}
}
