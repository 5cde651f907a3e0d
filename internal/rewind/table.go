package rewind

import (
	"context"
	"crypto/md5"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// isNoTable: the server knows no such table (1146) or schema (1049).
func isNoTable(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && (my.Number == 1146 || my.Number == 1049)
}

// table is one table with its copy.
type table struct {
	listed
	spool    *spool
	create   string // SHOW CREATE TABLE
	within   string // SHOW CREATE DATABASE
	columns  []column
	key      []int // of columns, as many as its primary key has; none without one
	triggers bool
	rows     int64
	kept     []keptRow
	byKey    map[[2]uint64]uint32 // place in kept
}

// keptRow is where a row stands, with its hash.
type keptRow struct {
	hash [2]uint64
	at   int64
	n    uint32
}

type column struct{ name, kind, charset, collation string }

// value is what stands for a value of the column in a statement. Values go as bytes:
// where the server would take bytes for something else it is told what they are.
func (c column) value() string {
	switch {
	case c.kind == "json" && c.charset == "": // MySQL
		return "CONVERT(? USING utf8mb4)"
	case c.kind == "enum" || c.kind == "set":
		return "CONVERT(? USING " + c.charset + ")"
	}
	return "?"
}

// equals is a condition that an index can answer: of the column's own collation.
func (c column) equals() string {
	if c.charset == "" || c.charset == "binary" {
		return quote(c.name) + " = ?"
	}
	return quote(c.name) + " = CONVERT(? USING " + c.charset + ") COLLATE " + c.collation
}

// seeds make two hashes of 64 bits into one of 128: rows with the same one are the
// same.
var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hash(b []byte) [2]uint64 {
	return [2]uint64{maphash.Bytes(seeds[0], b), maphash.Bytes(seeds[1], b)}
}

// describe asks for columns, key and triggers.
func (t *table) describe(ctx context.Context, c *sql.Conn) error {
	var name string
	if err := c.QueryRowContext(ctx, "SHOW CREATE TABLE "+t.id()).Scan(&name, &t.create); err != nil {
		return err
	}
	if err := c.QueryRowContext(ctx, "SHOW CREATE DATABASE IF NOT EXISTS "+quote(t.schema)).Scan(&name, &t.within); err != nil {
		return err
	}
	columns, err := t.ask(ctx, c, "SELECT COLUMN_NAME, DATA_TYPE, COALESCE(CHARACTER_SET_NAME, ''), COALESCE(COLLATION_NAME, ''), EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION", 5)
	if err != nil {
		return err
	}
	t.columns = nil
	for _, r := range columns {
		extra := strings.ToUpper(r[4])
		if strings.Contains(extra, "VIRTUAL") || strings.Contains(extra, "STORED GENERATED") || strings.Contains(extra, "PERSISTENT") {
			continue // the server works it out
		}
		t.columns = append(t.columns, column{name: r[0], kind: strings.ToLower(r[1]), charset: r[2], collation: r[3]})
	}
	keys, err := t.ask(ctx, c, "SELECT COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND INDEX_NAME = 'PRIMARY' ORDER BY SEQ_IN_INDEX", 1)
	if err != nil {
		return err
	}
	t.key = nil
	for _, r := range keys {
		i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == r[0] })
		if i < 0 { // of a generated column
			t.key = nil
			break
		}
		t.key = append(t.key, i)
	}
	triggers, err := t.ask(ctx, c, "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = %s AND EVENT_OBJECT_TABLE = %s", 1)
	t.triggers = len(triggers) > 0
	return err
}

// text is a literal: with it servers read what they know of one table, not of all.
func text(s string) string {
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "''").Replace(s) + "'"
}

// ask runs a query about the table, whose schema and name stand for its %s; all values
// come as text.
func (t *table) ask(ctx context.Context, c *sql.Conn, query string, width int) ([][]string, error) {
	rows, err := c.QueryContext(ctx, fmt.Sprintf(query, text(t.schema), text(t.name)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][]string
	for rows.Next() {
		r, at := make([]string, width), make([]any, width)
		for i := range r {
			at[i] = &r[i]
		}
		if err := rows.Scan(at...); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// wide are types whose values are often long: to compare them the server's own hash of
// each is enough, and they need not go over a network.
var wide = []string{"tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob", "json"}

// hashed reports whether the i-th column is compared by its hash.
func (t *table) hashed(i int) bool {
	return slices.Contains(wide, t.columns[i].kind) && !slices.Contains(t.key, i)
}

// row is one row of a table, valid until the next: as it is kept (whole only), its key,
// and what tells it from others.
type row struct{ kept, key, told []byte }

// read gives every row; whole or only what tells it from others.
func (t *table) read(ctx context.Context, c *sql.Conn, whole bool, each func(r row) error) error {
	var names []string
	for i, col := range t.columns {
		name := quote(col.name)
		if !whole && t.hashed(i) {
			name = "MD5(" + name + ")"
		}
		names = append(names, name)
	}
	// A prepared statement's values are exact; others come as text, which shortens
	// floats.
	st, err := c.PrepareContext(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+t.id())
	if err != nil {
		return err
	}
	defer st.Close()
	rows, err := st.QueryContext(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	values, at := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range values {
		at[i] = &values[i]
	}
	var r row
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return err
		}
		r.kept, r.key, r.told = r.kept[:0], r.key[:0], r.told[:0]
		for i, v := range values {
			if whole {
				r.kept = appendValue(r.kept, v)
			}
			if whole && v != nil && t.hashed(i) {
				sum := md5.Sum(v)
				v = hex.AppendEncode(nil, sum[:])
			}
			r.told = appendValue(r.told, v)
		}
		for _, i := range t.key {
			r.key = appendValue(r.key, values[i])
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// take copies the rows.
func (t *table) take(ctx context.Context, c *sql.Conn) error {
	if err := t.describe(ctx, c); err != nil {
		return err
	}
	if err := t.mayWrite(ctx, c); err != nil {
		return err
	}
	t.rows, t.byKey = 0, map[[2]uint64]uint32{}
	return t.read(ctx, c, true, func(r row) error {
		at, err := t.spool.add(r.kept)
		if err != nil {
			return err
		}
		if len(t.key) > 0 {
			t.byKey[hash(r.key)] = uint32(len(t.kept))
		}
		t.kept = append(t.kept, keptRow{hash(r.told), at, uint32(len(r.kept))})
		t.rows++
		return nil
	})
}

// back makes the table hold the kept rows and no others, and returns how many rows
// were wrong.
func (t *table) back(ctx context.Context, c *sql.Conn) (int, error) {
	made, err := t.anew(ctx, c)
	if err != nil {
		return 0, err
	}
	gone, missing, err := t.compare(ctx, c)
	if err != nil {
		return 0, err
	}
	if len(gone)+len(missing) > 0 || made {
		if err := t.write(ctx, c, gone, missing); err != nil {
			return 0, err
		}
	}
	auto, err := t.ask(ctx, c, "SELECT COALESCE(AUTO_INCREMENT, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s", 1)
	if err != nil {
		return 0, err
	}
	if t.auto > 0 && (len(auto) == 0 || auto[0][0] != strconv.FormatInt(t.auto, 10)) {
		if _, err := c.ExecContext(ctx, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", t.id(), t.auto)); err != nil {
			return 0, err
		}
	}
	return max(len(gone), len(missing)), nil
}

// anew makes a table that is gone again, and checks that one that is there has the
// same columns.
func (t *table) anew(ctx context.Context, c *sql.Conn) (made bool, err error) {
	now := &table{listed: t.listed}
	switch err := now.describe(ctx, c); {
	case isNoTable(err):
		for _, s := range []string{t.within, "USE " + quote(t.schema), t.create} {
			if _, err := c.ExecContext(ctx, s); err != nil {
				return false, err
			}
		}
		return true, nil
	case err != nil:
		return false, err
	}
	if !slices.Equal(now.columns, t.columns) || !slices.Equal(now.key, t.key) {
		return false, errors.New("its columns or its primary key are others than when it was copied; run again, or name a command as load.reset")
	}
	t.triggers = now.triggers
	return false, nil
}

// compare finds rows that must go (by their kept form, or by their key if there is
// one) and kept ones that must come back.
func (t *table) compare(ctx context.Context, c *sql.Conn) (gone [][]byte, missing []uint32, err error) {
	if len(t.key) == 0 {
		return t.compareAll(ctx, c)
	}
	right := make([]bool, len(t.kept))
	err = t.read(ctx, c, false, func(r row) error {
		i, ok := t.byKey[hash(r.key)]
		if ok && t.kept[i].hash == hash(r.told) {
			right[i] = true
		} else {
			gone = append(gone, slices.Clone(r.key))
		}
		return nil
	})
	for i, ok := range right {
		if !ok {
			missing = append(missing, uint32(i))
		}
	}
	return gone, missing, err
}

// compareAll is compare without a key: if any row differs, all are written anew.
func (t *table) compareAll(ctx context.Context, c *sql.Conn) (gone [][]byte, missing []uint32, err error) {
	count := map[[2]uint64]int{}
	for _, k := range t.kept {
		count[k.hash]++
	}
	same, n := true, 0
	err = t.read(ctx, c, false, func(r row) error {
		h := hash(r.told)
		count[h]--
		same, n = same && count[h] >= 0, n+1
		return nil
	})
	if err != nil || same && n == len(t.kept) {
		return nil, nil, err
	}
	for i := range t.kept {
		missing = append(missing, uint32(i))
	}
	return make([][]byte, n), missing, nil
}
