package rowloops

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

type item struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Title  string `db:"title"`

	Author  env.Member
	Parent  string
	Notes   []string
	Starred int
}

// want P1
func structScan(db *sqlx.DB) ([]item, error) {
	rows, err := db.Queryx("SELECT id, user_id, title FROM posts ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	items := []item{}
	for rows.Next() {
		var it item
		if err := rows.StructScan(&it); err != nil {
			return nil, err
		}
		if err := db.Get(&it.Author, "SELECT id, name, nick FROM users WHERE id = ?", it.UserID); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		items = append(items, it)
	}
	return items, rows.Err()
}

// Three reads of one row, one of them by the row of another.
//
// want P1
// want P1
// want P2
// want P2
func all(db *sqlx.DB) ([]item, error) {
	rows, err := db.Queryx("SELECT id, user_id, title FROM posts ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []item
	for rows.Next() {
		it := item{Parent: "none"}
		if err := rows.StructScan(&it); err != nil {
			return nil, err
		}
		var u env.User
		err := db.Get(&u, "SELECT id, name, nick, score, parent_id FROM users WHERE id = ?", it.UserID)
		if err == nil {
			it.Author = env.Member{ID: u.ID, Name: u.Name}
			if err := db.Get(&it.Parent, "SELECT name FROM users WHERE id = ?", u.ParentID); err != nil && err != sql.ErrNoRows {
				return nil, err
			}
		} else if err != sql.ErrNoRows {
			return nil, err
		}
		if err := db.Select(&it.Notes, "SELECT CONCAT(body, kind) FROM notes WHERE post_id = ? ORDER BY id LIMIT 3", it.ID); err != nil {
			return nil, err
		}
		if err := db.Get(&it.Starred, "SELECT COUNT(*) FROM likes WHERE post_id = ?", it.ID); err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, rows.Err()
}

func nameOf(db *sql.DB, id int64) (string, error) {
	var name string
	err := db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return name, err
}

// The read stands in a function that the loop calls.
//
// want P1
func byFunction(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT title, user_id FROM posts ORDER BY id")
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var title string
		var user int64
		if err = rows.Scan(&title, &user); err != nil {
			return
		}
		var name string
		if name, err = nameOf(db, user); err != nil {
			return
		}
		out = append(out, title+name)
	}
	err = rows.Err()
	return
}

func (s *shop) likes(postID int64) (n int, err error) {
	err = s.db.QueryRow("SELECT COUNT(*) FROM likes WHERE post_id = ?", postID).Scan(&n)
	return n, err
}

// A loop over a slice around the one over rows.
//
// want P2
func (s *shop) perUser(posts []env.Post) (out []int, err error) {
	for _, p := range posts[:min(len(posts), 3)] {
		rows, err := s.db.Query("SELECT id FROM posts WHERE user_id = ? ORDER BY id", p.UserID)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				rows.Close()
				return nil, err
			}
			n, err := s.likes(id)
			if err != nil {
				rows.Close()
				return nil, err
			}
			out = append(out, n)
		}
		rows.Close()
	}
	return out, nil
}

// want P2
func (s *shop) perPost() (out []string, err error) {
	rows, err := s.db.Query("SELECT id, title, seen FROM posts ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p env.Post
		total := 0
		if err := rows.Scan(&p.ID, &p.Title, &p.Seen); err != nil {
			return nil, err
		}
		n, err := s.likes(p.ID)
		if err != nil {
			return nil, err
		}
		total += n + p.Seen
		out = append(out, fmt.Sprint(p.Title, total))
	}
	return out, rows.Err()
}
