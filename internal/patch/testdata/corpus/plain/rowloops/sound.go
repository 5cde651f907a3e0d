// Package rowloops has loops over the rows of a result with statements in them.
package rowloops

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

type shop struct{ db *sql.DB }

// want P2
func (s *shop) withCounts() ([]env.Post, error) {
	rows, err := s.db.Query("SELECT id, user_id, title FROM posts ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	var posts []env.Post
	for rows.Next() {
		var p env.Post
		if err := rows.Scan(&p.ID, &p.UserID, &p.Title); err != nil {
			return nil, err
		}
		err := s.db.QueryRow("SELECT COUNT(*) FROM notes WHERE post_id = ?", p.ID).Scan(&p.Count)
		if err != nil {
			return nil, err
		}
		posts = append(posts, p)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return posts, nil
}

// want P1
func authors(ctx context.Context, db *sql.DB) (out []string, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, user_id, title
		FROM posts
		ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("posts: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		// What is read of a post.
		var (
			id, userID int64
			title      string // of the post
		)
		// The order is that of the columns.
		if err := rows.Scan(
			&id,
			&userID,
			&title,
		); err != nil {
			return out, fmt.Errorf("a post: %w", err)
		}

		// Its author may be gone.
		var name string
		err := db.QueryRowContext(ctx, "SELECT name FROM users WHERE id = ?", userID).Scan(&name)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			name = "?"
		case err != nil:
			return nil, err
		}
		out = append(out, title+" by "+name)
	}
	return out, rows.Err()
}

// The variables are made outside.
//
// want P1
func outside(db *sql.DB) map[int64]string {
	out := map[int64]string{}
	var postID int64
	var userID int64
	rows, err := db.Query("SELECT id, user_id FROM posts ORDER BY id")
	if err != nil {
		log.Println(err)
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		err := rows.Scan(&postID, &userID) // of this post
		// That is all.
		if err != nil {
			log.Println(err)
			return nil
		}
		var nick string
		if err = db.QueryRow("SELECT nick FROM users WHERE id = ?", userID).Scan(&nick); err != nil {
			continue
		}
		out[postID] = nick
	}
	return out
}

// What cannot be scanned ends the loop, and the error is told before.
//
// want P1
func untilBad(db *sql.DB) ([]string, error) {
	rows, err := db.Query("SELECT parent_id, score FROM users ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		u := env.User{Nick: "-"}
		var score int
		err = rows.Scan(&u.ParentID, &score)
		if err != nil {
			log.Printf("scan: %v", err)
			break
		}
		u.Nick = nickOf(db, u.ParentID)
		out = append(out, fmt.Sprint(u.Nick, score))
	}
	err = rows.Err()
	if err != nil {
		log.Println(err)
	}
	return out, err
}

func nickOf(db *sql.DB, id int64) string {
	var nick string
	err := db.QueryRow("SELECT nick FROM users WHERE id = ?", id).Scan(&nick)
	switch {
	case err == sql.ErrNoRows:
		return ""
	case err != nil:
		log.Println(err)
		return "?"
	}
	return nick
}

// One value, and one error for all.
//
// want P1
func onlyIDs(db *sql.DB) ([]string, error) {
	var names []string
	rows, err := db.Query("SELECT user_id FROM posts WHERE id < ? ORDER BY id", 30)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id int64
		if err = rows.Scan(&id); err != nil {
			rows.Close()
			return nil, err
		}
		var name string
		err = db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&name)
		if err != nil && err != sql.ErrNoRows {
			rows.Close()
			return nil, err
		}
		names = append(names, name)
	}
	rows.Close()
	return names, err
}

// want P1
func pointers(db *sql.DB) ([]*env.User, error) {
	rows, err := db.Query("SELECT id, name, parent_id FROM users ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := make([]*env.User, 0)
	for rows.Next() {
		u := &env.User{}
		if err := rows.Scan(&u.ID, &u.Name, &u.ParentID); err != nil {
			return nil, err
		}
		if err := db.QueryRow("SELECT nick FROM users WHERE id = ?", u.ParentID).Scan(&u.Nick); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		list = append(list, u)
	}
	return list, rows.Err()
}

// Pointers to variables are kept.
//
// want P1
func addresses(db *sql.DB) (out []*env.Post, ids []*int64, err error) {
	rows, err := db.Query("SELECT id, user_id FROM posts ORDER BY id DESC")
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p env.Post
		if err := rows.Scan(&p.ID, &p.UserID); err != nil {
			return nil, nil, err
		}
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", p.UserID).Scan(&p.Name); err == sql.ErrNoRows {
			p.Name = "nobody"
		} else if err != nil {
			return nil, nil, err
		}
		out = append(out, &p)
		ids = append(ids, &p.UserID)
	}
	return out, ids, rows.Err()
}

// A score that is NULL ends it, with what was found before.
//
// want P1
func strictScores(db *sql.DB) ([]string, error) {
	var out []string
	rows, err := db.Query("SELECT id, score, parent_id FROM users ORDER BY name")
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent int64
		var score int
		if err := rows.Scan(&id, &score, &parent); err != nil {
			return out, fmt.Errorf("after %d: %w", len(out), err)
		}
		var name string
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", parent).Scan(&name); err != nil {
			return out, fmt.Errorf("parent %d of %d: %w", parent, id, err)
		}
		out = append(out, fmt.Sprint(name, score))
	}
	return out, rows.Err()
}

// A score that is NULL is left out.
//
// want P1
func skipsNull(db *sql.DB) ([]string, error) {
	var out []string
	rows, err := db.Query("SELECT score, parent_id FROM users ORDER BY name")
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var score int
		var parent int64
		if err := rows.Scan(&score, &parent); err != nil {
			log.Printf("a user: %v", err)
			continue
		}
		var name string
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", parent).Scan(&name); err != nil {
			name = err.Error()
		}
		out = append(out, fmt.Sprint(name, score))
	}
	return out, rows.Err()
}

// A score that is NULL is taken for the one before, as nobody looks at the error.
//
// want P1
func sloppy(db *sql.DB) (out []string) {
	rows, err := db.Query("SELECT parent_id, score, nick FROM users ORDER BY name")
	if err != nil {
		return nil
	}
	defer rows.Close()
	var (
		parent int64
		score  int
		nick   = "none"
	)
	for rows.Next() {
		rows.Scan(&parent, &score, &nick)
		var name string
		db.QueryRow("SELECT name FROM users WHERE id = ?", parent).Scan(&name)
		out = append(out, fmt.Sprint(name, score, nick))
	}
	return out
}

// The statement fails in the middle of its rows.
//
// want P1
func failsHalfway(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT id, user_id, (SELECT body FROM notes WHERE notes.post_id = posts.user_id) FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, user int64
		var body sql.NullString
		if err := rows.Scan(&id, &user, &body); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", user).Scan(&name); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		out = append(out, fmt.Sprint(id, name, body.String))
	}
	if rows.Err() != nil {
		return out, errors.New("half of it")
	}
	return out, nil
}

// Nothing is kept, but there is a LIMIT.
//
// want P2
func sumOfPage(db *sql.DB, page, size int) (sum int64, err error) {
	rows, err := db.Query("SELECT id FROM posts ORDER BY id LIMIT ? OFFSET ?", size, page*size)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		var stars sql.NullInt64
		if err := db.QueryRow("SELECT SUM(stars) FROM likes WHERE post_id = ?", id).Scan(&stars); err != nil {
			return 0, err
		}
		sum += stars.Int64
	}
	return sum, rows.Err()
}

// It ends early, of twenty rows at most.
//
// want P1
func firstOfTwenty(db *sql.DB, want int64) (string, error) {
	rows, err := db.Query("SELECT id, user_id FROM posts ORDER BY id LIMIT 20")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var id, user int64
		if err := rows.Scan(&id, &user); err != nil {
			return "", err
		}
		var name string
		var score sql.NullInt64
		if err := db.QueryRow("SELECT name, score FROM users WHERE id = ?", user).Scan(&name, &score); err != nil {
			continue
		}
		if score.Int64 > want {
			return fmt.Sprint(name, id), nil
		}
	}
	return "", rows.Err()
}

// One variable for the rows of two statements.
//
// want P1
// want P2
func twoResults(db *sql.DB) (names []string, counts []int, err error) {
	rows, err := db.Query("SELECT parent_id FROM users ORDER BY id")
	if err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, nil, err
		}
		var name string
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&name); err != nil && err != sql.ErrNoRows {
			return nil, nil, err
		}
		names = append(names, name)
	}
	rows.Close()
	rows, err = db.Query("SELECT id FROM posts ORDER BY id")
	if err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, nil, err
		}
		n := 0
		if err := db.QueryRow("SELECT COUNT(*) FROM notes WHERE post_id = ?", id).Scan(&n); err != nil {
			return nil, nil, err
		}
		counts = append(counts, n)
	}
	rows.Close()
	return names, counts, nil
}

// The result is made in an if.
//
// want P2
func postsOfUsers(db *sql.DB) (counts []int) {
	if rows, err := db.Query("SELECT id FROM users ORDER BY id"); err == nil {
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return nil
			}
			n := 0
			if err := db.QueryRow("SELECT COUNT(*) FROM posts WHERE user_id = ?", id).Scan(&n); err != nil {
				return nil
			}
			counts = append(counts, n)
		}
	}
	return counts
}

// The text of the rows' statement is put together.
//
// want P1
func search(db *sql.DB, byUser bool) ([]string, error) {
	query := "SELECT id, user_id FROM posts WHERE id > ?"
	if byUser {
		query += " AND user_id > 3"
	}
	query += fmt.Sprintf(" ORDER BY %s", "id")
	rows, err := db.Query(query, 2)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	res := make([]string, 0, 20)
	for rows.Next() {
		var id, user int64
		if err := rows.Scan(&id, &user); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow("SELECT name FROM users WHERE id = ?", user).Scan(&name); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		res = append(res, fmt.Sprint(id, name))
	}
	return res, rows.Err()
}

// In a function of its own, answered by HTTP.
//
// want P1
func handler(db *sqlx.DB) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		rows, err := db.QueryContext(r.Context(), "SELECT id, user_id FROM posts ORDER BY id")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer rows.Close()
		names := map[int64]string{}
		for rows.Next() {
			var id, user int64
			if err := rows.Scan(&id, &user); err != nil {
				http.Error(w, "scan: "+err.Error(), http.StatusInternalServerError)
				return
			}
			var name string
			if err := db.GetContext(r.Context(), &name, "SELECT name FROM users WHERE id = ?", user); err != nil {
				names[id] = "?"
				continue
			}
			names[id] = name
		}
		fmt.Fprintln(w, names)
	}
}

// The rows come from the pool, what is written goes through a transaction.
//
// want P4
func markAll(db *sqlx.DB) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	rows, err := db.Query("SELECT post_id FROM notes ORDER BY id LIMIT 1000")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE posts SET seen = 1 WHERE id = ?", id); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return tx.Commit()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

type group struct {
	names []string
	n     int
}

// Errors panic, and what is kept is a part of something.
//
// want P1
func grouped(db *sql.DB) (out map[int64]*group, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("after %d: %v", len(out), r)
		}
	}()
	out = map[int64]*group{}
	rows, err := db.Query("SELECT score, id, parent_id FROM users ORDER BY name")
	must(err)
	defer rows.Close()
	for rows.Next() {
		var score, id, parent int64
		must(rows.Scan(&score, &id, &parent))
		if out[parent] == nil {
			out[parent] = &group{}
		}
		out[parent].n += int(score)
		row := db.QueryRow("SELECT name, nick FROM users WHERE id = ?", parent)
		var name, nick string
		must(row.Scan(&name, &nick))
		out[parent].names = append(out[parent].names, fmt.Sprint(id, name, nick))
	}
	return out, nil
}
