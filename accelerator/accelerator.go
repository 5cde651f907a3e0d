// SPDX-License-Identifier: Apache-2.0

// Package accelerator stands between database/sql and the driver of MariaDB or MySQL that
// a service uses, and answers reads from memory where a file of rules says so and where
// the answer is the one that the server would give. It is copied into the service and
// needs the standard library alone.
//
//	db, err := accelerator.Open("mysql", dsn, "accelerator.json")
//
// What goes through it, step by step:
//
//  1. Load reads the rules (rules.go) and takes each statement apart (shape.go). A file
//     with an error gives no rules at all.
//  2. A connection asks the server once what the rules need to know: the isolation level,
//     and which tables are InnoDB's (check.go).
//  3. The rows of a rule's first statement are passed on; the keys in them are noted
//     (rows.go).
//  4. The first read by one of these keys becomes one read by all of them, the following
//     ones are answered from memory (prefetch.go).
//  5. Every other statement is looked at only for whether it ends that: a write, the end
//     of the transaction, anything that is not plainly a read (words.go).
//
// Without rules nothing is wrapped. All optional interfaces of package driver are passed
// on; where the driver has none, the answer is what database/sql would have done (conn.go,
// stmt.go).
package accelerator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"log"
)

// Open is sql.Open with the rules of a file. A file that is missing or wrong is said by
// package log and leaves the driver as it is; an empty name too, in silence.
func Open(driverName, dsn, rulesFile string) (*sql.DB, error) {
	db, err := sql.Open(driverName, dsn)
	if err != nil {
		return nil, err
	}
	rules := loadOrSay(rulesFile)
	if rules == nil {
		return db, nil
	}
	d := db.Driver()
	if err := db.Close(); err != nil {
		return nil, err
	}
	c, err := connectorOf(d, dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(Connector(c, rules)), nil
}

// Register is sql.Register with the rules of a file, for what calls sql.Open itself. Files
// are handled as by Open.
func Register(name string, d driver.Driver, rulesFile string) {
	if rules := loadOrSay(rulesFile); rules != nil {
		d = wrapper{d, rules}
	}
	sql.Register(name, d)
}

// Connector wraps c. Without rules it is c itself.
func Connector(c driver.Connector, rules *Rules) driver.Connector {
	if rules == nil || len(rules.targets) == 0 {
		return c
	}
	return &connector{c, rules}
}

// Underlying is the driver's own connection, for sql.Conn.Raw. What is done with it is not
// seen here, so this connection is never again answered from memory.
func Underlying(driverConn any) any {
	if w, ok := driverConn.(interface{ base() *conn }); ok {
		c := w.base()
		c.forget()
		c.off = true
		return c.Conn
	}
	return driverConn
}

func loadOrSay(file string) *Rules {
	if file == "" {
		return nil
	}
	rules, err := Load(file)
	if err != nil {
		log.Printf("accelerator: %v; the driver works without rules", err)
		return nil
	}
	return rules
}

// wrapper is a driver whose connections follow rules.
type wrapper struct {
	driver.Driver
	rules *Rules
}

// OpenConnector implements driver.DriverContext.
func (w wrapper) OpenConnector(dsn string) (driver.Connector, error) {
	c, err := connectorOf(w.Driver, dsn)
	if err != nil {
		return nil, err
	}
	return Connector(c, w.rules), nil
}

func connectorOf(d driver.Driver, dsn string) (driver.Connector, error) {
	if dc, ok := d.(driver.DriverContext); ok {
		return dc.OpenConnector(dsn)
	}
	return byName{d, dsn}, nil
}

// byName is the connector of a driver that has none.
type byName struct {
	d   driver.Driver
	dsn string
}

func (b byName) Connect(context.Context) (driver.Conn, error) { return b.d.Open(b.dsn) }
func (b byName) Driver() driver.Driver                        { return b.d }

// connector gives wrapped connections.
type connector struct {
	driver.Connector
	rules *Rules
}

// Connect implements driver.Connector.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	dc, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &conn{Conn: dc, rules: c.rules, held: make([]held, len(c.rules.targets))}
	w.check(ctx)
	if err := ctx.Err(); err != nil {
		_ = dc.Close()
		return nil, err
	}
	return w.as(), nil
}

// Close implements io.Closer, which sql.DB.Close looks for.
func (c *connector) Close() error {
	if closer, ok := c.Connector.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
