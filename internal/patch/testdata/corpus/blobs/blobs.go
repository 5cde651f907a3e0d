// Package blobs has bytes that are stored as such:
// they may be put into the text.
package blobs

import (
	"database/sql"

	_ "github.com/go-sql-driver/mysql"
)

// want P5
func open() (*sql.DB, error) {
	return sql.Open("mysql", "app@tcp(127.0.0.1:3306)/app")
}

func add(db *sql.DB, id int64, name string, picture []byte) error {
	_, err := db.Exec("INSERT INTO pictures (id, name, picture) VALUES (?, ?, ?)", id, name, picture)
	return err
}
