// Package main limits the connections that it opens, and keeps two of them.
package main

import (
	"database/sql"
	"log"
	"net/http"
	"os"
	"strconv"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

const most = 40

type app struct {
	db    *sqlx.DB
	small *sql.DB
	most  int
}

// Who sets a limit wants that many: only there something is offered.
//
// want P19
func main() {
	db, err := sqlx.Open("mysql", os.Getenv("DSN"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(10)
	a := &app{db: db, most: 30}
	a.limit()
	a.named()
	a.computed()
	a.none()
	a.chosen(os.Getenv("SMALL") != "")
	http.HandleFunc("/", a.home)
	log.Print(http.ListenAndServe("127.0.0.1:8080", nil))
}

// want P19
func (a *app) limit() {
	a.db.SetMaxOpenConns(a.most)
}

// want P19
func (a *app) named() {
	if a.small != nil {
		a.small.SetMaxOpenConns(most) // of 151
	}
}

// Two are kept already.
func (a *app) two() {
	a.small.SetMaxOpenConns(2)
}

// want P19 refused: limit
func (a *app) computed() {
	a.db.SetMaxOpenConns(limitOf(os.Getenv("LIMIT")))
}

// want P19 refused: limit
func (a *app) none() {
	a.db.SetMaxOpenConns(0)
}

// want P19 refused: handle
func (a *app) chosen(small bool) {
	a.pool(small).SetMaxOpenConns(12)
}

func (a *app) pool(small bool) *sql.DB {
	if small {
		return a.small
	}
	return a.db.DB
}

func limitOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return most
	}
	return n
}

// want P19 refused: start
func (a *app) home(w http.ResponseWriter, _ *http.Request) {
	a.small.SetMaxOpenConns(most)
	w.WriteHeader(http.StatusNoContent)
}
