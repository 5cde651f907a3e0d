package rowloops

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"kasoku/internal/patch/testdata/corpus/plain/env"
)

const oneName = "SELECT name FROM users WHERE id = ?"

// It ends before all rows are read.
//
// want P1 refused: end
func untilFound(db *sql.DB, want string) (found int64, err error) {
	rows, err := db.Query("SELECT id, user_id FROM posts")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, user int64
		if err := rows.Scan(&id, &user); err != nil {
			return 0, err
		}
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return 0, err
		}
		if name == want {
			found = id
			break
		}
	}
	return found, rows.Err()
}

// It returns what it looks for.
//
// want P1 refused: end
func firstOf(db *sql.DB, want string, seen map[int64]bool) (int64, error) {
	rows, err := db.Query("SELECT id, user_id FROM posts")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, user int64
		if err := rows.Scan(&id, &user); err != nil {
			return 0, err
		}
		seen[id] = true
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return 0, err
		}
		if name == want {
			return id, nil
		}
	}
	return 0, rows.Err()
}

// A sum of all rows of a table.
//
// want P2 refused: memory
func sumOfAll(db *sql.DB) (sum int64, err error) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		var n int64
		if err := db.QueryRow("SELECT COUNT(*) FROM likes WHERE post_id = ?", id).Scan(&n); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, rows.Err()
}

// The bytes are the driver's.
//
// want P1 refused: destination
func rawNames(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id, title FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var title sql.RawBytes
		if err := rows.Scan(&id, &title); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, string(title)+name)
	}
	return out, rows.Err()
}

// tags takes the driver's bytes as they are, which is good until the next row.
type tags []byte

// Scan of a row.
func (t *tags) Scan(src any) error {
	*t, _ = src.([]byte)
	return nil
}

// want P1 refused: destination
func tagged(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id, title FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var title tags
		if err := rows.Scan(&id, &title); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, string(title)+name)
	}
	return out, rows.Err()
}

// Both are sent in one transaction, which the driver refuses.
//
// want P1 refused: handle
func inOneTransaction(tx *sqlx.Tx) (out []string, err error) {
	rows, err := tx.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		var name string
		if err := tx.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// want P4 refused: handle
func marksInOneTransaction(tx *sqlx.Tx) error {
	rows, err := tx.Query("SELECT post_id FROM notes LIMIT 10")
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
	return rows.Err()
}

// want P1 refused: rows
func asksColumns(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		columns, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, columns[0]+name)
	}
	return out, rows.Err()
}

// What one row leaves in the struct is there for the next.
//
// want P1 refused: rows
func oneStruct(db *sql.DB) (out []env.Post, err error) {
	rows, err := db.Query("SELECT id, user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var p env.Post
	for rows.Next() {
		if err := rows.Scan(&p.ID, &p.UserID); err != nil {
			return nil, err
		}
		if err := db.QueryRow(oneName, p.UserID).Scan(&p.Name); err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// The last row's value is used after the loop.
//
// want P1 refused: rows
func lastID(db *sql.DB) (out []string, next int64, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var id int64
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return nil, 0, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, 0, err
		}
		out = append(out, name)
	}
	return out, id + 1, rows.Err()
}

// A named result is used by every return.
//
// want P1 refused: rows
func namedResult(db *sql.DB) (id int64, err error) {
	rows, err := db.Query("SELECT user_id FROM posts LIMIT 10")
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return id, err
		}
	}
	return
}

// All pointers are to one variable.
//
// want P1 refused: rows
func onePointer(db *sql.DB) (out []*int64, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var id int64
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, &id)
	}
	return out, rows.Err()
}

// Functions see the variable as it is when they are called.
//
// want P1 refused: rows
func later(db *sql.DB) (out []func() int64, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var id int64
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, func() int64 { return id })
	}
	return out, rows.Err()
}

// Rows are written to the table that is read.
//
// want P1 refused: writes
// want P4 refused: writes
func writesToOuter(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT id, user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, user int64
		if err := rows.Scan(&id, &user); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return nil, err
		}
		if _, err := db.Exec("UPDATE posts SET author = ? WHERE id > ?", name, id); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// want P1 refused: writes
func locked(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts FOR UPDATE")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var user int64
		if err := rows.Scan(&user); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// want P1 refused: calls
func sends(db *sql.DB, names chan<- string, seen map[int64]bool) error {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var user int64
		if err := rows.Scan(&user); err != nil {
			return err
		}
		seen[user] = true
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return err
		}
		names <- name
	}
	return rows.Err()
}

// want P1 refused: error
func tellsRow(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT id, user_id, score FROM posts JOIN users ON users.id = posts.user_id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, user, score int64
		if err := rows.Scan(&id, &user, &score); err != nil {
			return nil, fmt.Errorf("post %d: %w", id, err)
		}
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// A row that cannot be scanned is counted, which the rows before have to come before.
//
// want P1 refused: error
func countsBad(db *sql.DB) (out []string, bad int, err error) {
	rows, err := db.Query("SELECT id, score FROM users")
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, score int64
		if err := rows.Scan(&id, &score); err != nil {
			bad++
			continue
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return out, bad, err
		}
		out = append(out, fmt.Sprint(name, bad))
	}
	return out, bad, rows.Err()
}

// The error of the last Scan is what the function returns.
//
// want P1 refused: error
func lastError(db *sql.DB) ([]string, error) {
	var out []string
	rows, err := db.Query("SELECT id, score FROM users")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, score int64
		err = rows.Scan(&id, &score)
		if err != nil {
			continue
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, err
}

// The error of one result is asked for by the next.
//
// want P1 refused: error
func nextAsks(db *sql.DB, kinds []int) (out []string) {
	var err error
	for _, kind := range kinds {
		if err != nil {
			return out
		}
		rows, queryErr := db.Query("SELECT id, score FROM users WHERE id > ?", kind)
		if queryErr != nil {
			return out
		}
		for rows.Next() {
			var id, score int64
			if err = rows.Scan(&id, &score); err != nil {
				break
			}
			var name string
			if db.QueryRow(oneName, id).Scan(&name) == nil {
				out = append(out, name)
			}
			out = append(out, name)
		}
		rows.Close()
	}
	return out
}

// The error is nil for each row, and not what the one before left.
//
// want P1 refused: error
func asksBefore(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT id, parent_id FROM users")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent int64
		if err = rows.Scan(&id, &parent); err != nil {
			return nil, err
		}
		if id > 3 {
			var name string
			err = db.QueryRow(oneName, parent).Scan(&name)
			out = append(out, name)
		}
		out = append(out, fmt.Sprint(err))
	}
	return out, nil
}

// want P1 refused: rows
func tenAtMost(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for len(out) < 10 && rows.Next() {
		var user int64
		if err := rows.Scan(&user); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// Time passes between the rows.
//
// want P1 refused: rows
func stamped(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		at := time.Now()
		var user int64
		if err := rows.Scan(&user); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name+at.String())
	}
	return out, rows.Err()
}

// want P1 refused: rows
func ofCaller(db *sql.DB, rows *sql.Rows) (out []string, err error) {
	for rows.Next() {
		var user int64
		if err := rows.Scan(&user); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// An error behind the row that ended the function would be told, too.
//
// want P1 refused: rows
func toldLater(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, rows.Err(), rows.Close())
	}()
	for rows.Next() {
		var user int64
		if err := rows.Scan(&user); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

// want P1 refused: rows
func moreResults(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts; SELECT id FROM users")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var user int64
			if err := rows.Scan(&user); err != nil {
				return nil, err
			}
			var name string
			if err := db.QueryRow(oneName, user).Scan(&name); err != nil {
				return nil, err
			}
			out = append(out, name)
		}
	}
	return out, rows.Err()
}

// One map for all rows.
//
// want P1 refused: destination
func maps(db *sqlx.DB) (out []map[string]any, err error) {
	rows, err := db.Queryx("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	m := map[string]any{}
	for rows.Next() {
		if err := rows.MapScan(m); err != nil {
			return nil, err
		}
		var name string
		if err := db.Get(&name, oneName, m["user_id"]); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

// want P1 refused: key
func ownMaps(db *sqlx.DB) (out []map[string]any, err error) {
	rows, err := db.Queryx("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		m := map[string]any{}
		if err := rows.MapScan(m); err != nil {
			return nil, err
		}
		var name string
		if err := db.Get(&name, oneName, m["user_id"]); err != nil {
			return nil, err
		}
		m["name"] = name
		out = append(out, m)
	}
	return out, rows.Err()
}

// Who called holds the struct.
//
// want P1 refused: destination
func intoParameter(ctx context.Context, db *sql.DB, p *env.Post) (out []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&p.UserID); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRowContext(ctx, oneName, p.UserID).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// n of the Scan is not the one that is used.
//
// want P1 refused: rows
func mixesDeclared(db *sql.DB, n int) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, n int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(name, n))
	}
	return out, rows.Err()
}

// A prepared statement may be of a transaction.
//
// want P1 refused: rows
func ofPrepared(db *sql.DB, stmt *sql.Stmt) (out []json.RawMessage, err error) {
	rows, err := stmt.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, json.RawMessage(name))
	}
	return out, rows.Err()
}

func warn(err error) {
	if err != nil {
		fmt.Println(err)
	}
}

// Whether warn goes on is its own business.
//
// want P1 refused: rows
func warned(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT score FROM users")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		warn(rows.Scan(&id))
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// A goroutine keeps the result.
//
// want P1 refused: rows
func watched(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	go func() {
		time.Sleep(time.Second)
		_ = rows.Err()
	}()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// The second statement takes the first one's place while its rows are read.
//
// want P1 refused: rows
func replaced(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		if len(out) == 3 {
			rows, err = db.Query("SELECT user_id FROM posts ORDER BY id DESC")
			if err != nil {
				return nil, err
			}
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// The connection that holds the rows is the one that reads.
//
// want P1 refused: handle
func inOneConnection(ctx context.Context, conn *sql.Conn) (out []string, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		var name string
		if err := conn.QueryRowContext(ctx, oneName, id).Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

// A closed result gives no more rows.
//
// want P1 refused: rows
func closes(db *sql.DB) (out []string, err error) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		var name string
		if err := db.QueryRow(oneName, id).Scan(&name); err != nil {
			rows.Close()
		}
		out = append(out, name)
	}
	return out, rows.Err()
}
