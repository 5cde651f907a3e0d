package reads

import (
	"context"
	"net/http"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Cases are the programs whose answers are compared, by name.
var Cases = map[string]func(app *env.App, posts []env.Post) (any, error){
	"authors": func(app *env.App, posts []env.Post) (any, error) { return authors(app, posts) },
	"authorsThere": func(app *env.App, posts []env.Post) (any, error) {
		var list []*env.Post
		for i := range posts {
			list = append(list, &posts[i])
		}
		return authorsThere(context.Background(), app, list)
	},
	"allThere":      func(app *env.App, posts []env.Post) (any, error) { return allThere(app, posts) },
	"noneTwice":     func(app *env.App, posts []env.Post) (any, error) { return noneTwice(app, posts) },
	"fill":          func(app *env.App, posts []env.Post) (any, error) { return fill(app, posts) },
	"byName":        func(app *env.App, posts []env.Post) (any, error) { return byName(app, posts) },
	"inTransaction": func(app *env.App, posts []env.Post) (any, error) { return inTransaction(app, posts) },
	"counted":       func(app *env.App, posts []env.Post) (any, error) { return counted(app, posts) },
	"seen":          func(app *env.App, posts []env.Post) (any, error) { return seen(app, posts) },
	"aliased":       func(app *env.App, posts []env.Post) (any, error) { return aliased(app, posts) },
	"titles":        func(app *env.App, posts []env.Post) (any, error) { return of(app).titles(posts) },
	"liked": func(app *env.App, posts []env.Post) (any, error) {
		return liked(context.Background(), app.DB, posts, app.Viewer)
	},
	"stars": func(app *env.App, posts []env.Post) (any, error) { return of(app).stars(posts) },
	"scores": func(app *env.App, posts []env.Post) (any, error) {
		r, err := http.NewRequest(http.MethodGet, "/", nil)
		if err != nil {
			return nil, err
		}
		var ids []int64
		for _, p := range posts {
			ids = append(ids, p.UserID)
		}
		return of(app).scores(r, ids)
	},
	"strict": func(app *env.App, posts []env.Post) (any, error) { return of(app).strict(posts) },
	"three":  func(app *env.App, posts []env.Post) (any, error) { return of(app).three(posts) },
	"notes":  func(app *env.App, posts []env.Post) (any, error) { return of(app).notes(posts) },
}

func of(app *env.App) *store { return &store{db: app.DB.DB, viewer: app.Viewer} }
