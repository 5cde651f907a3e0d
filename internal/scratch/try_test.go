package scratch

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"kasoku/internal/await"
	"kasoku/internal/digest"
	"kasoku/internal/evidence"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/remedy/index"
)

// server starts a MariaDB with a binary log and the shop's tables, until the end of the test.
func server(t *testing.T) (db *sql.DB, socket string) {
	t.Helper()
	await.SkipShort(t)
	dir, err := os.MkdirTemp("", "ktry")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := hosttest.MariaDBData(dir+"/data", "", "8M"); err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "s")
	args := []string{"--no-defaults", "--datadir=" + dir + "/data", "--tmpdir=" + dir, "--socket=" + socket, "--skip-networking", "--pid-file=" + dir + "/pid", "--log-bin=" + dir + "/bin", "--server-id=7",
		"--innodb-log-file-size=8M", "--innodb-buffer-pool-size=48M", "--innodb-flush-log-at-trx-commit=0", "--sync-frm=0", "--innodb-flush-method=nosync", "--log-error=" + dir + "/log"}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	cmd := exec.Command("mariadbd", args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill(); <-exited })
	if db, err = sql.Open("mysql", "root@unix("+socket+")/"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	said := func() string { b, _ := os.ReadFile(dir + "/log"); return string(b) }
	await.ForOr(t, "MariaDB", said, func() bool { return db.Ping() == nil })
	for _, q := range []string{
		"CREATE DATABASE shop",
		"CREATE TABLE shop.visits (id INT AUTO_INCREMENT PRIMARY KEY, page INT NOT NULL, kind INT NOT NULL, who VARCHAR(40), upper_who VARCHAR(40) AS (UPPER(who)) VIRTUAL) ENGINE=InnoDB",
		"INSERT INTO shop.visits (page, kind, who) SELECT seq % 900, seq % 3, CONCAT('w', seq) FROM shop.seq_1_to_20000",
		"CREATE TABLE shop.pages (id INT PRIMARY KEY, title VARCHAR(40), KEY t (title)) ENGINE=InnoDB",
		"INSERT INTO shop.pages SELECT seq, CONCAT('t', seq) FROM shop.seq_1_to_900",
		"CREATE TABLE shop.far (id INT PRIMARY KEY) ENGINE=MEMORY",
		"ANALYZE TABLE shop.visits, shop.pages",
	} {
		do(t, db, q)
	}
	return db, socket
}

func do(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func text(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// left is what must be as it was: the table's definition and rows, the schemas, and the
// place in the binary log.
func left(t *testing.T, db *sql.DB) string {
	t.Helper()
	var name, create, file, position string
	if err := db.QueryRow("SHOW CREATE TABLE shop.visits").Scan(&name, &create); err != nil {
		t.Fatal(err)
	}
	var a, b sql.NullString
	if err := db.QueryRow("SHOW MASTER STATUS").Scan(&file, &position, &a, &b); err != nil {
		t.Fatal(err)
	}
	return create + text(t, db, "SELECT CONCAT(COUNT(*), ' ', SUM(CRC32(CONCAT(id, page, who)))) FROM shop.visits") +
		text(t, db, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY 1") + file + position
}

func tablesOf(t *testing.T, db *sql.DB) []evidence.Table {
	t.Helper()
	read, err := evidence.ReadDatabase(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.EstimateDistinct(t.Context(), db, read); err != nil {
		t.Fatal(err)
	}
	return read.Tables
}

func slow(sql string, examined int64) evidence.Statement {
	return evidence.Statement{Schema: "shop", Example: sql, Fingerprint: sql, Count: 100, Total: 10 * time.Second, RowsExamined: 100 * examined, RowsSent: 2000, FullScans: 100}
}

func quiet(string) {}

// patient are limits that a busy machine keeps.
var patient = Limits{Time: 10 * time.Minute, Each: 5 * time.Minute}

// Indexes are advised, made on copies, and judged by what the server then reads; the
// tables, the schemas and the binary log are as before.
func TestTry(t *testing.T) {
	db, socket := server(t)
	before, tables := left(t, db), tablesOf(t, db)
	insert := evidence.Statement{Schema: "shop", Fingerprint: "INSERT INTO visits (page, kind, who) VALUES (?)", Example: "INSERT INTO visits (page, kind, who) VALUES (1, 2, 'x')", Count: 40, Total: time.Second, RowsAffected: 40}
	statements := []evidence.Statement{slow("SELECT who FROM visits WHERE page = 77", 20000), slow("SELECT v.who FROM shop.visits v JOIN shop.pages p ON p.id = v.page WHERE p.title = 't5'", 20000),
		slow("DELETE FROM visits WHERE page = 3", 20000), slow("SELECT who, SLEEP(0) FROM visits WHERE page = 78", 20000), slow("SELECT visits.who FROM visits, far WHERE page = far.id", 20000), insert}
	advice, notes := index.Advise(statements, tables, index.Options{})
	if len(advice) != 1 || advice[0].Columns[0] != "page" || len(advice[0].Statements) < 4 {
		t.Fatalf("advice %+v, notes %v", advice, notes)
	}
	// A session of the pool has a limit that somebody set before.
	used, err := sql.Open("mysql", "root@unix("+socket+")/?max_statement_time=0.001")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	told := ""
	r, err := Try(t.Context(), used, true, tables, statements, advice, patient, func(s string) { told += s })
	if err != nil {
		t.Fatal(err)
	}
	if after := left(t, db); after != before {
		t.Errorf("something is left:\n%s\nbefore:\n%s", after, before)
	}
	if !strings.Contains(told, "shop.visits") || !strings.Contains(told, prefix) || !strings.Contains(told, "MiB") {
		t.Errorf("told %q", told)
	}
	x := r.Indexes[0]
	if !x.Tried || !x.Used || !x.Helps || x.Note != "" || x.Bytes < 100_000 || x.Bytes > 4_000_000 || x.Entries != 90 || x.Writing <= 0 {
		t.Errorf("index %+v", x)
	}
	for _, at := range []int{0, 1} {
		s := r.Statements[at]
		if s == nil || s.ReadBefore < 20000 || s.ReadAfter < 10 || s.ReadAfter > 100 || s.Why != "" || !s.Reads(x.Name) {
			t.Errorf("statement %d: %+v", at, s)
		}
	}
	if p := r.Statements[0]; p.Before[0].Access != "ALL" || p.After[0].Access != "ref" || p.After[0].KeyLen != "4" {
		t.Errorf("plans %+v", p)
	}
	for at, why := range map[int]string{2: "writes", 3: "SLEEP"} {
		if s := r.Statements[at]; s == nil || s.ReadAfter != -1 || !strings.Contains(s.Why, why) || !s.Reads(x.Name) || !s.Less() {
			t.Errorf("statement %d: %+v", at, s)
		}
	}
	if s := r.Statements[4]; s != nil && (s.After != nil || !strings.Contains(s.Why, "MEMORY")) {
		t.Errorf("a table of which no copy is made: %+v", s)
	}
}

// An index that the server does not read, and one by which it reads no row less, fail.
func TestIndexesThatDoNotHelp(t *testing.T) {
	db, _ := server(t)
	tables := tablesOf(t, db)
	statements := []evidence.Statement{slow("SELECT who FROM visits WHERE page + 0 = 77", 20000), slow("SELECT COUNT(kind) FROM visits", 20000)}
	advice := []index.Advice{{Schema: "shop", Table: "visits", Name: "vain", Columns: []string{"page"}, Statements: []int{0}},
		{Schema: "shop", Table: "visits", Name: "no_less", Columns: []string{"kind"}, Statements: []int{1}},
		{Schema: "shop", Table: "visits", Name: "wrong", Columns: []string{"nothere"}, Statements: []int{1}}}
	r, err := Try(t.Context(), db, true, tables, statements, advice, patient, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"does not read it", "no row less", "does not make it"} {
		x := r.Indexes[i]
		if x.Helps || !strings.Contains(x.Note, want) || x.Fails() != (i < 2) {
			t.Errorf("%+v, want %q", x, want)
		}
	}
}

// Of a larger table rows from all over it are copied.
func TestSample(t *testing.T) {
	db, _ := server(t)
	tables := tablesOf(t, db)
	statements := []evidence.Statement{slow("SELECT who FROM visits WHERE page = 77", 20000), slow("SELECT COUNT(*) FROM visits WHERE id > 18000", 20000)}
	advice := []index.Advice{{Schema: "shop", Table: "visits", Name: "by_page", Columns: []string{"page"}, Statements: []int{0, 1}}}
	r, err := Try(t.Context(), db, true, tables, statements, advice, Limits{Rows: 3200, Time: patient.Time, Each: patient.Each}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "64 places along id") }) {
		t.Errorf("notes %q", r.Notes)
	}
	// 50 rows of each of 64 stripes: 7 of them begin above 18,000.
	if s := r.Statements[1]; s.ReadBefore < 250 || s.ReadBefore > 450 {
		t.Errorf("the end of the table: %+v", s)
	}
	if s := r.Statements[0]; s.ReadBefore < 3000 || s.ReadBefore > 3400 || s.ReadAfter > 20 {
		t.Errorf("%+v", s)
	}
	// Tables that are both copied in part have rows that do not belong together.
	statements = []evidence.Statement{slow("SELECT v.who FROM visits v JOIN pages p ON p.id = v.page WHERE p.title = 't5'", 20000)}
	advice[0].Statements = []int{0}
	if r, err = Try(t.Context(), db, true, tables, statements, advice, Limits{Rows: 500, Time: patient.Time, Each: patient.Each}, quiet); err != nil {
		t.Fatal(err)
	}
	if s := r.Statements[0]; s.ReadAfter != -1 || !strings.Contains(s.Why, "in part") || len(s.After) == 0 {
		t.Errorf("%+v", s)
	}
}

// Whatever ends a try, nothing is left of it.
func TestNothingIsLeft(t *testing.T) {
	db, _ := server(t)
	tables := tablesOf(t, db)
	statements := []evidence.Statement{slow("SELECT who FROM visits WHERE page = 77", 20000)}
	advice := []index.Advice{{Schema: "shop", Table: "visits", Name: "by_page", Columns: []string{"page"}, Statements: []int{0}}}
	before := left(t, db)
	interrupted, cancel := context.WithCancel(t.Context())
	if _, err := Try(interrupted, db, true, tables, statements, advice, patient, func(string) {
		if !strings.Contains(text(t, db, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA"), prefix) {
			t.Error("there is no schema to be dropped")
		}
		cancel()
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if after := left(t, db); after != before {
		t.Errorf("interrupted:\n%s", after)
	}
	if _, err := Try(t.Context(), db, true, tables, statements, advice, Limits{Bytes: 1}, quiet); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("no room: %v", err)
	}
	do(t, db, "SET GLOBAL read_only = ON")
	if _, err := Try(t.Context(), db, true, tables, statements, advice, patient, quiet); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a replica: %v", err)
	}
	do(t, db, "SET GLOBAL read_only = OFF")
	if after := left(t, db); after != before {
		t.Errorf("refused:\n%s", after)
	}
}

// What a killed run left is dropped by the next; what is at work, or somebody else's, stays.
func TestSweep(t *testing.T) {
	db, _ := server(t)
	tables := tablesOf(t, db)
	for _, q := range []string{"CREATE DATABASE kasoku_try_0123456789ab", "CREATE TABLE kasoku_try_0123456789ab." + marker + " (a INT)",
		"CREATE DATABASE kasoku_try_ba9876543210", "CREATE TABLE kasoku_try_ba9876543210." + marker + " (a INT)",
		"CREATE DATABASE kasoku_try_mine", "CREATE DATABASE kasoku_try_aaaaaaaaaaaa", "CREATE TABLE kasoku_try_aaaaaaaaaaaa.theirs (a INT)"} {
		do(t, db, q)
	}
	holder, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if _, err := holder.ExecContext(t.Context(), "DO GET_LOCK('kasoku_try_ba9876543210', 0)"); err != nil {
		t.Fatal(err)
	}
	r, err := Try(t.Context(), db, true, tables, []evidence.Statement{slow("SELECT who FROM visits WHERE page = 77", 20000)},
		[]index.Advice{{Schema: "shop", Table: "visits", Name: "by_page", Columns: []string{"page"}, Statements: []int{0}}}, patient, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "kasoku_try_0123456789ab was left") }) {
		t.Errorf("notes %q", r.Notes)
	}
	want := "kasoku_try_aaaaaaaaaaaa kasoku_try_ba9876543210 kasoku_try_mine"
	if got := text(t, db, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'kasoku%' ORDER BY 1"); got != want {
		t.Errorf("left %q, want %q", got, want)
	}
}

// An account without the rights is told which it needs, and nothing is made.
func TestRights(t *testing.T) {
	db, socket := server(t)
	tables := tablesOf(t, db)
	do(t, db, "CREATE USER low@localhost IDENTIFIED BY 'pw-of-low'")
	do(t, db, "GRANT SELECT ON shop.* TO low@localhost")
	low, err := sql.Open("mysql", "low:pw-of-low@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer low.Close()
	low.SetMaxIdleConns(0) // rights count for connections that are made after them
	statements := []evidence.Statement{slow("SELECT who FROM visits WHERE page = 77", 20000)}
	advice := []index.Advice{{Schema: "shop", Table: "visits", Name: "by_page", Columns: []string{"page"}, Statements: []int{0}}}
	before := left(t, db)
	if _, err := Try(t.Context(), low, true, tables, statements, advice, patient, quiet); err == nil || !strings.Contains(err.Error(), "binary log") {
		t.Errorf("replicas would get the copies: %v", err)
	}
	do(t, db, "GRANT BINLOG ADMIN ON *.* TO low@localhost")
	_, err = Try(t.Context(), low, true, tables, statements, advice, patient, quiet)
	var rights *RightsError
	if !errors.As(err, &rights) || !strings.Contains(err.Error(), "GRANT") {
		t.Fatalf("no right to make a schema: %v", err)
	}
	// The rights that are named are enough.
	_, grant, _ := strings.Cut(err.Error(), "GRANT ")
	do(t, db, strings.Replace("GRANT "+grant, "this account", "low@localhost", 1))
	if r, err := Try(t.Context(), low, true, tables, statements, advice, patient, quiet); err != nil || !r.Indexes[0].Helps {
		t.Errorf("with the rights: %v", err)
	}
	do(t, db, "SET SESSION sql_log_bin = 0")
	if got := text(t, db, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'kasoku%'"); got != "" {
		t.Errorf("left %s; before %s", got, before)
	}
}

// A statement is taken for one that reads the copies and nothing else, or refused.
func TestAim(t *testing.T) {
	const copies = "kasoku_try_0123456789ab"
	for _, c := range []struct {
		sql, text, err, why string
	}{
		{sql: "SELECT a FROM t WHERE b = 'x''y'; ", text: "SELECT a FROM t WHERE b = 'x''y'\n"},
		{sql: "SELECT t.a FROM shop.t WHERE shop.t.b = 'x''y'", text: "SELECT `t`.`a` FROM `" + copies + "`.`t` WHERE `" + copies + "`.`t`.`b`='x''y'"},
		{sql: "WITH q AS (SELECT a FROM shop.t) SELECT * FROM q", text: "WITH `q` AS (SELECT `a` FROM `" + copies + "`.`t`) SELECT * FROM `q`"},
		{sql: "SELECT 1 FROM a.t JOIN b.t", err: "two tables called t"},
		{sql: "SELECT 1; SELECT 2", err: "2 statements"},
		{sql: "DROP TABLE t", err: "none of SELECT"},
		{sql: "UPDATE t, u SET t.a = 1", err: "several tables"},
		{sql: "SELECT a FROM t WHERE a = shop.leave_trace()", why: "leave_trace"},
		{sql: "SELECT GET_LOCK('x', 1) FROM t", why: "GET_LOCK"},
		{sql: "SELECT a FROM t WHERE LOWER(b) = 'x' AND d > NOW() - INTERVAL 1 DAY", text: "SELECT a FROM t WHERE LOWER(b) = 'x' AND d > NOW() - INTERVAL 1 DAY\n"},
		{sql: "DELETE FROM t WHERE a = 1", why: "writes"},
	} {
		got, err := aim(c.sql, "shop", copies)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v, want %q", c.sql, err, c.err)
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.sql, err)
		case c.text != "" && (got.text != c.text || !got.runs):
			t.Errorf("%s: %q, want %q; %+v", c.sql, got.text, c.text, got)
		case c.why != "" && (got.runs || !strings.Contains(got.why, c.why)):
			t.Errorf("%s: %+v", c.sql, got)
		}
	}
}

// What is less is told from what was counted, else from what the server expects.
func TestLess(t *testing.T) {
	scan, look := []digest.PlanRow{{Access: "ALL", Rows: 900}}, []digest.PlanRow{{Access: "ref", Rows: 9}}
	sorted := []digest.PlanRow{{Access: "ALL", Rows: 900, Extra: "Using filesort"}}
	for _, c := range []struct {
		t    digest.Tried
		want bool
	}{
		{digest.Tried{Before: scan, After: look, ReadBefore: 900, ReadAfter: 9}, true},
		{digest.Tried{Before: scan, After: look, ReadBefore: 900, ReadAfter: 900}, false},
		{digest.Tried{Before: sorted, After: scan, ReadBefore: 900, ReadAfter: 900}, true},
		{digest.Tried{Before: scan, After: look, ReadBefore: -1, ReadAfter: -1}, true},
		{digest.Tried{Before: look, After: scan, ReadBefore: 9, ReadAfter: -1}, false},
	} {
		if got := c.t.Less(); got != c.want {
			t.Errorf("%+v: %t", c.t, got)
		}
	}
}
