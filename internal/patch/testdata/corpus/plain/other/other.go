// Package other has a function that another package calls in a loop.
package other

import "github.com/jmoiron/sqlx"

// Name of a user.
func Name(db *sqlx.DB, id int64) (name string) {
	_ = db.Get(&name, "SELECT name FROM users WHERE id = ?", id)
	return name
}
