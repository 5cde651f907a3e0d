// Package calls has loops that call functions which read one row.
package calls

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

type shop struct {
	db     *sqlx.DB
	viewer int64
}

func getMember(ctx context.Context, db *sql.DB, id int64) (m env.Member, err error) {
	err = db.QueryRowContext(ctx, "SELECT id, name, nick FROM users WHERE id = ?", id).Scan(&m.ID, &m.Name, &m.Nick)
	return m, err
}

// member reads one member, or nil.
func (s *shop) member(id int64) (*env.Member, error) {
	m := env.Member{}
	// Who is not there is nobody.
	err := s.db.Get(&m, "SELECT id, name, nick FROM users WHERE id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("member %d: %w", id, err)
	}
	return &m, nil
}

func fillName(app *env.App, p *env.Post) error {
	err := app.DB.Get(&p.Name, "SELECT name FROM users WHERE id = ?", p.UserID)
	if err == sql.ErrNoRows {
		p.Name = "nobody"
		return nil
	}
	return err
}

func countNotes(db *sqlx.DB, kind int, post env.Post) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM notes WHERE kind = ? AND post_id = ?", kind, post.ID)
	return
}

func (s *shop) stars(tx *sql.Tx, post int64) int {
	var stars sql.NullInt64
	row := tx.QueryRow("SELECT stars FROM likes WHERE user_id = ? AND post_id = ?", s.viewer, post)
	if err := row.Scan(&stars); err != nil {
		return -1
	}
	return int(stars.Int64)
}

// label reads by a name, and says more than the row.
func label(db *sqlx.DB, prefix, author string, n int) (string, error) {
	var score sql.NullInt64
	if err := db.QueryRow("SELECT score FROM users WHERE name = ?", author).Scan(&score); err != nil {
		return "", err
	}
	return fmt.Sprint(prefix, author, n, score.Int64), nil
}

type dbOrTx interface {
	GetContext(ctx context.Context, dst any, query string, args ...any) error
	SelectContext(ctx context.Context, dst any, query string, args ...any) error
}

func nameOf(ctx context.Context, q dbOrTx, id int64) (string, error) {
	var m env.Member
	if err := q.GetContext(ctx, &m, "SELECT * FROM users WHERE id = ?", id); err != nil {
		return "?", err
	}
	return m.Name, nil
}
