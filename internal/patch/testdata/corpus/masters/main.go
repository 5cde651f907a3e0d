package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// main prints what is read, each again and again; with "watch" the version until it changes.
func main() {
	x := sqlx.MustConnect("mysql", os.Args[1])
	s := &server{db: x.DB, x: x}
	http.HandleFunc("/", s.all)
	http.HandleFunc("/version", s.handler)
	first, err := atStart(s.db)
	fmt.Println(first, err)
	ctx := context.Background()
	if len(os.Args) > 2 {
		for from := time.Now(); time.Since(from) < 20*time.Second; time.Sleep(10 * time.Millisecond) {
			if v, err := s.version(ctx); v != first {
				fmt.Println(v, err)
				return
			}
		}
		return
	}
	for range 50 {
		fmt.Println(s.version(ctx))
		list, err := s.stages(ctx)
		fmt.Println(list, err)
		list[0].Name = "changed by the caller"
		list, err = allStages(x)
		fmt.Println(list, err)
		list[1].ID = 77
		fmt.Println(cheapest(ctx, s.db))
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	fmt.Println(cheapest(cancelled, sqlx.MustConnect("mysql", os.Args[1]).DB)) // another pool
}
