package rewind

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// mayWrite is an error if the login could not put rows back: that is to be known before
// the first run and not after it. Nothing is written.
func (t *table) mayWrite(ctx context.Context, c *sql.Conn) error {
	var names []string
	for _, col := range t.columns {
		names = append(names, quote(col.name))
	}
	list := strings.Join(names, ", ")
	for _, s := range []string{"DELETE FROM " + t.id() + " WHERE 1 = 0", "INSERT INTO " + t.id() + " (" + list + ") SELECT " + list + " FROM " + t.id() + " WHERE 1 = 0"} {
		if _, err := c.ExecContext(ctx, s); err != nil {
			var my *mysql.MySQLError
			if errors.As(err, &my) && (my.Number == 1142 || my.Number == 1044 || my.Number == 1143) {
				return fmt.Errorf("%w; grant the login SELECT, INSERT, DELETE, ALTER and CREATE on %s, name the table under load.snapshot.except, or name a command as load.reset", err, quote(t.schema)+".*")
			}
			return err
		}
	}
	return nil
}

// Bounds of one statement: servers take 65,535 arguments and by default 16 MiB.
const (
	mostArguments = 20_000
	mostBytes     = 4 << 20
	mostKeys      = 200
)

// write takes rows away and puts kept ones in, in one transaction.
func (t *table) write(ctx context.Context, c *sql.Conn, gone [][]byte, missing []uint32) (err error) {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if len(t.key) == 0 && len(gone) > 0 {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+t.id()); err != nil {
			return err
		}
		gone = nil
	}
	for len(gone) > 0 {
		n := min(len(gone), mostKeys)
		if err := t.remove(ctx, tx, gone[:n]); err != nil {
			return err
		}
		gone = gone[n:]
	}
	for len(missing) > 0 {
		n, err := t.insert(ctx, tx, missing)
		if err != nil {
			return err
		}
		missing = missing[n:]
	}
	return tx.Commit()
}

func (t *table) remove(ctx context.Context, tx *sql.Tx, keys [][]byte) error {
	var one []string
	for _, i := range t.key {
		one = append(one, t.columns[i].equals())
	}
	key := "(" + strings.Join(one, " AND ") + ")"
	var args []any
	for _, k := range keys {
		v, err := values(k)
		if err != nil {
			return err
		}
		args = append(args, v...)
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM "+t.id()+" WHERE "+strings.Join(slices.Repeat([]string{key}, len(keys)), " OR "), args...)
	return err
}

// insert puts as many kept rows in as one statement takes, and returns how many.
func (t *table) insert(ctx context.Context, tx *sql.Tx, which []uint32) (n int, err error) {
	var names, marks []string
	for _, col := range t.columns {
		names, marks = append(names, quote(col.name)), append(marks, col.value())
	}
	var args []any
	bytes := 0
	for _, i := range which {
		k := t.kept[i]
		if n > 0 && (len(args)+len(names) > mostArguments || bytes+int(k.n) > mostBytes) {
			break
		}
		kept, err := t.spool.get(k.at, int(k.n))
		if err != nil {
			return 0, err
		}
		v, err := values(kept)
		if err != nil {
			return 0, err
		}
		args, bytes, n = append(args, v...), bytes+int(k.n), n+1
	}
	one := "(" + strings.Join(marks, ", ") + ")"
	_, err = tx.ExecContext(ctx, "INSERT INTO "+t.id()+" ("+strings.Join(names, ", ")+") VALUES "+strings.Join(slices.Repeat([]string{one}, n), ", "), args...)
	return n, err
}
