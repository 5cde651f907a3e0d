package inserts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Whoever calls it cannot take its error for none: nothing of it stays.
//
// want P3
func noteUntilOdd(app *env.App, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, p := range posts {
		if p.ID%11 == 10 {
			return errors.New("refused")
		}
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Of a row that the server refuses and a later one that the loop refuses, the loop's
// answer would be told first; so that both never meet here, the server ignores them.
//
// want P3
func handled(app *env.App, posts []env.Post, w http.ResponseWriter) {
	tx, err := app.DB.Beginx()
	if err != nil {
		http.Error(w, "begin", http.StatusInternalServerError)
		return
	}
	defer tx.Rollback()
	for i := range posts {
		if strings.HasSuffix(posts[i].Title, "7") {
			http.Error(w, "refused", http.StatusBadRequest)
			return
		}
		_, err := tx.Exec("INSERT IGNORE INTO likes (user_id, post_id, stars) VALUES (1, ?, 2)", posts[i].ID)
		if err != nil {
			log.Print(err)
			http.Error(w, "insert", http.StatusInternalServerError)
			return
		}
	}
	if err := tx.Commit(); err != nil {
		http.Error(w, "commit", http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, len(posts))
}

// want P3
func firstNotes(app *env.App, posts []env.Post, most int) (n int, err error) {
	tx, err := app.DB.Begin()
	if err != nil {
		return 0, err
	}
	for _, p := range posts {
		if n == most {
			break
		}
		if p.UserID < 0 {
			tx.Rollback()
			return 0, fmt.Errorf("no user")
		}
		if _, err := tx.Exec(addNote, p.ID, p.Title, 1); err != nil {
			tx.Rollback()
			return 0, err
		}
		n++
	}
	return n, tx.Commit()
}

// want P3
func upsertLikes(app *env.App, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, p := range append(posts, posts...) {
		if _, err := tx.Exec("INSERT INTO likes (user_id, post_id, stars) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE `stars` = VALUES(`stars`), post_id = VALUES(post_id)", p.UserID, p.ID, len(p.Title)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

type note struct {
	ID     int64  `db:"id"`
	PostID int64  `db:"post_id"`
	Body   string `db:"body"`
	Kind   int
}

// want P3
func namedNotes(ctx context.Context, app *env.App, posts []env.Post) error {
	tx, err := app.DB.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, p := range posts {
		if _, err := tx.NamedExecContext(ctx, "INSERT INTO notes (body, post_id, kind) VALUES (:body, :post_id, :kind)", &note{
			PostID: p.ID,
			Body:   p.Title + "!",
		}); err != nil {
			return fmt.Errorf("note: %w", err)
		}
	}
	return tx.Commit()
}

// want P3
func namedRows(tx *sqlx.Tx, notes []note) error {
	for _, n := range notes {
		if _, err := tx.NamedExec(`INSERT INTO notes (post_id, body, kind)
			VALUES (:post_id, :body, :kind)`, n); err != nil {
			return err
		}
	}
	return nil
}

// want P3
func namedPointers(tx *sqlx.Tx, posts []env.Post) ([]*note, error) {
	var out []*note
	for _, p := range posts {
		n := &note{PostID: p.ID, Body: p.Title, Kind: 7}
		if p.UserID%2 == 0 {
			n.Kind = 8
		}
		if _, err := tx.NamedExec("INSERT INTO notes (post_id, body, kind) VALUES (:post_id, :body, :kind)", n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// record reads the parts of a line, and keeps the first error.
type record struct {
	parts []string
	at    int
	err   error
}

func (r *record) next() string {
	if r.at >= len(r.parts) {
		r.fail()
		return ""
	}
	r.at++
	return r.parts[r.at-1]
}

func (r *record) fail() { r.err = errors.New("too few parts") }

// want P3
func fromLines(app *env.App, posts []env.Post) error {
	tx, err := app.DB.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, p := range posts {
		r := record{parts: []string{p.Title, p.Author}}
		body := r.next()
		body += r.next()
		if p.ID%13 == 12 {
			body = r.next()
		}
		if err := r.err; err != nil {
			return err
		}
		if _, err := tx.Exec(addNote, p.ID, body, 3); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// want P3
func upserts(tx *sql.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("INSERT INTO likes (user_id, post_id, stars) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE stars = VALUES(stars)", 1, p.ID, 2); err != nil {
			return err
		}
	}
	return nil
}
