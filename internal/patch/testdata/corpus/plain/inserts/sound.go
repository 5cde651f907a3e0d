// Package inserts has loops that insert a row in each turn.
package inserts

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// want P3
func noteAll(app *env.App, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, p := range posts {
		if _, err := tx.Exec("INSERT INTO notes (post_id, body, kind) VALUES (?, ?, ?)", p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// want P3
func noteSome(ctx context.Context, tx *sql.Tx, posts []env.Post) (n int, err error) {
	for i, p := range posts {
		if p.UserID%2 == 0 {
			continue
		}
		body := fmt.Sprintf("%d: %s", i, p.Title)
		_, err := tx.ExecContext(ctx, `INSERT INTO notes
			(post_id, body, kind)
			VALUES (?, ?, 2)`,
			p.ID, body)
		if err != nil {
			return 0, fmt.Errorf("note: %w", err)
		}
		n++
	}
	return n, nil
}

const addLike = "INSERT IGNORE INTO likes (user_id, post_id, stars) VALUES (?,?,NULL)"

// want P3
func likeAll(tx *sqlx.Tx, posts []env.Post, viewer int64) error {
	for i := 0; i < len(posts); i++ {
		if _, err := tx.Exec(addLike, viewer, posts[i].ID); err != nil {
			log.Print("like: ", err)
			return err
		}
	}
	return nil
}

// want P3
func rollsBack(app *env.App, ids []int64) error {
	tx := app.DB.MustBegin()
	var err error
	for _, id := range ids {
		if _, err = tx.Exec("INSERT INTO `notes` (`post_id`, `body`, `kind`) VALUES (?, 'x', ?);", id, id%3); err != nil {
			tx.Rollback()
			return err
		}
	}
	return tx.Commit()
}

// Each row twice: the second is refused by the key, and nothing stays.
//
// want P3
func likeTwice(tx *sql.Tx, posts []env.Post, viewer int64) error {
	for _, p := range append(posts, posts...) {
		if _, err := tx.Exec("INSERT INTO likes (user_id, post_id, stars) VALUES (?, ?, ?)", -viewer, p.ID, 5); err != nil {
			return fmt.Errorf("like: %w", err)
		}
	}
	return nil
}

// want P3
func twoLoops(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		for k := range 3 {
			if _, err := tx.Exec("INSERT INTO notes (post_id, body, kind) VALUES (?, ?, ?)", p.ID, "three", k); err != nil {
				return err
			}
		}
	}
	return nil
}
