package inserts

import (
	"context"
	"errors"
	"net/http"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// What is deferred commits where no error is returned.
//
// want P3 refused: end
func commitsAnyway(app *env.App, posts []env.Post) (err error) {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tx.Rollback()
			return
		}
		err = tx.Commit()
	}()
	for _, p := range posts {
		if p.ID == 3 {
			return errors.New("three")
		}
		if _, err = tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return nil
}

// Its answer is no refusal: it would be told although a row before it fails.
//
// want P3 refused: end
func answersEarly(app *env.App, posts []env.Post, w http.ResponseWriter) {
	tx, err := app.DB.Begin()
	if err != nil {
		return
	}
	defer tx.Rollback()
	for _, p := range posts {
		if p.ID == 3 {
			w.WriteHeader(http.StatusOK)
			return
		}
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			http.Error(w, "insert", http.StatusInternalServerError)
			return
		}
	}
	tx.Commit()
}

// The rows until then are committed.
//
// want P3 refused: alone
func commitsEarly(app *env.App, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, p := range posts {
		if p.ID == 3 {
			tx.Commit()
			return errors.New("three")
		}
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// The transaction that is rolled back may be another one.
//
// want P3 refused: end
func beginsAgain(app *env.App, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if len(posts) > 7 {
		tx, err = app.DB.Begin()
		if err != nil {
			return err
		}
	}
	for _, p := range posts {
		if p.ID == 3 {
			return errors.New("three")
		}
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// It is rolled back only where there are many.
//
// want P3 refused: end
func sometimesDeferred(app *env.App, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	if len(posts) > 7 {
		defer tx.Rollback()
	}
	for _, p := range posts {
		if p.ID == 3 {
			return errors.New("three")
		}
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// want P3 refused: statement
func addsUp(tx *sqlx.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("INSERT INTO likes (user_id, post_id, stars) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE stars = stars + ?", p.UserID, p.ID, p.Seen); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: statement
func otherColumn(tx *sqlx.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("INSERT INTO likes (user_id, post_id, stars) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE stars = VALUES(user_id)", p.UserID, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// One of them may be nil, which sqlx tells as an error.
//
// want P3 refused: statement
func mayBeNil(tx *sqlx.Tx, notes []*note) error {
	for _, n := range notes {
		if _, err := tx.NamedExec("INSERT INTO notes (post_id, body, kind) VALUES (:post_id, :body, :kind)", n); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: statement
func ofMap(tx *sqlx.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.NamedExec("INSERT INTO notes (post_id, body, kind) VALUES (:post_id, :body, 1)", map[string]any{"post_id": p.ID, "body": p.Title}); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: statement
func quotedColon(tx *sqlx.Tx, notes []note) error {
	for _, n := range notes {
		if _, err := tx.NamedExec("INSERT INTO notes (post_id, body, kind) VALUES (:post_id, 'a:body', :kind)", n); err != nil {
			return err
		}
	}
	return nil
}

// want P3 refused: statement
func noField(ctx context.Context, tx *sqlx.Tx, notes []note) error {
	for _, n := range notes {
		if _, err := tx.NamedExecContext(ctx, "INSERT INTO notes (post_id, body, kind) VALUES (:post, :body, :kind)", n); err != nil {
			return err
		}
	}
	return nil
}

// The reader outlives the loop, and who calls it sees where it stands.
//
// want P3 refused: error
func sharedReader(app *env.App, r *record, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, p := range posts {
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
		r.next()
	}
	return tx.Commit()
}

// want P3 refused: error
func setsOther(app *env.App, last *record, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, p := range posts {
		r := record{parts: []string{p.Title}}
		last.at = len(r.next())
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return tx.Commit()
}
