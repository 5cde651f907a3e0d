package change

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Bounds of waiting in a database.
const (
	// zombieWait is how long a killed statement may take to end: InnoDB rolls
	// back a half-built index in seconds.
	zombieWait = 60 // s
	// metadataWait is how long a statement may wait for a table's metadata
	// lock. All other statements on the table queue behind it meanwhile.
	metadataWait = 2 // s
	// metadataTries is how often that is tried, with metadataPause between, in
	// which the statements that had queued run.
	metadataTries = 3
	metadataPause = time.Second
)

// session is one database connection that alone acts for this .kasoku folder.
//
// A killed Kasoku's statement goes on in the server: its index would appear
// after recovery had found none. So every connection takes a named lock
// (GET_LOCK), which the server gives back only when the connection and its
// statement have really ended; whoever comes next ends the holder first.
type session struct {
	conn *sql.Conn
	name string
}

// session opens a connection to a database service.
func (x *Executor) session(ctx context.Context, service string) (*session, error) {
	db, err := x.database(ctx, service)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		x.forget(service)
		return nil, fmt.Errorf("connect to %s: %w", service, unreachable(err))
	}
	s := &session{conn: conn, name: x.lockName()}
	if err := s.take(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", service, unreachable(err))
	}
	return s, nil
}

// lockName is this folder's own, and at most 64 characters (MySQL's limit).
func (x *Executor) lockName() string {
	s := sha256.Sum256([]byte(x.journal.project)) // a host's copy has the same
	return "kasoku." + hex.EncodeToString(s[:8])
}

func (s *session) take(ctx context.Context) error {
	var got sql.NullInt64
	if err := s.conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", s.name).Scan(&got); err != nil {
		return err
	}
	if got.Int64 == 1 {
		return nil
	}
	var holder sql.NullInt64
	if err := s.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", s.name).Scan(&holder); err != nil {
		return err
	}
	if holder.Valid {
		var my *mysql.MySQLError
		// 1094: it ended by itself meanwhile.
		if _, err := s.conn.ExecContext(ctx, fmt.Sprintf("KILL %d", holder.Int64)); err != nil && !(errors.As(err, &my) && my.Number == 1094) {
			return fmt.Errorf("end the statement that a killed Kasoku left on connection %d: %w", holder.Int64, err)
		}
	}
	if err := s.conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", s.name, zombieWait).Scan(&got); err != nil {
		return err
	}
	if got.Int64 != 1 {
		return fmt.Errorf("a statement that a killed Kasoku left on connection %d did not end in %d s after KILL; wait for it and recover again", holder.Int64, zombieWait)
	}
	return nil
}

// close gives the connection and its lock back.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// If the release fails the connection is broken, and the server frees the
	// lock with it.
	_, _ = s.conn.ExecContext(ctx, "DO RELEASE_LOCK('"+s.name+"')")
	s.conn.Close()
}

// database returns the pool of a service, which lives until Close or until the
// service is restarted.
func (x *Executor) database(ctx context.Context, service string) (*sql.DB, error) {
	if db := x.pools[service]; db != nil {
		return db, nil
	}
	if x.options.DB == nil {
		return nil, fmt.Errorf("connect to %s: no database login was given", service)
	}
	db, err := x.options.DB(ctx, service)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", service, unreachable(err))
	}
	x.pools[service] = db
	return db, nil
}

// forget closes a pool whose connections may be dead.
func (x *Executor) forget(service string) {
	if db := x.pools[service]; db != nil {
		db.Close()
		delete(x.pools, service)
	}
}

// errUnreachable: the database does not answer; after its restart it may.
var errUnreachable = errors.New("the database does not answer")

// unreachable marks errors of the network and of a server that is starting or
// stopping, as opposed to a refusal.
func unreachable(err error) error {
	var op net.Error
	var my *mysql.MySQLError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &my):
		// 1053: server shutdown in progress; 1927: connection was killed.
		if my.Number != 1053 && my.Number != 1927 {
			return err
		}
	case errors.As(err, &op), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone):
	default:
		return err
	}
	return fmt.Errorf("%w: %w", errUnreachable, err)
}

// mysqlNumber is the server's error number, 0 if err is none of its.
func mysqlNumber(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}
