package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func init() {
	of := func(changes func(twoDBs) []Change) func(l lab) []Change {
		return func(l lab) []Change { return changes(twoDBs(l)) }
	}
	plans["replica"], plans["turn"] = of(twoDBs.replica), of(twoDBs.turn)
	plans["settled"] = of(twoDBs.settled)
	jobs["moved-undo"] = func(ctx context.Context, x *Executor, l lab, fail func(error), count func()) {
		twoDBs(l).moved(ctx, x, fail)
		count()
		fail(x.UndoAll(ctx))
	}
	jobs["grown-undo"] = func(ctx context.Context, x *Executor, l lab, fail func(error), count func()) {
		p := twoDBs(l)
		fail(p.run(ctx, "main", "DROP DATABASE IF EXISTS grown"))
		p.moved(ctx, x, fail)
		fail(p.run(ctx, "spare", "CREATE DATABASE grown"))
		count()
		fail(x.UndoAll(ctx))
	}
	jobs["failing-undo"] = func(ctx context.Context, x *Executor, l lab, fail func(error), count func()) {
		p := twoDBs(l)
		p.moved(ctx, x, fail)
		fail(p.run(ctx, "main", noFollowing...))
		count()
		if x.UndoAll(ctx) == nil {
			fail(errors.New("it was undone"))
		}
	}
	for _, job := range []string{"replica", "turn", "moved", "grown", "failing", "settled"} {
		setups[job] = func(l lab, o *Options) {
			own := twoDBs(l).options(o.Dir)
			o.Stack, o.Hosts, o.Control, o.DB = own.Stack, own.Hosts, own.Control, own.DB
		}
	}
}

// moved copies the database and turns it to the copy, for good.
func (p twoDBs) moved(ctx context.Context, x *Executor, fail func(error)) {
	var ids []int64
	for _, in := range []Intent{{Title: "copy", Plan: Prepares("apart"), Changes: p.replica()}, {Title: "turn", Plan: "apart", Changes: p.turn()}} {
		tx, err := x.Apply(ctx, in)
		fail(err)
		ids = append(ids, tx.ID)
	}
	for _, id := range ids {
		fail(x.Keep(ctx, id))
	}
}

// settled is a turn with the file that says which one is read-only, as a plan has it.
func (p twoDBs) settled() []Change {
	settle := Change{Kind: KindTurn, Service: "main", Turn: &Turn{To: "spare", FromAddress: p.address("main"), ToAddress: p.address("spare"), Settle: true}}
	held := edit1(p.path("main.cnf"), "read_only = 0\n", "read_only = 1\n", "main", None)
	out := []Change{settle, held}
	for _, c := range p.turn() {
		c.Phase = 1
		out = append(out, c)
	}
	return out
}

// rebooted makes main as read-only as its file says, which is what it comes back
// with. Whom it follows it knows still.
func (p twoDBs) rebooted(t *testing.T) {
	t.Helper()
	p.exec(t, "main", "SET GLOBAL "+strings.TrimSpace(content(t, p.path("main.cnf"))))
}

// killed kills a job on the two servers before each of its steps, does what comes
// between, and recovers.
func (p twoDBs) killed(t *testing.T, job string, between ...func()) {
	t.Helper()
	m := lab(p).matrix(job, func() string { return p.seen(t) })
	m.between = func() {
		for _, do := range between {
			do()
		}
	}
	switch job {
	case "moved-undo": // half a second of both servers for each step
		m.thinned(3)
	case "grown-undo": // not where that one ends
		if m.thinned(3); m.every > 1 {
			m.from = 1 + m.from%3
		}
	case "failing-undo":
		m.thinned(4)
	case "settled-apply", "settled-revert": // turn-apply and turn-revert end before each step of the turn in it
		m.thinned(2)
	}
	all := m.everywhere(t)
	m.sample(t, all, 1)
}

// TestDatabasesKilledAtEveryStep: wherever Kasoku is killed while it copies a
// database or turns two round, the next one brings back what was, and no write
// that an application was told of is lost.
func TestDatabasesKilledAtEveryStep(t *testing.T) {
	p := newTwoDBs(t)
	w := p.write(t, 0)
	for _, job := range []string{"replica-apply", "replica-revert", "moved-undo"} {
		t.Run(job, func(t *testing.T) { p.killed(t, job) })
	}
	t.Run("failing-undo", func(t *testing.T) {
		p.killed(t, "failing-undo", func() {
			if p.ask(t, "spare", "SHOW DATABASES LIKE 'shop'") != "" {
				p.exec(t, "main", mayFollow...)
			}
		})
	})
	p.exec(t, "main", "CREATE DATABASE grown")
	t.Run("grown-undo", func(t *testing.T) { p.killed(t, "grown-undo") })
	p.exec(t, "main", "DROP DATABASE grown")
	x, err := Open(t.Context(), p.options(filepath.Join(p.dir, ".kasoku")))
	must(t, err)
	tx, err := x.Apply(t.Context(), Intent{Title: "copy", Changes: p.replica()})
	must(t, err)
	must(t, x.Keep(t.Context(), tx.ID))
	must(t, x.Close())
	for _, job := range []string{"turn-apply", "turn-revert"} {
		t.Run(job, func(t *testing.T) { p.killed(t, job) })
	}
	must(t, os.WriteFile(p.path("main.cnf"), []byte("read_only = 0\n"), 0o640))
	for _, job := range []string{"settled-apply", "settled-revert"} {
		t.Run(job, func(t *testing.T) { p.killed(t, job, func() { p.rebooted(t) }) })
	}
	w.end(t, p, "main")
	if w.last["spare"] == 0 {
		t.Error("the other one was never written to")
	}
	wantEqual(t, "rows that differ", fmt.Sprint(p.ask(t, "main", "SELECT COUNT(*) FROM shop.orders")), p.caughtUp(t))
}

// caughtUp is how many rows the spare has once it has all.
func (p twoDBs) caughtUp(t *testing.T) string {
	t.Helper()
	p.ask(t, "spare", "SELECT MASTER_GTID_WAIT('"+p.ask(t, "main", "SELECT @@gtid_current_pos")+"', 20)")
	return p.ask(t, "spare", "SELECT COUNT(*) FROM shop.orders")
}
