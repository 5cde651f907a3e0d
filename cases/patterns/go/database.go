package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"go.opentelemetry.io/otel/attribute"
)

// database is the pool, with a span for each call. Span names are otelsql's.
type database struct{ *sql.DB }

// connector notes new connections.
type connector struct{ driver.Connector }

func (c connector) Connect(ctx context.Context) (conn driver.Conn, err error) {
	err = call(ctx, "sql.connector.connect", "mysql", "", func(ctx context.Context) error {
		conn, err = c.Connector.Connect(ctx)
		return err
	})
	return conn, err
}

// newDatabase opens a pool. The driver writes values into statements itself,
// so that each is one round trip.
func (s *service) newDatabase() *database {
	conf := mysql.NewConfig()
	conf.Net, conf.Addr = "tcp", s.conf["db_host"]+":"+s.conf["db_port"]
	conf.User, conf.Passwd, conf.DBName = s.conf["db_user"], s.conf["db_password"], s.conf["db_name"]
	conf.InterpolateParams = true
	inner, err := mysql.NewConnector(conf)
	if err != nil {
		panic(err) // only of a Config with impossible TLS settings
	}
	db := sql.OpenDB(connector{inner})
	// As many as requests come at a time, kept: none is made anew for each.
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	return &database{db}
}

// parameters are the values as db.query.parameter.<index>.
func parameters(args []any) []attribute.KeyValue {
	var out []attribute.KeyValue
	for i, a := range args {
		out = append(out, attribute.String("db.query.parameter."+strconv.Itoa(i), fmt.Sprint(a)))
	}
	return out
}

// row runs a statement and scans its only row.
func (d *database) row(ctx context.Context, text string, args []any, into ...any) error {
	return call(ctx, "sql.conn.query", "mysql", text, func(ctx context.Context) error {
		return d.QueryRowContext(ctx, text, args...).Scan(into...)
	}, parameters(args)...)
}

// each runs a statement and scan for each of its rows.
func (d *database) each(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) error {
	return call(ctx, "sql.conn.query", "mysql", text, func(ctx context.Context) error {
		rows, err := d.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}, parameters(args)...)
}

// exec runs a statement that changes rows and returns the last insert ID.
func (d *database) exec(ctx context.Context, text string, args ...any) (id int64, err error) {
	err = call(ctx, "sql.conn.exec", "mysql", text, func(ctx context.Context) error {
		result, err := d.ExecContext(ctx, text, args...)
		if err == nil {
			id, err = result.LastInsertId()
		}
		return err
	}, parameters(args)...)
	return id, err
}

// preparedRow prepares on the server, executes and closes: three messages on
// one connection.
func (d *database) preparedRow(ctx context.Context, text string, args []any, into ...any) error {
	conn, err := d.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var stmt *sql.Stmt
	err = call(ctx, "sql.conn.prepare", "mysql", text, func(ctx context.Context) (err error) {
		stmt, err = conn.PrepareContext(ctx, text)
		return err
	})
	if err != nil {
		return err
	}
	defer stmt.Close()
	return call(ctx, "sql.stmt.query", "mysql", text, func(ctx context.Context) error {
		return stmt.QueryRowContext(ctx, args...).Scan(into...)
	}, parameters(args)...)
}

// placeholders returns "?, ?, ?".
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }
