package change

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
)

// TestIndexLetsOthersThrough: a transaction holds the table while an index is
// to be made. Others wait behind it for a short while only, and when the
// transaction ends in time the index is made.
func TestIndexLetsOthersThrough(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	for _, ends := range []bool{true, false} {
		db, err := l.db(t.Context())
		must(t, err)
		holder, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		_, err = holder.Exec("SELECT COUNT(*) FROM shop.t")
		must(t, err)
		o := l.options(l.project(t))
		tried := make(chan string, 10)
		var updates atomic.Int64
		var through []int64 // updates that were made when each try ended
		o.Progress = func(s string) {
			if strings.Contains(s, "letting others through") {
				through = append(through, updates.Load())
				tried <- s
			}
		}
		x, err := Open(t.Context(), o)
		must(t, err)
		x.metadataWait, x.metadataPause = 1, 300*time.Millisecond
		stop, done := make(chan struct{}), sync.WaitGroup{}
		done.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := db.Exec("UPDATE shop.t SET a = a WHERE id = 1"); err != nil {
					t.Error(err)
				}
				updates.Add(1)
			}
		})
		result := make(chan error, 1)
		go func() {
			_, err := x.Apply(t.Context(), Intent{Title: "index", Changes: l.everyKind()[5:6]})
			result <- err
		}()
		select {
		case <-tried:
		case err := <-result:
			t.Fatalf("it did not wait for the transaction: %v", err)
		}
		if ends {
			must(t, holder.Commit())
			must(t, <-result)
			must(t, x.UndoAll(t.Context()))
		} else {
			wantText(t, <-result, "held the table through 3 tries", "INNODB_TRX")
			must(t, holder.Rollback())
		}
		close(stop)
		done.Wait()
		must(t, x.Close())
		must(t, db.Close())
		// No statement waits for more than one try: after each, some are let through.
		for i := 1; i < len(through); i++ {
			if through[i] == through[i-1] {
				t.Errorf("no statement was let through after try %d: %v", i, through)
			}
		}
		t.Logf("updates that were made when each try ended: %v", through)
	}
}

// withFewRights opens an executor whose account has the privileges that `kasoku check`
// asks for an index, and no more.
func (l lab) withFewRights(t *testing.T) *Executor {
	t.Helper()
	l.exec(t, "CREATE OR REPLACE USER few@localhost IDENTIFIED BY 'few'", "GRANT SELECT, INDEX ON shop.* TO few@localhost")
	o := l.options(l.project(t))
	o.DB = func(context.Context, string) (*sql.DB, error) {
		return sql.Open("mysql", "few:few@unix("+l.path("db.sock")+")/")
	}
	x, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// An index with a column that descends is made so, is seen to be there, and goes again;
// one of the same columns that ascend is another.
func TestIndexThatDescends(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	l.exec(t, "CREATE OR REPLACE TABLE shop.g (id INT PRIMARY KEY, w VARCHAR(50), n INT) ENGINE=InnoDB")
	x := l.withFewRights(t)
	plan := func(columns ...string) Intent {
		return Intent{Title: "t", Changes: []Change{{Kind: KindIndex, Service: "db", Index: &Index{Schema: "shop", Table: "g", Name: "down", Columns: columns}}}}
	}
	before := l.ask(t, "SHOW CREATE TABLE shop.g")
	tx, err := x.Apply(t.Context(), plan("w(9)", "n DESC", "id"))
	must(t, err)
	if text := l.ask(t, "SHOW CREATE TABLE shop.g"); !strings.Contains(text, "KEY `down` (`w`(9),`n` DESC,`id`)") {
		t.Errorf("made: %s", text)
	}
	if _, err := x.Apply(t.Context(), plan("w(9)", "n", "id")); err == nil || !strings.Contains(err.Error(), "on (w(9), n DESC, id)") {
		t.Errorf("an index of that name whose columns ascend: %v", err)
	}
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "table", l.ask(t, "SHOW CREATE TABLE shop.g"), before)
}

// TestIndexRightsAreEnough: with the privileges that `kasoku check` asks for an
// index is made and taken back. ALTER TABLE … DROP INDEX needs ALTER, so what
// such an account had made it could not take back.
func TestIndexRightsAreEnough(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	l.exec(t, "CREATE OR REPLACE TABLE shop.f (id INT PRIMARY KEY, w TEXT, UNIQUE KEY Uno (w(9)) COMMENT 'u', FULLTEXT KEY words (w)) ENGINE=InnoDB")
	x := l.withFewRights(t)
	drop := func(name, column string) Change {
		return Change{Kind: KindIndex, Service: "db", Drop: true, Index: &Index{Schema: "shop", Table: "f", Name: name, Columns: []string{column}}}
	}
	for _, plan := range [][]Change{l.everyKind()[5:7], {drop("words", "w")}, {drop("uno", "w(9)"), drop("words", "w")}} {
		before := l.ask(t, "SHOW CREATE TABLE shop.t") + l.ask(t, "SHOW CREATE TABLE shop.f")
		tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: plan})
		must(t, err)
		must(t, x.Revert(t.Context(), tx.ID))
		wantEqual(t, "tables", l.ask(t, "SHOW CREATE TABLE shop.t")+l.ask(t, "SHOW CREATE TABLE shop.f"), before)
	}
}

// TestIndexOutlivesStatementTime: a server-wide limit for statements does not
// end the making of an index.
func TestIndexOutlivesStatementTime(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	l.exec(t, "INSERT INTO shop.t (a, b) SELECT seq, REPEAT(seq, 10) FROM shop.seq_1_to_200000")
	l.exec(t, "SET GLOBAL max_statement_time = 0.05")
	defer l.exec(t, "SET GLOBAL max_statement_time = 0")
	x := l.open(t)
	tx, err := x.Apply(t.Context(), Intent{Title: "index", Changes: l.everyKind()[5:6]})
	must(t, err)
	must(t, x.Revert(t.Context(), tx.ID))
}

// TestPermanentVariable: a variable and the file that makes it permanent are
// one unit, also when someone restarts the server between them and the end.
func TestPermanentVariable(t *testing.T) {
	f := newFixture(t)
	l := newLab(t)
	l.asFound(t)
	f.x.options.DB = l.options("").DB
	for _, restarted := range []string{"", "from the new file", "from the old file"} {
		path := f.file("my.cnf", "[mysqld]\nmax_connections = 151\n")
		before := f.tree()
		plan := []Change{edit1(path, "[mysqld]\nmax_connections = 151\n", "[mysqld]\nmax_connections = 200\n", "db", None), setVariable("max_connections", "151", "200")}
		tx, err := f.apply(plan...)
		must(t, err)
		switch restarted { // a restart takes the value from the file
		case "from the new file":
			l.exec(t, "SET GLOBAL max_connections = 200")
		case "from the old file":
			l.exec(t, "SET GLOBAL max_connections = 151")
		}
		drift, err := f.x.Verify(t.Context())
		if err != nil || (len(drift) == 0) != (restarted != "from the old file") {
			t.Fatalf("drift %v, %v", drift, err)
		}
		must(t, f.x.Revert(t.Context(), tx.ID))
		wantEqual(t, "variable", l.variable(t, "max_connections"), "151")
		wantEqual(t, "file", f.tree(), before)
	}
	// The file cannot be written: the variable is not set either.
	path := f.file("my.cnf", "[mysqld]\n")
	f.host.Arm(hosttest.Fault{Op: hosttest.Replace, Match: "my.cnf", Err: hosttest.ErrDiskFull})
	_, err := f.apply(setVariable("max_connections", "151", "200"), edit1(path, "[mysqld]\n", "[mysqld]\nmax_connections = 200\n", "db", None))
	wantErr(t, err, hosttest.ErrDiskFull)
	wantEqual(t, "variable", l.variable(t, "max_connections"), "151")
}

// A dropped index that stood before others stands there again after an undo, also
// one that was killed between its two statements; the plan is refused where that
// cannot be.
func TestDroppedIndexStandsInItsPlace(t *testing.T) {
	await.SkipShort(t)
	l := newLab(t)
	l.asFound(t)
	l.exec(t, "CREATE OR REPLACE TABLE shop.o (id INT PRIMARY KEY, a INT, b INT, c INT, w TEXT, UNIQUE KEY u1 (a, id), UNIQUE KEY u2 (b, id), KEY `k (a)` (a), KEY kb (b) COMMENT 'b, second', KEY kc (c), FULLTEXT KEY f (w)) ENGINE=InnoDB",
		"CREATE OR REPLACE TABLE shop.q (id INT PRIMARY KEY) ENGINE=InnoDB",
		"CREATE OR REPLACE TABLE shop.p (id INT PRIMARY KEY, a INT, b INT, KEY ka (a), KEY kb (b), FOREIGN KEY (b) REFERENCES shop.q (id)) ENGINE=InnoDB")
	x := l.open(t)
	drop := func(table, name, column string) Change {
		return Change{Kind: KindIndex, Service: "db", Drop: true, Index: &Index{Schema: "shop", Table: table, Name: name, Columns: []string{column}}}
	}
	before := l.ask(t, "SHOW CREATE TABLE shop.o")
	for _, plan := range [][]Change{{drop("o", "k (a)", "a")}, {drop("o", "kb", "b")}, {drop("o", "kc", "c")}, {drop("o", "kb", "b"), drop("o", "k (a)", "a")}} {
		tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: plan})
		must(t, err)
		must(t, x.Revert(t.Context(), tx.ID))
		wantEqual(t, "table", l.ask(t, "SHOW CREATE TABLE shop.o"), before)
	}
	tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{drop("o", "k (a)", "a")}})
	must(t, err)
	l.exec(t, "ALTER TABLE shop.o DROP INDEX kb, DROP INDEX kc") // where a killed undo has left it
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "table", l.ask(t, "SHOW CREATE TABLE shop.o"), before)
	// What a plan drops before needs not be made anew, so a foreign key does not mind.
	l.exec(t, "CREATE OR REPLACE TABLE shop.r (id INT PRIMARY KEY, a INT, b INT, KEY fk (b), KEY k1 (a), KEY k2 (a, b), FOREIGN KEY (b) REFERENCES shop.q (id)) ENGINE=InnoDB")
	before = l.ask(t, "SHOW CREATE TABLE shop.r")
	second := drop("r", "k2", "a")
	second.Index.Columns = []string{"a", "b"}
	_, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{drop("r", "k1", "a"), second}})
	wantText(t, err, "foreign keys", "in its place")
	tx, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{second, drop("r", "k1", "a")}})
	must(t, err)
	must(t, x.Revert(t.Context(), tx.ID))
	wantEqual(t, "table", l.ask(t, "SHOW CREATE TABLE shop.r"), before)
	for why, c := range map[string]Change{"other unique keys": drop("o", "u1", "a"), "foreign keys": drop("p", "ka", "a")} {
		if why == "other unique keys" {
			c.Index.Columns = []string{"a", "id"}
		}
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c}})
		wantText(t, err, why, "in its place")
		if held := why == "foreign keys"; errors.Is(err, ErrHeld) != held {
			t.Errorf("%s: held by a foreign key: %v", why, err)
		}
	}
	// The server lets no index go that a foreign key needs.
	_, err = x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{drop("p", "kb", "b")}})
	wantText(t, err, "foreign key holds", "kb")
	if !errors.Is(err, ErrHeld) {
		t.Errorf("an index that a foreign key needs: %v", err)
	}
}

// TestIndexThatReplacesAKey: the server takes the key of a foreign key away when an
// index serves it, and does not let that index go before the key is there again. All
// keys stand as before then, for an account that may only make indexes, and wherever an
// undo was cut off.
func TestIndexThatReplacesAKey(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	tables := func() {
		l.exec(t, "CREATE OR REPLACE TABLE shop.one (id INT PRIMARY KEY) ENGINE=InnoDB", "CREATE OR REPLACE TABLE shop.two (id INT PRIMARY KEY) ENGINE=InnoDB",
			"CREATE OR REPLACE TABLE shop.refs (id INT PRIMARY KEY, `a b` INT NOT NULL, w VARCHAR(40), d INT, o INT, FOREIGN KEY of_one (`a b`) REFERENCES one (id), KEY words (w(7)) COMMENT 'x', FOREIGN KEY of_two (o) REFERENCES two (id), UNIQUE KEY u (d, id)) ENGINE=InnoDB")
	}
	clear := func() { l.exec(t, "DROP TABLE IF EXISTS shop.refs, shop.one, shop.two") }
	defer clear()
	x := l.withFewRights(t)
	index := func(name string, columns ...string) Change {
		return Change{Kind: KindIndex, Service: "db", Index: &Index{Schema: "shop", Table: "refs", Name: name, Columns: columns}}
	}
	show := func() string { return l.ask(t, "SHOW CREATE TABLE shop.refs") }
	for _, plan := range [][]Change{{index("k", "a b", "d")}, {index("k", "o", "w(3)"), index("k2", "a b", "o")}, {index("k", "d")}} {
		clear()
		tables()
		before := show()
		tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: plan})
		must(t, err)
		if gone := strings.Count(before, "KEY `of_") - strings.Count(show(), "KEY `of_"); gone != len(plan)-strings.Count(plan[0].Index.Columns[0], "d") {
			t.Errorf("%d keys of foreign keys were taken away:\n%s", gone, show())
		}
		must(t, x.Revert(t.Context(), tx.ID))
		wantEqual(t, "table", show(), before)
	}

	// Cut off after each statement.
	for cut := 0; ; cut++ {
		clear()
		tables()
		before := show()
		tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{index("k", "a b", "d")}})
		must(t, err)
		txs := x.journal.txs
		a := &indexAct{work{x: x, c: &txs[len(txs)-1].Changes[0]}}
		s, err := x.session(t.Context(), "db")
		must(t, err)
		done := 0
		err = a.replaced(t.Context(), s, func(statement string) error {
			if done++; done > cut {
				return errors.New("cut off")
			}
			return a.alter(t.Context(), s, statement, anyway)
		})
		s.close()
		must(t, x.Revert(t.Context(), tx.ID))
		wantEqual(t, "table", show(), before)
		if err == nil {
			if cut < 5 {
				t.Errorf("it took %d statements", cut)
			}
			break
		}
	}
}
