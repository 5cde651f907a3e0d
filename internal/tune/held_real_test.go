package tune

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"kasoku/internal/await"
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
