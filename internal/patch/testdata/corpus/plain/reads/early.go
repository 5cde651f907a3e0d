package reads

import (
	"database/sql"
	"errors"
	"fmt"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refused(text string) error { return &refusal{text} }

func perhaps(text string) error {
	if text == "" {
		return nil
	}
	return &refusal{text}
}

// A loop that refuses an element ends with an error, which is rare.
//
// want P1
func allThere(app *env.App, posts []env.Post) (sum int64, err error) {
	for _, p := range posts {
		var id int64
		err := app.DB.QueryRow("SELECT id FROM users WHERE id = ?", p.UserID).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) || err == nil && id == 9 {
			return sum, refused("no such user")
		}
		if err != nil {
			return 0, err
		}
		sum += id
	}
	return sum, nil
}

// want P1
func noneTwice(app *env.App, posts []env.Post) ([]string, error) {
	var out []string
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			return out, err
		}
		if m.Nick == "n1" {
			return out, fmt.Errorf("%d has %s", p.ID, m.Nick)
		}
		out = append(out, m.Name)
	}
	return out, nil
}
