// Package env is what the programs of the corpus have in common.
package env

import (
	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// User is a row of users.
type User struct {
	ID       int64  `db:"id"`
	Name     string `db:"name"`
	Nick     string `db:"nick"`
	Score    *int64 `db:"score"`
	ParentID int64  `db:"parent_id"`
}

// Member has no field that copies share.
type Member struct {
	ID   int64  `db:"id"`
	Name string `db:"name"`
	Nick string `db:"nick"`
}

// Post is a row of posts, and what is found for it.
type Post struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Author string `db:"author"`
	Title  string `db:"title"`
	Seen   int    `db:"seen"`

	Member Member
	Count  int
	Name   string
}

// App is a server.
type App struct {
	DB     *sqlx.DB
	Shards []*sqlx.DB
	Viewer int64
}
