package reads

import (
	"context"
	"net/http"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Cases are the programs whose answers are compared, by name.
var Cases = map[string]func(app *env.App, posts []env.Post) (any, error){
	"backwards":        func(app *env.App, posts []env.Post) (any, error) { return backwards(app, posts) },
	"replacesElements": func(app *env.App, posts []env.Post) (any, error) { return replacesElements(app, posts), nil },
	"dropsElements":    func(app *env.App, posts []env.Post) (any, error) { return dropsElements(app, posts), nil },
	"pointed":          func(app *env.App, posts []env.Post) (any, error) { return pointed(app, posts) },
	"pointedKey":       func(app *env.App, posts []env.Post) (any, error) { return pointedKey(app, posts), nil },

	"foundEach":         func(app *env.App, posts []env.Post) (any, error) { return foundEach(app, posts) },
	"asksThen":          func(app *env.App, _ []env.Post) (any, error) { return asksThen(app) },
	"byPointer":         func(app *env.App, _ []env.Post) (any, error) { return byPointer(app) },
	"newTransaction":    func(app *env.App, _ []env.Post) (any, error) { return newTransaction(app) },
	"nameTwice":         func(app *env.App, posts []env.Post) (any, error) { return nameTwice(app, posts) },
	"memberAgain":       func(app *env.App, posts []env.Post) (any, error) { return memberAgain(app, posts) },
	"intoTheSame":       func(app *env.App, posts []env.Post) (any, error) { return intoTheSame(app, posts) },
	"onlySometimes":     func(app *env.App, posts []env.Post) (any, error) { return onlySometimes(app, posts) },
	"threeTimes":        func(app *env.App, _ []env.Post) (any, error) { return threeTimes(app) },
	"raisesBetween":     func(app *env.App, _ []env.Post) (any, error) { return raisesBetween(app) },
	"raisesByCall":      func(app *env.App, _ []env.Post) (any, error) { return raisesByCall(app) },
	"underLock":         func(app *env.App, _ []env.Post) (any, error) { return underLock(app) },
	"otherViewer":       func(app *env.App, _ []env.Post) (any, error) { return otherViewer(app) },
	"changesWhatIsRead": func(app *env.App, _ []env.Post) (any, error) { return changesWhatIsRead(app) },
	"changesByPointer":  func(app *env.App, _ []env.Post) (any, error) { return changesByPointer(app) },
	"otherTypes":        func(app *env.App, _ []env.Post) (any, error) { return otherTypes(app) },
	"sharesPointers":    func(app *env.App, _ []env.Post) (any, error) { return sharesPointers(app) },
	"holdsMore":         func(app *env.App, _ []env.Post) (any, error) { return holdsMore(app) },
	"goesOn":            func(app *env.App, _ []env.Post) (any, error) { return goesOn(app) },
	"drawn":             func(app *env.App, _ []env.Post) (any, error) { return drawn(app) },
	"locksAgain":        func(app *env.App, _ []env.Post) (any, error) { return locksAgain(app) },
	"sumAgain": func(app *env.App, _ []env.Post) (any, error) {
		return sumAgain(context.Background(), app.DB.DB, app.Viewer)
	},
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

	"latest": func(app *env.App, posts []env.Post) (any, error) { return latest(app, posts) },
	"eldest": func(app *env.App, posts []env.Post) (any, error) {
		return eldest(context.Background(), app.DB, posts), nil
	},
	"firstTwenty": func(app *env.App, posts []env.Post) (any, error) { return firstTwenty(app, posts) },
	"findOne":     func(app *env.App, posts []env.Post) (any, error) { return findOne(app, posts) },
	"pointersRefused": func(app *env.App, posts []env.Post) (any, error) {
		return pointersRefused(app, pointersTo(posts, true))
	},
	"firstRefused": func(app *env.App, posts []env.Post) (any, error) { return firstRefused(app, posts) },
	"byNick":       func(app *env.App, posts []env.Post) (any, error) { return byNick(app, posts) },
	"joined":       func(app *env.App, posts []env.Post) (any, error) { return joined(app, posts) },
	"shared":       func(app *env.App, posts []env.Post) (any, error) { return shared(app, posts) },
	"changed":      func(app *env.App, posts []env.Post) (any, error) { return changed(app, posts) },
	"pairs":        func(app *env.App, posts []env.Post) (any, error) { return pairs(app, posts) },
	"overMap": func(app *env.App, posts []env.Post) (any, error) {
		byID := map[int64]env.Post{}
		for _, p := range posts {
			byID[p.ID] = p
		}
		return overMap(app, byID)
	},
	"folded":      func(app *env.App, posts []env.Post) (any, error) { return folded(app, posts) },
	"withoutKey":  func(app *env.App, posts []env.Post) (any, error) { return withoutKey(app, posts) },
	"starScanned": func(app *env.App, posts []env.Post) (any, error) { return starScanned(of(app), posts) },
	"twoSums":     func(app *env.App, posts []env.Post) (any, error) { return twoSums(of(app), posts) },
	"nextOf":      func(app *env.App, posts []env.Post) (any, error) { return nextOf(app, posts) },
	"onlyPost":    func(app *env.App, posts []env.Post) (any, error) { return onlyPost(of(app), posts) },
	"mustScore":   func(app *env.App, posts []env.Post) (any, error) { return mustScore(of(app), posts) },
	"children":    func(app *env.App, posts []env.Post) (any, error) { return children(app, posts) },
	"sinceTimes":  func(app *env.App, posts []env.Post) (any, error) { return sinceTimes(app, posts) },
	"reassigned":  func(app *env.App, posts []env.Post) (any, error) { return reassigned(app, posts) },
	"named":       func(app *env.App, posts []env.Post) (any, error) { return named(app, posts) },
	"likedBy": func(app *env.App, posts []env.Post) (any, error) {
		return likedBy(app, posts, &env.User{ID: app.Viewer})
	},
	"likedByNone": func(app *env.App, posts []env.Post) (any, error) { return likedBy(app, posts, nil) },
	"filled":      func(app *env.App, posts []env.Post) (any, error) { return filled(app, posts) },
	"lastMember": func(app *env.App, posts []env.Post) (any, error) {
		tx := app.DB.MustBegin()
		defer tx.Rollback()
		return lastMember(tx, posts), nil
	},
	"lastNotes":   func(app *env.App, posts []env.Post) (any, error) { return lastNotes(app, posts) },
	"allNotes":    func(app *env.App, posts []env.Post) (any, error) { return allNotes(app, posts) },
	"postsOf":     func(app *env.App, posts []env.Post) (any, error) { return postsOf(app, posts) },
	"scoresUntil": func(app *env.App, posts []env.Post) (any, error) { return scoresUntil(app, posts) },
	"ofElements":  func(app *env.App, posts []env.Post) (any, error) { return ofElements(app, posts) },

	"parentNames": func(app *env.App, posts []env.Post) (any, error) { return parentNames(app, posts) },
	"strictParents": func(app *env.App, posts []env.Post) (any, error) {
		tx := app.DB.MustBegin()
		defer tx.Rollback()
		return strictParents(context.Background(), tx, pointersTo(posts, false))
	},
	"nameAndParent": func(app *env.App, posts []env.Post) (any, error) { return nameAndParent(of(app), posts) },
	"fourOf":        func(app *env.App, posts []env.Post) (any, error) { return fourOf(app, posts) },
	"both":          func(app *env.App, posts []env.Post) (any, error) { return both(app, posts) },
	"theirPosts":    func(app *env.App, posts []env.Post) (any, error) { return theirPosts(app, posts) },
	"byScore":       func(app *env.App, posts []env.Post) (any, error) { return byScore(app, posts) },
	"firstParent":   func(app *env.App, posts []env.Post) (any, error) { return firstParent(app, posts) },
	"someOf":        func(app *env.App, posts []env.Post) (any, error) { return someOf(app, posts) },
	"twoOf":         func(app *env.App, posts []env.Post) (any, error) { return twoOf(of(app), posts) },
	"overMapParents": func(app *env.App, posts []env.Post) (any, error) {
		byID := map[int64]env.Post{}
		for _, p := range posts {
			byID[p.ID] = p
		}
		tx, err := app.DB.DB.Begin()
		if err != nil {
			return nil, err
		}
		defer tx.Rollback()
		return overMapParents(tx, byID)
	},
	"textsOfTwo": func(app *env.App, posts []env.Post) (any, error) { return textsOfTwo(app, posts) },
	"notesOrOne": func(app *env.App, posts []env.Post) (any, error) { return notesOrOne(app, posts, false) },
	"allOfNotes": func(app *env.App, posts []env.Post) (any, error) { return notesOrOne(app, posts, true) },
	"nickOrName": func(app *env.App, posts []env.Post) (any, error) { return nickOrName(app, posts) },
	"narrow":     func(app *env.App, posts []env.Post) (any, error) { return narrow(app.DB, posts) },
	"nextParent": func(app *env.App, posts []env.Post) (any, error) { return nextParent(app, posts) },
	"replaced":   func(app *env.App, posts []env.Post) (any, error) { return replaced(app, posts) },
	"adopted":    func(app *env.App, posts []env.Post) (any, error) { return adopted(app, posts) },
	"oneOrOther": func(app *env.App, posts []env.Post) (any, error) { return oneOrOther(app, posts) },
	"twice":      func(app *env.App, posts []env.Post) (any, error) { return twice(app, posts) },
	"written":    func(app *env.App, posts []env.Post) (any, error) { return written(of(app), posts) },
	"mixed":      func(app *env.App, posts []env.Post) (any, error) { return mixed(app, posts) },
	"lastInner": func(app *env.App, posts []env.Post) (any, error) {
		return lastInner(app, [][]env.Post{posts, nil, posts})
	},
	"reckoned":   func(app *env.App, posts []env.Post) (any, error) { return reckoned(app, posts) },
	"overwrites": func(app *env.App, posts []env.Post) (any, error) { return overwrites(app, posts) },
}

// pointersTo posts, one of which is none.
func pointersTo(posts []env.Post, none bool) []*env.Post {
	var out []*env.Post
	for i := range posts {
		if out = append(out, &posts[i]); none && i == 30 {
			out = append(out, nil)
		}
	}
	return out
}

func of(app *env.App) *store { return &store{db: app.DB.DB, viewer: app.Viewer} }
