// Package foreign runs statements that it has from a file.
package foreign

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"

	_ "github.com/go-sql-driver/mysql"
)

type server struct{ db *sql.DB }

// want P9 refused: writes
func (s *server) version() (version string, err error) {
	err = s.db.QueryRow("SELECT version FROM versions WHERE status = 1").Scan(&version)
	return version, err
}

func (s *server) reset(w http.ResponseWriter, _ *http.Request) {
	text, err := os.ReadFile("reset.sql")
	if err != nil {
		return
	}
	s.db.Exec(string(text))
	fmt.Fprintln(w)
}

func (s *server) home(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, s.db.Ping())
	s.version()
}
