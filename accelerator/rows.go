// SPDX-License-Identifier: Apache-2.0

package accelerator

import (
	"database/sql/driver"
	"io"
	"reflect"
)

// passed are rows of the driver, passed on as they are. What is not implemented by them is
// answered as database/sql would.
type passed struct {
	driver.Rows
	stmt driver.Stmt // closed with the rows, if there is one

	c     *conn
	epoch uint64
	noted []noting
	next  *passed
}

// watched returns rows whose errors are noted, without an allocation where others were
// closed before.
func (c *conn) watched(rows driver.Rows) driver.Rows {
	if !c.inTx || c.failed {
		return rows
	}
	p := c.spare
	if p == nil {
		p = &passed{}
	} else {
		c.spare = p.next
	}
	*p = passed{Rows: rows, c: c, epoch: c.epoch}
	return p
}

// noting is a column whose values are noted as keys of a target.
type noting struct{ column, target int }

var (
	_ driver.RowsNextResultSet              = (*passed)(nil)
	_ driver.RowsColumnTypeScanType         = (*passed)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*passed)(nil)
	_ driver.RowsColumnTypeLength           = (*passed)(nil)
	_ driver.RowsColumnTypeNullable         = (*passed)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*passed)(nil)
)

// Next implements driver.Rows.
func (p *passed) Next(dest []driver.Value) error {
	err := p.Rows.Next(dest)
	switch {
	case p.c == nil:
	case err != nil && err != io.EOF:
		return p.c.noteError(err)
	case err == nil && p.epoch == p.c.epoch:
		for _, n := range p.noted {
			if key, ok := integer(dest[n.column]); ok {
				p.c.held[n.target].want(key)
			}
		}
	}
	return err
}

// Close implements driver.Rows.
func (p *passed) Close() error {
	err := p.Rows.Close()
	if p.stmt != nil {
		if closed := p.stmt.Close(); err == nil {
			err = closed
		}
	}
	if c := p.c; c != nil {
		*p = passed{Rows: p.Rows, next: c.spare}
		c.spare = p
		return c.noteError(err)
	}
	return err
}

// HasNextResultSet implements driver.RowsNextResultSet.
func (p *passed) HasNextResultSet() bool {
	n, ok := p.Rows.(driver.RowsNextResultSet)
	return ok && n.HasNextResultSet()
}

// NextResultSet implements driver.RowsNextResultSet. Other rows have other columns.
func (p *passed) NextResultSet() error {
	p.noted = nil
	n, ok := p.Rows.(driver.RowsNextResultSet)
	if !ok {
		return io.EOF
	}
	return n.NextResultSet()
}

// ColumnTypeScanType implements driver.RowsColumnTypeScanType.
func (p *passed) ColumnTypeScanType(i int) reflect.Type {
	if t, ok := p.Rows.(driver.RowsColumnTypeScanType); ok {
		return t.ColumnTypeScanType(i)
	}
	return reflect.TypeOf((*any)(nil)).Elem()
}

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName.
func (p *passed) ColumnTypeDatabaseTypeName(i int) string {
	if t, ok := p.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return t.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

// ColumnTypeLength implements driver.RowsColumnTypeLength.
func (p *passed) ColumnTypeLength(i int) (int64, bool) {
	if t, ok := p.Rows.(driver.RowsColumnTypeLength); ok {
		return t.ColumnTypeLength(i)
	}
	return 0, false
}

// ColumnTypeNullable implements driver.RowsColumnTypeNullable.
func (p *passed) ColumnTypeNullable(i int) (nullable, ok bool) {
	if t, ok := p.Rows.(driver.RowsColumnTypeNullable); ok {
		return t.ColumnTypeNullable(i)
	}
	return false, false
}

// ColumnTypePrecisionScale implements driver.RowsColumnTypePrecisionScale.
func (p *passed) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if t, ok := p.Rows.(driver.RowsColumnTypePrecisionScale); ok {
		return t.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}

// columns are what rows say of themselves, kept.
type columns struct {
	names []string
	types []columnType
}

type columnType struct {
	scan             reflect.Type
	name             string
	length           int64
	sized            bool
	nullable, known  bool
	precision, scale int64
	decimal          bool
}

// described reads what p says of its first n columns.
func described(p *passed, names []string, n int) *columns {
	out := &columns{names: names[:n:n], types: make([]columnType, n)}
	for i := range out.types {
		t := &out.types[i]
		t.scan, t.name = p.ColumnTypeScanType(i), p.ColumnTypeDatabaseTypeName(i)
		t.length, t.sized = p.ColumnTypeLength(i)
		t.nullable, t.known = p.ColumnTypeNullable(i)
		t.precision, t.scale, t.decimal = p.ColumnTypePrecisionScale(i)
	}
	return out
}

// remembered are the rows of a read by a unique key: row, or none if it is nil.
type remembered struct {
	*columns
	row []driver.Value
}

var (
	_ driver.RowsNextResultSet              = (*remembered)(nil)
	_ driver.RowsColumnTypeScanType         = (*remembered)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*remembered)(nil)
	_ driver.RowsColumnTypeLength           = (*remembered)(nil)
	_ driver.RowsColumnTypeNullable         = (*remembered)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*remembered)(nil)
)

// Columns implements driver.Rows.
func (r *remembered) Columns() []string { return append([]string(nil), r.names...) }

// Close implements driver.Rows.
func (r *remembered) Close() error {
	r.row = nil
	return nil
}

// Next implements driver.Rows. Bytes are the caller's own.
func (r *remembered) Next(dest []driver.Value) error {
	if r.row == nil {
		return io.EOF
	}
	for i, v := range r.row {
		dest[i] = own(v)
	}
	r.row = nil
	return nil
}

// own is v with bytes of its own; the driver's are overwritten by its next read.
func own(v driver.Value) driver.Value {
	if b, ok := v.([]byte); ok && b != nil {
		return append(make([]byte, 0, len(b)), b...)
	}
	return v
}

// HasNextResultSet implements driver.RowsNextResultSet.
func (r *remembered) HasNextResultSet() bool { return false }

// NextResultSet implements driver.RowsNextResultSet.
func (r *remembered) NextResultSet() error { return io.EOF }

// ColumnTypeScanType implements driver.RowsColumnTypeScanType.
func (r *remembered) ColumnTypeScanType(i int) reflect.Type { return r.types[i].scan }

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName.
func (r *remembered) ColumnTypeDatabaseTypeName(i int) string { return r.types[i].name }

// ColumnTypeLength implements driver.RowsColumnTypeLength.
func (r *remembered) ColumnTypeLength(i int) (int64, bool) {
	return r.types[i].length, r.types[i].sized
}

// ColumnTypeNullable implements driver.RowsColumnTypeNullable.
func (r *remembered) ColumnTypeNullable(i int) (nullable, ok bool) {
	return r.types[i].nullable, r.types[i].known
}

// ColumnTypePrecisionScale implements driver.RowsColumnTypePrecisionScale.
func (r *remembered) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	return r.types[i].precision, r.types[i].scale, r.types[i].decimal
}
