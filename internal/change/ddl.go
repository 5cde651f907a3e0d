package change

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// alter runs DDL without blocking writers if the server can. It waits only
// shortly for the table's metadata lock, because all other statements on the
// table queue behind it meanwhile, and tries again after letting them through.
func (w *work) alter(ctx context.Context, s *session, statement string) error {
	undo, err := w.bounds(ctx, s)
	defer undo()
	if err != nil {
		return fmt.Errorf("%s: %w", w.subject(), unreachable(err))
	}
	for try := 1; ; try++ {
		err = w.alterOnce(ctx, s, statement)
		if mysqlNumber(err) != 1205 || try == metadataTries {
			break
		}
		w.x.say("%s: a transaction holds the table; letting others through, then trying again", w.subject())
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", statement, ctx.Err())
		case <-time.After(metadataPause):
		}
	}
	switch {
	case err == nil:
		return nil
	case mysqlNumber(err) == 1205:
		return fmt.Errorf("%s: a transaction held the table through %d tries of %d s; end it (information_schema.INNODB_TRX shows it), or try when the service is quiet: %w", statement, metadataTries, metadataWait, err)
	}
	return fmt.Errorf("%s: %w", statement, unreachable(err))
}

// bounds sets what DDL may wait for in this session; undo puts that back. A
// server-wide max_statement_time (MariaDB) would end it half way.
func (w *work) bounds(ctx context.Context, s *session) (undo func(), err error) {
	names := []string{"lock_wait_timeout", "innodb_lock_wait_timeout", "max_statement_time"}
	values := []int{metadataWait, metadataWait, 0}
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
// table, during which nobody writes).
func (w *work) alterOnce(ctx context.Context, s *session, statement string) error {
	// Another engine means a copy, whatever one asks for; and MariaDB's DROP INDEX
	// takes no ALGORITHM: it is in place wherever the engine can.
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
		w.x.say("%s: the server refuses %q here (%v), trying with more locking", w.subject(), how, err)
	}
	return err
}
