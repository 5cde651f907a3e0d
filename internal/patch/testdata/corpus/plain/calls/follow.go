package calls

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Reads whose keys are of the row that a function gave, or that stand in one.

func userOf(db *sqlx.DB, id int64) (*env.User, error) {
	var u env.User
	if err := db.Get(&u, "SELECT * FROM users WHERE id = ?", id); err != nil {
		return nil, err
	}
	return &u, nil
}

func parentOf(ctx context.Context, db *sql.DB, id int64) (name string, parent int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT name, parent_id FROM users WHERE id = ?", id).Scan(&name, &parent)
	return
}

func parentsName(db *sqlx.DB, u *env.User) string {
	name := "nobody"
	_ = db.Get(&name, "SELECT name FROM users WHERE id = ?", u.ParentID)
	return name
}

// Both stand in functions, one of which gets the row of the other.
//
// want P1
// want P1
func parentsByFunctions(app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		u, err := userOf(app.DB, p.UserID)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, u.Name+parentsName(app.DB, u))
	}
	return out, nil
}

// One function twice, the second time by what the first gave.
//
// want P1
// want P1
func grandparents(ctx context.Context, app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		name, parent, err := parentOf(ctx, app.DB.DB, p.UserID)
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		above, _, err := parentOf(ctx, app.DB.DB, parent)
		if err == nil {
			name += above
		}
		out = append(out, name)
	}
	return out
}

// The row is given by a function, the read by it stands in the loop.
//
// want P1
// want P2
func childrenByFunction(app *env.App, posts []env.Post) (sum int, err error) {
	for _, p := range posts {
		u, err := userOf(app.DB, p.UserID)
		if err != nil {
			continue
		}
		var n int
		if err := app.DB.Get(&n, "SELECT COUNT(*) FROM users WHERE parent_id = ?", u.ID); err != nil {
			return 0, err
		}
		sum = sum*3 + n
	}
	return sum, nil
}

// The row is read in the loop, the next one by a function.
//
// want P1
// want P1
func byFunction(app *env.App, posts []env.Post) (out []string, err error) {
	for i := range posts {
		u := new(env.User)
		if err := app.DB.Get(u, "SELECT * FROM users WHERE id = ?", posts[i].UserID); err != nil {
			continue
		}
		parent, err := userOf(app.DB, u.ParentID)
		if err == nil {
			out = append(out, parent.Name)
		}
	}
	return out, nil
}

// Traps.

func family(db *sqlx.DB, u *env.User) (names []string, err error) {
	var name, eldest string
	if err := db.Get(&name, "SELECT name FROM users WHERE id = ?", u.ParentID); err != nil && err != sql.ErrNoRows {
		return nil, err
	}
	if err := db.Get(&eldest, "SELECT name FROM users WHERE parent_id = ? ORDER BY id LIMIT 1", u.ID); err != nil && err != sql.ErrNoRows {
		return nil, err
	}
	return []string{name, eldest}, nil
}

// Both reads of one function follow the row; its call can be changed once.
//
// want P1
// want P1
// want P1 refused: function
func families(app *env.App, posts []env.Post) (out [][]string, err error) {
	for _, p := range posts {
		u, err := userOf(app.DB, p.UserID)
		if err != nil {
			continue
		}
		names, err := family(app.DB, u)
		if err != nil {
			return nil, err
		}
		out = append(out, names)
	}
	return out, nil
}

// want P1
// want P1 refused: key
func raisedParents(ctx context.Context, app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		_, parent, err := parentOf(ctx, app.DB.DB, p.UserID)
		if err != nil {
			continue
		}
		parent *= 3
		if name, _, err := parentOf(ctx, app.DB.DB, parent); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// thrice gives no value of the row.
func thrice(db *sqlx.DB, id int64) (int64, error) {
	var parent int64
	err := db.Get(&parent, "SELECT parent_id FROM users WHERE id = ?", id)
	return parent * 3, err
}

// want P1
// want P1 refused: key
func byThrice(app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		parent, err := thrice(app.DB, p.UserID)
		if err != nil {
			continue
		}
		var name string
		if err := app.DB.Get(&name, "SELECT name FROM users WHERE id = ?", parent); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// The function that is called between changes the row.
//
// want P1
// want P1 refused: key
func changedBetween(app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		u, err := userOf(app.DB, p.UserID)
		if err != nil {
			continue
		}
		adopts(u)
		out = append(out, parentsName(app.DB, u))
	}
	return out
}

func adopts(u *env.User) { u.ParentID = u.ID }

// The function writes to the table that the second read asks.
//
// want P1
// want P2 refused: writes
func seenByFunction(app *env.App, posts []env.Post) (out []int) {
	for _, p := range posts {
		u, err := userOf(app.DB, p.UserID)
		if err != nil {
			continue
		}
		var seen int
		if err := app.DB.Get(&seen, "SELECT SUM(seen) + COUNT(*) FROM posts WHERE user_id = ?", u.ID); err != nil {
			continue
		}
		seeAll(app.DB, u.ID)
		out = append(out, seen)
	}
	return out
}

func seeAll(db *sqlx.DB, user int64) {
	_, _ = db.Exec("UPDATE posts SET seen = seen + 1 WHERE user_id = ?", user)
}
