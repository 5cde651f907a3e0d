package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/digest"
	"kasoku/internal/host/hosttest"
	"kasoku/internal/scratch"
)

func TestParseDSN(t *testing.T) {
	t.Setenv("MYSQL_PWD", "")
	os.Unsetenv("MYSQL_PWD")
	for dsn, want := range map[string]string{
		"mysql://app@db1:3307/shop":                             "app|db1:3307||shop||",
		"mariadb://app@db1/shop?password_file=/etc/pw":          "app|db1:3306||shop|/etc/pw|",
		"app@db1/shop?password_env=SHOP_PW":                     "app|db1:3306||shop||SHOP_PW",
		"app@tcp(10.0.0.1:3306)/shop":                           "app|10.0.0.1:3306||shop||",
		"root@unix(/run/mysqld/mysqld.sock)/":                   "root||/run/mysqld/mysqld.sock|||",
		"mysql://root@localhost/shop?socket=/run/s":             "root||/run/s|shop||",
		"mysql:///shop?defaults_file=/etc/shop.cnf&socket=/r/s": "||/r/s|shop||",
	} {
		x, err := parseDSN(dsn)
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		l := x.login
		if got := strings.Join([]string{l.User, l.Address, l.Socket, x.schema, l.PasswordFile, l.PasswordEnv}, "|"); got != want {
			t.Errorf("%s: %s, want %s", dsn, got, want)
		}
	}
	for dsn, says := range map[string]string{"mysql://app:hunter2@db1/shop": "password on the command line", "app:hunter2@tcp(db1:3306)/shop": "password on the command line",
		"postgres://app@db1/shop": "postgres", "mysql://db1/shop": "no user", "mysql://app@/shop": "no host", "app@db1?color=red": "color", "mysql://a:hunter2@[::1": "no address"} {
		if _, err := parseDSN(dsn); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	t.Setenv("MYSQL_PWD", "x")
	if x, err := parseDSN("app@db1/shop"); err != nil || x.login.PasswordEnv != "MYSQL_PWD" {
		t.Errorf("%v", err)
	}
}

// mariaDBForExplain starts a server and returns its socket.
func mariaDBForExplain(t *testing.T) string {
	t.Helper()
	await.SkipShort(t)
	dir, err := os.MkdirTemp("", "kexp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := hosttest.MariaDBData(dir+"/data", "", "8M"); err != nil {
		t.Fatal(err)
	}
	args := []string{"--no-defaults", "--datadir=" + dir + "/data", "--socket=" + dir + "/s", "--skip-networking", "--pid-file=" + dir + "/pid",
		"--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0", "--log-error=" + dir + "/log"}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	server := exec.Command("mariadbd", args...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- server.Wait() }()
	t.Cleanup(func() { server.Process.Kill(); <-exited })
	said := func() string { b, _ := os.ReadFile(dir + "/log"); return string(b) }
	await.ForOr(t, "MariaDB", said, func() bool { return exec.Command("mariadb", "-uroot", "-S", dir+"/s", "-e", "SELECT 1").Run() == nil })
	return dir + "/s"
}

// Statements of a log are explained on a real server: nothing is run, what goes
// wrong with one is told with it, and the missing index stands beside.
func TestExplainOnMariaDB(t *testing.T) {
	socket := mariaDBForExplain(t)
	run := func(sql string) string {
		t.Helper()
		out, err := exec.Command("mariadb", "-uroot", "-S", socket, "-N", "-e", sql).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run(`CREATE DATABASE shop; USE shop; CREATE TABLE visits (id INT AUTO_INCREMENT PRIMARY KEY, page INT, who VARCHAR(40)) ENGINE=InnoDB;
		INSERT INTO visits (page, who) SELECT seq % 900, CONCAT('w', seq) FROM seq_1_to_30000; CREATE TABLE ran (a INT); ANALYZE TABLE visits;
DELIMITER //
CREATE FUNCTION leave_trace() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO shop.ran VALUES (1); RETURN 1; END//
DELIMITER ;`)
	var log strings.Builder
	for i, sql := range []string{"SELECT who FROM visits WHERE page = 77", "SELECT 1 FROM nowhere WHERE a = 5", "DELETE FROM visits WHERE page = 3", "SELECT page FROM visits WHERE id = leave_trace()",
		"SELECT nothere FROM visits", "SELECT 1; DROP TABLE visits"} {
		fmt.Fprintf(&log, "# User@Host: app[app] @ localhost []\n# Thread_id: 8  Schema: shop  QC_hit: No\n# Query_time: %d.000000  Lock_time: 0.000000  Rows_sent: 30  Rows_examined: 30000\nSET timestamp=1740909601;\n%s;\n", 20-i, sql)
	}
	file := filepath.Join(t.TempDir(), "slow.log")
	if err := os.WriteFile(file, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := digest.FileInput(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	s, err := digest.StatementLogs(ctx, []digest.Input{in}, digest.StatementOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := openExplainer(ctx, "root@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer x.db.Close()
	x.explain(ctx, s)
	p := func(i int) *digest.Planned { return s.Classes[i].Plan }
	if r := p(0).Rows; len(r) != 1 || r[0].Table != "visits" || r[0].Access != "ALL" || r[0].Key != "" || r[0].Rows < 10000 || r[0].Extra != "Using where" {
		t.Errorf("%+v", p(0))
	}
	if m := p(0).Missing; len(m) != 1 || !strings.Contains(m[0], "ON `shop`.`visits` (page") {
		t.Errorf("%q", m)
	}
	for i, want := range map[int]string{1: "nowhere", 2: "no SELECT", 4: "nothere", 5: "several statements"} {
		if !strings.Contains(p(i).Error, want) {
			t.Errorf("%d: %+v", i, p(i))
		}
	}
	if got := run("SELECT COUNT(*) FROM shop.ran; SELECT COUNT(*) FROM shop.visits"); got != "0\n30000" {
		t.Errorf("a statement was run: %s", got)
	}
	var text, md, html, csv bytes.Buffer
	v := s.View([]string{"slow.log"}, 0)
	for _, err := range []error{digest.WriteText(&text, v, 0), digest.WriteMarkdown(&md, v), digest.WriteHTML(&html, v), s.CSV(&csv)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for what, b := range map[string]*bytes.Buffer{"text": &text, "markdown": &md, "html": &html, "csv": &csv} {
		if !strings.Contains(b.String(), "Using where") || !strings.Contains(b.String(), "CREATE INDEX") {
			t.Errorf("%s:\n%s", what, b.String())
		}
	}
	if b, err := json.Marshal(s); err != nil || !strings.Contains(string(b), `"access":"ALL"`) {
		t.Errorf("%v %s", err, b)
	}
}

// With --try each index stands with what copies showed of it; one that does not help there
// is no missing one.
func TestTryOnMariaDB(t *testing.T) {
	socket := mariaDBForExplain(t)
	if out, err := exec.Command("mariadb", "-uroot", "-S", socket, "-e", `CREATE DATABASE shop; USE shop; CREATE TABLE visits (id INT AUTO_INCREMENT PRIMARY KEY, page INT, who VARCHAR(40)) ENGINE=InnoDB;
		INSERT INTO visits (page, who) SELECT seq % 900, CONCAT('w', seq) FROM seq_1_to_20000; ANALYZE TABLE visits`).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	class := func(sql string) digest.Statement {
		return digest.Statement{Schema: "shop", Fingerprint: sql, Example: sql, Count: 10, Total: time.Second, RowsExamined: 200000, RowsSent: 200, FullScans: 10}
	}
	s := &digest.Statements{Classes: []digest.Statement{class("SELECT who FROM visits WHERE page = 77"), class("SELECT who FROM visits WHERE UPPER(who) = 'W5'")}}
	x, err := openExplainer(t.Context(), "root@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer x.db.Close()
	told := ""
	x.tell = func(text string) { told = text }
	x.limits = scratch.Limits{Time: 10 * time.Minute, Each: 5 * time.Minute} // of a machine that is busy
	x.explain(t.Context(), s)
	p := s.Classes[0].Plan
	if p.Tried == nil || p.Tried.ReadBefore < 20000 || p.Tried.ReadAfter > 100 || len(p.Missing) != 1 || len(s.TriedIndexes) != 1 || !s.TriedIndexes[0].Helps || !strings.Contains(told, "dropped afterwards") {
		t.Errorf("told %q; plan %+v; indexes %+v; %q", told, p, s.TriedIndexes, s.Warnings)
	}
	if n := s.Classes[1].Plan.Notes; len(n) != 1 || !strings.Contains(n[0], "ADD COLUMN `who_upper`") {
		t.Errorf("notes %q", n)
	}
	var out bytes.Buffer
	if err := digest.WriteText(&out, s.View([]string{"slow.log"}, 0), 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tried on copies of the tables", "all of its 20,000 rows", "fewer rows are read", "what no index alone helps"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// Without the right to a table, and without a database, each statement says so.
func TestExplainWithoutRights(t *testing.T) {
	socket := mariaDBForExplain(t)
	if out, err := exec.Command("mariadb", "-uroot", "-S", socket, "-e", "CREATE DATABASE shop; CREATE TABLE shop.a (x INT); USE shop; INSERT INTO a SELECT seq FROM seq_1_to_3000; ANALYZE TABLE shop.a; CREATE USER low@localhost IDENTIFIED BY 'pw-of-low'; GRANT INSERT ON shop.a TO low@localhost").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("LOW_PW", "pw-of-low")
	s := &digest.Statements{Classes: []digest.Statement{{Schema: "shop", Fingerprint: "SELECT x FROM a", Example: "SELECT x FROM a", Count: 1, Total: time.Second},
		{Fingerprint: "SELECT x FROM a", Example: "SELECT x FROM a", Count: 1, Total: time.Second}, {Fingerprint: "SELECT ?", Example: "SELECT 1", Count: 1}}}
	x, err := openExplainer(context.Background(), "low@unix("+socket+")/?password_env=LOW_PW")
	if err != nil {
		t.Fatal(err)
	}
	defer x.db.Close()
	x.explain(context.Background(), s)
	for i, want := range []string{"denied", "No database selected"} {
		if e := s.Classes[i].Plan.Error; !strings.Contains(e, want) {
			t.Errorf("%q", e)
		}
	}
	if r := s.Classes[2].Plan.Rows; len(r) != 1 || r[0].Extra != "No tables used" {
		t.Errorf("%+v", s.Classes[2].Plan)
	}
	if w := strings.Join(s.Warnings, "\n"); !strings.Contains(w, "the columns of 1 tables have is not known") {
		t.Errorf("%q does not tell that the table was not sampled", w)
	}
}
