package calls

import (
	"context"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Cases are the programs whose answers are compared, by name.
var Cases = map[string]func(app *env.App, posts []env.Post) (any, error){
	"members":  func(app *env.App, posts []env.Post) (any, error) { return members(context.Background(), app, posts) },
	"pointers": func(app *env.App, posts []env.Post) (any, error) { return of(app).pointers(posts) },
	"names":    func(app *env.App, posts []env.Post) (any, error) { return names(app, posts) },
	"noted":    func(app *env.App, posts []env.Post) (any, error) { return noted(app, posts, 1) },
	"allStars": func(app *env.App, posts []env.Post) (any, error) { return of(app).allStars(posts) },
	"labels":   func(app *env.App, posts []env.Post) (any, error) { return labels(app, posts) },
	"nested":   func(app *env.App, posts []env.Post) (any, error) { return nested(context.Background(), app, posts) },
}

func of(app *env.App) *shop { return &shop{db: app.DB, viewer: app.Viewer} }
