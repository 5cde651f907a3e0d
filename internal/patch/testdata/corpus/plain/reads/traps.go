package reads

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

const userByID = "SELECT id, name, nick FROM users WHERE id = ?"

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
