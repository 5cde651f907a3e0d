package reads

import (
	"database/sql"
	"errors"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Lists read for each element: no IN keeps the order and the LIMIT of each.

type note struct {
	Kind   int    `db:"kind"`
	Body   string `db:"body"`
	PostID *int64 `db:"post_id"`
	Raw    []byte `db:"raw"`
}

// The latest two of each; no list is nil.
//
// want P2
func lastNotes(app *env.App, posts []env.Post) ([][]note, error) {
	var out [][]note
	for _, p := range posts {
		var notes []note
		if err := app.DB.Select(&notes, "SELECT kind, body, post_id, body AS raw FROM notes WHERE post_id >= ? ORDER BY id DESC LIMIT 2", p.ID); err != nil {
			return nil, err
		}
		for i := range notes {
			*notes[i].PostID += int64(i)
			notes[i].Raw[0]++
		}
		out = append(out, notes)
	}
	return out, nil
}

// An order without a LIMIT, pointers, and an empty list that is not nil.
//
// want P2
func allNotes(app *env.App, posts []env.Post) (out [][]*env.Member, err error) {
	for _, p := range posts {
		members := []*env.Member{}
		if err := app.DB.Select(&members, "SELECT id, name, nick FROM users WHERE nick <> ? AND id <= ? ORDER BY nick DESC, id", p.Title, p.UserID); err != nil {
			return nil, err
		}
		for _, m := range members {
			m.ID += int64(len(out))
		}
		out = append(out, members)
		if len(out) > 50 {
			break
		}
	}
	return out, nil
}

type ids []int64

// want P2
func postsOf(app *env.App, posts []env.Post) (out []ids, err error) {
	for i := range posts {
		var list ids
		if i%5 == 4 {
			list = ids{1, 2} // what the read puts its rows behind, or in the place of
		}
		if err := app.DB.Select(&list, "SELECT id FROM posts WHERE author = ? ORDER BY id", posts[i].Author); err != nil {
			return nil, err
		}
		if out = append(out, list); len(list) > 0 {
			list[0] = -1
		}
	}
	return out, nil
}

// A NULL fails for its element alone.
//
// want P2
func scoresUntil(app *env.App, posts []env.Post) (out [][]int, err error) {
	for _, p := range posts {
		var scores []int
		if err := app.DB.Select(&scores, "SELECT score FROM users WHERE id BETWEEN ? AND ? + 3 ORDER BY id", p.UserID, p.UserID); err != nil {
			return append(out, scores), err
		}
		out = append(out, scores)
	}
	return out, nil
}

// want P2 refused: statement
func someNotes(app *env.App, posts []env.Post) (n int, err error) {
	for _, p := range posts {
		var notes []note
		if err := app.DB.Select(&notes, "SELECT kind, body FROM notes WHERE post_id = ? ORDER BY RAND() LIMIT 2", p.ID); err != nil {
			return 0, err
		}
		n += len(notes)
	}
	return n, nil
}

// want P2 refused: writes
// want P3 refused: alone
func notesWritten(app *env.App, posts []env.Post) (n int, err error) {
	for _, p := range posts {
		var notes []note
		if err := app.DB.Select(&notes, "SELECT kind, body FROM notes WHERE kind = ? ORDER BY id LIMIT 2", p.Seen); err != nil {
			return 0, err
		}
		result, err := app.DB.Exec("INSERT INTO notes (post_id, body, kind) VALUES (?, '', 0)", p.ID)
		if err != nil {
			return 0, err
		}
		if _, err := result.LastInsertId(); err != nil {
			return 0, err
		}
		n += len(notes)
	}
	return n, nil
}

// The text of each is another one.
//
// want P2 refused: constant
func notesOrdered(app *env.App, posts []env.Post, by string) (n int, err error) {
	for _, p := range posts {
		var notes []note
		query := "SELECT kind, body FROM notes WHERE post_id = ?"
		if by != "" {
			query += " ORDER BY " + by
		}
		if err := app.DB.Select(&notes, query, p.ID); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		n += len(notes)
	}
	return n, nil
}

type tags struct {
	Names map[string]string `db:"names"`
}

// want P2 refused: destination
func tagsOf(app *env.App, posts []env.Post) (out []tags, err error) {
	for _, p := range posts {
		var list []tags
		if err := app.DB.Select(&list, "SELECT body AS names FROM notes WHERE post_id = ?", p.ID); err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}
