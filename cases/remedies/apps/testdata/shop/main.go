//go:debug containermaxprocs=0

// Shop is a small Go service for tests: each request reads a row by a statement
// with a value and makes garbage.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"strings"

	_ "github.com/go-sql-driver/mysql"
)

// garbage is what a request builds and drops: small objects with pointers,
// which the collector has to follow.
type garbage struct {
	next *garbage
	text []string
}

var kept []*garbage // alive, so that each collection has work

func main() {
	db, err := sql.Open("mysql", os.Getenv("DSN"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	for range 2000 {
		kept = append(kept, chain(20))
	}
	http.HandleFunc("/item", func(w http.ResponseWriter, r *http.Request) {
		g := chain(400)
		var name string
		if err := db.QueryRow("SELECT name FROM items WHERE id = ?", 7).Scan(&name); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "item 7 is %s with %d parts\n", name, len(g.text))
	})
	http.HandleFunc("/procs", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, runtime.GOMAXPROCS(0)) })
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}

func chain(n int) *garbage {
	var g *garbage
	for i := range n {
		g = &garbage{next: g, text: strings.Split(fmt.Sprintf("%d a b c d e f", i), " ")}
	}
	return g
}
