package ids

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

func traps(x *sqlx.DB, db *sql.DB) []any {
	a, _ := byTwo(db)
	b, _ := counts(db)
	c, _ := both(db)
	d, _ := small(db)
	e, _ := seenElsewhere(db)
	f, _ := passedOn(db)
	g, _ := ofOne(db, "post")
	h, _ := either(context.Background(), db)
	i, _ := unknown(db)
	tx, _ := db.Begin()
	j, _ := inTransaction(tx)
	var n int64
	_ = x.Get(&n, "SELECT MAX(id) FROM seen_ids")
	return []any{a, b, c, d, e, f, g, h, i, j, n}
}

// want P8 refused: statement
func byTwo(db *sql.DB) (int64, error) {
	res, err := db.Exec("UPDATE other_ids SET id = LAST_INSERT_ID(id + 2)")
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// want P8 refused: result
func counts(db *sql.DB) (int64, error) {
	res, err := db.Exec("UPDATE counted_ids SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return 0, err
	}
	return res.LastInsertId()
}

// want P8 refused: statement
func both(db *sql.DB) (int64, error) {
	res, err := db.Exec("UPDATE other_ids SET id = LAST_INSERT_ID(id + 1), at = NOW()")
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// want P8 refused: column
func small(db *sql.DB) (int64, error) {
	res, err := db.Exec("UPDATE small_ids SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// want P8 refused: only
func seenElsewhere(db *sql.DB) (int64, error) {
	res, err := db.Exec("UPDATE seen_ids SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func last(res sql.Result) (int64, error) { return res.LastInsertId() }

// want P8 refused: result
func passedOn(db *sql.DB) (int64, error) {
	res, err := db.Exec("UPDATE passed_ids SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return 0, err
	}
	return last(res)
}

// want P8 refused: statement
func ofOne(db *sql.DB, name string) (int64, error) {
	res, err := db.Exec("UPDATE other_ids SET id = LAST_INSERT_ID(id + 1) WHERE name = ?", name)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// want P8 refused: handle
func either(ctx context.Context, db runner) (int64, error) {
	res, err := db.ExecContext(ctx, "UPDATE passed_ids SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// No schema shows the table.
//
// want P8
func unknown(db *sql.DB) (int64, error) {
	res, err := db.Exec("UPDATE unknown_ids SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// want P8 refused: handle
func inTransaction(tx *sql.Tx) (int64, error) {
	res, err := tx.Exec("UPDATE passed_ids SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// want P8 refused: request
func atTheStart(db *sql.DB) (int64, error) {
	res, err := db.Exec("UPDATE start_ids SET id = LAST_INSERT_ID(id + 1)")
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}
