package scratch

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"kasoku/internal/evidence"
	"kasoku/internal/lazyregexp"
)

// prefix of the names of the schemas that are made here.
const prefix = "kasoku_try_"

// ours are such names.
var ours = lazyregexp.New(`^` + prefix + `[0-9a-f]{12}$`)

// marker is a table that every schema of ours begins with. One without it is not dropped.
const marker = "kasoku_scratch"

// dropTime bounds the dropping of a schema.
const dropTime = 30 * time.Second

// Schema is a schema that this process made.
type Schema struct {
	Name string
	// Swept are schemas that killed runs had left; they were dropped.
	Swept []string
	db    *sql.DB
	conn  *sql.Conn
	id    int64 // of the connection
	maria bool
}

// RightsError says that the account may not make the schema.
type RightsError struct{ err error }

func (e *RightsError) Error() string {
	return fmt.Sprintf("%v; nothing was tried. It needs, once: GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX ON `kasoku\\_try\\_%%`.* TO this account", e.err)
}

// Unwrap gives the server's error.
func (e *RightsError) Unwrap() error { return e.err }

// open makes a schema, where that reaches no other server.
func open(ctx context.Context, db *sql.DB, maria bool, limit time.Duration) (*Schema, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s := &Schema{db: db, conn: conn, maria: maria}
	if err := s.begin(ctx, limit); err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *Schema) begin(ctx context.Context, limit time.Duration) error {
	if err := s.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&s.id); err != nil {
		return err
	}
	if err := s.alone(ctx, s.conn); err != nil {
		return err
	}
	if err := s.limit(ctx, s.conn, limit); err != nil {
		return err
	}
	for _, q := range []string{
		// A plain read of the tables, which locks no row of them (MySQL 8.0 Reference
		// Manual, "Locks Set by Different SQL Statements in InnoDB", INSERT … SELECT).
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"SET SESSION lock_wait_timeout = 2", "SET SESSION innodb_lock_wait_timeout = 2",
	} {
		if _, err := s.conn.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	if err := s.sweep(ctx); err != nil {
		return err
	}
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	name := prefix + hex.EncodeToString(random[:])
	if got, err := s.lock(ctx, name); err != nil || !got {
		return fmt.Errorf("GET_LOCK(%s) is not to be had: %w", name, err)
	}
	s.Name = name
	if _, err := s.conn.ExecContext(ctx, "CREATE DATABASE "+evidence.QuoteName(name)); err != nil {
		if denied(err) {
			return &RightsError{err}
		}
		return err
	}
	if _, err := s.conn.ExecContext(ctx, "CREATE TABLE "+evidence.QuoteName(name)+"."+marker+" (made TIMESTAMP)"); err != nil {
		return errors.Join(err, s.drop(ctx, name))
	}
	return nil
}

// denied reports whether an account lacks a right.
func denied(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1044 || e.Number == 1142 || e.Number == 1227)
}

// alone makes what this connection writes stay on this server, or says why it would not.
func (s *Schema) alone(ctx context.Context, conn *sql.Conn) error {
	var readOnly, binlog string
	if err := conn.QueryRowContext(ctx, "SELECT @@global.read_only, @@global.log_bin").Scan(&readOnly, &binlog); err != nil {
		return err
	}
	var wsrep string
	if err := conn.QueryRowContext(ctx, "SELECT @@global.wsrep_on").Scan(&wsrep); err == nil && wsrep != "0" {
		return errors.New("this server is a node of a Galera cluster, whose others would make the copies too; nothing was tried")
	}
	if readOnly != "0" && !strings.EqualFold(readOnly, "OFF") {
		return errors.New("this server is read-only (a replica?): no copy is made on it; nothing was tried")
	}
	if binlog == "0" {
		return nil
	}
	if _, err := conn.ExecContext(ctx, "SET SESSION sql_log_bin = 0"); err != nil {
		return fmt.Errorf("this server has a binary log, so its replicas would make the copies too; nothing was tried. An account that may leave it out (BINLOG ADMIN in MariaDB, SYSTEM_VARIABLES_ADMIN in MySQL 8) can try: %w", err)
	}
	return nil
}

// lock takes the name's lock, which the server frees when this connection ends.
func (s *Schema) lock(ctx context.Context, name string) (bool, error) {
	var got sql.NullInt64
	err := s.conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", name).Scan(&got)
	return got.Int64 == 1, err
}

// sweep drops schemas of ours whose process is gone: their locks are free.
func (s *Schema) sweep(ctx context.Context) error {
	rows, err := s.conn.QueryContext(ctx, `SELECT SCHEMA_NAME FROM information_schema.SCHEMATA s WHERE SCHEMA_NAME LIKE 'kasoku\_try\_%'
		AND (EXISTS (SELECT 1 FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = s.SCHEMA_NAME AND t.TABLE_NAME = ?)
		OR NOT EXISTS (SELECT 1 FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = s.SCHEMA_NAME))`, marker)
	if err != nil {
		return err
	}
	var found []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			rows.Close()
			return err
		}
		found = append(found, name)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, name := range found {
		if !ours.MatchString(name) {
			continue
		}
		if got, err := s.lock(ctx, name); err != nil || !got {
			continue // its process is at work
		}
		if _, err := s.conn.ExecContext(ctx, "DROP DATABASE "+evidence.QuoteName(name)); err != nil {
			return fmt.Errorf("drop what a killed run left: %w", err)
		}
		s.Swept = append(s.Swept, name)
		if _, err := s.conn.ExecContext(ctx, "DO RELEASE_LOCK(?)", name); err != nil {
			return err
		}
	}
	return nil
}

// Close drops the schema, also when ctx is done, and ends the connection.
func (s *Schema) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer cancel()
	defer s.conn.Close()
	err := s.drop(ctx, s.Name)
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn }) // it was ended: nobody else gets it
	return err
}

func (s *Schema) drop(ctx context.Context, name string) error {
	if !ours.MatchString(name) {
		return fmt.Errorf("%q is no schema of this process", name)
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("drop %s: %w; the next --try drops it, or DROP DATABASE %s", name, err, name)
	}
	defer conn.Close()
	// What the first connection still does at the server goes on after it was cut, unless
	// its end is asked for; it may have ended by itself.
	_, _ = conn.ExecContext(ctx, fmt.Sprintf("KILL %d", s.id))
	if err := errors.Join(s.alone(ctx, conn), s.limit(ctx, conn, dropTime)); err != nil {
		return fmt.Errorf("drop %s: %w", name, err)
	}
	if _, err := conn.ExecContext(ctx, "DROP DATABASE IF EXISTS "+evidence.QuoteName(name)); err != nil {
		return fmt.Errorf("drop %s: %w; the next --try drops it, or DROP DATABASE %s", name, err, name)
	}
	return nil
}
