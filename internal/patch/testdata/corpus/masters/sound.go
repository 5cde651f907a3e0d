// Package main reads data in each request that it does not write.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

type server struct {
	db *sql.DB
	x  *sqlx.DB
}

// version is the one in force.
//
// want P9
func (s *server) version(ctx context.Context) (version string, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT version FROM versions WHERE status = 1").Scan(&version)
	return version, err
}

type stage struct {
	ID   int64         `db:"id"`
	Name string        `db:"name"`
	Exp  sql.NullInt64 `db:"exp"`
}

// want P9
func (s *server) stages(ctx context.Context) ([]stage, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, name, exp FROM stages ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("stages: %w", err)
	}
	defer rows.Close()
	list := []stage{}
	for rows.Next() {
		var one stage
		if err := rows.Scan(&one.ID, &one.Name, &one.Exp); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

// want P9
func allStages(x *sqlx.DB) ([]stage, error) {
	var list []stage
	err := x.Select(&list, "SELECT * FROM stages")
	return list, err
}

// want P9
func cheapest(ctx context.Context, db *sql.DB) (name string, price int64, err error) {
	const text = `SELECT s.name, o.price FROM offers o, stages s WHERE s.id = o.stage_id ORDER BY o.price LIMIT 1`
	err = db.QueryRowContext(ctx, text).Scan(&name, &price)
	if errors.Is(err, sql.ErrNoRows) {
		return "", 0, errors.New("no offers")
	}
	return name, price, err
}
