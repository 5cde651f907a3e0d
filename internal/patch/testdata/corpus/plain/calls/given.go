package calls

import "kasoku/internal/patch/testdata/corpus/plain/env"

// firstAsked is the first number that is asked for.
func firstAsked(list []int64, is func(int64) bool) (int64, bool) {
	for _, n := range list {
		if is(n) {
			return n, true
		}
	}
	return 0, false
}

var ours = []int64{1, 2, 3, 5, 8, 13, 21}

// want P1
func givenLiteral(app *env.App, posts []env.Post) (sum int64) {
	for _, p := range posts {
		if n, ok := firstAsked(ours, func(n int64) bool { return n == p.UserID%30 }); ok {
			sum += n + scoreOf(app.DB, p.UserID).Int64
		}
	}
	return sum
}

func firstThat(list []int64, does func(int64) bool) bool {
	for _, n := range list {
		if does(n) {
			return true
		}
	}
	return false
}

// want P4 refused: end
// want P1 refused: writes
func givenWrite(app *env.App, posts []env.Post) (sum int64) {
	for _, p := range posts {
		firstThat(ours, func(n int64) bool {
			app.DB.MustExec("UPDATE users SET score = score + 1 WHERE id = ?", n)
			return true
		})
		sum += scoreOf(app.DB, p.UserID).Int64
	}
	return sum
}

func oneOf(list []int64, does func(int64) bool) bool { return does(list[0]) }

// want P1 refused: calls
func givenVariable(app *env.App, posts []env.Post, does func(int64) bool) (sum int64) {
	for _, p := range posts {
		oneOf(ours, does)
		sum += scoreOf(app.DB, p.UserID).Int64
	}
	return sum
}

func valueOf(list []int64, does func(int64) bool) bool { return does(list[0]) }

var chosen = valueOf

// want P1 refused: calls
func givenByValue(app *env.App, posts []env.Post) (sum int64) {
	for _, p := range posts {
		valueOf(ours, func(n int64) bool { return n > p.UserID })
		sum += scoreOf(app.DB, p.UserID).Int64
	}
	return sum
}

func changedOf(list []int64, does func(int64) bool) bool {
	if len(list) > 100 {
		does = chosenLater
	}
	return does(list[0])
}

var chosenLater func(int64) bool

// want P1 refused: calls
func givenChanged(app *env.App, posts []env.Post) (sum int64) {
	for _, p := range posts {
		changedOf(ours, func(n int64) bool { return n > p.UserID })
		sum += scoreOf(app.DB, p.UserID).Int64
	}
	return sum
}
