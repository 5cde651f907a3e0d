// SPDX-License-Identifier: Apache-2.0

package accelerator

import (
	"context"
	"database/sql/driver"
)

// stmt is a prepared statement. s is nil for one that memory could answer so far.
type stmt struct {
	c     *conn
	s     driver.Stmt
	query string
	role  *role
	first effect
	next  *stmt
}

var (
	_ driver.StmtExecContext   = (*stmt)(nil)
	_ driver.StmtQueryContext  = (*stmt)(nil)
	_ driver.NamedValueChecker = (*stmt)(nil)
)

// stmtConverter is one of a driver that converts arguments by column.
type stmtConverter struct {
	*stmt
	//lint:ignore SA1019 database/sql uses it, too
	cc driver.ColumnConverter
}

// ColumnConverter implements driver.ColumnConverter.
func (s stmtConverter) ColumnConverter(i int) driver.ValueConverter { return s.cc.ColumnConverter(i) }

// statement wraps s, without an allocation where one was closed before.
func (c *conn) statement(s driver.Stmt, query string, r *role) *stmt {
	w := c.free
	if w == nil {
		w = &stmt{}
	} else {
		c.free = w.next
	}
	*w = stmt{c: c, s: s, query: query, role: r, first: first(query)}
	return w
}

// Close implements driver.Stmt.
func (s *stmt) Close() error {
	c, inner := s.c, s.s
	*s = stmt{next: c.free}
	c.free = s
	if inner == nil {
		return nil
	}
	return inner.Close()
}

// NumInput implements driver.Stmt. What memory answers has one key.
func (s *stmt) NumInput() int {
	if s.s == nil {
		return 1
	}
	return s.s.NumInput()
}

// CheckNamedValue implements driver.NamedValueChecker. database/sql asks the connection
// where the statement has none.
func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	switch v.Value.(type) {
	case int, int64, int32, uint32, uint64:
	default: // memory cannot answer it, and what takes it is up to the driver
		if err := s.real(context.Background()); err != nil {
			return err
		}
	}
	if n, ok := s.s.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.c.CheckNamedValue(v)
}

// Exec implements driver.Stmt.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), named(args))
}

// Query implements driver.Stmt.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), named(args))
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.c.before(ctx, s.query, s.first); err != nil {
		return nil, err
	}
	result, err := s.direct(ctx, args)
	return result, s.c.noteError(err)
}

// direct is what database/sql does with a prepared statement.
func (s *stmt) direct(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.real(ctx); err != nil {
		return nil, err
	}
	if e, ok := s.s.(driver.StmtExecContext); ok {
		return e.ExecContext(ctx, args)
	}
	values, err := unnamed(args)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	//lint:ignore SA1019 database/sql uses it, too
	return s.s.Exec(values)
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if s.role == nil || s.role.target < 0 {
		if err := s.c.before(ctx, s.query, s.first); err != nil {
			return nil, err
		}
	} else {
		rows, done, err := s.c.answer(ctx, s.role.target, args, s.c.asPrepared, true)
		if done {
			return rows, err
		}
		if err := s.real(ctx); err != nil {
			return nil, s.c.noteError(err)
		}
	}
	rows, err := ask(ctx, s.s, args)
	if err != nil {
		return rows, s.c.noteError(err)
	}
	return s.c.note(s.role, rows), nil
}

// real prepares what memory cannot answer.
func (s *stmt) real(ctx context.Context) (err error) {
	if s.s == nil {
		s.s, err = s.c.prepare(ctx, s.query)
	}
	return err
}

// ask is what database/sql does with a prepared query.
func ask(ctx context.Context, s driver.Stmt, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := s.(driver.StmtQueryContext); ok {
		return q.QueryContext(ctx, args)
	}
	values, err := unnamed(args)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	//lint:ignore SA1019 database/sql uses it, too
	return s.Query(values)
}

// asPrepared prepares and asks; the statement is closed with the rows.
func (c *conn) asPrepared(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s, args)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return &passed{Rows: rows, stmt: s}, nil
}
