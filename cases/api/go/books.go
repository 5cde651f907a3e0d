package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"

	"github.com/go-sql-driver/mysql"
)

// pay changes a user's coins and stones, and notes it. Nobody owes anything.
func (s *server) pay(ctx context.Context, tx *sql.Tx, user, coins, stones int64, reason string, now int64) error {
	done, err := tx.ExecContext(ctx, "UPDATE users SET coins = coins + ?, stones = stones + ? WHERE id = ? AND coins + ? >= 0 AND stones + ? >= 0",
		coins, stones, user, coins, stones)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, refuse(http.StatusConflict, "not enough"))
	}
	if coins != 0 {
		if err := s.note(ctx, tx, user, "coins", coins, reason, now); err != nil {
			return err
		}
	}
	if stones != 0 {
		return s.note(ctx, tx, user, "stones", stones, reason, now)
	}
	return nil
}

// note writes down what a user got (or paid, below 0), and for what.
func (s *server) note(ctx context.Context, tx *sql.Tx, user int64, thing string, amount int64, reason string, now int64) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO ledger (user_id, thing, amount, reason, created_at) VALUES (?, ?, ?, ?, ?)", user, thing, amount, reason, now)
	return err
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

// books is for the operator: what does not balance, and who has what.
func (s *server) books(w http.ResponseWriter, r *http.Request) {
	out := object{}
	for _, view := range []string{"wrong", "purses"} {
		rows, err := s.db.QueryContext(r.Context(), "SELECT text FROM books."+view+" ORDER BY text")
		list, err := readAll(rows, err, func(t *string) []any { return []any{t} })
		if err != nil {
			log.Printf("books: %v", err)
			http.Error(w, "internal error", http.StatusInternalServerError)
			return
		}
		out[view] = list
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}
