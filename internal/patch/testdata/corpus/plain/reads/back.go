package reads

import (
	"database/sql"
	"errors"
	"fmt"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Loops that go from the end, or that change what they go over, and columns read into pointers.

// From the last to the first.
//
// want P1
func backwards(app *env.App, posts []env.Post) (out []string, err error) {
	for i := len(posts) - 1; i >= 0; i-- {
		var u env.Member
		if err := app.DB.Get(&u, "SELECT id, name, nick FROM users WHERE id = ?", posts[i].UserID); err != nil {
			return out, err
		}
		out = append(out, u.Name)
	}
	return out, nil
}

// Not to the first.
//
// want P1 refused: end
func notToFirst(app *env.App, posts []env.Post) (out []string) {
	for i := len(posts) - 1; i > 0; i-- {
		var name string
		_ = app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", posts[i].UserID)
		out = append(out, name)
	}
	return out
}

// Each element is replaced by what was found for it, and the last of all by another one.
//
// want P1
func replacesElements(app *env.App, posts []env.Post) []env.Post {
	for i, p := range posts {
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", p.UserID); err != nil {
			name = err.Error()
		}
		posts[i] = env.Post{ID: p.ID, Name: name}
		if i == 1 {
			posts[len(posts)-1].UserID = 3
		}
	}
	return posts
}

// The list is made anew in the loop, which goes over the old one.
//
// want P1
func dropsElements(app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		var name string
		_ = app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", p.UserID)
		out = append(out, name)
		posts = posts[1:]
	}
	return out
}

// Columns that may be NULL, into pointers; each turn changes its own.
//
// want P1
func pointed(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var name string
		var score, parent *int64
		err := app.DB.QueryRow("SELECT name, score, parent_id FROM users WHERE id = ?", p.UserID).Scan(&name, &score, &parent)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if score != nil {
			*score++
			name += fmt.Sprint(*score)
		}
		*parent *= 2
		out = append(out, name+fmt.Sprint(*parent))
	}
	return out, nil
}

// One column into a pointer, which the next read asks by: it is asked alone.
//
// want P1
// want P2 refused: key
func pointedKey(app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		var score *int64
		if err := app.DB.Get(&score, "SELECT score FROM users WHERE id = ?", p.UserID); err != nil || score == nil {
			continue
		}
		var n int
		_ = app.DB.Get(&n, "SELECT COUNT(*) FROM users WHERE score = ?", *score)
		out = append(out, fmt.Sprint(*score, n))
	}
	return out
}
