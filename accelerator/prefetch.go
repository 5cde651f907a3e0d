// SPDX-License-Identifier: Apache-2.0

package accelerator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// Bounds of what one connection keeps per target.
const (
	mostKeys  = 10000   // noted keys; later ones go to the server one by one
	mostBytes = 4 << 20 // of rows; more than that is thrown away
)

// held is what a connection knows of one target since the transaction began.
type held struct {
	keys     []int64       // noted, in the order of the rows they were in
	at       map[int64]int // their places in keys
	rows     map[int64][]driver.Value
	columns  *columns
	prepared bool // rows came over a prepared statement, whose values may have other types
	skips    bool // the driver prepares this statement even if the service does not
	bytes    int  // of rows
	useless  bool // what was read cannot be told apart by key, or is too much
}

// want notes a key.
func (h *held) want(key int64) {
	if _, ok := h.at[key]; ok || len(h.keys) == mostKeys {
		return
	}
	if h.at == nil {
		h.at = map[int64]int{}
	}
	h.at[key] = len(h.keys)
	h.keys = append(h.keys, key)
}

// debt is the last read that memory answered: the server's FOUND_ROWS() and warnings are
// still those of another statement.
type debt struct {
	query    string // "": none
	key      driver.NamedValue
	prepared bool
}

// forget throws away what is kept.
func (c *conn) forget() {
	if !c.live {
		return
	}
	for i := range c.held {
		c.held[i] = held{skips: c.held[i].skips}
	}
	c.live, c.owed = false, debt{}
	c.epoch++
}

// before looks at a statement that goes to the server as it is: what it ends, and whether
// it asks for something of the statement before it.
func (c *conn) before(ctx context.Context, query string, e effect) error {
	if !c.live {
		c.off = c.off || e == unknown
		return nil
	}
	inside := c.scanned(query)
	if inside.asks && c.owed.query != "" {
		if err := c.pay(ctx); err != nil {
			return err
		}
	}
	c.owed = debt{}
	if e = max(e, inside.effect); e >= writes {
		c.forget()
	}
	c.off = c.off || e == unknown
	return nil
}

// pay sends the read that memory answered last.
func (c *conn) pay(ctx context.Context) error {
	way := c.direct
	if c.owed.prepared {
		way = c.asPrepared
	}
	rows, err := way(ctx, c.owed.query, []driver.NamedValue{c.owed.key})
	if err != nil {
		return err
	}
	defer rows.Close()
	dest := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(dest); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// may says whether memory may answer reads of a target now. In a transaction with
// snapshots, all plain reads of an InnoDB table see one state but for the transaction's own
// writes, which end memory. With other levels, and outside of transactions, each read sees
// the state of its own moment, so an earlier one is stale. At SERIALIZABLE plain reads
// lock, and a read of many rows would lock more.
func (c *conn) may(target int) bool {
	t := c.rules.targets[target]
	if c.off || c.failed || !c.stable[target] || c.held[target].useless || t.broken.Load() {
		return false
	}
	if c.inTx {
		switch c.txLevel {
		case sql.LevelRepeatableRead, sql.LevelSnapshot:
			return true
		case sql.LevelReadCommitted, sql.LevelReadUncommitted:
		default:
			return false
		}
	} else if c.level != sql.LevelRepeatableRead && c.level != sql.LevelReadCommitted && c.level != sql.LevelReadUncommitted {
		return false
	}
	return t.stale
}

// note returns rows whose keys and errors are noted while they are read.
func (c *conn) note(r *role, rows driver.Rows) driver.Rows {
	if r == nil || len(r.sources) == 0 {
		return c.watched(rows)
	}
	var noted []noting
	for _, s := range r.sources {
		if at := only(rows.Columns(), s.column); at >= 0 && c.may(s.target) {
			noted = append(noted, noting{at, s.target})
		}
	}
	if noted == nil {
		return c.watched(rows)
	}
	c.live = true
	return &passed{Rows: rows, c: c, epoch: c.epoch, noted: noted}
}

// only is the place of the one column of that name, -1 if there is none or several.
func only(names []string, name string) int {
	at := -1
	for i, n := range names {
		if n == name {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// way sends a query to the server.
type way func(context.Context, string, []driver.NamedValue) (driver.Rows, error)

// answer answers a read of a target: from memory, or from one read of all keys noted. done
// is false if the server has to be asked for this one alone.
func (c *conn) answer(ctx context.Context, target int, args []driver.NamedValue, by way, prepared bool) (rows driver.Rows, done bool, err error) {
	c.owed = debt{}
	h, t := &c.held[target], c.rules.targets[target]
	if !c.live || len(args) != 1 || args[0].Name != "" || !c.may(target) {
		return nil, false, nil
	}
	key, ok := integer(args[0].Value)
	if _, text := args[0].Value.([]byte); text {
		ok = false // it would be compared as a text
	}
	at, noted := h.at[key]
	if !ok || !noted {
		t.count(passedOn)
		return nil, false, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, true, err
	}
	row, ok := h.rows[key]
	if ok && h.prepared != prepared && !h.skips {
		t.count(passedOn)
		return nil, false, nil
	}
	if !ok {
		if ok, err := c.fetch(ctx, target, at, by, prepared); !ok {
			return nil, err != nil, err
		}
		row = h.rows[key]
	}
	c.owed = debt{t.query, args[0], h.prepared}
	t.count(answered)
	return &remembered{h.columns, row}, true, nil
}

// fetch reads the rows of the key at a place and of those noted after it. It says false
// without an error if they are of no use, and forgets the target.
//
// An error of the server is returned as that of the read which it stands for: after one
// the transaction may be rolled back already, so the read is not sent again.
func (c *conn) fetch(ctx context.Context, target, at int, by way, prepared bool) (bool, error) {
	h, t := &c.held[target], c.rules.targets[target]
	if h.rows != nil && h.prepared != prepared {
		return false, nil
	}
	var keys []int64
	for _, key := range h.keys[at:] {
		if _, ok := h.rows[key]; !ok && len(keys) < t.most {
			keys = append(keys, key)
		}
	}
	if len(keys) < 2 {
		return false, nil
	}
	query, args := t.in(keys)
	rows, err := by(ctx, query, args)
	if err == driver.ErrSkip {
		h.skips = true
		return false, err
	}
	if err != nil {
		return false, c.noteError(err)
	}
	t.count(fetched)
	found, columns, bytes, err := distinct(rows, keys)
	if closed := rows.Close(); err == nil {
		err = closed
	}
	if h.bytes += bytes; err == nil && h.bytes > mostBytes {
		err = errTooMuch
	}
	switch err {
	case nil:
	case errNotByKey, errTooMuch:
		*h = held{skips: h.skips, useless: true}
		if err == errNotByKey {
			t.broken.Store(true)
		}
		return false, nil
	default:
		return false, c.noteError(err)
	}
	h.columns, h.prepared = columns, prepared
	if h.rows == nil {
		h.rows = make(map[int64][]driver.Value, len(keys))
	}
	for _, key := range keys {
		h.rows[key] = found[key]
	}
	c.chain(target, keys)
	return true, nil
}

// noteError returns err. After an error in a transaction the server may have ended it,
// so memory stays unused until the service ends it, too.
func (c *conn) noteError(err error) error {
	if err != nil && err != driver.ErrSkip {
		c.forget()
		c.failed = c.inTx
	}
	return err
}

// chain notes the keys that the rows just read have for other targets.
func (c *conn) chain(target int, keys []int64) {
	h := &c.held[target]
	for _, s := range c.rules.targets[target].role.sources {
		at := only(h.columns.names, s.column)
		if at < 0 || !c.may(s.target) {
			continue
		}
		for _, key := range keys {
			if row := h.rows[key]; row != nil {
				if next, ok := integer(row[at]); ok {
					c.held[s.target].want(next)
				}
			}
		}
	}
}

// Why rows of many keys are of no use.
var (
	errNotByKey = errors.New("the key is no integer, not one of those asked for, or there twice")
	errTooMuch  = errors.New("the rows are too many bytes, or of types that may not be kept")
)

// distinct reads rows whose last column is the key: the other columns by key, and how many
// bytes they are about.
func distinct(rows driver.Rows, keys []int64) (found map[int64][]driver.Value, _ *columns, bytes int, _ error) {
	p, ok := rows.(*passed)
	if !ok {
		p = &passed{Rows: rows}
	}
	names := rows.Columns()
	n := len(names) - 1
	if n < 1 || !integers[strings.TrimPrefix(p.ColumnTypeDatabaseTypeName(n), "UNSIGNED ")] {
		return nil, nil, 0, errNotByKey
	}
	asked := make(map[int64]bool, len(keys))
	for _, key := range keys {
		asked[key] = true
	}
	found = make(map[int64][]driver.Value, len(keys))
	dest := make([]driver.Value, n+1)
	for {
		if err := rows.Next(dest); err == io.EOF {
			return found, described(p, names, n), bytes, nil
		} else if err != nil {
			return nil, nil, 0, err
		}
		key, ok := integer(dest[n])
		if !ok || !asked[key] || found[key] != nil {
			return nil, nil, 0, errNotByKey
		}
		row := make([]driver.Value, n)
		for i, v := range dest[:n] {
			size, ok := sizeOf(v)
			if bytes += size; !ok || bytes > mostBytes {
				return nil, nil, 0, errTooMuch
			}
			row[i] = own(v)
		}
		found[key] = row
	}
}

// integers are the types of columns that compare with an integer as integers do.
var integers = map[string]bool{"TINYINT": true, "SMALLINT": true, "MEDIUMINT": true, "INT": true, "BIGINT": true}

// sizeOf is how many bytes a value has, false if it is of a type that may not be kept.
func sizeOf(v driver.Value) (int, bool) {
	switch v := v.(type) {
	case nil, int64, uint64, float64, float32, bool:
		return 16, true
	case []byte:
		return 24 + len(v), true
	case string:
		return 16 + len(v), true
	case time.Time:
		return 24, true
	}
	return 0, false
}

// integer is a value as the integer that it is and that it is written as.
func integer(v driver.Value) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= 1<<63-1
	case []byte:
		n, err := strconv.ParseInt(string(v), 10, 64)
		return n, err == nil && strconv.FormatInt(n, 10) == string(v)
	}
	return 0, false
}
