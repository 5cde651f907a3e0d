package reads

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

type runner interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

type store struct {
	db     *sql.DB
	viewer int64
}

// want P1
func (s *store) titles(posts []env.Post) ([]string, error) {
	out := []string{}
	for _, p := range posts {
		var name, nick string
		err := s.db.QueryRow("SELECT name, nick FROM users WHERE id = ?", p.UserID).Scan(&name, &nick)
		if err != nil {
			if err != sql.ErrNoRows {
				return nil, fmt.Errorf("user of %d: %w", p.ID, err)
			}
			name, nick = "?", "?"
		}
		out = append(out, name+"/"+nick)
	}
	return out, nil
}

// want P1
func liked(ctx context.Context, db runner, posts []env.Post, viewer int64) (map[int64]bool, error) {
	out := map[int64]bool{}
	for _, p := range posts {
		var one int
		err := db.QueryRowContext(ctx, "SELECT 1 FROM likes WHERE user_id = ? AND post_id = ?", viewer, p.ID).Scan(&one)
		if err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		out[p.ID] = true
	}
	return out, nil
}

// want P2
func (s *store) stars(posts []env.Post) (total int64, err error) {
	for _, p := range posts {
		var sum sql.NullInt64
		row := s.db.QueryRow("SELECT SUM(stars) FROM likes WHERE post_id = ? AND user_id <> ?", p.ID, s.viewer)
		if err := row.Scan(&sum); err != nil {
			return 0, err
		}
		if sum.Valid {
			total += sum.Int64
		} else {
			total -= 1000
		}
	}
	return total, nil
}

// want P1
func (s *store) scores(r *http.Request, ids []int64) ([]sql.NullInt64, error) {
	var out []sql.NullInt64
	for i := range ids {
		var score sql.NullInt64
		err := s.db.QueryRowContext(r.Context(), `SELECT score
			FROM users
			WHERE id = ?`, ids[i]).Scan(&score)
		if err == sql.ErrNoRows {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, score)
	}
	return out, nil
}

// A NULL that does not fit is an error, at the post that has it.
//
// want P1
func (s *store) strict(posts []env.Post) (done []int64, err error) {
	for _, p := range posts {
		var score int64
		if err = s.db.QueryRow("SELECT score FROM users WHERE id = ?", p.UserID).Scan(&score); err != nil && err != sql.ErrNoRows {
			return done, err
		}
		done = append(done, score)
	}
	return done, nil
}

// Not unique: which row is first is not for us to say, and so each is read alone.
//
// want P1
func (s *store) notes(posts []env.Post) (n int, err error) {
	for _, p := range posts {
		var kind int
		err := s.db.QueryRow("SELECT kind FROM notes WHERE post_id = ? AND kind IS NOT NULL LIMIT 1", p.ID).Scan(&kind)
		if err == sql.ErrNoRows {
			continue
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// want P1
func (s *store) three(posts []env.Post) (sum int64, err error) {
	if len(posts) < 3 {
		return 0, nil
	}
	first, second := posts[0].UserID, posts[1].UserID
	for _, id := range []int64{first, second, first} {
		var parent int64
		if err := s.db.QueryRow("SELECT parent_id FROM users WHERE id = ?", id).Scan(&parent); err != nil {
			return sum, err
		}
		sum += parent
	}
	return sum, nil
}
