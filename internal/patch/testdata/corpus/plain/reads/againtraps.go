package reads

import (
	"fmt"
	"sync"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

// Reads that look like the same one again.

// want P6 refused: writes
func raisesBetween(app *env.App) (string, error) {
	var seen, later int
	if err := app.DB.Get(&seen, "SELECT seen FROM posts WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	if _, err := app.DB.Exec("UPDATE posts SET seen = seen + 1 WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	if err := app.DB.Get(&later, "SELECT seen FROM posts WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return fmt.Sprint(later - seen), nil
}

func raiseSeen(app *env.App, id int64) error {
	_, err := app.DB.Exec("UPDATE posts SET seen = seen + 1 WHERE id = ?", id)
	return err
}

// The same by a function.
//
// want P6 refused: writes
func raisesByCall(app *env.App) (string, error) {
	var seen, later int
	if err := app.DB.Get(&seen, "SELECT seen FROM posts WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	if err := raiseSeen(app, app.Viewer); err != nil {
		return "", err
	}
	if err := app.DB.Get(&later, "SELECT seen FROM posts WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return fmt.Sprint(later - seen), nil
}

var againLock sync.Mutex

// Others may have written until the lock is had.
//
// want P6 refused: calls
func underLock(app *env.App) (string, error) {
	var seen, later int
	if err := app.DB.Get(&seen, "SELECT seen FROM posts WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	againLock.Lock()
	defer againLock.Unlock()
	if err := app.DB.Get(&later, "SELECT seen FROM posts WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return fmt.Sprint(later, seen), nil
}

// want P6 refused: key
func otherViewer(app *env.App) (string, error) {
	viewer := app.Viewer
	var a, b string
	if err := app.DB.Get(&a, "SELECT name FROM users WHERE id = ?", viewer); err != nil {
		return "", err
	}
	viewer++
	if err := app.DB.Get(&b, "SELECT name FROM users WHERE id = ?", viewer); err != nil {
		return "", err
	}
	return a + b, nil
}

// The first one is not always made.
//
// want P6 refused: order
func onlySometimes(app *env.App, posts []env.Post) (string, error) {
	var a, b string
	if len(posts)%2 == 0 {
		if err := app.DB.Get(&a, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
			return "", err
		}
	}
	if err := app.DB.Get(&b, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return a + b, nil
}

// What the first one gave is changed.
//
// want P6 refused: destination
func changesWhatIsRead(app *env.App) (string, error) {
	var a, b string
	if err := app.DB.Get(&a, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	a += "!"
	if err := app.DB.Get(&b, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return a + b, nil
}

// The same through a pointer.
//
// want P6 refused: destination
func changesByPointer(app *env.App) (string, error) {
	var a, b env.Member
	p := &a
	if err := app.DB.Get(&a, "SELECT id, name, nick FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	p.Name = "changed"
	if err := app.DB.Get(&b, "SELECT id, name, nick FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return a.Name + b.Name, nil
}

// A number and a text.
//
// want P6 refused: destination
func otherTypes(app *env.App) (string, error) {
	var n int
	var s string
	if err := app.DB.Get(&n, "SELECT id FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	if err := app.DB.Get(&s, "SELECT id FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return fmt.Sprint(n, s), nil
}

// What has a pointer is shared by both.
//
// want P6 refused: destination
func sharesPointers(app *env.App) (string, error) {
	var a, b env.User
	if err := app.DB.Get(&a, "SELECT id, score FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	if err := app.DB.Get(&b, "SELECT id, score FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	if a.Score != nil {
		*a.Score = -1
	}
	return fmt.Sprint(b.Score != nil && *b.Score == -1), nil
}

// It holds more than what is read.
//
// want P6 refused: destination
func holdsMore(app *env.App) (string, error) {
	var a env.Member
	b := env.Member{Nick: "kept"}
	if err := app.DB.Get(&a, "SELECT id, name FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	if err := app.DB.Get(&b, "SELECT id, name FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return a.Nick + b.Nick, nil
}

// None the first time is one the next time.
//
// want P6 refused: error
func goesOn(app *env.App) (string, error) {
	var a, b string
	id := app.Viewer + 1000
	if err := app.DB.Get(&a, "SELECT name FROM users WHERE id = ?", id); err != nil {
		a = "none"
	}
	if err := app.DB.Get(&b, "SELECT name FROM users WHERE id = ?", id); err != nil {
		return "", nil
	}
	return a + b, nil
}

// want P6 refused: statement
func drawn(app *env.App) (string, error) {
	var a, b float64
	if err := app.DB.Get(&a, "SELECT RAND() FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	if err := app.DB.Get(&b, "SELECT RAND() FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return fmt.Sprint(a == b), nil
}

// want P6 refused: statement
func locksAgain(app *env.App) (string, error) {
	var a, b int
	if err := app.DB.Get(&a, "SELECT seen FROM posts WHERE id = ? FOR UPDATE", app.Viewer); err != nil {
		return "", err
	}
	if err := app.DB.Get(&b, "SELECT seen FROM posts WHERE id = ? FOR UPDATE", app.Viewer); err != nil {
		return "", err
	}
	return fmt.Sprint(a == b), nil
}

// againHook is what others are told by.
var againHook = func(app *env.App) error { return raiseSeen(app, app.Viewer) }

// Whoever sets the variable may write.
//
// want P6 refused: calls
func asksThen(app *env.App) (string, error) {
	var a, b string
	if err := app.DB.Get(&a, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	if err := againHook(app); err != nil {
		return "", err
	}
	if err := app.DB.Get(&b, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
		return "", err
	}
	return a + b, nil
}

// Another statement says what is read again.
//
// want P6 refused: key
func byPointer(app *env.App) (string, error) {
	id := app.Viewer
	next := &id
	var a, b string
	if err := app.DB.Get(&a, "SELECT name FROM users WHERE id = ?", id); err != nil {
		return "", err
	}
	if _, err := fmt.Sscan("7", next); err != nil {
		return "", err
	}
	if err := app.DB.Get(&b, "SELECT name FROM users WHERE id = ?", id); err != nil {
		return "", err
	}
	return a + b, nil
}

// A transaction begins between, which sees what has been written since.
//
// want P6 refused: writes
func newTransaction(app *env.App) (string, error) {
	tx, err := app.DB.Beginx()
	if err != nil {
		return "", err
	}
	var a, b string
	if err := tx.Get(&a, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
		_ = tx.Rollback()
		return "", err
	}
	if err := tx.Commit(); err != nil {
		return "", err
	}
	if tx, err = app.DB.Beginx(); err != nil {
		return "", err
	}
	if err := tx.Get(&b, "SELECT name FROM users WHERE id = ?", app.Viewer); err != nil {
		_ = tx.Rollback()
		return "", err
	}
	return a + b, tx.Commit()
}
