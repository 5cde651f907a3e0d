package inserts

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// want P4
func forget(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("DELETE FROM notes WHERE post_id = ?", p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P4
func unlike(ctx context.Context, tx *sqlx.Tx, posts []env.Post, viewer int64) error {
	for i := range posts {
		_, err := tx.ExecContext(ctx, `DELETE FROM likes
			WHERE post_id = ? AND user_id <> ? AND stars IS NOT NULL`, posts[i].ID, viewer)
		if err != nil {
			return fmt.Errorf("unlike: %w", err)
		}
	}
	return nil
}

// Each key twice, and a condition on the column that is set.
//
// want P4
func see(tx *sql.Tx, posts []env.Post, times int) error {
	for _, p := range append(posts, posts...) {
		if p.UserID == 0 {
			continue
		}
		if _, err := tx.Exec("UPDATE posts SET seen = ?, title = 'seen' WHERE seen < 3 AND user_id = ?", times, p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// want P4
func mark(app *env.App, ids []int64) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, id := range ids {
		if _, err := tx.Exec("UPDATE `notes` SET `kind` = ?, body = ? WHERE `post_id` = ? AND kind >= ?;", 9, "marked", id, 1); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Rows that get the key of others are refused by the server: nothing stays.
//
// want P4
func collide(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("UPDATE likes SET user_id = 1 WHERE post_id = ?", p.ID); err != nil {
			return fmt.Errorf("collide: %w", err)
		}
	}
	return nil
}

// Those until then.
//
// want P4
func untilFive(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if id == 5 {
			break
		}
		if _, err := tx.Exec("DELETE FROM notes WHERE post_id = ?", id); err != nil {
			return err
		}
	}
	return nil
}
