package change

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/await"
)

func (l lab) open(t *testing.T) *Executor {
	t.Helper()
	x, err := Open(t.Context(), l.options(l.project(t)))
	must(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

func (l lab) variable(t *testing.T, name string) string {
	t.Helper()
	return l.ask(t, "SHOW GLOBAL VARIABLES LIKE '"+name+"'")
}

func setVariable(name, before, after string) Change {
	return Change{Kind: KindVariable, Service: "db", Variable: name, BeforeValue: before, AfterValue: after}
}

// TestVariables: numbers, fractions, switches, names, texts and rounding, on
// the real server.
func TestVariables(t *testing.T) {
	l := newLab(t)
	x := l.open(t)
	for _, c := range []struct{ name, before, after, reports string }{
		{"max_connections", "151", "300", "300"},
		{"long_query_time", "10.000000", "0.25", "0.250000"},
		{"slow_query_log", "OFF", "ON", "ON"},
		{"slow_query_log", "OFF", "1", "ON"},
		{"innodb_flush_log_at_trx_commit", "1", "2", "2"},
		{"query_cache_type", "OFF", "DEMAND", "DEMAND"},
		{"init_connect", "", `SET @a = 'it''s \\ "x"'`, `SET @a = 'it''s \\ "x"'`},
		{"init_connect", "", "123", "123"}, // a text that looks like a number
		{"sql_mode", "", "ANSI_QUOTES", "ANSI_QUOTES"},
		{"innodb_buffer_pool_size", "16777216", "20000000", ""},    // rounded, depending on the version
		{"table_open_cache", "", "1000000000", "1048576"},          // cut to the maximum
		{"Max_Allowed_Packet", "16777216", "20000000", "19999744"}, // whole KiB
	} {
		t.Run(c.name+"="+c.after, func(t *testing.T) {
			was := l.variable(t, c.name)
			tx, err := x.Apply(t.Context(), Intent{Title: c.name, Changes: []Change{setVariable(c.name, c.before, c.after)}})
			must(t, err)
			if c.reports == "" && tx.Changes[0].Reported != c.before && tx.Changes[0].Reported != c.after {
				c.reports = tx.Changes[0].Reported
			}
			wantEqual(t, "reported", tx.Changes[0].Reported, c.reports)
			wantEqual(t, "value", l.variable(t, c.name), c.reports)
			drift, err := x.Verify(t.Context())
			if err != nil || len(drift) > 0 {
				t.Fatalf("drift %v, %v", drift, err)
			}
			must(t, x.Revert(t.Context(), tx.ID))
			wantEqual(t, "reverted", l.variable(t, c.name), was)
		})
	}
}

func TestVariableRefusals(t *testing.T) {
	l := newLab(t)
	x := l.open(t)
	for _, c := range []struct {
		change Change
		says   string
	}{
		{setVariable("max_connections", "7", "8"), `it is "151", the plan saw "7"`},
		{setVariable("no_such_variable", "", "8"), "no such variable"},
		{setVariable("version", "", "8"), "read only"},
		{setVariable("max_connections", "151", "many"), "Incorrect argument type"},
		{setVariable("a; DROP", "", "8"), "name"},
		{setVariable("tx_isolation", "", "NEVER"), "can't be set"},
	} {
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c.change}})
		wantText(t, err, c.says)
		if len(x.Pending()) > 0 {
			t.Fatalf("%s: pending: %v", c.says, err)
		}
	}
	// Set by someone else meanwhile: left alone.
	tx, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{setVariable("max_connections", "151", "200")}})
	must(t, err)
	l.exec(t, "SET GLOBAL max_connections = 250")
	var conflict *ConflictError
	if err := x.Revert(t.Context(), tx.ID); !errors.As(err, &conflict) || conflict.Got != `"250"` {
		t.Fatalf("error %v", err)
	}
	drift, err := x.Verify(t.Context())
	if err != nil || len(drift) > 0 { // being put back, not in effect
		t.Fatalf("drift %v, %v", drift, err)
	}
	l.exec(t, "SET GLOBAL max_connections = 151")
	_, err = x.Recover(t.Context())
	must(t, err)
}

// TestKilledAfterRounding: killed between SET and the note of what the server
// made of the value, which is neither before nor as planned.
func TestKilledAfterRounding(t *testing.T) {
	l := newLab(t)
	for value, ours := range map[string]bool{"20000000": true, "25165824": false} {
		o := l.options(l.project(t))
		ctx, cancel := context.WithCancel(t.Context())
		x, err := Open(ctx, o)
		must(t, err)
		pool := setVariable("innodb_buffer_pool_size", "16777216", "20000000")
		tx, err := x.begin(ctx, Intent{Title: "t", Changes: []Change{pool}})
		must(t, err)
		must(t, x.note(tx, record{Op: opIntent, Change: new(int)}))
		must(t, x.Close())
		cancel()
		l.exec(t, "SET GLOBAL innodb_buffer_pool_size = "+value)
		must(t, l.poolSettled(t))
		is := l.variable(t, "innodb_buffer_pool_size")

		x, err = Open(t.Context(), o)
		must(t, err)
		_, err = x.Recover(t.Context())
		var conflict *ConflictError
		if ours != (err == nil) || !ours && !errors.As(err, &conflict) {
			t.Fatalf("%s: %v", value, err)
		}
		must(t, x.Close())
		must(t, l.poolSettled(t))
		want := "16777216"
		if !ours {
			want = is
		}
		wantEqual(t, "value", l.variable(t, "innodb_buffer_pool_size"), want)
		l.exec(t, "SET GLOBAL innodb_buffer_pool_size = 16777216")
		must(t, l.poolSettled(t))
	}
}

func (l lab) poolSettled(t *testing.T) error {
	return await.Until(func() error {
		if s := l.ask(t, "SHOW GLOBAL STATUS LIKE 'innodb_buffer_pool_resize_status'"); s != "" && !strings.HasPrefix(s, "Completed") {
			return errors.New(s)
		}
		return nil
	})
}

func TestIndexes(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	l.exec(t, "CREATE OR REPLACE TABLE shop.u (id INT PRIMARY KEY, s CHAR(4), n INT, UNIQUE KEY one (n, s(2)) USING BTREE COMMENT 'a'' b', KEY zz (n)) ENGINE=InnoDB",
		"CREATE OR REPLACE TABLE shop.m (a INT, b INT) ENGINE=MyISAM")
	x := l.open(t)
	index := func(table, name string, drop bool, columns ...string) Change {
		return Change{Kind: KindIndex, Service: "db", Drop: drop, Index: &Index{Schema: "shop", Table: table, Name: name, Columns: columns}}
	}
	for _, c := range []struct {
		name   string
		change Change
	}{
		{"create", index("t", "ab", false, "a", "b(10)")},
		{"a prefix of the whole column", index("u", "whole", false, "s(4)")},
		{"drop a unique one with everything", index("u", "one", true, "n", "s(2)")},
		{"an engine that needs more locking", index("m", "ab", false, "a", "b")},
		{"column and index names in another case", index("t", "AB", false, "A")},
	} {
		t.Run(c.name, func(t *testing.T) {
			query := "SHOW CREATE TABLE shop." + c.change.Index.Table
			before := l.ask(t, query)
			tx, err := x.Apply(t.Context(), Intent{Title: c.name, Changes: []Change{c.change}})
			must(t, err)
			if l.ask(t, query) == before {
				t.Fatal("nothing happened")
			}
			must(t, x.Revert(t.Context(), tx.ID))
			wantEqual(t, "table", l.ask(t, query), before)
		})
	}
	for _, c := range []struct {
		change Change
		says   string
	}{
		{index("u", "zz", false, "n"), "this very index is there already"},
		{index("u", "zz", false, "s"), "an index of that name is there, on (n)"},
		{index("u", "yy", true, "n"), "no such index to drop"},
		{index("u", "zz", true, "s"), "the plan saw (s)"},
		{index("u", "PRIMARY", true, "id"), "primary key"},
		{index("nope", "x", false, "id"), "there is no table shop.nope"},
		{index("u", "x", false, "nope"), "nope"},
		{index("u", "x", false, "a) b"), "not of the form"},
	} {
		_, err := x.Apply(t.Context(), Intent{Title: "t", Changes: []Change{c.change}})
		wantText(t, err, c.says)
		if len(x.Pending()) > 0 {
			t.Fatalf("%s: pending", c.says)
		}
	}
}

// TestIndexCancelled: a cancelled statement is ended in the server too.
func TestIndexCancelled(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	before := l.ask(t, "SHOW CREATE TABLE shop.t")
	db, err := l.db(t.Context())
	must(t, err)
	defer db.Close()
	holder, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	defer holder.Rollback()
	_, err = holder.Exec("SELECT COUNT(*) FROM shop.t")
	must(t, err)
	x := l.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	x.options.Trace = func(step string) {
		if strings.HasSuffix(step, "change0.write") {
			go func() {
				_ = await.Until(func() error {
					if l.ask(t, building) == "0" {
						return errors.New("not yet")
					}
					return nil
				})
				cancel()
			}()
		}
	}
	_, err = x.Apply(ctx, Intent{Title: "t", Changes: l.everyKind()[5:6]})
	wantErr(t, err, context.Canceled)
	wantEqual(t, "building", l.ask(t, building), "0")
	wantEqual(t, "state", states(x.History()), "1 reverted")
	must(t, holder.Rollback())
	wantEqual(t, "table", l.ask(t, "SHOW CREATE TABLE shop.t"), before)
}

// deadDB is a database service that is down until it is restarted.
type deadDB struct {
	labControl
	down *bool
}

func (d deadDB) Restart(context.Context) error { *d.down = false; return nil }
func (d deadDB) WaitHealthy(ctx context.Context) error {
	if *d.down {
		return errors.New("db is down")
	}
	return d.labControl.WaitHealthy(ctx)
}

// TestRecoverDeadDatabase: the database is down when recovery begins, so its
// changes wait until its files are back and it has been restarted.
func TestRecoverDeadDatabase(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	down := false
	o := l.options(l.project(t))
	o.Control = func(service string) (Controller, error) {
		if service == "db" {
			return deadDB{labControl{l, service}, &down}, nil
		}
		return labControl{l, service}, nil
	}
	o.DB = func(ctx context.Context, _ string) (*sql.DB, error) {
		if down {
			return sql.Open("mysql", "root@unix("+l.path("nowhere.sock")+")/")
		}
		return l.db(ctx)
	}
	x, err := Open(t.Context(), o)
	must(t, err)
	_, err = x.Apply(t.Context(), Intent{Title: "t", Changes: l.withoutPHP()})
	must(t, err)
	must(t, x.Close())
	down = true
	x, err = Open(t.Context(), o)
	must(t, err)
	defer x.Close()
	_, err = x.Recover(t.Context())
	must(t, err)
	wantEqual(t, "after recovery", l.seen(t), before)
}

// TestRealCheckRefuses: nginx itself refuses the configuration, and goes on
// with the old one, untouched.
func TestRealCheckRefuses(t *testing.T) {
	l := newLab(t)
	l.asFound(t)
	before := l.seen(t)
	nginx, err := l.pid("nginx.pid")
	must(t, err)
	workers := children(nginx)
	x := l.open(t)
	changes := l.withoutPHP()
	changes[0] = edit1(filepath.Join(l.dir, "conf", "site.conf"), siteBefore, "loction / { }\n", "web", Reload)
	_, err = x.Apply(t.Context(), Intent{Title: "t", Changes: changes})
	wantText(t, err, `unknown directive "loction"`)
	wantEqual(t, "all", l.seen(t), before)
	wantEqual(t, "workers", children(nginx), workers)
}
