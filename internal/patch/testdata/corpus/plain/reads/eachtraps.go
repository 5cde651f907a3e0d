package reads

import (
	"database/sql"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Reads that look as if each could be a branch of a UNION ALL.

// want P1 refused: statement
func anyOf(app *env.App, posts []env.Post) (sum int64, err error) {
	for _, p := range posts {
		var id int64
		if err := app.DB.Get(&id, "SELECT id FROM posts WHERE user_id = ? ORDER BY RAND() LIMIT 1", p.UserID); err != nil {
			return 0, err
		}
		sum += id
	}
	return sum, nil
}

// want P1 refused: statement
func sinceNow(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var text string
		if err := app.DB.Get(&text, "SELECT CONCAT(name, NOW(6)) FROM users WHERE id = ? ORDER BY id", p.UserID); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// want P1 refused: statement
func sinceToday(app *env.App, posts []env.Post) (sum int, err error) {
	for _, p := range posts {
		var n int
		if err := app.DB.Get(&n, "SELECT kind FROM notes WHERE post_id = ? AND body < CURRENT_TIMESTAMP ORDER BY id", p.ID); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// want P1 refused: statement
func numberedRows(app *env.App, posts []env.Post) (sum int, err error) {
	for _, p := range posts {
		var n int
		if err := app.DB.Get(&n, "SELECT @n := @n + 1 FROM notes WHERE post_id = ? ORDER BY id", p.ID); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// want P1 refused: statement
func latestLocked(tx *sqlx.Tx, posts []env.Post) error {
	for _, p := range posts {
		var id int64
		if err := tx.Get(&id, "SELECT id FROM notes WHERE post_id = ? ORDER BY id DESC LIMIT 1 FOR UPDATE", p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: statement
func taken(app *env.App, posts []env.Post) error {
	for _, p := range posts {
		var id sql.NullInt64
		if err := app.DB.Get(&id, "SELECT GET_LOCK(name, 1) FROM users WHERE id = ? ORDER BY id LIMIT 1", p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: statement
func counted2(app *env.App, posts []env.Post) error {
	for _, p := range posts {
		var id int64
		if err := app.DB.Get(&id, "SELECT SQL_CALC_FOUND_ROWS id FROM notes WHERE post_id = ? ORDER BY id LIMIT 1", p.ID); err != nil {
			return err
		}
	}
	return nil
}

// The type of a column is that of its value.
//
// want P1 refused: statement
func echoed(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var text string
		if err := app.DB.Get(&text, "SELECT IFNULL(score, ?) FROM users WHERE id = ? ORDER BY id", p.Title, p.UserID); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// What it writes is joined by what it reads.
//
// want P1 refused: writes
// want P4 refused: statement
func joinsWritten(app *env.App, posts []env.Post) (sum int, err error) {
	for _, p := range posts {
		var n int
		if err := app.DB.Get(&n, "SELECT p.seen FROM users u JOIN posts p ON p.user_id = u.id WHERE u.id = ? ORDER BY p.id LIMIT 1", p.UserID); err != nil {
			return 0, err
		}
		if _, err := app.DB.Exec("UPDATE posts SET seen = seen + 1 WHERE id = ?", p.ID); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// What one turn reads is what the next one asks for.
//
// want P1 refused: key
func cursor(s *store, posts []env.Post) (last int64, err error) {
	for _, p := range posts {
		if err := s.db.QueryRow("SELECT id FROM notes WHERE post_id >= ? AND id > ? ORDER BY id LIMIT 1", p.ID, last).Scan(&last); err != nil {
			return last, err
		}
	}
	return last, nil
}

// want P1 refused: key
func ofPointers(app *env.App, ids []*int64) (out []string, err error) {
	for _, id := range ids {
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ? ORDER BY id", id); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

// want P1 refused: key
func ofParent(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		var parent int64
		var name string
		row := app.DB.QueryRow("SELECT parent_id, name FROM users WHERE nick = ?", helped(p))
		if err := row.Scan(&parent, &name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

func helped(p env.Post) string { return p.Author + p.Title }

type pair struct {
	Name string   `db:"name"`
	Tags []string `db:"-"`
}

// want P1 refused: destination
func tagged(app *env.App, posts []env.Post) (out []pair, err error) {
	for _, p := range posts {
		var one pair
		if err := app.DB.Get(&one, "SELECT name FROM users WHERE id = ? ORDER BY id", p.UserID); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// The variable keeps what two statements put into it.
//
// want P1 refused: destination
func keeps(app *env.App, posts []env.Post) (out []env.Member, err error) {
	var m env.Member
	for i, p := range posts {
		m.ID = int64(i)
		if err := app.DB.Get(&m, "SELECT name FROM users WHERE id = ? ORDER BY id", p.UserID); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// Its text may be that of the turn before.
//
// want P1 refused: constant
func alternates(app *env.App, posts []env.Post) (sum int64, err error) {
	query := "SELECT id FROM users WHERE id = ?"
	for _, p := range posts {
		var n int64
		if err := app.DB.Get(&n, query, p.UserID); err != nil {
			return 0, err
		}
		if n > 3 {
			query = "SELECT parent_id FROM users WHERE id = ?"
		}
		sum += n
	}
	return sum, nil
}

// want P1 refused: constant
func perhapsOther(app *env.App, posts []env.Post) (sum int64, err error) {
	for _, p := range posts {
		var n int64
		query := "SELECT id FROM users WHERE id = ?"
		if p.Seen > 0 {
			query = "SELECT parent_id FROM users WHERE id = ?"
		}
		if err := app.DB.Get(&n, query, p.UserID); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
