package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"
)

// runner is the database or a transaction.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// user is a row of users. Times are Unix seconds.
type user struct {
	ID              int64  `json:"id"`
	Name            string `json:"name"`
	Coins           int64  `json:"coins"`
	LastRewardAt    int64  `json:"last_reward_at"`
	LastActivatedAt int64  `json:"last_activated_at"`
}

func getUser(ctx context.Context, db runner, id int64) (u user, err error) {
	err = db.QueryRowContext(ctx, "SELECT id, name, coins, last_reward_at, last_activated_at FROM users WHERE id = ?", id).
		Scan(&u.ID, &u.Name, &u.Coins, &u.LastRewardAt, &u.LastActivatedAt)
	return u, err
}

// card is a piece of gear.
type card struct {
	ID           int64 `json:"id"`
	ItemID       int64 `json:"item_id"`
	AmountPerSec int   `json:"amount_per_sec"`
	Level        int   `json:"level"`
	TotalExp     int64 `json:"total_exp"`
}

// itemMaster is a row of item_masters.
type itemMaster struct {
	ID              int64 `json:"id"`
	Type            int   `json:"item_type"`
	AmountPerSec    int   `json:"amount_per_sec"`
	MaxLevel        int   `json:"max_level"`
	MaxAmountPerSec int   `json:"max_amount_per_sec"`
	BaseExp         int64 `json:"base_exp"`
	GainedExp       int64 `json:"gained_exp"`
	Price           int64 `json:"price"`
}

func getItemMaster(ctx context.Context, db runner, id int64, kind int) (m itemMaster, err error) {
	err = db.QueryRowContext(ctx, `SELECT id, item_type, amount_per_sec, max_level, max_amount_per_sec, base_exp, gained_exp, price
		FROM item_masters WHERE id = ? AND item_type = ?`, id, kind).
		Scan(&m.ID, &m.Type, &m.AmountPerSec, &m.MaxLevel, &m.MaxAmountPerSec, &m.BaseExp, &m.GainedExp, &m.Price)
	return m, err
}

// present is what waits to be received.
type present struct {
	ID        int64  `json:"id"`
	ItemType  int    `json:"item_type"`
	ItemID    int64  `json:"item_id"`
	Amount    int64  `json:"amount"`
	Message   string `json:"message"`
	CreatedAt int64  `json:"created_at"`
}

const presentColumns = "id, item_type, item_id, amount, message, created_at"

// readPresents reads all rows of presentColumns.
func readPresents(rows *sql.Rows, err error) ([]present, error) {
	return readAll(rows, err, func(p *present) []any {
		return []any{&p.ID, &p.ItemType, &p.ItemID, &p.Amount, &p.Message, &p.CreatedAt}
	})
}

// readAll reads all rows; fields are where the columns of one go.
func readAll[T any](rows *sql.Rows, err error, fields func(*T) []any) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		var row T
		if err := rows.Scan(fields(&row)...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// inTx does work in a transaction, and again after a deadlock.
func (s *server) inTx(ctx context.Context, work func(tx *sql.Tx) error) (err error) {
	for range 10 {
		if err = s.once(ctx, work); !isDeadlock(err) {
			return err
		}
	}
	return err
}

func isDeadlock(err error) bool {
	var refused *mysql.MySQLError
	return errors.As(err, &refused) && refused.Number == 1213
}

func (s *server) once(ctx context.Context, work func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}
