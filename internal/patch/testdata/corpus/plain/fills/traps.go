package fills

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

func two(ctx context.Context, db *sqlx.DB, p env.Post) (string, error) {
	var name, nick string
	if err := db.GetContext(ctx, &name, "SELECT name FROM users WHERE id = ?", p.UserID); err != nil {
		return "", err
	}
	err := db.GetContext(ctx, &nick, "SELECT nick FROM users WHERE id = ?", p.UserID)
	return name + nick, err
}

// The loop writes to the table.
//
// want P1 refused: writes
// want P1 refused: writes
// want P4 refused: alone
func renames(ctx context.Context, app *env.App, posts []env.Post) (out []string, err error) {
	for _, p := range posts {
		s, err := two(ctx, app.DB, p)
		if err != nil {
			return nil, err
		}
		if _, err := app.DB.ExecContext(ctx, "UPDATE users SET nick = ? WHERE id = ?", s, p.UserID); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Each turn asks another server.
//
// want P1 refused: handle
// want P1 refused: handle
func ofShards(ctx context.Context, app *env.App, posts []env.Post) (out []string, err error) {
	for i, p := range posts {
		s, err := two(ctx, app.Shards[i%2], p)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

type asker struct {
	ctx context.Context
	db  *sqlx.DB
}

// kept outlives the loop with what its context carries.
var kept *asker

func twoKept(ctx context.Context, db *sqlx.DB, p env.Post) (string, error) {
	kept = &asker{ctx, db}
	return twoOf(ctx, db, p.UserID)
}

func twoOf(ctx context.Context, db *sqlx.DB, user int64) (string, error) {
	var name, nick string
	if err := db.GetContext(ctx, &name, "SELECT name FROM users WHERE id = ?", user); err != nil {
		return "", err
	}
	err := db.GetContext(ctx, &nick, "SELECT nick FROM users WHERE id = ?", user)
	return name + nick, err
}

// The function keeps the context: nothing is carried by it.
func keeps(ctx context.Context, app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		s, _ := twoKept(ctx, app.DB, p)
		out = append(out, s)
	}
	return out
}

func locked(ctx context.Context, tx *sqlx.Tx, p env.Post) (string, error) {
	var name, nick string
	if err := tx.GetContext(ctx, &name, "SELECT name FROM users WHERE id = ? FOR UPDATE", p.UserID); err != nil {
		return "", err
	}
	err := tx.GetContext(ctx, &nick, "SELECT nick FROM users WHERE id = ?", p.UserID)
	return name + nick, err
}

// One of the reads locks, in the other's transaction.
//
// want P1 refused: statement
// want P1 refused: writes
func locks(ctx context.Context, tx *sqlx.Tx, posts []env.Post) (out []string) {
	for _, p := range posts {
		s, _ := locked(ctx, tx, p)
		out = append(out, s)
	}
	return out
}

func deepWrites(ctx context.Context, tx *sqlx.Tx, p env.Post) (string, error) {
	if _, err := tx.ExecContext(ctx, "UPDATE users SET score = 1 WHERE id = ?", p.UserID); err != nil {
		return "", err
	}
	score, err := scoreBelow(ctx, tx, p.UserID)
	return fmt.Sprint(score), err
}

func scoreBelow(ctx context.Context, tx *sqlx.Tx, user int64) (score int, err error) {
	err = tx.GetContext(ctx, &score, "SELECT score FROM users WHERE id = ?", user)
	return score, err
}

// What is called writes before it reads.
func writesBelow(ctx context.Context, tx *sqlx.Tx, posts []env.Post) (out []string) {
	for _, p := range posts {
		s, _ := deepWrites(ctx, tx, p)
		out = append(out, s)
	}
	return out
}

func inBackground(ctx context.Context, db *sqlx.DB, p env.Post) (string, error) {
	done := make(chan string)
	go func() {
		s, _ := twoOf(ctx, db, p.UserID)
		done <- s
	}()
	return <-done, nil
}

// A goroutine reads.
func background(ctx context.Context, app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		s, _ := inBackground(ctx, app.DB, p)
		out = append(out, s)
	}
	return out
}

// Each turn has a context of its own.
//
// want P1 refused: calls
// want P1 refused: calls
func inTime(ctx context.Context, app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		own, cancel := context.WithCancel(ctx)
		s, _ := twoOf(own, app.DB, p.UserID)
		cancel()
		out = append(out, s)
	}
	return out
}

// The list is made anew by a call.
//
// want P1 refused: end
// want P1 refused: end
func drawn(ctx context.Context, app *env.App, posts func() []env.Post) (out []string) {
	for _, p := range posts() {
		s, _ := two(ctx, app.DB, p)
		out = append(out, s)
	}
	return out
}

// The handle is another one from the second turn on.
//
// want P1 refused: handle
// want P1 refused: handle
func moves(ctx context.Context, app *env.App, posts []env.Post) (out []string) {
	db := app.DB
	for _, p := range posts {
		s, _ := twoOf(ctx, db, p.UserID)
		db = app.Shards[0]
		out = append(out, s)
	}
	return out
}

// Rows may be others when a turn has waited.
//
// want P1 refused: calls
// want P1 refused: calls
func waits(ctx context.Context, app *env.App, posts []env.Post) (out []string) {
	for _, p := range posts {
		s, _ := two(ctx, app.DB, p)
		time.Sleep(time.Second)
		out = append(out, s)
	}
	return out
}
