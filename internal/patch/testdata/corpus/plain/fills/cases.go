package fills

import (
	"context"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Cases are the programs whose answers are compared, by name.
var Cases = map[string]func(app *env.App, posts []env.Post) (any, error){
	"answers": func(app *env.App, posts []env.Post) (any, error) {
		tx := app.DB.MustBegin()
		defer tx.Rollback()
		return answers(context.Background(), tx, posts)
	},
	"answersThere": func(app *env.App, posts []env.Post) (any, error) {
		return answersThere(context.Background(), app, posts)
	},
	"one": func(app *env.App, posts []env.Post) (any, error) {
		tx := app.DB.MustBegin()
		defer tx.Rollback()
		if len(posts) == 0 {
			return nil, nil
		}
		return one(context.Background(), tx, posts[0])
	},
	"cards": func(app *env.App, posts []env.Post) (any, error) {
		var some []*env.Post
		for i := range posts {
			if some = append(some, &posts[i]); i%5 == 0 {
				some = append(some, nil)
			}
		}
		return (&shop{app.DB}).cards(context.Background(), some), nil
	},
	"allFamilies": func(app *env.App, posts []env.Post) (any, error) {
		tx := app.DB.MustBegin()
		defer tx.Rollback()
		return allFamilies(context.Background(), tx, posts)
	},
	"threads": func(app *env.App, posts []env.Post) (any, error) {
		return threads(context.Background(), app, posts)
	},
	"thread": func(app *env.App, posts []env.Post) (out any, err error) {
		tx := app.DB.MustBegin()
		defer tx.Rollback()
		if len(posts) == 0 {
			return nil, nil
		}
		return fillThread(context.Background(), tx, posts[len(posts)/2])
	},
	"allAbove": func(app *env.App, posts []env.Post) (any, error) {
		return allAbove(context.Background(), app, posts), nil
	},
}
