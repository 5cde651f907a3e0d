package reads

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Reads whose keys are of the row that an earlier read of the same turn gave.

// want P1
// want P1
func parentNames(app *env.App, posts []env.Post) ([]string, error) {
	var out []string
	for _, p := range posts {
		var u env.User
		if err := app.DB.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err == sql.ErrNoRows {
			continue
		} else if err != nil {
			return nil, err
		}
		var parent env.User
		if err := app.DB.Get(&parent, "SELECT * FROM users WHERE id = ?", u.ParentID); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		out = append(out, u.Name+" of "+parent.Name)
	}
	return out, nil
}

// Pointers, and the first error ends it.
//
// want P1
// want P1
func strictParents(ctx context.Context, tx *sqlx.Tx, posts []*env.Post) ([]string, error) {
	var out []string
	for _, post := range posts {
		user := &env.User{}
		if err := tx.GetContext(ctx, user, `SELECT * FROM users WHERE id = ?`, post.UserID); err != nil {
			return out, fmt.Errorf("user of %d: %w", post.ID, err)
		}
		parent := new(env.User)
		if err := tx.GetContext(ctx, parent, `SELECT * FROM users WHERE id = ?`, user.ParentID); err != nil {
			return out, fmt.Errorf("parent of %d: %w", user.ID, err)
		}
		out = append(out, user.Name, parent.Name)
	}
	return out, nil
}

// The first read is joined by IN, and tells of two columns, one of which is a key.
//
// want P1
// want P1
func nameAndParent(s *store, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var name string
		var parent int64
		row := s.db.QueryRow("SELECT name, parent_id FROM users WHERE id = ?", p.UserID)
		if err := row.Scan(&name, &parent); err != nil {
			continue
		}
		var nick string
		if err := s.db.QueryRow("SELECT CONCAT(nick, name) FROM users WHERE id = ?", parent).Scan(&nick); err != nil {
			nick = err.Error()
		}
		out = append(out, name+nick)
	}
	return out, nil
}

// Four rows, each by the one before.
//
// want P1
// want P1
// want P1
// want P1
func fourOf(app *env.App, posts []env.Post) (sum int64, err error) {
	for _, p := range posts {
		var post env.Post
		if err := app.DB.Get(&post, "SELECT id, user_id, author, title, seen FROM posts WHERE id = ? ORDER BY id LIMIT 1", p.ID); err != nil {
			sum++
			continue
		}
		var user, parent, eldest env.User
		if err := app.DB.Get(&user, "SELECT * FROM users WHERE id = ?", post.UserID); err != nil {
			sum += 2
			continue
		}
		if err := app.DB.Get(&parent, "SELECT * FROM users WHERE id = ?", user.ParentID); err != nil {
			sum += 3
			continue
		}
		if err := app.DB.Get(&eldest, "SELECT * FROM users WHERE id = ?", parent.ParentID); err != nil {
			sum += 4
			continue
		}
		sum = sum*31 + eldest.ID + parent.ID*7
	}
	return sum, nil
}

// Two reads by one row, with one variable for the texts of all three.
//
// want P1
// want P1
// want P2
func both(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		u := env.User{}
		query := "SELECT * FROM users WHERE id = ?"
		err = app.DB.Get(&u, query, p.UserID)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var parent string
		query = "SELECT name FROM users WHERE id = ?"
		err = app.DB.Get(&parent, query, u.ParentID)
		if err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		var alike int
		query = "SELECT COUNT(*) FROM users WHERE nick = ?"
		if err = app.DB.Get(&alike, query, u.Nick); err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(u.Name, parent, alike))
	}
	return out, nil
}

// The last of the users' posts, as a list.
//
// want P1
// want P2
func theirPosts(app *env.App, posts []env.Post) (out [][]env.Post, err error) {
	for i := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, posts[i].UserID); err != nil {
			out = append(out, nil)
			continue
		}
		var list []env.Post
		if err := app.DB.Select(&list, "SELECT * FROM posts WHERE user_id = ? ORDER BY id DESC LIMIT 2", m.ID); err != nil {
			return nil, err
		}
		out = append(out, list)
	}
	return out, nil
}

// A key behind a pointer that may be nil.
//
// want P1
// want P1
func byScore(app *env.App, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var u env.User
		if err := app.DB.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil || u.Score == nil {
			continue
		}
		var id int64
		if err := app.DB.Get(&id, "SELECT id FROM users WHERE score >= ? ORDER BY score, id LIMIT 1", *u.Score); err != nil {
			return out, err
		}
		out = append(out, id)
	}
	return out, nil
}

// It ends where it has found one, and asks for the second row of some elements only.
//
// want P1
// want P1
func firstParent(app *env.App, posts []env.Post) (string, error) {
	for _, p := range posts {
		var u env.User
		if err := app.DB.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		if u.Nick == "n1" {
			continue
		}
		var parent env.Member
		if err := app.DB.Get(&parent, userByID, u.ParentID); err != nil {
			continue
		}
		if parent.Nick == "n2" {
			return p.Title + parent.Name, nil
		}
	}
	return "", sql.ErrNoRows
}

// The first row is read of some elements only; of the others the key is 0.
//
// want P1
// want P1
func someOf(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var u env.User
		if p.ID%2 == 0 {
			if err := app.DB.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil && err != sql.ErrNoRows {
				return nil, err
			}
		}
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ? OR id = 0 ORDER BY id DESC LIMIT 1", u.ParentID); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

// Two values of the row are keys of one statement, and one is converted.
//
// want P1
// want P1
func twoOf(s *store, posts []env.Post) (sum int64, err error) {
	for _, p := range posts {
		var kind int
		var post int64
		if err := s.db.QueryRow("SELECT kind, post_id FROM notes WHERE post_id = ? ORDER BY id", p.ID).Scan(&kind, &post); err != nil {
			continue
		}
		var id int64
		if err := s.db.QueryRow("SELECT id FROM posts WHERE id >= ? AND seen <= ? ORDER BY id LIMIT 1", post, int64(kind)).Scan(&id); err != nil && err != sql.ErrNoRows {
			return 0, err
		}
		sum = sum*3 + id
	}
	return sum, nil
}

// Over a map, in a transaction.
//
// want P1
// want P1
func overMapParents(tx *sql.Tx, posts map[int64]env.Post) (map[int64]string, error) {
	out := map[int64]string{}
	for id, p := range posts {
		var parent int64
		if err := tx.QueryRow("SELECT parent_id FROM users WHERE id = ?", p.UserID).Scan(&parent); err != nil {
			continue
		}
		var name string
		if err := tx.QueryRow("SELECT name FROM users WHERE id = ?", parent).Scan(&name); err == nil {
			out[id] = name
		}
	}
	return out, nil
}

// The handle has Get and Select alone.
//
// want P1
// want P1
func narrow(db getter, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var parent int64
		if err := db.Get(&parent, "SELECT parent_id FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		var above int64
		if err := db.Get(&above, "SELECT parent_id FROM users WHERE id = ?", parent); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		out = append(out, above)
	}
	return out, nil
}

type getter interface {
	Get(dst any, query string, args ...any) error
	Select(dst any, query string, args ...any) error
}

// One variable for the texts of two reads that have nothing to do with each other.
//
// want P1
// want P1
func textsOfTwo(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var name string
		textOfBoth := "SELECT name FROM users WHERE id = ?"
		if err := app.DB.Get(&name, textOfBoth, p.UserID); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		var body string
		textOfBoth = "SELECT body FROM notes WHERE post_id = ? ORDER BY id LIMIT 1"
		if err := app.DB.Get(&body, textOfBoth, p.ID); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		out = append(out, name+body)
	}
	return out, nil
}
