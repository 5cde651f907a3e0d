package reads

import (
	"context"
	"database/sql"
	"fmt"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// The same read twice in one function.

// want P6
func nameTwice(app *env.App, posts []env.Post) (string, error) {
	var name string
	if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	title := fmt.Sprintf("%d posts of %s", len(posts), name)
	var again string
	if err := app.DB.Get(&again, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", fmt.Errorf("again: %w", err)
	}
	return title + again, nil
}

// want P6
func memberAgain(app *env.App, posts []env.Post) ([]env.Member, error) {
	var m env.Member
	err := app.DB.Get(&m, "SELECT id, name, nick FROM users WHERE id = ?", app.Viewer)
	if err != nil {
		return nil, err
	}
	out := []env.Member{m}
	if len(posts) > 2 {
		var owner env.Member
		if err := app.DB.Get(&owner, "SELECT id, name, nick FROM users WHERE id = ?", app.Viewer); err != nil {
			return nil, err
		}
		owner.Name += "!"
		out = append(out, owner)
	}
	return append(out, m), nil
}

// want P6
func sumAgain(ctx context.Context, db *sql.DB, viewer int64) (string, error) {
	var n int
	var most sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*), MAX(stars) FROM likes WHERE user_id = ?", viewer).Scan(&n, &most); err != nil {
		return "", err
	}
	said := fmt.Sprint(n, most)
	var result struct {
		n    int
		most sql.NullInt64
	}
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*), MAX(stars) FROM likes WHERE user_id = ?", viewer).Scan(&result.n, &result.most); err != nil {
		return "", err
	}
	return said + fmt.Sprint(result), nil
}

// The variable has it still.
//
// want P6
func intoTheSame(app *env.App, posts []env.Post) (string, error) {
	var count int
	if err := app.DB.Get(&count, "SELECT COUNT(*) FROM posts WHERE user_id = ?", app.Viewer); err != nil {
		return "", err
	}
	said := fmt.Sprint(count)
	switch {
	case len(posts)%2 == 0:
		if err := app.DB.Get(&count, "SELECT COUNT(*) FROM posts WHERE user_id = ?", app.Viewer); err != nil {
			return "", err
		}
		said += "even"
	}
	return said + fmt.Sprint(count), nil
}

// want P6
// want P6
func threeTimes(app *env.App) ([]string, error) {
	const query = "SELECT title FROM posts WHERE id = ?"
	id := app.Viewer % 5
	var a, b, c string
	if err := app.DB.Get(&a, query, id); err != nil {
		return nil, err
	}
	if err := app.DB.Get(&b, query, id); err != nil {
		return nil, err
	}
	b += "b"
	if err := app.DB.Get(&c, query, id); err != nil {
		return nil, err
	}
	return []string{a, b, c}, nil
}
