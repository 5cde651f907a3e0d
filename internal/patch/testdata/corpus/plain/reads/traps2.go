package reads

import (
	"context"
	"database/sql/driver"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// want P1 refused: memory
func overRows(s *store) error {
	rows, err := s.db.Query("SELECT user_id FROM posts")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		var name string
		if err := s.db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&name); err != nil {
			return err
		}
	}
	return rows.Err()
}

// It asks what the read before it found.
//
// want P1 refused: writes
func foundEach(app *env.App, posts []env.Post) ([]int, error) {
	tx, err := app.DB.Beginx()
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	var out []int
	for _, p := range posts {
		var name string
		if err := tx.Get(&name, "SELECT name FROM users WHERE id = ?", p.UserID); err != nil {
			return nil, err
		}
		var n int
		if err := tx.Get(&n, "SELECT FOUND_ROWS()"); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

type code struct{ n int }

// Value is what is stored.
func (c code) Value() (driver.Value, error) { return int64(c.n + 1), nil }

// want P1 refused: key
func valued(app *env.App, codes []code) error {
	for _, c := range codes {
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", c); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: key
func ancestors(app *env.App, posts []env.Post, id int64) ([]int64, error) {
	var out []int64
	for range posts {
		next := id
		var parent int64
		if err := app.DB.Get(&parent, "SELECT parent_id FROM users WHERE id = ?", next); err != nil {
			return nil, err
		}
		id = parent
		out = append(out, id)
	}
	return out, nil
}

// want P1 refused: handle
func eachContext(ctx context.Context, app *env.App, posts []env.Post) error {
	for _, p := range posts {
		turn := context.WithoutCancel(ctx)
		var m env.Member
		if err := app.DB.GetContext(turn, &m, userByID, p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: writes
func unknownWrites(app *env.App, posts []env.Post, after string) error {
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			return err
		}
		if _, err := app.DB.Exec(after, p.ID); err != nil {
			return err
		}
	}
	return nil
}
