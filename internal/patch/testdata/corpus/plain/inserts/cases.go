package inserts

import (
	"context"
	"database/sql"
	"fmt"
	"net/http/httptest"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Cases are the programs whose answers and rows are compared, by name.
var Cases = map[string]func(app *env.App, posts []env.Post) (any, error){
	"noteAll":  func(app *env.App, posts []env.Post) (any, error) { return nil, noteAll(app, posts) },
	"noteSome": inTx(func(tx *sql.Tx, posts []env.Post) (any, error) { return noteSome(context.Background(), tx, posts) }),
	"likeAll": func(app *env.App, posts []env.Post) (any, error) {
		tx, err := app.DB.Beginx()
		if err != nil {
			return nil, err
		}
		return nil, end(tx, likeAll(tx, posts, app.Viewer))
	},
	"rollsBack": func(app *env.App, posts []env.Post) (any, error) {
		var ids []int64
		for _, p := range posts {
			ids = append(ids, p.ID)
		}
		return nil, rollsBack(app, ids)
	},
	"likeTwice": inTx(func(tx *sql.Tx, posts []env.Post) (any, error) { return nil, likeTwice(tx, posts, 9) }),
	"forget":    inTx(func(tx *sql.Tx, posts []env.Post) (any, error) { return nil, forget(tx, posts) }),
	"see":       inTx(func(tx *sql.Tx, posts []env.Post) (any, error) { return nil, see(tx, posts, 2) }),
	"collide":   inTx(func(tx *sql.Tx, posts []env.Post) (any, error) { return nil, collide(tx, posts) }),
	"unlike": func(app *env.App, posts []env.Post) (any, error) {
		tx, err := app.DB.Beginx()
		if err != nil {
			return nil, err
		}
		return nil, end(tx, unlike(context.Background(), tx, posts, app.Viewer))
	},
	"mark": func(app *env.App, posts []env.Post) (any, error) {
		var ids []int64
		for _, p := range posts {
			ids = append(ids, p.ID, p.ID)
		}
		return nil, mark(app, ids)
	},
	"noteUntilOdd": func(app *env.App, posts []env.Post) (any, error) { return nil, noteUntilOdd(app, posts) },
	"handled": func(app *env.App, posts []env.Post) (any, error) {
		w := httptest.NewRecorder()
		handled(app, posts, w)
		return fmt.Sprint(w.Code, w.Body), nil
	},
	"firstNotes":  func(app *env.App, posts []env.Post) (any, error) { return firstNotes(app, posts, 5) },
	"upsertLikes": func(app *env.App, posts []env.Post) (any, error) { return nil, upsertLikes(app, posts) },
	"namedNotes": func(app *env.App, posts []env.Post) (any, error) {
		return nil, namedNotes(context.Background(), app, posts)
	},
	"namedRows": func(app *env.App, posts []env.Post) (any, error) {
		var notes []note
		for _, p := range posts {
			notes = append(notes, note{1, p.ID, p.Title, p.Seen})
		}
		tx, err := app.DB.Beginx()
		if err != nil {
			return nil, err
		}
		return nil, end(tx, namedRows(tx, notes))
	},
	"namedPointers": func(app *env.App, posts []env.Post) (any, error) {
		tx, err := app.DB.Beginx()
		if err != nil {
			return nil, err
		}
		out, err := namedPointers(tx, posts)
		return out, end(tx, err)
	},
	"fromLines": func(app *env.App, posts []env.Post) (any, error) { return nil, fromLines(app, posts) },
	"upserts":   inTx(func(tx *sql.Tx, posts []env.Post) (any, error) { return nil, upserts(tx, posts) }),
	"untilFive": inTx(func(tx *sql.Tx, posts []env.Post) (any, error) {
		var ids []int64
		for _, p := range posts {
			ids = append(ids, p.ID)
		}
		return nil, untilFive(tx, ids)
	}),
	"twoLoops": inTx(func(tx *sql.Tx, posts []env.Post) (any, error) { return nil, twoLoops(tx, posts) }),
}

func end(tx *sqlx.Tx, err error) error {
	if err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

func inTx(work func(tx *sql.Tx, posts []env.Post) (any, error)) func(app *env.App, posts []env.Post) (any, error) {
	return func(app *env.App, posts []env.Post) (any, error) {
		tx, err := app.DB.Begin()
		if err != nil {
			return nil, err
		}
		out, err := work(tx, posts)
		if err != nil {
			tx.Rollback()
			return out, err
		}
		return out, tx.Commit()
	}
}
