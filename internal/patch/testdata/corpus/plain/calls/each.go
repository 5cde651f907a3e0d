package calls

import (
	"context"
	"database/sql"
	"time"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// want P1
func untilSeven(app *env.App, ids []int64) (sum int64) {
	for _, id := range ids {
		if id == 7 {
			break
		}
		sum += scoreOf(app.DB, id).Int64
	}
	return sum
}

// want P1
func raisesAgain(app *env.App, ids []int64) (sum int64) {
	for _, id := range ids {
		sum += scoreOf(app.DB, id).Int64
		if sum > 10 {
			return sum
		}
	}
	return sum
}

// want P1
func parents(app *env.App, ids []int64) (out []env.User) {
	for _, id := range ids {
		if m, err := parent(app.DB, id); err == nil {
			out = append(out, m)
		}
	}
	return out
}

// want P1
func nicks(app *env.App, list []string) (out []int64, err error) {
	for _, nick := range list {
		id, err := byNick(app.DB, nick)
		if err != nil {
			return out, err
		}
		out = append(out, id)
	}
	return out, nil
}

// want P1
func pairs(app *env.App, posts []env.Post) (sum int64) {
	for _, p := range posts {
		if n, err := byTwo(app.DB, p.UserID, p.ID); err == nil {
			sum = sum*3 + n.Int64
		}
	}
	return sum
}

// A function that gets the element itself, and changes what it was given.
func noteOf(ctx context.Context, db dbOrTx, p *env.Post, since time.Time, n int) (string, error) {
	if n > 2 {
		n = 2
	}
	var body string
	query := "SELECT CONCAT(body, kind, ?) FROM notes WHERE post_id = ? AND body < ? ORDER BY id DESC LIMIT 1"
	err := db.GetContext(ctx, &body, query, "!", p.ID, since.Format("s2006"))
	if err == sql.ErrNoRows {
		return "", nil
	}
	return body + "+"[:min(n, 1)], err
}

// want P1
func notesOf(ctx context.Context, app *env.App, posts []*env.Post) ([]string, error) {
	var out []string
	since := time.Unix(0, 0)
	for i, p := range posts {
		if p == nil {
			continue
		}
		text, err := noteOf(ctx, app.DB, p, since, i)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

type getter interface {
	GetContext(ctx context.Context, dst any, query string, args ...any) error
}

func memberOf(ctx context.Context, tx getter, p env.Post) (env.Member, error) {
	m := env.Member{}
	if err := tx.GetContext(ctx, &m, "SELECT id, name, nick FROM users WHERE id = ? OR name = ? ORDER BY id DESC LIMIT 1", p.UserID, p.Author); err != nil {
		return env.Member{}, err
	}
	return m, nil
}

// The function asks for less of the handle than the loop has.
//
// want P1
func membersOf(ctx context.Context, tx *sqlx.Tx, posts []*env.Post) ([]env.Member, error) {
	var out []env.Member
	for i := range posts {
		m, err := memberOf(ctx, tx, *posts[i])
		if err != nil {
			return out, err
		}
		out = append(out, m)
	}
	return out, nil
}

func kindsOf(ctx context.Context, db dbOrTx, p env.Post) (out []int) {
	_ = db.SelectContext(ctx, &out, "SELECT kind FROM notes WHERE post_id = ? OR post_id = 1 ORDER BY id", p.ID)
	return out
}

// The interface has no Query.
//
// want P2
func allKinds(ctx context.Context, db dbOrTx, posts []env.Post) (out [][]int) {
	for _, p := range posts {
		out = append(out, kindsOf(ctx, db, p))
	}
	return out
}

func tallyOf(ctx context.Context, tx *sqlx.Tx, p env.Post) (out []env.Member) {
	_ = tx.SelectContext(ctx, &out, "SELECT id, name, nick FROM users WHERE id = ? OR nick = 'n1' ORDER BY id", p.UserID)
	return out
}

// want P2
func tallies(ctx context.Context, tx *sqlx.Tx, posts []env.Post) (out [][]env.Member) {
	for _, p := range posts {
		out = append(out, tallyOf(ctx, tx, p))
	}
	return out
}

func countOf(ctx context.Context, db dbOrTx, p env.Post) (n sql.NullInt64, err error) {
	err = db.GetContext(ctx, &n, "SELECT SUM(stars) FROM likes WHERE post_id <= ? AND user_id > ?", p.ID, p.UserID)
	return n, err
}

// want P2
func countsOf(ctx context.Context, db dbOrTx, posts []env.Post) (out []int64) {
	for _, p := range posts {
		if n, err := countOf(ctx, db, p); err == nil {
			out = append(out, n.Int64)
		}
	}
	return out
}

type reader struct{ p *env.Post }

func (r *reader) first(db *sqlx.DB, kind int) bool {
	return db.Get(&env.Member{}, "SELECT id, name, nick FROM users WHERE id = ? AND nick > ? LIMIT 1", r.p.UserID, "n0") == nil && kind > 0
}

// A method of each element; for its error alone.
//
// want P1
func firsts(app *env.App, readers []reader) (out []bool) {
	for i := range readers {
		out = append(out, readers[i].first(app.DB, i))
	}
	return out
}

func likesOf(db *sqlx.DB, user, post int64) (n int) {
	_ = db.Get(&n, "SELECT COUNT(*) FROM likes WHERE user_id <> ? AND post_id = ?", user, post)
	return n
}

// want P2
func likedBy(app *env.App, posts []env.Post, viewer *env.User) (out []int) {
	for _, p := range posts {
		if viewer != nil {
			out = append(out, likesOf(app.DB, viewer.ID, p.ID))
		}
	}
	return out
}
