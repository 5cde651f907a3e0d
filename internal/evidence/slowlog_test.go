package evidence

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kasoku/internal/host"
)

func parseAll(t testing.TB, data []byte) []SlowEntry {
	t.Helper()
	var out []SlowEntry
	if err := ParseSlowLog(bytes.NewReader(data), func(e SlowEntry) error { out = append(out, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// The log of two PHP scripts, with and without native prepared statements,
// and log_slow_verbosity=query_plan,innodb,explain.
func TestParseMariaDBSlowLog(t *testing.T) {
	entries := parseAll(t, fixture(t, "mariadb-10.11-verbose.slow.log"))
	if len(entries) < 20 {
		t.Fatalf("%d entries", len(entries))
	}
	e := entries[0]
	if e.Thread != 6 || e.Schema != "shop" || e.QueryTime != 215*time.Microsecond || e.LockTime != 25*time.Microsecond ||
		e.SQL != `SELECT * FROM users WHERE login = 'us\"er\'5\n\\x' AND id > '3'` {
		t.Errorf("native prepared statement: %+v", e)
	}
	e = entries[2]
	if want := "UPDATE users\n  SET password_hash = 'secret1',\n salt='abc'\n WHERE id = '5'"; e.SQL != want {
		t.Errorf("several lines: %q", e.SQL)
	}
	e = entries[4]
	if !e.FullScan || e.TmpTables != 1 || e.TmpDisk != 1 || !e.Filesort || e.RowsSent != 25 || e.RowsExamined != 3050 {
		t.Errorf("query plan: %+v", e)
	}
	e = entries[5]
	if want := "SELECT 'a;\n# Time: fake\nuse foo;' -- comment; with semicolon\n /* c */ FROM log LIMIT 1"; e.SQL != want {
		t.Errorf("header-like text in a value: %q", e.SQL)
	}
	if e = entries[6]; e.SQL != "use mysql" || e.Schema != "mysql" {
		t.Errorf("a use statement: %+v", e)
	}
	if last := entries[len(entries)-1]; last.SQL != "select sleep(0)" || last.Schema != "" {
		t.Errorf("no schema: %+v", last)
	}
}

// Whatever byte a reading begins at, the entries that are whole are the same.
func TestSlowLogFromTheMiddle(t *testing.T) {
	data := fixture(t, "mariadb-10.11-verbose.slow.log")
	all := parseAll(t, data)
	for from := 0; from < len(data); from += 97 {
		got := parseAll(t, data[from:])
		if len(got) > len(all) {
			t.Fatalf("from byte %d: %d entries of %d", from, len(got), len(all))
		}
		for i := range got {
			if want := all[len(all)-len(got)+i]; i > 0 && got[i] != want {
				t.Fatalf("from byte %d: entry %+v, want %+v", from, got[i], want)
			}
		}
	}
	for to := 0; to < len(data); to += 89 {
		for i, e := range parseAll(t, data[:to]) {
			if i < len(all) && e.SQL != all[i].SQL && !strings.HasPrefix(all[i].SQL, e.SQL) {
				t.Fatalf("up to byte %d: %q, want %q", to, e.SQL, all[i].SQL)
			}
		}
	}
}

// Written by hand after the MySQL 8.0 manual, "The Slow Query Log" and
// "log_slow_extra": no MySQL server was at hand.
const mysql8Log = `/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock
Time                 Id Command    Argument
# Time: 2024-05-01T10:00:00.123456Z
# User@Host: app[app] @ localhost []  Id:     8
# Query_time: 0.010215  Lock_time: 0.000025 Rows_sent: 1  Rows_examined: 5000
use shop;
SET timestamp=1714557600;
SELECT * FROM users WHERE login = 'a';
# Time: 2024-05-01T10:00:01.123456Z
# User@Host: app[app] @  [10.0.0.7]  Id:     9
# Query_time: 0.000215  Lock_time: 0.000025 Rows_sent: 1  Rows_examined: 5000 Thread_id: 9 Errno: 0 Killed: 0 Bytes_received: 33 Bytes_sent: 178 Read_first: 1 Read_last: 0 Read_key: 1 Read_next: 0 Read_prev: 0 Read_rnd: 0 Read_rnd_next: 5001 Sort_merge_passes: 0 Sort_range_count: 0 Sort_rows: 3 Sort_scan_count: 1 Created_tmp_disk_tables: 0 Created_tmp_tables: 1 Start: 2024-05-01T10:00:01.123200Z End: 2024-05-01T10:00:01.123456Z
SET timestamp=1714557601;
SELECT name
FROM users ORDER BY name;
# Time: 2024-05-01T10:00:02.123456Z
# User@Host: app[app] @ localhost []  Id:     8
# Query_time: 0.000015  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1714557602;
# administrator command: Quit;
`

func TestParseMySQLSlowLog(t *testing.T) {
	e := parseAll(t, []byte(mysql8Log))
	if len(e) != 3 {
		t.Fatalf("%d entries: %+v", len(e), e)
	}
	if e[0].Thread != 8 || e[0].Schema != "shop" || e[0].RowsExamined != 5000 || e[0].SQL != "SELECT * FROM users WHERE login = 'a'" {
		t.Errorf("%+v", e[0])
	}
	if e[1].Thread != 9 || e[1].Schema != "shop" || !e[1].FullScan || !e[1].Filesort || e[1].TmpTables != 1 || e[1].SQL != "SELECT name\nFROM users ORDER BY name" {
		t.Errorf("%+v", e[1])
	}
	if e[2].Command != "Quit" || e[2].SQL != "" {
		t.Errorf("%+v", e[2])
	}
}

func TestSlowLogHugeStatement(t *testing.T) {
	rows := strings.Repeat("('abcdefgh'),", 20000)
	log := "# User@Host: a[a] @ b []\n# Thread_id: 1  Schema: s  QC_hit: No\n# Query_time: 1  Lock_time: 0  Rows_sent: 0  Rows_examined: 0\nSET timestamp=1;\nINSERT INTO t VALUES " +
		rows + "('z');\n# User@Host: a[a] @ b []\n# Thread_id: 1  Schema: s  QC_hit: No\n# Query_time: 0.5  Lock_time: 0  Rows_sent: 0  Rows_examined: 0\nSET timestamp=1;\nSELECT 1;\n"
	e := parseAll(t, []byte(log))
	if len(e) != 2 || len(e[0].SQL) > maxStatement+1 || e[1].SQL != "SELECT 1" {
		t.Fatalf("%d entries", len(e))
	}
}

func TestReadSlowLog(t *testing.T) {
	data := fixture(t, "mariadb-10.11-verbose.slow.log")
	file := filepath.Join(t.TempDir(), "slow.log")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := ReadSlowLog(context.Background(), host.NewLocal(), "db", file, 0, -1, map[uint64]bool{8: true})
	if err != nil {
		t.Fatal(err)
	}
	all := parseAll(t, data)
	if log.Entries != int64(len(all))-1 {
		t.Errorf("%d entries without thread 8, want %d", log.Entries, len(all)-1)
	}
	for i, s := range log.Statements {
		if strings.Contains(s.Example, "secret1") {
			t.Errorf("a password is in %q", s.Example)
		}
		if i > 0 && s.Total > log.Statements[i-1].Total {
			t.Error("not sorted by total time")
		}
	}
	if s := log.Statements[0]; s.Count < 1 || s.Service != "db" {
		t.Errorf("%+v", s)
	}
	// Native and emulated prepared statements are one class.
	for _, s := range log.Statements {
		if s.Fingerprint == "UPDATE users SET password_hash = ?, salt = ? WHERE id = ?" && s.Count != 2 {
			t.Errorf("%+v", s)
		}
	}
	if _, err := ReadSlowLog(context.Background(), host.NewLocal(), "db", file, 500, 100, nil); err == nil || !strings.Contains(err.Error(), "rotated") {
		t.Errorf("a shorter log: %v", err)
	}
}

func TestClassesAreBounded(t *testing.T) {
	c := newClasses("db", nil)
	for i := range maxClasses + 100 {
		if err := c.add(SlowEntry{SQL: "SELECT a FROM t" + strings.Repeat("x", i%97) + "_" + string(rune('a'+i%26)) + strings.Repeat("y", i/97), QueryTime: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.byKey) > maxClasses+1 || len(c.list()) != keptClasses {
		t.Errorf("%d classes, %d kept", len(c.byKey), len(c.list()))
	}
}

func TestSlowLogVariables(t *testing.T) {
	vars := map[string]string{"slow_query_log": "OFF", "long_query_time": "10.000000", "log_output": "TABLE", "log_slow_verbosity": "",
		"log_slow_filter": "admin,full_scan", "log_slow_rate_limit": "1", "min_examined_row_limit": "0", "slow_query_log_file": "a-slow.log", "datadir": "/var/lib/mysql/"}
	got := SlowLogVariables(&Database{MariaDB: true, Variables: vars}, "")
	want := map[string]string{"slow_query_log": "ON", "long_query_time": "0.000000", "log_output": "FILE", "log_slow_verbosity": "query_plan", "log_slow_filter": ""}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for k, v := range want {
		if g, ok := got[k]; !ok || g != v {
			t.Errorf("%s: %q, want %q", k, g, v)
		}
	}
	if p := SlowLogPath(vars); p != "/var/lib/mysql/a-slow.log" {
		t.Error(p)
	}
	mysql := SlowLogVariables(&Database{Variables: map[string]string{"slow_query_log": "ON", "long_query_time": "0.000000", "log_output": "FILE", "log_slow_extra": "OFF"}}, "/tmp/x.log")
	if len(mysql) != 2 || mysql["log_slow_extra"] != "ON" || mysql["slow_query_log_file"] != "/tmp/x.log" {
		t.Errorf("MySQL: %v", mysql)
	}
}

func TestJudgeSlowLog(t *testing.T) {
	for _, c := range []struct {
		entries     int64
		asked, long float64
		ok          bool
		says        string
	}{
		{1000, 1005, 0, true, "1000 statements"},
		{10, 1000, 0, false, "persistent connections"},
		{10, 1000, 2, false, "long_query_time is 2 s"},
		{0, 3, 0, true, "hardly asked"},
		{0, 1000, 0, false, "old long_query_time"},
	} {
		ok, text := judgeSlowLog(&SlowLog{Entries: c.entries}, c.asked, c.long)
		if ok != c.ok || !strings.Contains(text, c.says) {
			t.Errorf("%+v: %t %s", c, ok, text)
		}
	}
}

func FuzzSlowLog(f *testing.F) {
	// A part, because the fuzzer minimizes large inputs for minutes.
	f.Add(fixture(f, "mariadb-10.11-verbose.slow.log")[:3000])
	f.Add([]byte(mysql8Log))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := ParseSlowLog(bytes.NewReader(data), func(e SlowEntry) error {
			if e.SQL == "" && e.Command == "" || e.QueryTime < 0 || e.RowsSent < 0 || len(e.SQL) > maxStatement+1 {
				t.Fatalf("%+v", e)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A log of half a million statements must not hold up the loop.
func BenchmarkSlowLog(b *testing.B) {
	data := bytes.Repeat(fixture(b, "mariadb-10.11-verbose.slow.log"), 50)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		c := newClasses("db", nil)
		if err := ParseSlowLog(bytes.NewReader(data), c.add); err != nil {
			b.Fatal(err)
		}
	}
}
