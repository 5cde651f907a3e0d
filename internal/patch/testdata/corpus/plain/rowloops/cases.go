package rowloops

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Cases are the programs whose answers are compared, by name.
var Cases = map[string]func(app *env.App, posts []env.Post) (any, error){
	"withCounts": func(app *env.App, _ []env.Post) (any, error) { return of(app).withCounts() },
	"authors":    func(app *env.App, _ []env.Post) (any, error) { return authors(context.Background(), app.DB.DB) },
	"outside":    func(app *env.App, _ []env.Post) (any, error) { return outside(app.DB.DB), nil },
	"untilBad":   func(app *env.App, _ []env.Post) (any, error) { return untilBad(app.DB.DB) },
	"onlyIDs":    func(app *env.App, _ []env.Post) (any, error) { return onlyIDs(app.DB.DB) },
	"pointers":   func(app *env.App, _ []env.Post) (any, error) { return pointers(app.DB.DB) },
	"addresses": func(app *env.App, _ []env.Post) (any, error) {
		out, ids, err := addresses(app.DB.DB)
		return []any{out, ids}, err
	},
	"strictScores":  func(app *env.App, _ []env.Post) (any, error) { return strictScores(app.DB.DB) },
	"skipsNull":     func(app *env.App, _ []env.Post) (any, error) { return skipsNull(app.DB.DB) },
	"sloppy":        func(app *env.App, _ []env.Post) (any, error) { return sloppy(app.DB.DB), nil },
	"failsHalfway":  func(app *env.App, _ []env.Post) (any, error) { return failsHalfway(app.DB.DB) },
	"sumOfPage":     func(app *env.App, _ []env.Post) (any, error) { return sumOfPage(app.DB.DB, 1, 10) },
	"firstOfTwenty": func(app *env.App, _ []env.Post) (any, error) { return firstOfTwenty(app.DB.DB, app.Viewer*5) },
	"twoResults": func(app *env.App, _ []env.Post) (any, error) {
		names, counts, err := twoResults(app.DB.DB)
		return []any{names, counts}, err
	},
	"postsOfUsers": func(app *env.App, _ []env.Post) (any, error) { return postsOfUsers(app.DB.DB), nil },
	"search":       func(app *env.App, posts []env.Post) (any, error) { return search(app.DB.DB, len(posts)%2 == 0) },
	"handler": func(app *env.App, _ []env.Post) (any, error) {
		r, err := http.NewRequest(http.MethodGet, "/", nil)
		w := httptest.NewRecorder()
		handler(app.DB)(w, r)
		return w.Body.String(), err
	},
	"grouped": func(app *env.App, _ []env.Post) (any, error) {
		out, err := grouped(app.DB.DB)
		return fmt.Sprint(len(out), out[0], out[3], out[6]), err
	},
	"markAll":    func(app *env.App, _ []env.Post) (any, error) { return nil, markAll(app.DB) },
	"structScan": func(app *env.App, _ []env.Post) (any, error) { return structScan(app.DB) },
	"all":        func(app *env.App, _ []env.Post) (any, error) { return all(app.DB) },
	"byFunction": func(app *env.App, _ []env.Post) (any, error) { return byFunction(app.DB.DB) },
	"perUser":    func(app *env.App, posts []env.Post) (any, error) { return of(app).perUser(posts) },
	"perPost":    func(app *env.App, _ []env.Post) (any, error) { return of(app).perPost() },
}

func of(app *env.App) *shop { return &shop{app.DB.DB} }
