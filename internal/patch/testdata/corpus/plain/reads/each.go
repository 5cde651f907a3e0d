package reads

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Reads that no IN can join: each keeps its own statement, as a branch of a UNION ALL.

// The latest of each, or none.
//
// want P1
func latest(app *env.App, posts []env.Post) ([]string, error) {
	var out []string
	for _, p := range posts {
		var body string
		err := app.DB.Get(&body, "SELECT CONCAT(body, ' ', kind) FROM notes WHERE post_id = ? ORDER BY id DESC LIMIT 1", p.ID)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		} else if err != nil {
			return out, err
		}
		out = append(out, body)
	}
	return out, nil
}

// An order without a LIMIT keeps its order.
//
// want P1
func eldest(ctx context.Context, db runner, posts []env.Post) (sum int64) {
	for _, p := range posts {
		var id int64
		var title string
		if err := db.QueryRowContext(ctx, "SELECT id, title FROM posts WHERE user_id = ? ORDER BY title DESC, id", p.UserID).Scan(&id, &title); err == nil {
			sum = sum*7 + id
		}
	}
	return sum
}

// It ends where enough are found.
//
// want P1
func firstTwenty(app *env.App, posts []env.Post) ([]string, error) {
	var out []string
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			return out, err
		}
		if m.Nick != "" {
			out = append(out, p.Title)
		}
		if len(out) >= 20 {
			break
		}
	}
	return out, nil
}

// want P1
func findOne(app *env.App, posts []env.Post) (string, error) {
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			return "", err
		}
		if m.Nick == "n2" {
			return p.Title, nil
		}
	}
	return "", nil
}

// A later pointer may be nil.
//
// want P1
func pointersRefused(app *env.App, posts []*env.Post) (sum int64, err error) {
	for _, p := range posts {
		var id int64
		if p == nil {
			return sum, refused("nobody")
		}
		if err := app.DB.QueryRow("SELECT id FROM users WHERE id = ?", p.UserID).Scan(&id); err != nil {
			return 0, err
		}
		sum = sum*3 + id
	}
	return sum, nil
}

// What it returns early may be no error.
//
// want P1
func firstRefused(app *env.App, posts []env.Post) (sum int64, err error) {
	for _, p := range posts {
		var id int64
		err := app.DB.QueryRow("SELECT id FROM users WHERE id = ?", p.UserID).Scan(&id)
		if err != nil {
			return 0, err
		}
		if id > 3 {
			return sum, perhaps(p.Title)
		}
		sum += id
	}
	return sum, nil
}

// Names are compared as the column's collation does, not as Go does; several rows may have one.
//
// want P1
func byNick(app *env.App, posts []env.Post) (n int64, err error) {
	for _, p := range posts {
		var id int64
		if err := app.DB.Get(&id, "SELECT id FROM users WHERE name = ? AND nick <> ? ORDER BY id LIMIT 1", p.Author, p.Title); err != nil && err != sql.ErrNoRows {
			return 0, err
		}
		n = n*5 + id
	}
	return n, nil
}

// want P1
func joined(app *env.App, posts []env.Post) ([]env.Post, error) {
	for i, p := range posts {
		if err := app.DB.Get(&posts[i].Name, "SELECT u.name FROM users u JOIN posts p ON p.user_id = u.id WHERE p.id = ?", p.ID); err != nil && err != sql.ErrNoRows {
			return posts, err
		}
	}
	return posts, nil
}

// Each element has a score of its own, though several have one user.
//
// want P1
func shared(app *env.App, posts []env.Post) ([]*int64, error) {
	var out []*int64
	for _, p := range posts {
		var u env.User
		if err := app.DB.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
			return out, err
		}
		if u.Score != nil {
			*u.Score++
		}
		out = append(out, u.Score)
	}
	return out, nil
}

// A value that is not the one gathered is read alone.
//
// want P1
func changed(app *env.App, posts []env.Post) ([]env.Member, error) {
	var out []env.Member
	for i := range posts {
		if posts[i].UserID == 3 {
			posts[i].UserID = 6
		}
		var m env.Member
		if err := app.DB.Get(&m, userByID, posts[i].UserID); err != nil {
			return out, err
		}
		out = append(out, m)
	}
	return out, nil
}

// want P1
func pairs(app *env.App, posts []env.Post) (sum int, err error) {
	for _, p := range posts {
		var stars int
		if err := app.DB.Get(&stars, "SELECT stars FROM likes WHERE user_id >= ? AND post_id = ? ORDER BY user_id LIMIT 1", p.UserID, p.ID); err != nil && err != sql.ErrNoRows {
			return 0, err
		}
		sum = sum*3 + stars
	}
	return sum, nil
}

// want P1
func overMap(app *env.App, posts map[int64]env.Post) (map[int64]string, error) {
	out := map[int64]string{}
	for id, p := range posts {
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", p.UserID); err == nil {
			out[id] = name
		}
	}
	return out, nil
}

// want P1
func folded(app *env.App, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var id int64
		if err := app.DB.Get(&id, "SELECT id FROM users WHERE LOWER(name) = ? OR name = 'User1' ORDER BY id", p.Author); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		out = append(out, id)
	}
	return out, nil
}

type label struct {
	Name string `db:"name"`
}

// want P1
func withoutKey(app *env.App, posts []env.Post) (out []label, err error) {
	for _, p := range posts {
		var l label
		if err := app.DB.Get(&l, "SELECT name FROM users WHERE id = ?", p.UserID); err != nil {
			return out, err
		}
		out = append(out, l)
	}
	return out, nil
}

// The error of the third column is that of each element.
//
// want P1
func starScanned(s *store, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var a, b int64
		if err := s.db.QueryRow("SELECT * FROM likes WHERE post_id = ?", p.ID).Scan(&a, &b); err != nil {
			return out, err
		}
		out = append(out, a+b)
	}
	return out, nil
}

// want P2
func twoSums(s *store, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var n int64
		var most sql.NullInt64
		if err := s.db.QueryRow("SELECT COUNT(*), MAX(stars) FROM likes WHERE post_id = ?", p.ID).Scan(&n, &most); err != nil {
			return nil, err
		}
		out = append(out, n*100+most.Int64)
	}
	return out, nil
}

// want P1
func nextOf(app *env.App, posts []env.Post) (sum int64, err error) {
	for _, p := range posts {
		var id int64
		if err := app.DB.Get(&id, "SELECT id FROM posts WHERE id > ? ORDER BY id LIMIT ?, 1", p.ID, p.Seen); err != nil {
			return sum, err
		}
		sum = sum*3 + id
	}
	return sum, nil
}

// The subquery has two rows for some, which is an error of theirs alone.
//
// want P1
func onlyPost(s *store, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var id sql.NullInt64
		if err := s.db.QueryRow("SELECT (SELECT id FROM posts WHERE user_id = u.id) FROM users u WHERE u.id = ?", p.UserID).Scan(&id); err != nil {
			return out, err
		}
		out = append(out, id.Int64)
	}
	return out, nil
}

// A score may be NULL, which is an error of that element alone.
//
// want P1
func mustScore(s *store, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var score int64
		if err := s.db.QueryRow("SELECT score FROM users WHERE id = ? AND nick >= ?", p.UserID, "n").Scan(&score); err != nil {
			return out, err
		}
		out = append(out, score)
	}
	return out, nil
}

// The rows of a parent that may be NULL: no row is equal to it.
//
// want P2
func children(app *env.App, posts []env.Post) (out []int, err error) {
	for _, p := range posts {
		parent := sql.NullInt64{Int64: p.UserID, Valid: p.UserID != 3}
		posts := []sql.NullInt64{parent, {}, parent}
		for _, of := range posts {
			var n int
			if err := app.DB.Get(&n, "SELECT COUNT(*) FROM users WHERE parent_id = ?", of); err != nil {
				return nil, err
			}
			out = append(out, n)
		}
	}
	return out, nil
}

// want P1
func sinceTimes(app *env.App, posts []env.Post) (out []string, err error) {
	var times []time.Time
	for _, p := range posts {
		times = append(times, time.Unix(p.ID*86400, 0))
	}
	for _, at := range times {
		var text string
		if err := app.DB.Get(&text, "SELECT CONCAT(name, DATE_FORMAT(?, '%Y')) FROM users WHERE id >= DAYOFWEEK(?) ORDER BY id LIMIT 1", app.Viewer, at); err != nil && err != sql.ErrNoRows {
			return out, err
		}
		out = append(out, text)
	}
	return out, nil
}

// Its text is assigned before it, in each turn.
//
// want P2
// want P1
func reassigned(app *env.App, posts []env.Post) (sum int, err error) {
	query := "SELECT 1"
	for _, p := range posts {
		var n, kind int
		query = "SELECT COUNT(DISTINCT kind) FROM notes WHERE post_id >= ? GROUP BY body HAVING COUNT(*) > 0"
		if err := app.DB.Get(&n, query, p.ID); err != nil && err != sql.ErrNoRows {
			return 0, err
		}
		query = "SELECT kind FROM notes WHERE post_id = ? ORDER BY id LIMIT 1"
		if p.ID > 3 {
			if err := app.DB.Get(&kind, query, p.ID); err != nil && err != sql.ErrNoRows {
				return 0, fmt.Errorf("%s: %w", query, err)
			}
		}
		sum = sum*3 + n + kind
	}
	return sum, nil
}

// The member is a part of the element, and empty.
//
// want P1
func filled(app *env.App, posts []env.Post) ([]env.Post, error) {
	for i := range posts {
		if i%3 == 1 {
			posts[i].Member.ID = 77 // which the statement does not read
		}
		if err := app.DB.Get(&posts[i].Member, "SELECT name, nick FROM users WHERE id = ?", posts[i].UserID); err != nil && err != sql.ErrNoRows {
			return posts, err
		}
	}
	return posts, nil
}

// One variable for all, which nothing else fills.
//
// want P1
func lastMember(tx *sqlx.Tx, posts []env.Post) (out []string) {
	member := env.Member{}
	for _, p := range posts {
		if err := tx.Get(&member, "SELECT id, name FROM users WHERE id = ? OR name = ? ORDER BY id LIMIT 1", p.UserID, p.Author); err != nil {
			out = append(out, "?")
		}
		out = append(out, member.Name)
	}
	return out
}

type row struct {
	Title string
	ID    int64
}

type element struct{ row }

// Types of the names that are written, one in the other; each twice.
//
// want P1
func ofElements(app *env.App, posts []env.Post) (out []element, err error) {
	twice := append(posts, posts...)
	for _, p := range twice {
		var e element
		if err := app.DB.Get(&e, "SELECT DISTINCT title, id FROM posts WHERE id IN (SELECT post_id FROM likes WHERE post_id = ?)", p.ID); err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// The texts go with the read.
//
// want P2
func named(app *env.App, posts []env.Post) (sum int, err error) {
	for _, p := range posts {
		query := "SELECT 1"
		query = `
			SELECT COUNT(*)
			FROM notes WHERE post_id = ? AND kind < ?`
		var n int
		if err := app.DB.Get(&n, query, p.ID, 2); err != nil {
			return 0, err
		}
		sum = sum*3 + n
	}
	return sum, nil
}

// Who looks may be nobody, which is asked in each turn.
//
// want P2
func likedBy(app *env.App, posts []env.Post, viewer *env.User) (out []int, err error) {
	for _, p := range posts {
		var n int
		if viewer != nil {
			if err := app.DB.Get(&n, "SELECT COUNT(*) FROM likes WHERE user_id = ? AND post_id = ?", viewer.ID, p.ID); err != nil {
				return nil, err
			}
		}
		out = append(out, n)
	}
	return out, nil
}
