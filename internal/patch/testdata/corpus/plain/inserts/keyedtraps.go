package inserts

import (
	"database/sql"
	"time"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// want P4 refused: values
func retitle(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("UPDATE posts SET title = ? WHERE id = ?", p.Title, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: statement
func countUp(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("UPDATE posts SET seen = seen + 1 WHERE id = ?", p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: key
func moves(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if _, err := tx.Exec("UPDATE notes SET post_id = 4 WHERE post_id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: key
func byName(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("DELETE FROM users WHERE name = ?", p.Author); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: key
func textByNumber(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if _, err := tx.Exec("DELETE FROM users WHERE nick = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: key
func pair(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("DELETE FROM likes WHERE user_id = ? AND post_id = ?", p.UserID, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: key
func unknownTable(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if _, err := tx.Exec("DELETE FROM elsewhere WHERE id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: key
func notEqual(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if _, err := tx.Exec("DELETE FROM notes WHERE post_id > ?", id); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: statement
func oneOfThem(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if _, err := tx.Exec("DELETE FROM notes WHERE post_id = ? ORDER BY id LIMIT 1", id); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: statement
func either(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if _, err := tx.Exec("DELETE FROM notes WHERE kind = 1 OR post_id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: values
func atTheTime(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if _, err := tx.Exec("UPDATE posts SET seen = ? WHERE id = ?", time.Now().Unix(), id); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: result
func counts(tx *sql.Tx, ids []int64) (sum int64, err error) {
	for _, id := range ids {
		res, err := tx.Exec("DELETE FROM notes WHERE post_id = ?", id)
		if err != nil {
			return 0, err
		}
		n, _ := res.RowsAffected()
		sum += n
	}
	return sum, nil
}

// want P4 refused: transaction
func deletesAtOnce(app *env.App, ids []int64) error {
	for _, id := range ids {
		if _, err := app.DB.Exec("DELETE FROM notes WHERE post_id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: writes
func tree(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if _, err := tx.Exec("DELETE FROM folders WHERE id = ?", id); err != nil {
			return err
		}
	}
	return nil
}
