// Package fills has functions that fill an answer by reads of their own and by functions
// that read in turn, called in loops.
package fills

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

type note struct {
	ID   int64  `db:"id"`
	Post int64  `db:"post_id"`
	Body string `db:"body"`
	Kind int    `db:"kind"`
}

type person struct {
	Name, Parent string
	Nick         []byte
	Likes        int
}

type answer struct {
	Title  string
	Author person
	Notes  []string
}

const remarks = 1

func fillPerson(ctx context.Context, tx *sqlx.Tx, u env.Member) (out person, err error) {
	out.Name = u.Name
	if err := tx.GetContext(ctx, &out.Likes, "SELECT COUNT(*) FROM likes WHERE user_id = ?", u.ID); err != nil {
		return out, err
	}
	var nick []byte
	if err := tx.GetContext(ctx, &nick, "SELECT nick FROM users WHERE id = ?", u.ID); err != nil {
		return out, err
	}
	nick[0] = '*' // its own
	out.Nick = nick
	err = tx.QueryRowContext(ctx, "SELECT p.name FROM users u JOIN users p ON p.id = u.parent_id WHERE u.id = ?", u.ID).Scan(&out.Parent)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return out, err
}

func fillPost(ctx context.Context, tx *sqlx.Tx, p env.Post) (answer, error) {
	author := env.Member{}
	if err := tx.GetContext(ctx, &author, "SELECT id, name, nick FROM users WHERE id = ?", p.UserID); err != nil {
		return answer{}, err
	}
	by, err := fillPerson(ctx, tx, author)
	if err != nil {
		return answer{}, err
	}
	out := answer{Title: p.Title, Author: by}
	var notes []*note
	query := "SELECT * FROM notes WHERE post_id = ? AND kind = ? ORDER BY id LIMIT 3"
	if err := tx.SelectContext(ctx, &notes, query, p.ID, remarks); err != nil {
		return answer{}, err
	}
	for _, n := range notes {
		out.Notes = append(out.Notes, n.Body)
	}
	return out, nil
}

// Each element's rows, and the rows that these lead to.
//
// want P1
// want P1
// want P1
// want P2
// want P2
func answers(ctx context.Context, tx *sqlx.Tx, posts []env.Post) ([]answer, error) {
	out := make([]answer, len(posts))
	for i := range posts {
		one, err := fillPost(ctx, tx, posts[i])
		if err != nil {
			return nil, fmt.Errorf("post %d: %w", posts[i].ID, err)
		}
		out[i] = one
	}
	return out, nil
}

// Another loop over the same functions, which goes on where a row is missing.
//
// want P1
// want P1
// want P1
// want P2
// want P2
func answersThere(ctx context.Context, app *env.App, posts []env.Post) (out []answer, err error) {
	tx, err := app.DB.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for _, p := range posts {
		one, err := fillPost(ctx, tx, p)
		if errors.Is(err, sql.ErrNoRows) {
			out = append(out, answer{Title: "nobody's"})
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// The function is called outside of a loop as well.
func one(ctx context.Context, tx *sqlx.Tx, p env.Post) (answer, error) {
	return fillPost(ctx, tx, p)
}

type shop struct{ db *sqlx.DB }

// card changes the value that one of its reads asks for.
func (s *shop) card(ctx context.Context, p *env.Post) (string, error) {
	user := p.UserID
	if p.ID%3 == 0 {
		user++
	}
	var name, nick string
	if err := s.db.QueryRowContext(ctx, "SELECT name, nick FROM users WHERE id = ?", user).Scan(&name, &nick); err != nil {
		return "", err
	}
	stars, err := s.stars(ctx, p.ID)
	return fmt.Sprint(name, nick, stars), err
}

func (s *shop) stars(ctx context.Context, post int64) (out []int64, err error) {
	err = s.db.SelectContext(ctx, &out, "SELECT user_id FROM likes WHERE post_id = ? ORDER BY user_id", post)
	return out, err
}

// Methods, whose handle is the receiver's; elements that may be nil; an early end.
//
// want P1
// want P2
func (s *shop) cards(ctx context.Context, posts []*env.Post) (out []string) {
	for _, p := range posts {
		if p == nil {
			out = append(out, "none")
			continue
		}
		card, err := s.card(ctx, p)
		if err != nil {
			card = err.Error()
		}
		if out = append(out, card); len(out) > 30 {
			break
		}
	}
	return out
}

// Two reads of one function, one of which follows the other's row.
func above(ctx context.Context, db *sqlx.DB, id int64) (string, error) {
	var parent int64
	if err := db.GetContext(ctx, &parent, "SELECT parent_id FROM users WHERE id = ?", id); err != nil {
		return "", err
	}
	var name string
	err := db.GetContext(ctx, &name, "SELECT name FROM users WHERE id = ?", parent)
	return name, err
}

// want P1
// want P1
func allAbove(ctx context.Context, app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		name, err := above(ctx, app.DB, p.UserID)
		if err != nil {
			name = err.Error()
		}
		out = append(out, name)
	}
	return out
}

// getter is what a function asks of its handle: less than the loop's has.
type getter interface {
	GetContext(ctx context.Context, dst any, query string, args ...any) error
}

func family(ctx context.Context, db getter, user int64) (out []string, err error) {
	for range 1 {
		out = append(out, "family")
	}
	parent, err := parentOf(ctx, db, user)
	if err != nil {
		return out, err
	}
	return append(out, parent.Name, fmt.Sprint(parent.Score)), nil
}

func parentOf(ctx context.Context, db getter, user int64) (*env.User, error) {
	u := &env.User{}
	if err := db.GetContext(ctx, u, "SELECT * FROM users WHERE id = ?", user); err != nil {
		return nil, err
	}
	var parent env.User
	if err := db.GetContext(ctx, &parent, "SELECT * FROM users WHERE id = ?", u.ParentID); err != nil {
		return nil, err
	}
	if parent.Score != nil {
		*parent.Score++ // its own
	}
	parent.Score = nil
	return &parent, nil
}

// Two calls below the loop, by an interface.
//
// want P1
// want P1
func allFamilies(ctx context.Context, tx *sqlx.Tx, posts []env.Post) (out [][]string, err error) {
	for _, p := range posts {
		names, err := family(ctx, tx, p.UserID)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		out = append(out, names)
	}
	return out, nil
}

type liked struct {
	User  int64         `db:"user_id"`
	Post  int64         `db:"post_id"`
	Stars sql.NullInt64 `db:"stars"`
}

type thread struct {
	Names []string
	By    []person
}

// fillThread has loops of its own over what it reads.
//
// want P1
// want P1
// want P2
func fillThread(ctx context.Context, tx *sqlx.Tx, p env.Post) (out thread, err error) {
	var likes []liked
	if err := tx.SelectContext(ctx, &likes, "SELECT * FROM likes WHERE post_id = ? ORDER BY user_id", p.ID); err != nil {
		return out, err
	}
	out.Names = make([]string, len(likes))
	for i := range likes {
		if err := tx.GetContext(ctx, &out.Names[i], "SELECT name FROM users WHERE id = ?", likes[i].User); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return out, err
		}
	}
	for _, l := range likes {
		by, err := personOf(ctx, tx, l.User)
		if errors.Is(err, sql.ErrNoRows) {
			by.Name = "gone"
		} else if err != nil {
			return out, err
		}
		out.By = append(out.By, by)
	}
	return out, nil
}

func personOf(ctx context.Context, tx *sqlx.Tx, id int64) (out person, err error) {
	var u env.Member
	if err := tx.GetContext(ctx, &u, "SELECT id, name, nick FROM users WHERE id = ?", id); err != nil {
		return out, err
	}
	var n int
	if err := tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM posts WHERE user_id = ?", u.ID); err != nil {
		return out, err
	}
	return person{Name: u.Name, Likes: n}, nil
}

// Loops in what the loop calls.
//
// want P1
// want P1
// want P2
// want P2
func threads(ctx context.Context, app *env.App, posts []env.Post) (out []thread, err error) {
	tx, err := app.DB.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for _, p := range posts {
		one, err := fillThread(ctx, tx, p)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}
