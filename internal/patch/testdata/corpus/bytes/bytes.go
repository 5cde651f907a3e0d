// Package bytes has values that are bytes: stored as such they may be put into the text,
// compared with text they may not.
package bytes

import (
	"database/sql"

	_ "github.com/go-sql-driver/mysql"
)

// want P5 refused: types
func open() (*sql.DB, error) {
	return sql.Open("mysql", "app@tcp(127.0.0.1:3306)/app")
}

func add(db *sql.DB, id int64, name string, picture []byte) error {
	_, err := db.Exec("INSERT INTO pictures (id, name, picture) VALUES (?, ?, ?)", id, name, picture)
	return err
}

func find(db *sql.DB, name []byte) (id int64, err error) {
	err = db.QueryRow("SELECT id FROM pictures WHERE name = ?", name).Scan(&id)
	return id, err
}

// want P3 refused: values
func buffers(tx *sql.Tx, names []string) error {
	buf := make([]byte, 0, 64)
	for i, name := range names {
		buf = append(buf[:0], name...)
		if _, err := tx.Exec("INSERT INTO pictures (id, name, picture) VALUES (?, ?, ?)", i, name, buf); err != nil {
			return err
		}
	}
	return nil
}
