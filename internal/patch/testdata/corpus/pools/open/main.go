// Package main opens its pools when it starts, and sets nothing of them.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

var orders *sqlx.DB

// dsn is made of the environment.
func dsn() string {
	return fmt.Sprintf("app:%s@tcp(127.0.0.1:3306)/app?interpolateParams=true", os.Getenv("DB_PASSWORD"))
}

// connect returns what it opens.
func connect() (*sqlx.DB, error) {
	return sqlx.Open("mysql", dsn())
}

type server struct{ users *sql.DB }

// want P19
func main() {
	var err error
	orders, err = connect()
	if err != nil {
		log.Fatalf("connect: %v", err)
	}
	defer orders.Close()
	s := server{users: openUsers()}
	log.Print(openQuiet(mysql.NewConfig()).Stats(), openMaybe().Stats())
	http.HandleFunc("/report", s.report)
	http.HandleFunc("/", s.home)
	log.Print(http.ListenAndServe("127.0.0.1:8080", nil))
}

// want P19
func openUsers() *sql.DB {
	users, err := sql.Open("mysql", dsn())
	if err != nil {
		panic(err)
	}
	return users
}

// want P19
func openQuiet(c *mysql.Config) *sqlx.DB {
	db := sqlx.MustConnect("mysql", c.FormatDSN())
	return db
}

// Its error is told by the caller: what is behind it runs without a pool, too.
//
// want P19 refused: handle
func openLate() (*sql.DB, error) {
	db, err := sql.Open("mysql", dsn())
	fmt.Fprintln(os.Stderr, "opened")
	return db, err
}

// The program goes on without one.
//
// want P19 refused: handle
func openMaybe() *sql.DB {
	db, err := sql.Open("mysql", dsn())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return db
}

// want P19 refused: handle
func openInside() server {
	return server{users: must(sql.Open("mysql", dsn()))}
}

func must(db *sql.DB, err error) *sql.DB {
	if err != nil {
		panic(err)
	}
	return db
}

// Another database's is none of this driver's.
func openOther() (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "cache.db")
	if err != nil {
		return nil, err
	}
	return db, nil
}

// Each request opens its own, which is another fault.
//
// want P19 refused: start
func (s server) report(w http.ResponseWriter, r *http.Request) {
	db, err := sql.Open("mysql", dsn())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer db.Close()
	fmt.Fprintln(w, db.PingContext(r.Context()))
}

func (s server) home(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, s.users.PingContext(r.Context()))
}
