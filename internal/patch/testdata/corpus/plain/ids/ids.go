// Package ids draws numbers from counters.
package ids

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

type shop struct {
	db *sql.DB
	x  *sqlx.DB
}

// Deadlocks are tried again.
//
// want P8
func (s *shop) newID(ctx context.Context) (int64, error) {
	var last error
	for range 100 {
		result, err := s.db.ExecContext(ctx, "UPDATE ids SET id = LAST_INSERT_ID(id + 1)")
		var refused *mysql.MySQLError
		if errors.As(err, &refused) && refused.Number == 1213 {
			last = err
			continue
		}
		if err != nil {
			return 0, err
		}
		return result.LastInsertId()
	}
	return 0, fmt.Errorf("no id: %w", last)
}

const nextPost = "UPDATE `named_ids` SET `n`=LAST_INSERT_ID(`n`+1) WHERE name = 'post'"

// want P8
func nextNamed(db *sqlx.DB) (int64, error) {
	res, err := db.Exec(nextPost)
	if err != nil {
		return 0, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return 0, fmt.Errorf("last id: %w", err)
	}
	return id, nil
}

// want P8
func nextOfNone(db *sql.DB) (int64, error) {
	res, err := db.Exec("UPDATE no_ids SET id = LAST_INSERT_ID(id+1)")
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func (s *shop) handle(w http.ResponseWriter, r *http.Request) {
	var ids []int64
	add := func(id int64, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
		ids = append(ids, id)
	}
	add(s.newID(r.Context()))
	add(s.nextRow(r.Context()))
	add(nextNamed(s.x))
	add(nextOfNone(s.db))
	fmt.Fprint(w, ids, traps(s.x, s.db))
}

// Cases are the programs whose answers are compared, by name.
var Cases = map[string]func(app *env.App, posts []env.Post) (any, error){
	"numbers": func(app *env.App, posts []env.Post) (out any, err error) {
		s := &shop{app.DB.DB, app.DB}
		var ids []int64
		for range posts {
			for _, draw := range []func() (int64, error){func() (int64, error) { return s.newID(context.Background()) },
				func() (int64, error) { return s.nextRow(context.Background()) }, func() (int64, error) { return nextNamed(s.x) }, func() (int64, error) { return nextOfNone(s.db) }} {
				id, err := draw()
				if err != nil {
					return ids, err
				}
				ids = append(ids, id)
			}
		}
		return ids, nil
	},
}

// Many draws numbers in several requests at a time; the counter is put back to 0 in the
// middle if back.
func Many(db *sqlx.DB, n int, back bool) (out []int64) {
	s := &shop{db.DB, db}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range n {
				if mu.Lock(); back && i == n/2 {
					db.MustExec(fmt.Sprint("UPDATE i", "ds SET id = 0")) // as somebody else would
				}
				mu.Unlock()
				id, err := s.newID(context.Background())
				if err != nil {
					panic(err)
				}
				mu.Lock()
				out = append(out, id)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return out
}
