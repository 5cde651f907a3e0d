package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// LockedMost is the largest table, rows and indexes, that DDL may keep others
// from while the server works on it. They wait for metadataWait (2 s) anyway when
// a transaction holds the table; in that time 16 MiB are copied at the 10 MiB of
// index entries a second that were seen on a busy machine
// (internal/remedy/database, buildPerSecond).
const LockedMost = 16 << 20 // bytes

// locking is whether DDL may keep others from its table.
type locking bool

const (
	ifSmall locking = false // only from a table of at most LockedMost
	anyway  locking = true  // to put back what was found: it must succeed
)

// alter runs DDL without blocking writers if the server can. It waits only
// shortly for the table's metadata lock, because all other statements on the
// table queue behind it meanwhile, and tries again after letting them through.
func (w *work) alter(ctx context.Context, s *session, statement string, l locking) error {
	undo, err := w.bounds(ctx, s)
	defer undo()
	if err != nil {
		return fmt.Errorf("%s: %w", w.subject(), unreachable(err))
	}
	for try := 1; ; try++ {
		err = w.alterOnce(ctx, s, statement, l)
		if mysqlNumber(err) != 1205 || try == metadataTries {
			break
		}
		w.x.say("%s: a transaction holds the table; letting others through, then trying again", w.subject())
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", statement, ctx.Err())
		case <-time.After(w.x.metadataPause):
		}
	}
	switch {
	case err == nil:
		return nil
	case mysqlNumber(err) == 1205:
		return &heldError{fmt.Errorf("%s: a transaction held the table through %d tries of %d s; end it (information_schema.INNODB_TRX shows it), or try when the service is quiet: %w", statement, metadataTries, w.x.metadataWait, err)}
	}
	return fmt.Errorf("%s: %w", statement, unreachable(err))
}

// ErrTableHeld: a transaction, such as one that an application left open, holds a table, so
// that it can be changed by nobody.
var ErrTableHeld = errors.New("a transaction holds the table")

// heldError is a kind of ErrTableHeld.
type heldError struct{ err error }

func (e *heldError) Error() string      { return e.err.Error() }
func (e *heldError) Unwrap() error      { return e.err }
func (*heldError) Is(target error) bool { return target == ErrTableHeld }

// bounds sets what DDL may wait for in this session; undo puts that back. A
// server-wide max_statement_time (MariaDB) would end it half way.
func (w *work) bounds(ctx context.Context, s *session) (undo func(), err error) {
	names := []string{"lock_wait_timeout", "innodb_lock_wait_timeout", "max_statement_time"}
	values := []int{w.x.metadataWait, w.x.metadataWait, 0}
	undo = func() {
		for _, name := range names {
			// A failure means that the server has no such variable, or that the
			// connection is broken and its session gone.
			_, _ = s.conn.ExecContext(context.WithoutCancel(ctx), "SET SESSION "+name+" = DEFAULT")
		}
	}
	for i, name := range names {
		_, err := s.conn.ExecContext(ctx, fmt.Sprintf("SET SESSION %s = %d", name, values[i]))
		if err != nil && mysqlNumber(err) != 1193 { // unknown variable: MySQL has no max_statement_time
			return undo, err
		}
	}
	return undo, nil
}

// alterOnce asks for the way that locks least first: with writers going on,
// with readers only, and whatever the server does by itself (a copy of the
// table, during which nobody writes). The server refuses the first two, with 1845
// or 1846 and having done nothing, where an engine other than InnoDB only copies
// (MyISAM, Aria, MEMORY), where a table has columns in the form of before MySQL
// 5.6, and the first for an index of words or places (MariaDB Knowledge Base,
// "InnoDB Online DDL Operations with the INPLACE Alter Algorithm"; MySQL manual,
// "Online DDL Operations").
func (w *work) alterOnce(ctx context.Context, s *session, statement string, l locking) error {
	// Another engine means a copy, whatever one asks for, and is for few rows, or
	// for tables that tableAct.refuses lets through; and MariaDB's DROP INDEX takes no ALGORITHM: it
	// is in place wherever the engine can (see indexAct.dropLocks).
	if w.c.Kind == KindTable || strings.HasPrefix(statement, "DROP INDEX") {
		_, err := s.conn.ExecContext(ctx, statement)
		return err
	}
	comma := " "
	if strings.HasPrefix(statement, "ALTER TABLE") {
		comma = ", "
	}
	var err error
	for _, how := range []string{"ALGORITHM=INPLACE" + comma + "LOCK=NONE", "ALGORITHM=INPLACE", ""} {
		full := statement
		if how != "" {
			full += comma + how
		}
		_, err = s.conn.ExecContext(ctx, full)
		// 1845, 1846: the table's engine or this index cannot be done that way.
		if n := mysqlNumber(err); n != 1845 && n != 1846 {
			break
		}
		if l == ifSmall {
			if large := w.largeToLock(ctx, s); large != nil {
				return fmt.Errorf("%w; the server cannot do it while others write: %w", large, err)
			}
		}
		w.x.say("%s: the server refuses %q here (%v), trying with more locking", w.subject(), how, err)
	}
	return err
}

// largeToLock is an error unless the index's table is small enough for others to
// wait while the server works on it. InnoDB tells sizes as of its last statistics.
func (w *work) largeToLock(ctx context.Context, s *session) error {
	x := w.c.Index
	// MySQL 8 keeps sizes for a day unless told otherwise; others have no such variable.
	if _, err := s.conn.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = 0"); err == nil {
		defer s.conn.ExecContext(context.WithoutCancel(ctx), "SET SESSION information_schema_stats_expiry = DEFAULT")
	}
	var engine sql.NullString
	var size sql.NullInt64
	err := s.conn.QueryRowContext(ctx, "SELECT ENGINE, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
		x.Schema, x.Table).Scan(&engine, &size)
	if err != nil {
		return fmt.Errorf("read the size of %s.%s: %w", x.Schema, x.Table, unreachable(err))
	}
	advice := "do it yourself when the service is quiet: others wait for the table until it is done"
	if !strings.EqualFold(engine.String, "InnoDB") {
		advice += " (InnoDB would not keep them waiting)"
	}
	table := fmt.Sprintf("it would keep writers from %s.%s (%s)", x.Schema, x.Table, engine.String)
	if !size.Valid {
		return fmt.Errorf("%s, whose size the server does not tell; %s", table, advice)
	}
	if size.Int64 > LockedMost {
		return fmt.Errorf("%s, whose %d MiB are more than the %d MiB for which they may wait; %s", table, size.Int64>>20, LockedMost>>20, advice)
	}
	return nil
}
