// Package floats reads a FLOAT column, which text shortens.
package floats

import (
	"database/sql"

	_ "github.com/go-sql-driver/mysql"
)

// want P5 refused: types
func open() (*sql.DB, error) {
	return sql.Open("mysql", "app@tcp(127.0.0.1:3306)/app")
}

func weight(db *sql.DB, id int64) (w float64, err error) {
	err = db.QueryRow("SELECT weight FROM weights WHERE id = ?", id).Scan(&w)
	return w, err
}

// A UNION may give a FLOAT more digits.
//
// want P2 refused: statement
func weights(db *sql.DB, ids []int64) (sum float64) {
	for _, id := range ids {
		var w float64
		if err := db.QueryRow("SELECT MAX(weight) FROM weights WHERE id >= ? GROUP BY id", id).Scan(&w); err == nil {
			sum += w
		}
	}
	return sum
}
