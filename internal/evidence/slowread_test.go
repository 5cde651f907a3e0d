package evidence

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kasoku/internal/host"
	"kasoku/internal/sqllog"
)

func TestReadSlowLog(t *testing.T) {
	data := fixture(t, "../../sqllog/testdata/mariadb-10.11-verbose.slow.log")
	file := filepath.Join(t.TempDir(), "slow.log")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := ReadSlowLog(context.Background(), host.NewLocal(), "db", file, 0, -1, map[uint64]bool{8: true})
	if err != nil {
		t.Fatal(err)
	}
	entries := int64(0)
	if err := sqllog.ParseSlowLog(bytes.NewReader(data), func(sqllog.SlowEntry) error { entries++; return nil }); err != nil {
		t.Fatal(err)
	}
	if log.Entries != entries-1 {
		t.Errorf("%d entries without thread 8, want %d", log.Entries, entries-1)
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
	// A window within one entry has no statement; that is no error.
	if log, err = ReadSlowLog(context.Background(), host.NewLocal(), "db", file, 300, 340, nil); err != nil || log.Entries != 0 {
		t.Errorf("a part of an entry: %+v, %v", log, err)
	}
	if _, err := ReadSlowLog(context.Background(), host.NewLocal(), "db", file, 500, 100, nil); err == nil || !strings.Contains(err.Error(), "rotated") {
		t.Errorf("a shorter log: %v", err)
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
		ok, old, text := judgeSlowLog(&SlowLog{Entries: c.entries}, c.asked, c.long)
		if old != strings.Contains(text, "open before the log") {
			t.Errorf("%s: old %v", text, old)
		}
		if ok != c.ok || !strings.Contains(text, c.says) {
			t.Errorf("%+v: %t %s", c, ok, text)
		}
	}
}

func TestJudgeSampledSlowLog(t *testing.T) {
	if ok, _, text := judgeSlowLog(&SlowLog{Entries: 100, Sampled: "one of 10 statements"}, 1000, 0); ok || !strings.Contains(text, "log_slow_rate_limit = 1") {
		t.Errorf("%t %s", ok, text)
	}
}

// Two readings of performance_schema, as MySQL 8 fills them.
func TestDigestDelta(t *testing.T) {
	begin := map[string]digestRow{"a": {schema: "shop", text: "SELECT * FROM `t` WHERE `a` = ?", count: 10, time: 1000, scans: 10, p95: 77}}
	end := map[string]digestRow{
		"a": {schema: "shop", text: "SELECT * FROM `t` WHERE `a` = ?", count: 15, time: 3000, scans: 15, joins: 2, noIndex: 5, p95: 80, affected: 3, errors: 1},
		"b": {schema: "shop", text: "INSERT INTO `t` VALUES (...)", sample: "INSERT INTO t VALUES (1, 'geheim')", count: 4, time: 9000, affected: 4, p95: 100, p99: 200},
		"c": {schema: "shop", text: "", count: 1},
	}
	got, n := digestDelta("db", begin, end)
	if n != 10 || len(got) != 3 {
		t.Fatalf("%d statements, %+v", n, got)
	}
	if s := got[0]; s.Count != 4 || s.RowsAffected != 4 || s.P95 != 100 || s.P99 != 200 || strings.Contains(s.Example, "geheim") {
		t.Errorf("a new class: %+v", s)
	}
	if s := got[1]; s.Count != 5 || s.FullScans != 5 || s.FullJoins != 2 || s.NoIndex != 5 || s.RowsAffected != 3 || s.Errors != 1 || s.P95 != 0 {
		t.Errorf("a class that had runs before: %+v", s)
	}
	if s := got[2]; s.Fingerprint != otherClass {
		t.Errorf("beyond the server's limit: %+v", s)
	}
}

// MySQL names a schema where it differs from that of the statement before, which
// may stand before the window.
func TestSlowLogSchemaBefore(t *testing.T) {
	const file = "testdata/mysql-8.0.15-extra.slow.log"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	third := strings.Index(string(text), "# Time: 2026-11-22T12:52:06.284917Z")
	fifth := strings.Index(string(text), "# Time: 2026-11-22T12:52:06.493770Z")
	log, err := ReadSlowLog(context.Background(), host.NewLocal(), "db", file, int64(third), int64(fifth), nil)
	if err != nil {
		t.Fatal(err)
	}
	if log.Entries != 2 || log.Bytes != int64(fifth-third) || len(log.Statements) != 1 || log.Statements[0].Schema != "x" || log.Statements[0].Fingerprint != "SELECT * FROM t WHERE b = ?" {
		t.Errorf("%+v", log)
	}
}
