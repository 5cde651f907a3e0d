// Package glued puts the names of its tables into its statements.
package glued

import (
	"database/sql"
	"net/http"

	_ "github.com/go-sql-driver/mysql"
)

type server struct{ db *sql.DB }

const visitsTable = "visits"

// want P9 refused: writes
func (s *server) visits() (n int64, err error) {
	err = s.db.QueryRow("SELECT COUNT(*) FROM visits").Scan(&n)
	return n, err
}

// want P9 refused: writes
func (s *server) pages() (n int64, err error) {
	err = s.db.QueryRow("SELECT COUNT(*) FROM pages").Scan(&n)
	return n, err
}

func (s *server) add(table, value string) error {
	text := "INSERT INTO "
	text += table
	_, err := s.db.Exec(text+" VALUES (0, ?)", value)
	return err
}

func (s *server) home(w http.ResponseWriter, r *http.Request) {
	s.add(visitsTable, r.URL.Path)
	s.visits()
	s.pages()
}
