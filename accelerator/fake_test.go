package accelerator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// diary is what a fake driver was called with.
type diary struct{ lines []string }

func (d *diary) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// fake is a connector of connections that write a diary. open makes one.
type fake struct {
	d    *diary
	open func(*diary) driver.Conn
}

func (f fake) Connect(context.Context) (driver.Conn, error) { return f.open(f.d), nil }
func (f fake) Driver() driver.Driver                        { return nil }
func (f fake) Close() error                                 { f.d.add("connector closed"); return nil }

// bare has only what a connection must have.
type bare struct{ d *diary }

func (b bare) Prepare(q string) (driver.Stmt, error) {
	b.d.add("prepare %s", q)
	return bareStmt{b.d, q}, nil
}
func (b bare) Close() error { b.d.add("close"); return nil }
func (b bare) Begin() (driver.Tx, error) {
	b.d.add("begin")
	return fakeTx(b), nil
}

type fakeTx struct{ d *diary }

func (t fakeTx) Commit() error   { t.d.add("commit"); return nil }
func (t fakeTx) Rollback() error { t.d.add("rollback"); return errors.New("no rollback") }

type bareStmt struct {
	d *diary
	q string
}

func (s bareStmt) Close() error  { s.d.add("close %s", s.q); return nil }
func (s bareStmt) NumInput() int { return -1 }
func (s bareStmt) Exec(args []driver.Value) (driver.Result, error) {
	s.d.add("exec %s %#v", s.q, args)
	return driver.RowsAffected(3), nil
}
func (s bareStmt) Query(args []driver.Value) (driver.Rows, error) {
	s.d.add("query %s %#v", s.q, args)
	return &bareRows{d: s.d}, nil
}

type bareRows struct {
	d *diary
	n int64
}

func (r *bareRows) Columns() []string { return []string{"id", "v"} }
func (r *bareRows) Close() error      { r.d.add("rows closed"); return nil }
func (r *bareRows) Next(dest []driver.Value) error {
	if r.n++; r.n > 2 {
		return io.EOF
	}
	dest[0], dest[1] = r.n, []byte("x")
	return nil
}

// legacy has what was there before contexts.
type legacy struct{ bare }

func (l legacy) Exec(q string, args []driver.Value) (driver.Result, error) {
	l.d.add("direct exec %s %#v", q, args)
	return driver.RowsAffected(1), nil
}
func (l legacy) Query(q string, args []driver.Value) (driver.Rows, error) {
	l.d.add("direct query %s %#v", q, args)
	if len(args) > 0 {
		return nil, driver.ErrSkip
	}
	return &bareRows{d: l.d}, nil
}
func (l legacy) Prepare(q string) (driver.Stmt, error) {
	l.d.add("prepare %s", q)
	return legacyStmt{bareStmt{l.d, q}}, nil
}

type legacyStmt struct{ bareStmt }

func (s legacyStmt) NumInput() int                               { return 1 }
func (s legacyStmt) ColumnConverter(i int) driver.ValueConverter { return upTo{s.d} }

type upTo struct{ d *diary }

func (u upTo) ConvertValue(v any) (driver.Value, error) {
	u.d.add("convert %#v", v)
	return fmt.Sprint("c", v), nil
}

// modern has all there is.
type modern struct{ bare }

func (m modern) PrepareContext(_ context.Context, q string) (driver.Stmt, error) {
	m.d.add("prepare context %s", q)
	return modernStmt{legacyStmt{bareStmt{m.d, q}}}, nil
}
func (m modern) BeginTx(_ context.Context, opts driver.TxOptions) (driver.Tx, error) {
	m.d.add("begin %v", opts)
	return fakeTx{m.d}, nil
}
func (m modern) ExecContext(_ context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	m.d.add("direct exec context %s %v", q, args)
	if len(args) > 1 {
		return nil, driver.ErrSkip
	}
	return driver.RowsAffected(2), nil
}
func (m modern) QueryContext(_ context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	m.d.add("direct query context %s %v", q, args)
	if len(args) > 1 {
		return nil, driver.ErrSkip
	}
	return &modernRows{bareRows{d: m.d}, 0}, nil
}
func (m modern) Ping(context.Context) error         { m.d.add("ping"); return errors.New("no ping") }
func (m modern) ResetSession(context.Context) error { m.d.add("reset"); return nil }
func (m modern) IsValid() bool                      { m.d.add("valid"); return true }
func (m modern) CheckNamedValue(v *driver.NamedValue) error {
	m.d.add("check %v", *v)
	if n, ok := v.Value.(int); ok && n == 77 {
		return driver.ErrRemoveArgument
	}
	return driver.ErrSkip
}

type modernStmt struct{ legacyStmt }

func (s modernStmt) NumInput() int { return -1 }
func (s modernStmt) ExecContext(_ context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.d.add("exec context %s %v", s.q, args)
	return driver.RowsAffected(4), nil
}
func (s modernStmt) QueryContext(_ context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.d.add("query context %s %v", s.q, args)
	return &modernRows{bareRows{d: s.d}, 0}, nil
}
func (s modernStmt) CheckNamedValue(v *driver.NamedValue) error {
	s.d.add("check of statement %v", *v)
	return driver.ErrSkip
}

type modernRows struct {
	bareRows
	set int
}

func (r *modernRows) HasNextResultSet() bool { return r.set == 0 }
func (r *modernRows) NextResultSet() error {
	r.set, r.n = r.set+1, 0
	return nil
}
func (r *modernRows) ColumnTypeScanType(i int) reflect.Type        { return reflect.TypeOf(i) }
func (r *modernRows) ColumnTypeDatabaseTypeName(i int) string      { return fmt.Sprint("TYPE", i) }
func (r *modernRows) ColumnTypeLength(i int) (int64, bool)         { return int64(i), true }
func (r *modernRows) ColumnTypeNullable(i int) (nullable, ok bool) { return i > 0, true }
func (r *modernRows) ColumnTypePrecisionScale(i int) (int64, int64, bool) {
	return int64(i), 2, true
}

// queries has QueryContext alone, execs ExecContext alone.
type queries struct {
	bare
	m modern
}

func (q queries) QueryContext(ctx context.Context, s string, args []driver.NamedValue) (driver.Rows, error) {
	return q.m.QueryContext(ctx, s, args)
}

type execs struct {
	bare
	m modern
}

func (e execs) ExecContext(ctx context.Context, s string, args []driver.NamedValue) (driver.Result, error) {
	return e.m.ExecContext(ctx, s, args)
}

var fakes = map[string]func(*diary) driver.Conn{
	"bare":    func(d *diary) driver.Conn { return bare{d} },
	"legacy":  func(d *diary) driver.Conn { return legacy{bare{d}} },
	"modern":  func(d *diary) driver.Conn { return modern{bare{d}} },
	"queries": func(d *diary) driver.Conn { return queries{bare{d}, modern{bare{d}}} },
	"execs":   func(d *diary) driver.Conn { return execs{bare{d}, modern{bare{d}}} },
}

// drive uses everything of database/sql that reaches a driver, and writes down what comes
// back.
func drive(db *sql.DB, d *diary) {
	ctx := context.Background()
	say := func(what string, args ...any) { d.add("%s: %s", what, fmt.Sprintln(args...)) }
	result := func(what string, r sql.Result, err error) {
		if err != nil {
			say(what, err)
			return
		}
		n, err := r.RowsAffected()
		say(what, n, err)
	}
	show := func(what string, rows *sql.Rows, err error) {
		if err != nil {
			say(what, err)
			return
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		for _, t := range types {
			size, sized := t.Length()
			null, known := t.Nullable()
			p, s, dec := t.DecimalSize()
			say(what, t.Name(), t.DatabaseTypeName(), t.ScanType(), size, sized, null, known, p, s, dec)
		}
		say(what, err)
		for more := true; more; more = rows.NextResultSet() {
			for rows.Next() {
				var id int
				var v string
				say(what, rows.Scan(&id, &v), id, v)
			}
		}
		say(what, rows.Err())
	}
	say("ping", db.PingContext(ctx))
	for _, args := range [][]any{nil, {5}, {"a", 6}, {sql.Named("n", 1)}, {struct{}{}}, {77}, {sql.NullInt64{}}} {
		rows, err := db.QueryContext(ctx, "SELECT id, v FROM t", args...)
		show("query", rows, err)
		r, err := db.ExecContext(ctx, "UPDATE t SET v = 1", args...)
		result("exec", r, err)
		s, err := db.PrepareContext(ctx, "SELECT 1")
		say("prepare", err)
		rows, err = s.QueryContext(ctx, args...)
		show("prepared", rows, err)
		r, err = s.ExecContext(ctx, args...)
		result("prepared", r, err)
		say("close", s.Close())
	}
	for _, opts := range []*sql.TxOptions{nil, {ReadOnly: true}, {Isolation: sql.LevelSerializable}} {
		tx, err := db.BeginTx(ctx, opts)
		say("begin", err)
		if err != nil {
			continue
		}
		rows, err := tx.Query("SELECT id, v FROM t WHERE id = ?", 4)
		show("in transaction", rows, err)
		say("rollback", tx.Rollback())
	}
	tx, _ := db.Begin()
	say("commit", tx.Commit())
	c, err := db.Conn(ctx)
	say("conn", err, c.Raw(func(dc any) error { d.add("raw %T", Underlying(dc)); return nil }), c.Close())
	say("close", db.Close())
}
