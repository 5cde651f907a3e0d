package calls

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// writerOf takes what sqlx's functions take: a database or a transaction.
func writerOf(q sqlx.Queryer, id int64) (name string, err error) {
	u := env.User{}
	err = sqlx.Get(q, &u, "SELECT * FROM users WHERE id = ?", id)
	if err != nil {
		return name, err
	}
	return fmt.Sprint(u.ID, u.Name), err
}

// want P1
func writers(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		name, err := writerOf(app.DB, p.UserID)
		if err != nil {
			return out, err
		}
		out = append(out, name)
	}
	return out, nil
}

// want P1
func writersInContext(ctx context.Context, app *env.App, posts []env.Post) (out []env.User) {
	for _, p := range posts {
		var u env.User
		if err := sqlx.GetContext(ctx, app.DB, &u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
			u.Name = err.Error()
		}
		out = append(out, u)
	}
	return out
}

// want P2
func likesByFunction(app *env.App, posts []env.Post) (out []int, err error) {
	for _, p := range posts {
		var n int
		if err := sqlx.Get(app.DB, &n, "SELECT COUNT(*) FROM likes WHERE post_id = ?", p.ID); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// want P2
func bestByFunction(ctx context.Context, q sqlx.QueryerContext, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		var users []int64
		if err := sqlx.SelectContext(ctx, q, &users, "SELECT user_id FROM likes WHERE post_id = ? ORDER BY stars DESC, user_id LIMIT 3", p.ID); err != nil {
			return nil, err
		}
		out = append(out, users...)
	}
	return out, nil
}

// The read is given the database, so that it is not of a transaction in which the loop writes.
//
// want P1
// want P4 refused: statement
func seenWithWriters(app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		name, err := writerOf(app.DB, p.UserID)
		if err != nil {
			continue
		}
		if _, err := app.DB.Exec("UPDATE posts SET seen = seen + 1 WHERE id = ?", p.ID); err != nil {
			continue
		}
		out = append(out, name)
	}
	return out
}

// want P1 refused: writes
// want P3 refused: alone
func likesOfWritersInOne(tx *sqlx.Tx, posts []env.Post) (out []string) {
	for _, p := range posts {
		name, err := writerOf(tx, p.UserID)
		if err != nil {
			continue
		}
		if _, err := tx.Exec("INSERT IGNORE INTO likes (user_id, post_id) VALUES (?, ?)", p.UserID, p.ID); err != nil {
			continue
		}
		out = append(out, name)
	}
	return out
}

// want P1 refused: writes
// want P4 refused: statement
func raisedWriters(app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		name, err := writerOf(app.DB, p.UserID)
		if err != nil {
			continue
		}
		if _, err := app.DB.Exec("UPDATE users SET score = score + 1 WHERE id = ?", p.UserID); err != nil {
			continue
		}
		out = append(out, name)
	}
	return out
}

// want P1 refused: handle
func writersOfShards(shards []*sqlx.DB, posts []env.Post) (out []env.User) {
	for _, p := range posts {
		var u env.User
		if err := sqlx.Get(shards[p.UserID%int64(len(shards))], &u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
			continue
		}
		out = append(out, u)
	}
	return out
}

// want P1 refused: statement
func lockedWriters(tx *sqlx.Tx, posts []env.Post) (out []env.User) {
	for _, p := range posts {
		var u env.User
		if err := sqlx.Get(tx, &u, "SELECT * FROM users WHERE id = ? FOR UPDATE", p.UserID); err != nil {
			continue
		}
		out = append(out, u)
	}
	return out
}

// want P2 refused: statement
func writersByList(app *env.App, lists [][]any) (out []env.User, err error) {
	for _, ids := range lists {
		var some []env.User
		if err := sqlx.Select(app.DB, &some, "SELECT * FROM users WHERE id = ? OR parent_id = ?", ids...); err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}
