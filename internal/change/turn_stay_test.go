package change

import (
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
)

// kept is a database that was copied and turned to the copy, both kept.
func (p twoDBs) kept(t *testing.T, trace func(string)) (*Executor, Tx) {
	t.Helper()
	o := p.options(p.path(".kasoku"))
	o.Trace = trace
	x, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { x.Close() })
	tx, err := x.Apply(t.Context(), Intent{Title: "copy", Plan: Prepares("apart"), Changes: p.replica()})
	must(t, err)
	must(t, x.Keep(t.Context(), tx.ID))
	return x, p.turned(t, x)
}

func (p twoDBs) turned(t *testing.T, x *Executor) Tx {
	t.Helper()
	tx, err := x.Apply(t.Context(), Intent{Title: "turn", Plan: "apart", Changes: p.turn()})
	must(t, err)
	must(t, x.Keep(t.Context(), tx.ID))
	return tx
}

// held is who is read-only: main, spare.
func (p twoDBs) held(t *testing.T) string {
	t.Helper()
	return p.ask(t, "main", "SELECT @@read_only") + p.ask(t, "spare", "SELECT @@read_only")
}

// Statements that take away and give back what spare needs to follow main.
var (
	noFollowing = []string{"SET SESSION sql_log_bin = 0", "DROP USER IF EXISTS kasoku_replica@127.0.0.1"}
	mayFollow   = []string{"SET SESSION sql_log_bin = 0", "CREATE USER IF NOT EXISTS kasoku_replica@127.0.0.1", "GRANT REPLICATION SLAVE ON *.* TO kasoku_replica@127.0.0.1"}
)

// TestDatabaseUndoThatFails: a switch that is kept cannot be put back, which turns
// out at one place or another. The database that was written to is so on, and undo
// succeeds once the cause is gone.
func TestDatabaseUndoThatFails(t *testing.T) {
	p := newTwoDBs(t)
	before := p.seen(t)
	row := 0
	root := func() []string {
		row--
		return []string{fmt.Sprintf("INSERT INTO shop.orders VALUES (%d, 'root')", row)}
	}
	at, break_ := "", func() {}
	x, tx := p.kept(t, func(step string) {
		if at != "" && strings.HasSuffix(step, at) {
			break_()
		}
	})
	stop := func() { p.exec(t, "main", "STOP SLAVE"); p.exec(t, "spare", root()...) }
	for i, c := range []struct {
		what, at string
		do       func()
		mend     []string
		says     string
	}{
		{"stopped before", "", stop, []string{"START SLAVE"}, "START SLAVE there"},
		{"stopped while writes are held back", "undo.turn.catchup", stop, []string{"START SLAVE"}, "START SLAVE there"},
		{"stopped, and held back by one that was killed", "", func() { stop(); p.exec(t, "spare", "SET GLOBAL read_only = 1") }, []string{"START SLAVE"}, "START SLAVE there"},
		{"turned half, and no way to follow", "undo.turn.follow", func() { p.exec(t, "main", noFollowing...) }, mayFollow, "ALTER USER"},
	} {
		if i > 0 {
			tx = p.turned(t, x)
		}
		if at, break_ = c.at, c.do; at == "" {
			c.do()
		}
		err := x.Undo(t.Context(), tx.ID, false)
		at = ""
		wantText(t, err, c.says)
		if got := p.held(t); got != "10" {
			t.Fatalf("%s: read-only: %s; %v", c.what, got, err)
		}
		app, err := p.login(t.Context(), "app", appPassword, "tcp", p.address("spare"))
		must(t, err)
		_, err = app.Exec(root()[0])
		must(t, err)
		must(t, app.Close())
		p.exec(t, "main", c.mend...)
		must(t, x.Undo(t.Context(), tx.ID, false))
		wantEqual(t, c.what+": read-only", p.held(t), "01")
		wantEqual(t, c.what+": rows", p.ask(t, "main", "SELECT COUNT(*) FROM shop.orders"), fmt.Sprint(-row))
	}
	must(t, x.UndoAll(t.Context()))
	wantEqual(t, "put back", p.seen(t), before)
}

// TestDatabaseLagHoldsNobodyUp: the one that is to be written to is behind, and
// until it has caught up writes go on.
func TestDatabaseLagHoldsNobodyUp(t *testing.T) {
	p := newTwoDBs(t)
	var caught atomic.Bool
	var lock *sql.Conn
	x, tx := p.kept(t, func(step string) {
		switch {
		case lock != nil && strings.HasSuffix(step, "change1.undo.turn.behind"):
			go func() {
				time.Sleep(700 * time.Millisecond) // it asks twice a second
				caught.Store(true)
				lock.ExecContext(t.Context(), "UNLOCK TABLES")
			}()
		case strings.HasSuffix(step, "change1.undo.turn.hold") && !caught.Load():
			t.Error("writes are held back although main is behind")
		}
	})
	db, err := p.db(t.Context(), "main")
	must(t, err)
	defer db.Close()
	lock, err = db.Conn(t.Context())
	must(t, err)
	_, err = lock.ExecContext(t.Context(), "LOCK TABLES shop.orders READ")
	must(t, err)
	p.exec(t, "spare", "INSERT INTO shop.orders VALUES (1, 'root')")
	must(t, x.Undo(t.Context(), tx.ID, false))
	wantEqual(t, "rows", p.ask(t, "main", "SELECT COUNT(*) FROM shop.orders"), "1")
	wantEqual(t, "read-only", p.held(t), "01")
}

// TestDatabaseAhead: root wrote to the one that is left after the other one was
// asked whether it has everything. The turn fails and is put back, and the other
// one gets that write, too.
func TestDatabaseAhead(t *testing.T) {
	p := newTwoDBs(t)
	at := ""
	x, tx := p.kept(t, func(step string) {
		if at != "" && strings.HasSuffix(step, at) {
			p.exec(t, "spare", "STOP SLAVE")
			p.exec(t, "main", "INSERT INTO shop.orders VALUES (1, 'root')")
		}
	})
	must(t, x.Undo(t.Context(), tx.ID, false))
	at = "change1.turn.unfollow"
	_, err := x.Apply(t.Context(), Intent{Title: "turn", Plan: "apart", Changes: p.turn()})
	wantText(t, err, "somebody wrote who may do so all the same")
	if pending := x.Pending(); len(pending) > 0 {
		t.Fatalf("pending: %s; %v", states(pending), err)
	}
	wantEqual(t, "read-only", p.held(t), "01")
	wantEqual(t, "rows of the other", p.caughtUp(t), "1")
}

// TestDatabaseParted: the one that is to follow has a write that the other has not.
// Nobody decides which of them counts, and nothing is written to.
func TestDatabaseParted(t *testing.T) {
	p := newTwoDBs(t)
	at := ""
	x, tx := p.kept(t, func(step string) {
		if at != "" && strings.HasSuffix(step, at) {
			p.exec(t, "spare", "STOP SLAVE", "INSERT INTO shop.orders VALUES (2, 'root')")
			p.exec(t, "main", "INSERT INTO shop.orders VALUES (1, 'root')")
		}
	})
	must(t, x.Undo(t.Context(), tx.ID, false))
	at = "change1.turn.unfollow"
	_, err := x.Apply(t.Context(), Intent{Title: "turn", Plan: "apart", Changes: p.turn()})
	wantText(t, err, "somebody wrote who may do so all the same")
	if len(x.Pending()) == 0 {
		t.Fatal("it is called put back")
	}
	wantEqual(t, "read-only", p.held(t), "11")
}

// TestDatabaseStatementThatFails: what only the one that is written to has is
// changed there, so that the other one cannot follow any more. Verify tells.
func TestDatabaseStatementThatFails(t *testing.T) {
	p := newTwoDBs(t)
	x, _ := p.kept(t, nil)
	only := []string{"SET SESSION sql_log_bin = 0", "CREATE USER only@127.0.0.1"}
	p.exec(t, "spare", append(only, "SET SESSION sql_log_bin = 1", "ALTER USER only@127.0.0.1 IDENTIFIED BY 'x'")...)
	drift := func(want int) func() error {
		return func() error {
			d, err := x.Verify(t.Context())
			if err == nil && len(d) != want {
				err = fmt.Errorf("drift %v", d)
			}
			return err
		}
	}
	must(t, await.Until(drift(1)))
	d, err := x.Verify(t.Context())
	must(t, err)
	for _, says := range []string{"main cannot do what spare did", "1396", "make it", "START SLAVE"} {
		if !strings.Contains(d[0].Got, says) {
			t.Errorf("%q does not say %q", d[0].Got, says)
		}
	}
	p.exec(t, "main", append(only, "START SLAVE")...)
	must(t, await.Until(drift(0)))
	must(t, x.UndoAll(t.Context()))
}

// TestDatabaseAccountChanged: the account that was made for the application's host
// gets another password while the copy is written to, which the other one follows.
func TestDatabaseAccountChanged(t *testing.T) {
	p := newTwoDBs(t)
	before := p.seen(t)
	x, _ := p.kept(t, nil)
	p.exec(t, "spare", "ALTER USER web@127.0.0.1 IDENTIFIED BY 'a new word'", "GRANT INSERT ON shop.* TO web@127.0.0.1", "DROP USER web@127.0.0.1")
	must(t, x.UndoAll(t.Context()))
	wantEqual(t, "put back", p.seen(t), before)
}

// TestDatabaseGrown: a schema that is made while the copy is written to comes
// along, and is not left behind in the copy.
func TestDatabaseGrown(t *testing.T) {
	p := newTwoDBs(t)
	x, _ := p.kept(t, nil)
	p.exec(t, "spare", "CREATE DATABASE grown", "CREATE TABLE grown.t (a INT)", "INSERT INTO grown.t VALUES (7)")
	must(t, x.UndoAll(t.Context()))
	wantEqual(t, "rows", p.ask(t, "main", "SELECT a FROM grown.t"), "7")
	wantEqual(t, "left behind", p.ask(t, "spare", "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ('grown', 'shop')"), "")
}
