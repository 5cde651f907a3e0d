package change

import (
	"context"
	"crypto/rand"
	"crypto/sha1"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// dbEnd is one database of a pair, by a connection whose statements are neither
// replicated nor written to its general log or its log of slow statements: some of
// them hold a password.
type dbEnd struct {
	*session
	x       *Executor
	service string
	host    string // where the other one reaches it
	port    string
}

// Bounds of turning databases round.
const (
	// holdWait is how long writes that are under way may take to end; others
	// queue behind meanwhile.
	holdWait = 10 // s
	// followWait is how long a follower may need for what it has not got yet.
	followWait = 120 * time.Second
	// linkWait is how long connecting to the other may take.
	linkWait = 20 * time.Second
)

// end opens one database of a pair; address is where the other reaches it.
func (w *work) end(ctx context.Context, service, address string) (*dbEnd, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%s: where %s is reached, %q, is not ADDRESS:PORT", w.c.Title(), service, address)
	}
	s, err := w.x.session(ctx, service)
	if err != nil {
		return nil, err
	}
	e := &dbEnd{session: s, x: w.x, service: service, host: name, port: port}
	if err := e.exec(ctx, fmt.Sprintf("SET SESSION sql_log_bin = 0, sql_log_off = 1, slow_query_log = 0, lock_wait_timeout = %d", holdWait)); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// close ends the connection, since others must not get its settings.
func (e *dbEnd) close() {
	_ = e.conn.Raw(func(any) error { return driver.ErrBadConn })
	e.session.close()
}

// exec runs statements, which errors do not repeat: they may hold a password.
func (e *dbEnd) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := e.conn.ExecContext(ctx, s); err != nil {
			words := strings.Fields(s)
			return fmt.Errorf("%s: %s …: %w", e.service, strings.Join(words[:min(2, len(words))], " "), unreachable(err))
		}
	}
	return nil
}

// rows are all rows of a query by column, NULL as "".
func (e *dbEnd) rows(ctx context.Context, query string) ([]map[string]string, error) {
	rows, err := e.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", e.service, unreachable(err))
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out []map[string]string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, c := range columns {
			row[c] = values[i].String
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ask %s: %w", e.service, unreachable(err))
	}
	return out, nil
}

// value is the only value of a query, named v.
func (e *dbEnd) value(ctx context.Context, what string) (string, error) {
	rows, err := e.rows(ctx, "SELECT "+what+" AS v")
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0]["v"], nil
}

func (e *dbEnd) readOnly(ctx context.Context) (bool, error) {
	v, err := e.value(ctx, "@@GLOBAL.read_only")
	return v == "1", err
}

// hold refuses writes, once those that are under way have ended; release permits
// them.
func (e *dbEnd) hold(ctx context.Context) error {
	if ro, err := e.readOnly(ctx); err != nil || ro {
		return err
	}
	if err := e.exec(ctx, "SET GLOBAL read_only = 1"); err != nil {
		return fmt.Errorf("hold writes back (a statement that runs for more than %d s stands in the way): %w", holdWait, err)
	}
	return nil
}

func (e *dbEnd) release(ctx context.Context) error { return e.exec(ctx, "SET GLOBAL read_only = 0") }

// position of the last write that it has, by any server, in a form that can be
// compared.
func (e *dbEnd) position(ctx context.Context) (string, error) {
	v, err := e.value(ctx, "@@GLOBAL.gtid_current_pos")
	parts := strings.Split(v, ",")
	slices.Sort(parts)
	return strings.Join(parts, ","), err
}

// newPassword is 16 random bytes in hexadecimal.
func newPassword() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// passwordHash is what mysql_native_password keeps: a * and SHA1(SHA1(password)).
func passwordHash(password string) string {
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	return "*" + strings.ToUpper(hex.EncodeToString(twice[:]))
}
