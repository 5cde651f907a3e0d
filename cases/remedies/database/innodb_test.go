package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"kasoku/cases/remedies/bed"
	"kasoku/internal/remedy"
)

// TestRowLocks: a page that searches a table for long, one that counts up in it and one that
// shows a row of it. In MyISAM the count waits for the search, and the row for the count; in
// InnoDB neither does, and undo gives the table back as it was.
func TestRowLocks(t *testing.T) {
	s := start(t, "innodb_flush_log_at_trx_commit = 2\n",
		[]string{"CREATE TABLE posts (id INT PRIMARY KEY AUTO_INCREMENT, views INT NOT NULL DEFAULT 0, body VARCHAR(200), KEY views (views)) ENGINE=MyISAM CHECKSUM=1",
			"INSERT INTO posts (body) SELECT REPEAT(MD5(seq), 5) FROM seq_1_to_20000"},
		map[string]route{
			"/search": {weight: 1, sql: func(n int64) []string {
				return []string{"SELECT COUNT(*) FROM posts WHERE id <= 2 AND SLEEP(0.2) = 0"}
			}},
			"/show": {weight: 4, sql: func(n int64) []string {
				id := n%2000 + 1
				return []string{fmt.Sprintf("UPDATE posts SET views = views + 1 WHERE id = %d", id), fmt.Sprintf("SELECT body FROM posts WHERE id = %d", id)}
			}}})
	in := s.Look(t, bed.Relaxed())
	found := bed.Want(t, remedy.PlanAll(in), "mariadb.innodb")
	if !strings.Contains(found.Why, "of the statement time is waiting for them") || len(found.Changes) != 1 {
		t.Errorf("%d changes: %s", len(found.Changes), found.Why)
	}
	visitor := func() *sql.DB { return s.open(t, "app", "app", "tcp", fmt.Sprintf("127.0.0.1:%d", s.port), "app") }
	searcher, writer := visitor(), visitor()
	definition := func() (text string) {
		var name string
		if err := s.root.QueryRow("SHOW CREATE TABLE app.posts").Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	rows := func() (sum string) {
		if err := s.root.QueryRow("SELECT CONCAT(COUNT(*), ' ', SUM(CRC32(CONCAT_WS(',', id, body)))) FROM app.posts").Scan(&sum); err != nil {
			t.Fatal(err)
		}
		return sum
	}
	// waits reports whether a row can be counted up while the table is searched.
	waits := func() bool {
		searching := make(chan error, 1)
		go func() {
			_, err := searcher.Exec("DO (SELECT COUNT(*) FROM posts WHERE id <= 4 AND SLEEP(0.5) = 0)")
			searching <- err
		}()
		for n := 0; n == 0; { // until the server says that it searches
			if err := s.root.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'").Scan(&n); err != nil {
				t.Fatal(err)
			}
		}
		asked, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		_, err := writer.ExecContext(asked, "UPDATE posts SET views = views + 1 WHERE id = 15000")
		if searched := <-searching; searched != nil {
			t.Fatal(searched)
		}
		return err != nil
	}
	def, sum, before := definition(), rows(), s.Hash(t)
	if !waits() {
		t.Error("as found, nothing waits for a search")
	}
	tx := s.Apply(t, found)
	if now := definition(); !strings.Contains(now, "ENGINE=InnoDB") || rows() != sum {
		t.Errorf("it is %s", now)
	}
	if waits() {
		t.Error("a row still waits for a search")
	}
	s.Answers(t, "rows are locked")
	s.Revert(t, tx)
	if definition() != def || rows() != sum || s.Hash(t) != before {
		t.Errorf("it is not as before:\n%s\n%s", def, definition())
	}
}
