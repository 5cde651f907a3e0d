// SPDX-License-Identifier: Apache-2.0

package accelerator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// conn is a connection of the driver. database/sql uses it from one goroutine at a time.
type conn struct {
	driver.Conn
	rules *Rules

	level  sql.IsolationLevel // of the session, LevelDefault: not known
	stable []bool             // by target: its table is InnoDB's, which snapshots hold
	off    bool               // something was done that may make memory wrong: never again

	inTx    bool
	failed  bool // there was an error in this transaction
	txLevel sql.IsolationLevel
	tx      tx

	live  bool   // held has something, or a debt
	epoch uint64 // rows of an earlier one are not noted any more
	held  []held // by target
	owed  debt
	scans map[string]seen
	free  *stmt   // closed ones, to be used again
	spare *passed // likewise
	// converts: the driver's statements convert arguments by column.
	converts bool
}

var (
	_ driver.ConnPrepareContext = (*conn)(nil)
	_ driver.ConnBeginTx        = (*conn)(nil)
	_ driver.Pinger             = (*conn)(nil)
	_ driver.SessionResetter    = (*conn)(nil)
	_ driver.Validator          = (*conn)(nil)
	_ driver.NamedValueChecker  = (*conn)(nil)
	_ driver.QueryerContext     = connQ{}
	_ driver.ExecerContext      = connE{}
)

// database/sql converts arguments in another way for connections that take queries
// without preparing them, so a wrapper takes them only where the driver does.
type (
	connQ  struct{ *conn }
	connE  struct{ *conn }
	connQE struct{ *conn }
)

func (c connQ) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.query(ctx, query, args)
}
func (c connE) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.exec(ctx, query, args)
}
func (c connQE) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.query(ctx, query, args)
}
func (c connQE) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.exec(ctx, query, args)
}

func (c *conn) base() *conn { return c }

// as is c with the interfaces that the driver has.
func (c *conn) as() driver.Conn {
	_, q := c.Conn.(driver.QueryerContext)
	if !q {
		//lint:ignore SA1019 database/sql uses it, too
		_, q = c.Conn.(driver.Queryer)
	}
	_, e := c.Conn.(driver.ExecerContext)
	if !e {
		//lint:ignore SA1019 database/sql uses it, too
		_, e = c.Conn.(driver.Execer)
	}
	switch {
	case q && e:
		return connQE{c}
	case q:
		return connQ{c}
	case e:
		return connE{c}
	}
	return c
}

func (c *conn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	r := c.rules.role(query)
	if r == nil || r.target < 0 {
		if err := c.before(ctx, query, first(query)); err != nil {
			return nil, err
		}
	} else {
		rows, done, err := c.answer(ctx, r.target, args, c.direct, false)
		if done {
			return rows, err
		}
	}
	rows, err := c.direct(ctx, query, args)
	if err != nil {
		return rows, c.noteError(err)
	}
	return c.note(r, rows), nil
}

// direct is what database/sql does with a query that is not prepared.
func (c *conn) direct(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := c.Conn.(driver.QueryerContext); ok {
		return q.QueryContext(ctx, query, args)
	}
	//lint:ignore SA1019 database/sql uses it, too
	q, ok := c.Conn.(driver.Queryer)
	if !ok {
		return nil, driver.ErrSkip
	}
	values, err := unnamed(args)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return q.Query(query, values)
}

func (c *conn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.before(ctx, query, first(query)); err != nil {
		return nil, err
	}
	result, err := c.directExec(ctx, query, args)
	return result, c.noteError(err)
}

// directExec is what database/sql does with a statement that is not prepared.
func (c *conn) directExec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := c.Conn.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, query, args)
	}
	//lint:ignore SA1019 database/sql uses it, too
	e, ok := c.Conn.(driver.Execer)
	if !ok {
		return nil, driver.ErrSkip
	}
	values, err := unnamed(args)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return e.Exec(query, values)
}

// unnamed are arguments for drivers that know no names.
func unnamed(args []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(args))
	for i, a := range args {
		if a.Name != "" {
			return nil, errors.New("sql: driver does not support the use of Named Parameters")
		}
		values[i] = a.Value
	}
	return values, nil
}

// Prepare implements driver.Conn.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements driver.ConnPrepareContext. A read that memory can answer is
// prepared when the server is asked.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	r := c.rules.role(query)
	if r != nil && r.target >= 0 && len(c.held[r.target].rows) > 0 && c.held[r.target].prepared && !c.converts && c.may(r.target) {
		return c.statement(nil, query, r), nil
	}
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, c.noteError(err)
	}
	w := c.statement(s, query, r)
	//lint:ignore SA1019 database/sql uses it, too
	if cc, ok := s.(driver.ColumnConverter); ok {
		c.converts = true
		return stmtConverter{w, cc}, nil
	}
	return w, nil
}

func (c *conn) prepare(ctx context.Context, query string) (driver.Stmt, error) {
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		return p.PrepareContext(ctx, query)
	}
	s, err := c.Conn.Prepare(query)
	if err == nil && ctx.Err() != nil {
		_ = s.Close()
		return nil, ctx.Err()
	}
	return s, err
}

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.forget()
	t, err := c.begin(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.inTx, c.txLevel = true, sql.IsolationLevel(opts.Isolation)
	if c.txLevel == sql.LevelDefault {
		c.txLevel = c.level
	}
	c.tx = tx{c, t}
	return &c.tx, nil
}

func (c *conn) begin(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, opts)
	}
	if opts.Isolation != driver.IsolationLevel(sql.LevelDefault) {
		return nil, errors.New("sql: driver does not support non-default isolation level")
	}
	if opts.ReadOnly {
		return nil, errors.New("sql: driver does not support read-only transactions")
	}
	//lint:ignore SA1019 database/sql uses it, too
	t, err := c.Conn.Begin()
	if err == nil && ctx.Err() != nil {
		_ = t.Rollback()
		return nil, ctx.Err()
	}
	return t, err
}

// tx forgets when the transaction ends.
type tx struct {
	c  *conn
	tx driver.Tx
}

func (t *tx) end() {
	t.c.forget()
	t.c.inTx, t.c.failed = false, false
}

// Commit implements driver.Tx.
func (t *tx) Commit() error {
	t.end()
	return t.tx.Commit()
}

// Rollback implements driver.Tx.
func (t *tx) Rollback() error {
	t.end()
	return t.tx.Rollback()
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

// ResetSession implements driver.SessionResetter: another caller has the connection now.
func (c *conn) ResetSession(ctx context.Context) error {
	c.forget()
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool {
	if v, ok := c.Conn.(driver.Validator); ok {
		return v.IsValid()
	}
	return true
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}
