package calls

import (
	"context"
	"database/sql"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
	"kasoku/internal/patch/testdata/corpus/plain/other"
)

func scoreOf(db *sqlx.DB, id int64) (n sql.NullInt64) {
	_ = db.Get(&n, "SELECT score FROM users WHERE id = ?", id)
	return n
}

// want P1 refused: end
func counting(app *env.App) (sum int64) {
	for id := int64(1); id < 9; id++ {
		sum += scoreOf(app.DB, id).Int64
	}
	return sum
}

// want P1 refused: writes
func raises(app *env.App, ids []int64) (sum int64) {
	for _, id := range ids {
		sum += scoreOf(app.DB, id).Int64
		if _, err := app.DB.Exec("UPDATE users SET score = score + 1"); err != nil {
			return 0
		}
	}
	return sum
}

// want P1 refused: handle
func shards(app *env.App, ids []int64) (sum int64) {
	for i, id := range ids {
		sum += scoreOf(app.Shards[i%2], id).Int64
	}
	return sum
}

// want P1 refused: key
func next(app *env.App, ids []int64) (sum int64) {
	for _, id := range ids {
		id++
		sum += scoreOf(app.DB, id).Int64
	}
	return sum
}

// want P1 refused: calls
func asks(app *env.App, ids []int64, may func() bool) (sum int64) {
	for _, id := range ids {
		if may() {
			sum += scoreOf(app.DB, id).Int64
		}
	}
	return sum
}

// want P1 refused: function
func waits(app *env.App, ids []int64) {
	for _, id := range ids {
		defer scoreOf(app.DB, id)
	}
}

// want P1 refused: calls
func sideways(app *env.App, ids []int64) {
	for _, id := range ids {
		go scoreOf(app.DB, id)
	}
}

func once(db *sqlx.DB, id int64) (name string) {
	id /= 2
	_ = db.Get(&name, "SELECT name FROM users WHERE id = ?", id)
	return name
}

// want P1 refused: function
func halves(app *env.App, ids []int64) (out []string) {
	for _, id := range ids {
		out = append(out, once(app.DB, id))
	}
	return out
}

func after(db *sqlx.DB, id int64) (name string) {
	_ = db.Get(&name, "SELECT name FROM users WHERE id = ?", id+1)
	return name
}

// want P1 refused: key
func computed(app *env.App, ids []int64) (out []string) {
	for _, id := range ids {
		out = append(out, after(app.DB, id))
	}
	return out
}

type key struct{}

func inTime(db *sqlx.DB, id int64) (name string) {
	ctx := context.WithValue(context.Background(), key{}, time.Now())
	_ = db.GetContext(ctx, &name, "SELECT name FROM users WHERE id = ?", id)
	return name
}

// want P1 refused: handle
func timed(app *env.App, ids []int64) (out []string) {
	for _, id := range ids {
		out = append(out, inTime(app.DB, id))
	}
	return out
}

func parent(db *sqlx.DB, id int64) (m env.User, err error) {
	if err = db.Get(&m, "SELECT * FROM users WHERE id = ?", id); err == nil && m.ParentID != 0 {
		return parent(db, m.ParentID)
	}
	return m, err
}

func load(db *sqlx.DB, into *env.Member, id int64) error {
	return db.Get(into, "SELECT id, name FROM users WHERE id = ?", id)
}

// want P1 refused: destination
func loads(app *env.App, posts []env.Post) error {
	for i := range posts {
		if err := load(app.DB, &posts[i].Member, posts[i].UserID); err != nil {
			return err
		}
	}
	return nil
}

func locked(tx *sqlx.Tx, id int64) (score int64, err error) {
	err = tx.Get(&score, "SELECT score FROM users WHERE id = ? FOR UPDATE", id)
	return score, err
}

// want P1 refused: statement
func locks(tx *sqlx.Tx, ids []int64) (sum int64, err error) {
	for _, id := range ids {
		n, err := locked(tx, id)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func seen(tx *sqlx.Tx, id int64) (n int, err error) {
	if _, err := tx.Exec("UPDATE posts SET seen = seen + 1 WHERE id = ?", id); err != nil {
		return 0, err
	}
	err = tx.Get(&n, "SELECT seen FROM posts WHERE id = ?", id)
	return n, err
}

// want P1 refused: writes
func allSeen(tx *sqlx.Tx, ids []int64) (sum int, err error) {
	for _, id := range ids {
		n, err := seen(tx, id)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func published(client *http.Client, db *sqlx.DB, id int64) (title string, err error) {
	if err = db.Get(&title, "SELECT title FROM posts WHERE id = ?", id); err != nil {
		return "", err
	}
	resp, err := client.Get("http://127.0.0.1/" + title)
	if err != nil {
		return "", err
	}
	return title, resp.Body.Close()
}

// want P1 refused: calls
func publishes(app *env.App, ids []int64) error {
	for _, id := range ids {
		if _, err := published(http.DefaultClient, app.DB, id); err != nil {
			return err
		}
	}
	return nil
}

func byNick(db *sqlx.DB, nick string) (id int64, err error) {
	err = db.Get(&id, "SELECT id FROM users WHERE nick = ? LIMIT 1", nick)
	return id, err
}

type author struct {
	id int64
	db *sqlx.DB
}

func (a author) name() (name string) {
	_ = a.db.Get(&name, "SELECT name FROM users WHERE id = ?", a.id)
	return name
}

// want P1 refused: handle
func ofEach(list []author) (out []string) {
	for _, a := range list {
		out = append(out, a.name())
	}
	return out
}

func titleOf[T int | int64](db *sqlx.DB, id T) (title string) {
	_ = db.Get(&title, "SELECT title FROM posts WHERE id = ?", id)
	return title
}

// want P1 refused: function
func generic(app *env.App, ids []int64) (out []string) {
	for _, id := range ids {
		out = append(out, titleOf(app.DB, id))
	}
	return out
}

// want P1 refused: function
func elsewhere(app *env.App, ids []int64) (out []string) {
	for _, id := range ids {
		out = append(out, other.Name(app.DB, id))
	}
	return out
}

func byTwo(db *sqlx.DB, user, post int64) (stars sql.NullInt64, err error) {
	err = db.Get(&stars, "SELECT stars FROM likes WHERE user_id = ? AND post_id = ?", user, post)
	return stars, err
}
