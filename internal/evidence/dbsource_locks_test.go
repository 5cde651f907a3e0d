package evidence

import (
	"context"
	"sync"
	"testing"
	"time"

	"kasoku/internal/await"
)

func TestSplitLockTable(t *testing.T) {
	for _, c := range []struct{ in, schema, table string }{
		{"`shop`.`ids`", "shop", "ids"},
		{"`a``b`.`c.d`", "a`b", "c.d"},
		{"`shop`.`log` /* Partition `p0` */", "shop", "log"},
		{"shop/ids", "", ""},
		{"", "", ""},
	} {
		schema, table, err := splitLockTable(c.in)
		if schema != c.schema || table != c.table || (err == nil) != (c.table != "") {
			t.Errorf("%q: %q, %q, %v", c.in, schema, table, err)
		}
	}
}

// TestLockWaits: four clients change one row in turns, one changes rows of its
// own. The row, its table and the statement are named; other runs do not look.
func TestLockWaits(t *testing.T) {
	await.SkipShort(t)
	l := startLive(t)
	l.db.SetMaxOpenConns(8)
	defer l.db.SetMaxOpenConns(2) // as stack.OpenDB has it
	for _, q := range []string{"CREATE TABLE shop.ids (id BIGINT NOT NULL) ENGINE=InnoDB", "INSERT INTO shop.ids VALUES (1)", "CREATE TABLE shop.own (id INT PRIMARY KEY, n INT) ENGINE=InnoDB", "INSERT INTO shop.own VALUES (1, 1)"} {
		if _, err := l.db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { l.db.Exec("DROP TABLE shop.ids, shop.own") })
	// A machine that stalls looks less often: it gets more time.
	for window, diagnostic := time.Second, true; ; {
		c, err := NewCollector(t.Context(), l.st, l.hosts, CollectorOptions{Diagnostic: diagnostic})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), window)
		var clients sync.WaitGroup
		for i := range 5 {
			query := "UPDATE shop.ids SET id = LAST_INSERT_ID(id + 1)"
			if i == 4 {
				query = "UPDATE shop.own SET n = n + 1 WHERE id = 1"
			}
			clients.Go(func() {
				for ctx.Err() == nil {
					tx, err := l.db.Begin()
					if err != nil {
						return
					}
					if _, err := tx.Exec(query); err == nil {
						time.Sleep(20 * time.Millisecond)
					}
					_ = tx.Commit()
				}
			})
		}
		<-ctx.Done()
		ev, err := c.Stop(t.Context(), nil)
		stop()
		clients.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if !diagnostic {
			if len(ev.LockWaits) > 0 {
				t.Errorf("a scored run looked: %+v", ev.LockWaits)
			}
			return
		}
		if window < 9*time.Second && (len(ev.LockWaits) != 1 || ev.LockWaits[0].Samples < 3) {
			window *= 3
			continue
		}
		if len(ev.LockWaits) != 1 {
			t.Fatalf("%+v; %+v", ev.LockWaits, healthOf(ev, "row locks of db"))
		}
		w := ev.LockWaits[0]
		if w.Service != "db" || w.Schema != "shop" || w.Table != "ids" || w.Statement != "UPDATE shop.ids SET id = LAST_INSERT_ID(id + ?)" ||
			w.Waiting < 1.5 || w.Waiting > 3 || w.Samples < 3 || w.Seen < 3 || w.Hottest < 0.8 {
			t.Errorf("%+v", w)
		}
		diagnostic = false
	}
}

// What the sampling asks is not among the server's counters of a window: a server that nobody
// else asks anything does next to nothing.
func TestOwnLooksAreNotCounted(t *testing.T) {
	await.SkipShort(t)
	l := startLive(t)
	c, err := NewCollector(t.Context(), l.st, l.hosts, CollectorOptions{Diagnostic: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := c.dbs[0]
	looks := func() (n int) {
		// The server's own count, on another connection: samples is the sampler's while it runs.
		var name string
		if err := l.db.QueryRow("SHOW GLOBAL STATUS LIKE 'Select_full_join'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := looks()
	await.For(t, "the sampler to look twenty times", func() bool { return looks() >= before+20 })
	ev, err := c.Stop(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.locks.samples < 20 || d.locks.begin == nil || d.locks.end == nil {
		t.Fatalf("%d samples; its own counters: %d and %d", d.locks.samples, len(d.locks.begin), len(d.locks.end))
	}
	delta := ev.Counters["db"].Delta
	// What this test asks itself makes temporary tables and no joins.
	if n := delta["Select_full_join"]; n > 2 {
		t.Errorf("%g joins without an index while nobody joined anything", n)
	}
	if n := delta["Com_select"]; n > 2 {
		t.Errorf("%g SELECTs while nobody sent one", n)
	}
}
