package accelerator

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kasoku/internal/await"
	"kasoku/internal/host/hosttest"
)

// mariadb starts a server for the test and returns the DSN of its database.
func mariadb(t *testing.T) string {
	t.Helper()
	await.SkipShort(t)
	dir := t.TempDir()
	if err := hosttest.MariaDBData(filepath.Join(dir, "data"), "", "8M"); err != nil {
		t.Fatal(err)
	}
	sock := filepath.Join(dir, "s")
	argv := []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--socket=" + sock, "--skip-networking", "--pid-file=" + filepath.Join(dir, "pid"),
		"--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M", "--tmpdir=" + dir}
	if os.Getuid() == 0 {
		argv = append(argv, "--user=root")
	}
	server := exec.Command("mariadbd", argv...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	base := "root@unix(" + sock + ")/"
	db, err := sql.Open("mysql", base+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	await.NoError(t, "the server answers", db.Ping)
	if _, err := db.Exec(`CREATE DATABASE app; USE app;
		CREATE TABLE users (id INT UNSIGNED PRIMARY KEY, name VARCHAR(20) NULL, score FLOAT NOT NULL, price DECIMAL(8,2), made DATETIME(3), team INT NULL) ENGINE=InnoDB;
		CREATE TABLE teams (id BIGINT PRIMARY KEY, title TEXT) ENGINE=InnoDB;
		CREATE TABLE posts (id INT PRIMARY KEY, user_id INT NULL) ENGINE=InnoDB;
		CREATE TABLE texts (id VARCHAR(10) PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB;
		CREATE TABLE many (id INT, n INT, KEY (id)) ENGINE=InnoDB;
		CREATE TABLE plain (id INT PRIMARY KEY, n INT) ENGINE=MyISAM;
		INSERT INTO users SELECT seq, CONCAT('u', seq), seq / 3, seq * 1.5, '2026-01-02 03:04:05.678', seq MOD 5 FROM seq_1_to_40;
		UPDATE users SET name = NULL, team = NULL WHERE id = 7;
		INSERT INTO teams SELECT seq, CONCAT('t', seq) FROM seq_0_to_4;
		INSERT INTO posts SELECT seq, seq + 1 FROM seq_1_to_20; INSERT INTO posts VALUES (21, NULL), (22, 3), (23, 99), (24, 1999);
		CREATE TABLE years (id YEAR PRIMARY KEY, n INT) ENGINE=InnoDB;
		INSERT INTO years VALUES (1999, 5);
		INSERT INTO texts SELECT CONCAT('0', seq), 'x' FROM seq_1_to_9;
		INSERT INTO many SELECT seq MOD 10, seq FROM seq_1_to_40;
		INSERT INTO plain SELECT seq, seq FROM seq_1_to_30`); err != nil {
		t.Fatal(err)
	}
	return base + "app"
}

const (
	posts   = "SELECT id, user_id FROM posts ORDER BY id"
	user    = "SELECT * FROM users WHERE id = ?"
	team    = "SELECT title FROM teams WHERE id = ? LIMIT 1"
	ofText  = "SELECT name FROM texts WHERE id = ?"
	ofMany  = "SELECT n FROM many WHERE id = ?"
	ofYear  = "SELECT n FROM years WHERE id = ?" // 99 is 1999
	ofPlain = "SELECT n FROM plain WHERE id = ?"
)

func realRules(t *testing.T, staleness string) *Rules {
	one := func(id, after, column, statement string) string {
		return fmt.Sprintf(`{"id": %q, "kind": "prefetch", "after": %q, "column": %q, "statement": %q, "most": 8, "staleness": %q}`, id, after, column, statement, staleness)
	}
	return rulesOf(t, `{"format": 1, "rules": [`+strings.Join([]string{one("user", posts, "user_id", user), one("team", user, "team", team),
		one("text", posts, "user_id", ofText), one("many", posts, "user_id", ofMany), one("plain", posts, "user_id", ofPlain), one("year", posts, "user_id", ofYear)}, ",")+`]}`)
}

// querier is a transaction or a connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// all is what a query answers: the types of its columns, the values with their types, the
// error.
func all(q querier, query string, args ...any) (out []string) {
	rows, err := q.QueryContext(context.Background(), query, args...)
	if err != nil {
		return []string{err.Error()}
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return []string{err.Error()}
	}
	for _, c := range types {
		p, s, d := c.DecimalSize()
		n, k := c.Nullable()
		l, ok := c.Length()
		out = append(out, fmt.Sprint(c.Name(), c.DatabaseTypeName(), c.ScanType(), p, s, d, n, k, l, ok))
	}
	for rows.Next() {
		values, into := make([]any, len(types)), make([]any, len(types))
		for i := range values {
			into[i] = &values[i]
		}
		out = append(out, fmt.Sprint(rows.Scan(into...)))
		for _, v := range values {
			if b, ok := v.([]byte); ok {
				v = string(b) + " as bytes"
			}
			out = append(out, fmt.Sprintf("%T %v", v, v))
		}
	}
	return append(out, fmt.Sprint(rows.Err()))
}

// both are a plain connection pool and one through the rules, of one connection each.
func both(t *testing.T, dsn string, rules *Rules) (plain, through *sql.DB) {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	plain, through = sql.OpenDB(c), sql.OpenDB(Connector(c, rules))
	for _, db := range []*sql.DB{plain, through} {
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { _ = db.Close() })
	}
	return plain, through
}

// selects is how many SELECTs a session has sent.
func selects(t *testing.T, q querier) (n int) {
	t.Helper()
	rows, err := q.QueryContext(context.Background(), "SHOW SESSION STATUS LIKE 'Com_select'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var name string
	if !rows.Next() || rows.Scan(&name, &n) != nil {
		t.Fatal("no count")
	}
	return n
}

// loop reads the posts and for each its user, the user's team, and what no rule can help
// with; then keys outside of the set, of other types and NULL.
func loop(q querier) (out [][]string) {
	out = append(out, all(q, posts))
	for i := 2; i < 24; i++ {
		u := all(q, user, i)
		out = append(out, u, all(q, team, i%5), all(q, ofText, i), all(q, ofMany, i), all(q, ofPlain, i))
	}
	out = append(out, all(q, ofYear, 99), all(q, ofYear, 1999))
	return append(out, all(q, user, 99), all(q, user, 1000), all(q, user, nil), all(q, user, "3"), all(q, user, []byte("3")), all(q, user, 3.0), all(q, user, uint64(3)), all(q, user), all(q, user, 1, 2))
}

func begin(t *testing.T, db *sql.DB, level sql.IsolationLevel) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: level})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

func TestMariaDB(t *testing.T) {
	dsn := mariadb(t)
	for name, options := range map[string]string{"prepared": "", "interpolated": "?interpolateParams=true", "times": "?parseTime=true&interpolateParams=true"} {
		t.Run("equal "+name, func(t *testing.T) { equalAnswers(t, dsn+options) })
	}
	t.Run("levels", func(t *testing.T) { levelsHold(t, dsn) })
	t.Run("ends", func(t *testing.T) { memoryEnds(t, dsn) })
	t.Run("session", func(t *testing.T) { sessionStays(t, dsn) })
}

// Answers are equal to the byte and the type, with fewer statements.
func equalAnswers(t *testing.T, dsn string) {
	rules := realRules(t, "")
	plain, through := both(t, dsn, rules)
	a, b := begin(t, plain, sql.LevelDefault), begin(t, through, sql.LevelDefault)
	beforeA, beforeB := selects(t, a), selects(t, b)
	want, got := loop(a), loop(b)
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("answer %d\nwithout %q\nwith    %q", i, want[i], got[i])
		}
	}
	without, with := selects(t, a)-beforeA, selects(t, b)-beforeB
	t.Logf("%d SELECTs without, %d with", without, with)
	// 20 users (2 to 21) in 3 reads, 5 teams in 3, of 22 users and 22 teams.
	if with > without-30 {
		t.Errorf("%d SELECTs without, %d with", without, with)
	}
	for _, c := range rules.Counts() {
		if helped := c.ID == "user" || c.ID == "team"; helped != (c.Answered > 0) || c.Broken != (c.ID == "text" || c.ID == "many" || c.ID == "year") {
			t.Errorf("%+v", c)
		}
	}
}

// Without a word about staleness memory answers in transactions with snapshots alone.
func levelsHold(t *testing.T, dsn string) {
	for _, one := range []struct {
		level     sql.IsolationLevel
		staleness string
		want      bool
	}{
		{sql.LevelDefault, "", true}, {sql.LevelRepeatableRead, "", true}, {sql.LevelReadCommitted, "", false}, {sql.LevelReadUncommitted, "", false},
		{sql.LevelSerializable, "", false}, {sql.LevelReadCommitted, "allowed", true}, {sql.LevelSerializable, "allowed", false},
	} {
		rules := realRules(t, one.staleness)
		plain, through := both(t, dsn, rules)
		tx := begin(t, through, one.level)
		all(tx, posts)
		all(tx, user, 2)
		name := fmt.Sprintf("%v %q", one.level, one.staleness)
		if got := rules.Counts()[0].Answered > 0; got != one.want {
			t.Errorf("%s: answered from memory: %v", name, got)
		}
		// A commit of another session between two reads.
		if one.level != sql.LevelSerializable && one.staleness == "" {
			same := begin(t, through2(t, dsn, rules), one.level)
			all(same, posts)
			before := all(same, user, 2)
			if _, err := plain.Exec("UPDATE users SET name = CONCAT(name, '+') WHERE id IN (2, 3)"); err != nil {
				t.Fatal(err)
			}
			seen := !reflect.DeepEqual(all(same, user, 2), before)
			if snapshot := one.want; seen == snapshot {
				t.Errorf("%s: another's commit is seen: %v", name, seen)
			}
		}
	}
	// Outside of transactions: a connection that is held, where staleness is allowed.
	for staleness, want := range map[string]bool{"": false, "allowed": true} {
		rules := realRules(t, staleness)
		_, through := both(t, dsn, rules)
		c, err := through.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		all(c, posts)
		all(c, user, 2)
		_ = c.Close()
		if got := rules.Counts()[0].Answered > 0; got != want {
			t.Errorf("a connection, staleness %q: answered from memory: %v", staleness, got)
		}
		n := rules.Counts()[0].Answered
		if c, err = through.Conn(context.Background()); err != nil {
			t.Fatal(err)
		}
		all(c, user, 2)
		_ = c.Close()
		if rules.Counts()[0].Answered != n {
			t.Error("memory outlived the connection's lease")
		}
		// The state of a transaction that has ended is none of what follows.
		if c, err = through.Conn(context.Background()); err != nil {
			t.Fatal(err)
		}
		tx, err := c.BeginTx(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		all(tx, posts)
		all(tx, user, 2)
		n = rules.Counts()[0].Answered
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		all(c, user, 2)
		_ = c.Close()
		if n == 0 || rules.Counts()[0].Answered != n {
			t.Error("memory outlived the transaction")
		}
	}
}

func through2(t *testing.T, dsn string, rules *Rules) *sql.DB {
	t.Helper()
	_, db := both(t, dsn, rules)
	return db
}

// What ends memory, by the statement after which the same read goes to the server; ok is
// false for what ends it for good.
func memoryEnds(t *testing.T, dsn string) {
	for statement, again := range map[string]bool{
		"UPDATE users SET name = 'new' WHERE id = 2":   true,
		"INSERT INTO teams VALUES (77, 'x')":           true,
		"SELECT id FROM posts WHERE id = 1 FOR UPDATE": true,
		"SAVEPOINT a":                           true,
		"SET @a = 1":                            false,
		"CREATE TEMPORARY TABLE other (id INT)": false,
		"SELECT nothing":                        false,
		"INSERT INTO teams VALUES (1, 'a duplicate')": false,
	} {
		rules := realRules(t, "")
		_, through := both(t, dsn, rules)
		tx := begin(t, through, sql.LevelDefault)
		all(tx, posts)
		all(tx, user, 2)
		all(tx, user, 3)
		if n := rules.Counts()[0].Answered; n != 2 {
			t.Fatalf("%s: %d answered before", statement, n)
		}
		all(tx, statement)
		got := all(tx, user, 2)
		if n := rules.Counts()[0].Answered; n != 2 {
			t.Errorf("%s: answered from memory afterwards", statement)
		}
		if strings.HasPrefix(statement, "UPDATE users") && !strings.Contains(strings.Join(got, " "), "new") {
			t.Errorf("the own write is not seen: %q", got)
		}
		all(tx, posts)
		all(tx, user, 2)
		if n := rules.Counts()[0].Answered; n > 2 != again {
			t.Errorf("%s: answered from memory after it was filled again: %v", statement, n > 2)
		}
		_ = tx.Rollback()
	}
}

// FOUND_ROWS and warnings are those of the read that memory answered.
func sessionStays(t *testing.T, dsn string) {
	for _, options := range []string{"", "?interpolateParams=true"} {
		plain, through := both(t, dsn+options, realRules(t, ""))
		a, b := begin(t, plain, sql.LevelDefault), begin(t, through, sql.LevelDefault)
		for _, q := range []querier{a, b} {
			all(q, posts)
			all(q, user, 5)
		}
		for _, key := range []int{6, 23} {
			for _, question := range []string{"SELECT FOUND_ROWS()", "SHOW WARNINGS", "SELECT ROW_COUNT()"} {
				all(a, user, key)
				all(b, user, key)
				if want, got := all(a, question), all(b, question); !reflect.DeepEqual(got, want) {
					t.Errorf("%s after key %d: %q, without %q", question, key, got, want)
				}
			}
		}
	}
}
