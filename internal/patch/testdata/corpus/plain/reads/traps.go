package reads

import (
	"database/sql"
	"fmt"
	"net/http"
	"sync"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

const userByID = "SELECT id, name, nick FROM users WHERE id = ?"

// want P1 refused: end
func firstTwenty(app *env.App, posts []env.Post) ([]string, error) {
	var out []string
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			return nil, err
		}
		if m.Nick != "" {
			out = append(out, p.Title)
		}
		if len(out) >= 20 {
			break
		}
	}
	return out, nil
}

// want P1 refused: end
func findOne(app *env.App, posts []env.Post) (string, error) {
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			return "", err
		}
		if m.Nick == "boss" {
			return p.Title, nil
		}
	}
	return "", nil
}

// want P1 refused: writes
// want P4 refused: alone
func renames(app *env.App, posts []env.Post) error {
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			return err
		}
		if _, err := app.DB.Exec("UPDATE users SET nick = ? WHERE parent_id = ?", m.Nick, p.UserID); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) touch(id int64) error {
	_, err := s.db.Exec("UPDATE users SET score = score + 1 WHERE id = ?", id)
	return err
}

// want P1 refused: writes
func (s *store) writesElsewhere(posts []env.Post) (sum int64, err error) {
	for _, p := range posts {
		var score int64
		if err := s.db.QueryRow("SELECT parent_id FROM users WHERE id = ?", p.UserID).Scan(&score); err != nil {
			return 0, err
		}
		if err := s.touch(p.UserID); err != nil {
			return 0, err
		}
		sum += score
	}
	return sum, nil
}

// want P1 refused: statement
func locks(tx *sqlx.Tx, posts []env.Post) error {
	for _, p := range posts {
		var m env.Member
		if err := tx.Get(&m, userByID+" FOR UPDATE", p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// want P4 refused: alone
// want P1 refused: writes
func writesInTransaction(tx *sqlx.Tx, posts []env.Post) error {
	for _, p := range posts {
		if _, err := tx.Exec("UPDATE posts SET seen = 1 WHERE id = ?", p.ID); err != nil {
			return err
		}
		var m env.Member
		if err := tx.Get(&m, userByID, p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: constant
func table(app *env.App, posts []env.Post, table string) error {
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, fmt.Sprintf("SELECT id, name, nick FROM %s WHERE id = ?", table), p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: key
func byNick(app *env.App, posts []env.Post) (n int64, err error) {
	for _, p := range posts {
		var id int64
		if err := app.DB.Get(&id, "SELECT id FROM users WHERE nick = ?", p.Author); err != nil {
			return 0, err
		}
		n += id
	}
	return n, nil
}

// want P1 refused: statement
func latest(app *env.App, posts []env.Post) error {
	for i, p := range posts {
		if err := app.DB.Get(&posts[i].Title, "SELECT body FROM notes WHERE post_id = ? ORDER BY id DESC LIMIT 1", p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: statement
func joined(app *env.App, posts []env.Post) error {
	for i, p := range posts {
		if err := app.DB.Get(&posts[i].Name, "SELECT u.name FROM users u JOIN posts p ON p.user_id = u.id WHERE p.id = ?", p.ID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: destination
func prefilled(app *env.App, posts []env.Post) ([]env.Member, error) {
	var out []env.Member
	for _, p := range posts {
		m := env.Member{Nick: "none"}
		if err := app.DB.Get(&m, "SELECT id, name FROM users WHERE id = ?", p.UserID); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// want P1 refused: destination
func shared(app *env.App, posts []env.Post) error {
	for _, p := range posts {
		var u env.User
		if err := app.DB.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil {
			return err
		}
		if u.Score != nil {
			*u.Score++
		}
	}
	return nil
}

// want P1 refused: key
func changed(app *env.App, posts []env.Post) error {
	for i := range posts {
		if posts[i].UserID == 0 {
			posts[i].UserID = app.Viewer
		}
		var m env.Member
		if err := app.DB.Get(&m, userByID, posts[i].UserID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: calls
func callback(app *env.App, posts []env.Post, each func(env.Member) error) error {
	for _, p := range posts {
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			return err
		}
		if err := each(m); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: end
func together(app *env.App, posts []env.Post) {
	var wait sync.WaitGroup
	for i := range posts {
		wait.Add(1)
		go func() {
			defer wait.Done()
			_ = app.DB.Get(&posts[i].Name, "SELECT name FROM users WHERE id = ?", posts[i].UserID)
		}()
	}
	wait.Wait()
}

// want P1 refused: calls
func notifies(app *env.App, posts []env.Post) error {
	for _, p := range posts {
		if _, err := http.Post("http://users.internal/refresh", "text/plain", nil); err != nil {
			return err
		}
		var m env.Member
		if err := app.DB.Get(&m, userByID, p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: handle
func sharded(app *env.App, posts []env.Post) error {
	for _, p := range posts {
		var m env.Member
		if err := app.Shards[p.UserID%2].Get(&m, userByID, p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// want P1 refused: key
func pairs(app *env.App, posts []env.Post) error {
	for _, p := range posts {
		var stars int
		if err := app.DB.Get(&stars, "SELECT stars FROM likes WHERE user_id = ? AND post_id = ?", p.UserID, p.ID); err != nil && err != sql.ErrNoRows {
			return err
		}
	}
	return nil
}
