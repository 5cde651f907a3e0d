// Package main says how many connections it keeps.
package main

import (
	"log"
	"os"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

func main() {
	db, err := sqlx.Open("mysql", os.Getenv("DSN"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(64)
	keep(db)
	log.Print(db.Ping())
}

func keep(db *sqlx.DB) { db.SetMaxIdleConns(1) }
