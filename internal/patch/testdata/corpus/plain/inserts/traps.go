package inserts

import (
	"database/sql"
	"fmt"
	"log"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

const addNote = "INSERT INTO notes (post_id, body, kind) VALUES (?, ?, ?)"

// want P3 refused: transaction
func withoutTransaction(app *env.App, posts []env.Post) error {
	for _, p := range posts {
		if _, err := app.DB.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: transaction
func notRolledBack(app *env.App, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			log.Print(err)
			return err
		}
	}
	return tx.Commit()
}

// want P3 refused: result
func ids(tx *sql.Tx, posts []env.Post) ([]int64, error) {
	var out []int64
	for _, p := range posts {
		res, err := tx.Exec(addNote, p.ID, p.Title, 1)
		if err != nil {
			return nil, err
		}
		id, _ := res.LastInsertId()
		out = append(out, id)
	}
	return out, nil
}

// want P3 refused: statement
func drawn(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("INSERT INTO notes (post_id, body, kind) VALUES (?, UUID(), 1)", p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: statement
func copied(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("INSERT INTO notes (post_id, body, kind) SELECT id, title, 1 FROM posts WHERE id = ?", p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: alone
func readsBack(tx *sqlx.Tx, posts []env.Post) (sum int, err error) {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return 0, err
		}
		rows, err := tx.Query("SELECT id FROM notes WHERE post_id = 1")
		if err != nil {
			return 0, err
		}
		for rows.Next() {
			sum++
		}
		rows.Close()
	}
	return sum, nil
}

// want P3 refused: alone
// want P3 refused: alone
func two(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO bodies (post_id, body) VALUES (?, ?)", p.ID, p.Title); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: error
func goesOn(tx *sql.Tx, posts []env.Post) (failed int, err error) {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			failed++
		}
	}
	return failed, nil
}

// want P3 refused: error
func namesRow(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return fmt.Errorf("note of %d: %w", p.ID, err)
		}
	}
	return nil
}

// want P3 refused: result
func lastID(tx *sql.Tx, posts []env.Post) (id int64, err error) {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return 0, err
		}
	}
	err = tx.QueryRow("SELECT LAST_INSERT_ID()").Scan(&id)
	return id, err
}

// want P3 refused: values
func pointers(tx *sql.Tx, posts []*env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, &p.ID, p.Title, 1); err != nil {
			return err
		}
		p.ID = 0
	}
	return nil
}

// want P3 refused: values
func large(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("INSERT INTO bodies (post_id, body) VALUES (?, ?)", p.ID, p.Title); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: end
func returns(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if p.ID == 7 {
			return nil
		}
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: error
func hides(tx *sql.Tx, posts []env.Post) (ok bool) {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return false
		}
		if p.ID > 10 {
			break
		}
	}
	return true
}

// want P3 refused: calls
func asks(tx *sql.Tx, posts []env.Post, may func(env.Post) bool) error {
	for _, p := range posts {
		if !may(p) {
			continue
		}
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: statement
func spread(tx *sql.Tx, rows [][]any) error {
	for _, r := range rows {
		if _, err := tx.Exec(addNote, r...); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: error
func quiet(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return nil
		}
	}
	return nil
}

// want P3 refused: error
func tellsHowMany(tx *sql.Tx, posts []env.Post) (n int, err error) {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// want P3 refused: error
func marks(tx *sql.Tx, posts []*env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
		p.Seen++
	}
	return nil
}

func respond(code int) error {
	log.Print(code)
	return nil
}

// want P3 refused: transaction
func responds(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return respond(500)
		}
	}
	return nil
}

// want P3 refused: values
func nulls(tx *sql.Tx, bodies []sql.NullString) error {
	for _, b := range bodies {
		if _, err := tx.Exec(addNote, 1, b, 1); err != nil {
			return err
		}
	}
	return nil
}
