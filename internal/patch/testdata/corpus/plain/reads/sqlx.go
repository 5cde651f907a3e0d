// Package reads has loops that read a row in each turn.
package reads

import (
	"context"
	"database/sql"
	"errors"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// want P1
func authors(app *env.App, posts []env.Post) ([]string, error) {
	var names []string
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, "SELECT id, name, nick FROM users WHERE id = ?", p.UserID); err != nil {
			return names, err
		}
		names = append(names, m.Name+" of "+p.Title)
	}
	return names, nil
}

// Posts of users who are gone are left out.
//
// want P1
func authorsThere(ctx context.Context, app *env.App, posts []*env.Post) (names []string, err error) {
	for _, post := range posts {
		member := env.Member{}
		err := app.DB.GetContext(ctx, &member, "SELECT `id`, `name`, `nick` FROM `users` WHERE `id` = ? LIMIT 1", post.UserID)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		post.Member = member
		names = append(names, member.Name)
	}
	return names, nil
}

// want P1
func fill(app *env.App, posts []env.Post) ([]env.Post, error) {
	for i := range posts {
		err := app.DB.Get(&posts[i].Name, `SELECT name FROM users WHERE id = ?`, posts[i].UserID)
		if err == sql.ErrNoRows {
			posts[i].Name = "nobody"
		} else if err != nil {
			return nil, err
		}
	}
	return posts, nil
}

// want P1
func byName(app *env.App, posts []env.Post) (int64, error) {
	var sum int64
	for _, p := range posts {
		m := new(env.Member)
		if err := app.DB.QueryRowx("SELECT id, name, nick FROM users WHERE name = ?", p.Author).StructScan(m); err != nil {
			if err == sql.ErrNoRows {
				sum++
				continue
			}
			return 0, err
		}
		sum += m.ID
	}
	return sum, nil
}

// want P1
func inTransaction(app *env.App, posts []env.Post) ([]env.Member, error) {
	tx, err := app.DB.Beginx()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	members := make([]env.Member, 0)
	for n := 0; n < len(posts); n++ {
		id := posts[n].UserID
		var m env.Member
		if err := tx.Get(&m, "SELECT id, name, nick FROM users WHERE id=?", id); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		members = append(members, m)
	}
	return members, tx.Commit()
}

// want P2
func counted(app *env.App, posts []env.Post) ([]env.Post, error) {
	for i, p := range posts {
		if err := app.DB.Get(&posts[i].Count, "SELECT COUNT(*) AS c FROM notes WHERE post_id = ?", p.ID); err != nil {
			return nil, err
		}
	}
	return posts, nil
}

// The handle and the context are those of a request; a row is written for each.
//
// want P1
// want P4 refused: statement
func seen(app *env.App, posts []env.Post) (string, error) {
	all := ""
	for _, p := range posts {
		var name string
		err := app.DB.Get(&name, "SELECT nick FROM users WHERE id = ? AND name <> ?", p.UserID, "nobody")
		if err == sql.ErrNoRows {
			continue
		}
		if err != nil {
			return "", err
		}
		all += name
		if _, err := app.DB.Exec("UPDATE posts SET seen = seen + 1 WHERE id = ?", p.ID); err != nil {
			return "", err
		}
	}
	return all, nil
}

// want P1
func aliased(app *env.App, posts []env.Post) ([]string, error) {
	const query = "SELECT u.id, u.name, u.nick FROM users AS u WHERE u.id = ?"
	var out []string
	for _, p := range posts {
		var m env.Member
		err := app.DB.Get(&m, query, p.UserID)
		switch err {
		case nil:
			out = append(out, m.Name)
		case sql.ErrNoRows:
			out = append(out, "-")
		default:
			return nil, err
		}
	}
	return out, nil
}
