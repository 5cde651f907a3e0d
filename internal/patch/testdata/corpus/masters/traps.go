package main

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"time"
)

// want P9 refused: writes
func (s *server) titles(ctx context.Context) (n int64, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM news").Scan(&n)
	return n, err
}

func (s *server) addNews(ctx context.Context, title string) error {
	_, err := s.db.ExecContext(ctx, "INSERT INTO news (title) VALUES (?)", title)
	return err
}

// visit tells its table, if not all of its text.
func (s *server) visit(ctx context.Context, paths []string) error {
	text := "INSERT INTO visits (path) VALUES " + strings.Repeat("(?),", len(paths))
	_, err := s.db.ExecContext(ctx, text+"('/')")
	return err
}

// want P9 refused: writes
func (s *server) visits(ctx context.Context) (n int64, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM visits").Scan(&n)
	return n, err
}

// want P9 refused: schema
func (s *server) latest(ctx context.Context) (title string, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT title FROM latest").Scan(&title)
	return title, err
}

// want P9 refused: handle
func inTransaction(tx *sql.Tx) (version string, err error) {
	err = tx.QueryRow("SELECT version FROM versions WHERE status = 1").Scan(&version)
	return version, err
}

// want P9 refused: statement
func locked(db *sql.DB) (version string, err error) {
	err = db.QueryRow("SELECT version FROM versions WHERE status = 1 FOR UPDATE").Scan(&version)
	return version, err
}

// want P9 refused: statement
func atRandom(db *sql.DB) (version string, err error) {
	err = db.QueryRow("SELECT version FROM versions ORDER BY RAND() LIMIT 1").Scan(&version)
	return version, err
}

// want P9 refused: statement
func now(db *sql.DB) (at time.Time, err error) {
	err = db.QueryRow("SELECT NOW() FROM versions").Scan(&at)
	return at, err
}

// Nothing is said of it.
func noError(db *sql.DB) (version string) {
	db.QueryRow("SELECT version FROM versions WHERE status = 1").Scan(&version)
	return version
}

// want P9 refused: function
func byParameter(db *sql.DB, suffix string) (version string, err error) {
	err = db.QueryRow("SELECT version FROM versions WHERE status = 1").Scan(&version)
	return version + suffix, err
}

var calls int

// want P9 refused: function
func counted(db *sql.DB) (version string, err error) {
	calls++
	err = db.QueryRow("SELECT version FROM versions WHERE status = 1").Scan(&version)
	return version, err
}

var prefix = "v"

// want P9 refused: function
func prefixed(db *sql.DB) (version string, err error) {
	err = db.QueryRow("SELECT version FROM versions WHERE status = 1").Scan(&version)
	return prefix + version, err
}

// want P9 refused: function
func dated(db *sql.DB) (version string, err error) {
	err = db.QueryRow("SELECT version FROM versions WHERE status = 1").Scan(&version)
	return version + time.Now().String(), err
}

// want P9 refused: results
func pointed(db *sql.DB) (*stage, error) {
	var one stage
	err := db.QueryRow("SELECT id, name, exp FROM stages WHERE id = 1").Scan(&one.ID, &one.Name, &one.Exp)
	return &one, err
}

// want P9 refused: results
func byID(db *sql.DB) (map[int64]string, error) {
	out := map[int64]string{}
	rows, err := db.Query("SELECT id, name FROM stages")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return nil, err
		}
		out[id] = name
	}
	return out, rows.Err()
}

// Nothing is said of it.
func (s *server) handler(w http.ResponseWriter, r *http.Request) {
	var version string
	if err := s.db.QueryRow("SELECT version FROM versions WHERE status = 1").Scan(&version); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// Nothing is said of it.
func atStart(db *sql.DB) (version string, err error) {
	err = db.QueryRow("SELECT version FROM versions WHERE status = 1").Scan(&version)
	return version, err
}

func (s *server) all(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	s.version(ctx)
	s.stages(ctx)
	allStages(s.x)
	cheapest(ctx, s.db)
	s.titles(ctx)
	s.addNews(ctx, "a")
	s.visits(ctx)
	s.visit(ctx, []string{"/"})
	s.latest(ctx)
	tx, _ := s.db.Begin()
	inTransaction(tx)
	tx.Rollback()
	locked(s.db)
	atRandom(s.db)
	now(s.db)
	noError(s.db)
	byParameter(s.db, "a")
	counted(s.db)
	prefix = r.URL.Path
	prefixed(s.db)
	dated(s.db)
	pointed(s.db)
	byID(s.db)
}
