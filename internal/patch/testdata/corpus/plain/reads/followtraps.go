package reads

import (
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Reads that look as if their keys were of the row that an earlier read of the turn gave.

// What the row gave is another value when its turn comes.
//
// want P1
// want P1 refused: key
func nextParent(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var u env.User
		if err := app.DB.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		u.ParentID++
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", u.ParentID); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// want P1
// want P1 refused: key
func replaced(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		u := &env.User{}
		if err := app.DB.Get(u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		*u = env.User{ID: u.ID, ParentID: u.ParentID + 1}
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", u.ParentID); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// want P1
// want P1 refused: key
func adopted(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		u := new(env.User)
		if err := app.DB.Get(u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		adopt(u)
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", u.ID); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

func adopt(u *env.User) { *u = env.User{ID: u.ID + 3} }

// want P1
// want P1 refused: key
func oneOrOther(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var parent int64
		if err := app.DB.Get(&parent, "SELECT parent_id FROM users WHERE id = ?", p.UserID); err != nil {
			parent = p.ID
		}
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", parent); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// Two reads fill the variable.
//
// want P1
// want P1
// want P1 refused: key
func twice(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var parent int64
		if p.ID%2 == 0 {
			err = app.DB.Get(&parent, "SELECT parent_id FROM users WHERE id = ?", p.UserID)
		} else {
			err = app.DB.Get(&parent, "SELECT id FROM users WHERE name = ?", p.Author)
		}
		if err != nil {
			continue
		}
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", parent); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// The first read locks: its rows cannot be read before their turn.
//
// want P1 refused: statement
// want P1 refused: key
func lockedFirst(tx *sqlx.Tx, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var u env.User
		if err := tx.Get(&u, "SELECT * FROM users WHERE id = ? FOR UPDATE", p.UserID); err != nil {
			continue
		}
		var name string
		if err := tx.Get(&name, "SELECT name FROM users WHERE id = ?", u.ParentID); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// The loop writes to the table of the second read.
//
// want P1
// want P1 refused: writes
// want P4 refused: alone
func written(s *store, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var user int64
		if err := s.db.QueryRow("SELECT user_id FROM posts WHERE id = ?", p.ID).Scan(&user); err != nil {
			continue
		}
		var score sql.NullInt64
		if err := s.db.QueryRow("SELECT score FROM users WHERE id = ?", user).Scan(&score); err != nil {
			continue
		}
		if _, err := s.db.Exec("UPDATE users SET score = ? WHERE id = ?", score.Int64+1, user); err != nil {
			return nil, err
		}
		out = append(out, score.Int64)
	}
	return out, nil
}

// In a transaction nothing may lock or write at all, for neither of them.
//
// want P1 refused: writes
// want P1 refused: key
// want P4 refused: alone
func writtenInside(tx *sql.Tx, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var user, score int64
		if err := tx.QueryRow("SELECT user_id FROM posts WHERE id = ?", p.ID).Scan(&user); err != nil {
			continue
		}
		if err := tx.QueryRow("SELECT COALESCE(score, 0) FROM users WHERE id = ?", user).Scan(&score); err != nil {
			continue
		}
		if _, err := tx.Exec("UPDATE likes SET stars = ? WHERE post_id = ?", score, p.ID); err != nil {
			return nil, err
		}
		out = append(out, score)
	}
	return out, nil
}

// The second statement gives something else each time.
//
// want P1
// want P1 refused: statement
func anyChild(app *env.App, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			continue
		}
		var id int64
		if err := app.DB.Get(&id, "SELECT id FROM users WHERE parent_id = ? ORDER BY RAND() LIMIT 1", m.ID); err == nil {
			out = append(out, id)
		}
	}
	return out, nil
}

// The value is of the last row that the inner loop gave.
//
// want P1
// want P1 refused: key
func lastInner(app *env.App, lists [][]env.Post) (out []string, err error) {
	for _, list := range lists {
		var u env.User
		for _, p := range list {
			if err := app.DB.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
				continue
			}
		}
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", u.ParentID); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// One value is of the row, the other of the loop's element: which go together is not known
// when the rows are read.
//
// want P1
// want P1 refused: key
func mixed(app *env.App, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var parent int64
		if err := app.DB.Get(&parent, "SELECT parent_id FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		var n int64
		if err := app.DB.Get(&n, "SELECT stars FROM likes WHERE user_id >= ? AND post_id = ? ORDER BY user_id LIMIT 1", parent, p.ID); err == nil {
			out = append(out, n)
		}
	}
	return out, nil
}

// The key is made of the value.
//
// want P1
// want P1 refused: key
func reckoned(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var parent int64
		if err := app.DB.Get(&parent, "SELECT parent_id FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", parent*3); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// A key that is no integer, string, or time.
//
// want P1
// want P1 refused: key
func byShare(s *store, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var share float64
		if err := s.db.QueryRow("SELECT score / 3 FROM users WHERE id = ?", p.UserID).Scan(&share); err != nil {
			continue
		}
		var name string
		if err := s.db.QueryRow("SELECT name FROM users WHERE score > ? ORDER BY id", share).Scan(&name); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// It asks another handle in each turn.
//
// want P1
// want P1 refused: handle
func ofShards(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var parent int64
		if err := app.DB.Get(&parent, "SELECT parent_id FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		var name string
		if err := app.Shards[p.ID%2].Get(&name, "SELECT name FROM users WHERE id = ?", parent); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// What a second row is put into holds something already.
//
// want P1
// want P1 refused: destination
func overwrites(app *env.App, posts []env.Post) (out []string, err error) {
	var parent env.User
	for _, p := range posts {
		var u env.User
		if err := app.DB.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		parent.Nick = u.Nick
		if err := app.DB.Get(&parent, "SELECT id, name FROM users WHERE id = ?", u.ParentID); err != nil {
			continue
		}
		out = append(out, fmt.Sprint(parent.Name, parent.Nick))
	}
	return out, nil
}
