package reads

import (
	"database/sql"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Statements whose text is one of two constants.

// want P2
func notesOrOne(app *env.App, posts []env.Post, all bool) (out [][]env.Member, err error) {
	for _, p := range posts {
		query := "SELECT id, body AS name, kind AS nick FROM notes WHERE post_id = ? ORDER BY id DESC"
		if !all {
			query += " LIMIT 1"
		}
		var notes []env.Member
		err = app.DB.Select(&notes, query, p.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, notes)
	}
	return out, nil
}

// Each element has the one or the other.
//
// want P1
func nickOrName(app *env.App, posts []env.Post) (out []int64, err error) {
	for _, p := range posts {
		query := "SELECT id FROM users WHERE name = ?"
		if p.ID%3 == 0 {
			query += " OR nick = 'n1' AND id <> 3"
		}
		var id int64
		if err := app.DB.Get(&id, query, p.Author); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		out = append(out, id)
	}
	return out, nil
}

// want P2 refused: statement
func withOrder(app *env.App, posts []env.Post, last bool) (out [][]int64, err error) {
	for _, p := range posts {
		query := "SELECT id FROM notes WHERE post_id = ?"
		if last {
			query += " ORDER BY id DESC"
		}
		var ids []int64
		if err := app.DB.Select(&ids, query, p.ID); err != nil {
			return nil, err
		}
		out = append(out, ids)
	}
	return out, nil
}

// want P2 refused: statement
func lockedOrNot(app *env.App, posts []env.Post, lock bool) (out [][]int64, err error) {
	for _, p := range posts {
		query := "SELECT id FROM notes WHERE post_id = ?"
		if lock {
			query += " FOR UPDATE"
		}
		var ids []int64
		if err := app.DB.Select(&ids, query, p.ID); err != nil {
			return nil, err
		}
		out = append(out, ids)
	}
	return out, nil
}

// want P2 refused: constant
func twoMore(app *env.App, posts []env.Post, all, some bool) (out [][]int64, err error) {
	for _, p := range posts {
		query := "SELECT id FROM notes WHERE post_id = ?"
		if all {
			query += " AND kind > 0"
		}
		if some {
			query += " LIMIT 1"
		}
		var ids []int64
		if err := app.DB.Select(&ids, query, p.ID); err != nil {
			return nil, err
		}
		out = append(out, ids)
	}
	return out, nil
}

// Each turn makes it longer.
//
// want P2 refused: constant
func longer(app *env.App, posts []env.Post) (out [][]int64, err error) {
	query := "SELECT id FROM notes WHERE post_id = ?"
	for _, p := range posts {
		if p.ID%7 == 0 {
			query += " AND kind < 5"
		}
		var ids []int64
		if err := app.DB.Select(&ids, query, p.ID); err != nil {
			return nil, err
		}
		out = append(out, ids)
	}
	return out, nil
}
