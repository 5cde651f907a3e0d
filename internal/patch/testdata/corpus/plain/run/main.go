// Command run prints what the programs of the corpus answer, with the rows that they
// leave: run DSN SEED. The rows before are drawn from the seed.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/calls"
	"kasoku/internal/patch/testdata/corpus/plain/env"
	"kasoku/internal/patch/testdata/corpus/plain/fills"
	"kasoku/internal/patch/testdata/corpus/plain/ids"
	"kasoku/internal/patch/testdata/corpus/plain/inserts"
	"kasoku/internal/patch/testdata/corpus/plain/reads"
	"kasoku/internal/patch/testdata/corpus/plain/rowloops"
)

func main() {
	db, err := sqlx.Connect("mysql", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if os.Args[2] == "numbers" { // run DSN numbers N BACK
		n, err := strconv.Atoi(os.Args[3])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ids.Many(db, n, os.Args[4] == "true"))
		return
	}
	db.SetMaxOpenConns(1)
	more, err := sqlx.Connect("mysql", os.Args[1]) // for loops that read while rows are open
	if err != nil {
		log.Fatal(err)
	}
	seed, err := strconv.ParseUint(os.Args[2], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	if len(os.Args) > 3 { // run DSN SEED PROGRAM: how many statements one of reads or fills sends for 130 rows
		posts := fill(db, rand.New(rand.NewPCG(seed, 0)), 130)
		before := questions(db)
		program := reads.Cases[os.Args[3]]
		if program == nil {
			program = fills.Cases[os.Args[3]]
		}
		_, _ = program(&env.App{DB: db}, posts)
		fmt.Println(questions(db) - before - 1)
		return
	}
	for turn := range uint64(len(rows)) {
		if few := 50; seed > 1 && rows[turn] > few { // the first seed has shown what takes several statements
			break
		}
		play(db, more, rand.New(rand.NewPCG(seed, turn)), turn)
	}
}

// questions is how many statements the connection has sent.
func questions(db *sqlx.DB) (n int) {
	if err := db.QueryRow("SELECT variable_value FROM information_schema.session_status WHERE variable_name = 'QUESTIONS'").Scan(&n); err != nil {
		log.Fatal(err)
	}
	return n
}

// rows of each turn. What one statement writes (100 rows) and reads by UNION ALL (64) is
// exceeded in the last turn but one, and what one reads by keys (1,000) in the last, which two
// of the programs play.
var rows = []int{0, 1, 3, 5, 40, 105, 1050}

func play(db, more *sqlx.DB, draw *rand.Rand, turn uint64) {
	posts := fill(db, draw, rows[turn])
	last := uint64(len(rows) - 1)
	app := &env.App{DB: db, Viewer: draw.Int64N(20)}
	for _, name := range slices.Sorted(maps.Keys(reads.Cases)) {
		if turn == last && name != "authors" && name != "counted" {
			continue
		}
		answer(db, "reads "+name, reads.Cases[name], app, slices.Clone(posts))
	}
	if turn == last {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rowloops.Cases)) {
		answer(db, "rowloops "+name, rowloops.Cases[name], &env.App{DB: more, Viewer: app.Viewer}, posts)
	}
	answer(db, "numbers", ids.Cases["numbers"], app, posts)
	for _, name := range slices.Sorted(maps.Keys(calls.Cases)) {
		answer(db, "calls "+name, calls.Cases[name], app, slices.Clone(posts))
	}
	for _, name := range slices.Sorted(maps.Keys(fills.Cases)) {
		answer(db, "fills "+name, fills.Cases[name], app, slices.Clone(posts))
	}
	for _, name := range slices.Sorted(maps.Keys(inserts.Cases)) {
		answer(db, "inserts "+name, inserts.Cases[name], app, slices.Clone(posts))
	}
}

// answer prints one program's, and what the tables hold then.
func answer(db *sqlx.DB, name string, run func(*env.App, []env.Post) (any, error), app *env.App, posts []env.Post) {
	out, err := run(app, posts)
	text, jsonErr := json.Marshal(out)
	if jsonErr != nil {
		log.Fatal(jsonErr)
	}
	var sums []string
	for _, q := range []string{
		"SELECT CONCAT(COUNT(*), ' ', IFNULL(GROUP_CONCAT(post_id, body, kind ORDER BY id), '')) FROM notes",
		"SELECT CONCAT(COUNT(*), ' ', IFNULL(GROUP_CONCAT(user_id, '-', post_id, IFNULL(stars, 'none') ORDER BY user_id, post_id), '')) FROM likes",
		"SELECT CONCAT(COUNT(*), ' ', IFNULL(GROUP_CONCAT(id, seen ORDER BY id), '')) FROM posts",
	} {
		var sum string
		if err := db.Get(&sum, q); err != nil {
			log.Fatal(err)
		}
		sums = append(sums, sum)
	}
	fmt.Println(name, string(text), err, sums)
}

// fill draws users, posts (of which some have no user, and several one), likes and notes.
func fill(db *sqlx.DB, draw *rand.Rand, n int) []env.Post {
	for _, t := range []string{"users", "posts", "likes", "notes", "bodies"} {
		db.MustExec("TRUNCATE " + t)
	}
	db.MustExec("SET SESSION group_concat_max_len = 1000000")
	users := draw.IntN(12)
	for id := range users {
		var score any
		if draw.IntN(4) > 0 {
			score = draw.IntN(100)
		}
		db.MustExec("INSERT INTO users (id, name, nick, score, parent_id) VALUES (?, ?, ?, ?, ?)", id*3, fmt.Sprintf("User%d", id), fmt.Sprintf("n%d", draw.IntN(3)), score, draw.IntN(users))
	}
	var posts []env.Post
	for id := range n {
		p := env.Post{ID: int64(id + 1), UserID: int64(draw.IntN(users+1) * 3), Author: fmt.Sprintf([]string{"User%d", "USER%d", "user%d "}[draw.IntN(3)], draw.IntN(users+1)), Title: fmt.Sprintf("t'%d", id)}
		posts = append(posts, p)
		if id < 50 {
			db.MustExec("INSERT INTO posts (id, user_id, author, title) VALUES (?, ?, ?, ?)", p.ID, p.UserID, p.Author, p.Title)
		}
		if draw.IntN(2) == 0 && id < 50 {
			db.MustExec("INSERT INTO likes (user_id, post_id, stars) VALUES (?, ?, ?)", draw.IntN(20), p.ID, draw.IntN(6))
			db.MustExec("INSERT INTO notes (post_id, body, kind) VALUES (?, 'n', ?)", p.ID, draw.IntN(3))
		}
	}
	if draw.IntN(3) > 0 && users > 0 { // most often all users are there
		for i := range posts {
			posts[i].UserID = int64(draw.IntN(users) * 3)
			posts[i].Author = fmt.Sprintf("User%d", posts[i].UserID/3)
		}
		if draw.IntN(2) > 0 {
			db.MustExec("UPDATE users SET score = 7 WHERE score IS NULL")
		}
	}
	return posts
}
