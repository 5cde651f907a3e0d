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

	"parentsByFunctions": func(app *env.App, posts []env.Post) (any, error) { return parentsByFunctions(app, posts) },
	"grandparents": func(app *env.App, posts []env.Post) (any, error) {
		return grandparents(context.Background(), app, posts), nil
	},
	"childrenByFunction": func(app *env.App, posts []env.Post) (any, error) { return childrenByFunction(app, posts) },
	"byFunction":         func(app *env.App, posts []env.Post) (any, error) { return byFunction(app, posts) },
	"families":           func(app *env.App, posts []env.Post) (any, error) { return families(app, posts) },
	"raisedParents": func(app *env.App, posts []env.Post) (any, error) {
		return raisedParents(context.Background(), app, posts), nil
	},
	"writers": func(app *env.App, posts []env.Post) (any, error) { return writers(app, posts) },
	"writersInContext": func(app *env.App, posts []env.Post) (any, error) {
		return writersInContext(context.Background(), app, posts), nil
	},
	"likesByFunction": func(app *env.App, posts []env.Post) (any, error) { return likesByFunction(app, posts) },
	"bestByFunction": func(app *env.App, posts []env.Post) (any, error) {
		return bestByFunction(context.Background(), app.DB, posts)
	},
	"seenWithWriters": func(app *env.App, posts []env.Post) (any, error) { return seenWithWriters(app, posts), nil },
	"byThrice":        func(app *env.App, posts []env.Post) (any, error) { return byThrice(app, posts), nil },
	"changedBetween":  func(app *env.App, posts []env.Post) (any, error) { return changedBetween(app, posts), nil },
	"seenByFunction":  func(app *env.App, posts []env.Post) (any, error) { return seenByFunction(app, posts), nil },

	"likedBy": func(app *env.App, posts []env.Post) (any, error) {
		return likedBy(app, posts, &env.User{ID: app.Viewer}), nil
	},
	"givenLiteral": func(app *env.App, posts []env.Post) (any, error) { return givenLiteral(app, posts), nil },
	"likedByNone":  func(app *env.App, posts []env.Post) (any, error) { return likedBy(app, posts, nil), nil },
	"untilSeven":   func(app *env.App, posts []env.Post) (any, error) { return untilSeven(app, users(posts)), nil },
	"raisesAgain":  func(app *env.App, posts []env.Post) (any, error) { return raisesAgain(app, users(posts)), nil },
	"parents":      func(app *env.App, posts []env.Post) (any, error) { return parents(app, users(posts)), nil },
	"nicks": func(app *env.App, posts []env.Post) (any, error) {
		return nicks(app, []string{"n1", "N1 ", "n2", "n0", "n1", "?"})
	},
	"pairs": func(app *env.App, posts []env.Post) (any, error) { return pairs(app, posts), nil },
	"notesOf": func(app *env.App, posts []env.Post) (any, error) {
		return notesOf(context.Background(), app, append(pointers(posts), nil))
	},
	"allKinds": func(app *env.App, posts []env.Post) (any, error) {
		return allKinds(context.Background(), app.DB, posts), nil
	},
	"tallies": func(app *env.App, posts []env.Post) (any, error) {
		tx := app.DB.MustBegin()
		defer tx.Rollback()
		return tallies(context.Background(), tx, posts), nil
	},
	"countsOf": func(app *env.App, posts []env.Post) (any, error) {
		return countsOf(context.Background(), app.DB, posts), nil
	},
	"firsts": func(app *env.App, posts []env.Post) (any, error) {
		var list []reader
		for i := range posts {
			list = append(list, reader{&posts[i]})
		}
		return firsts(app, list), nil
	},
	"membersOf": func(app *env.App, posts []env.Post) (any, error) {
		tx := app.DB.MustBegin()
		defer tx.Rollback()
		return membersOf(context.Background(), tx, pointers(posts))
	},
}

func users(posts []env.Post) (out []int64) {
	for _, p := range posts {
		out = append(out, p.UserID, p.ID)
	}
	return out
}

func pointers(posts []env.Post) (out []*env.Post) {
	for i := range posts {
		out = append(out, &posts[i])
	}
	return out
}

func of(app *env.App) *shop { return &shop{db: app.DB, viewer: app.Viewer} }
