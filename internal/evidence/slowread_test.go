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
	if _, err := ReadSlowLog(context.Background(), host.NewLocal(), "db", file, 500, 100, nil); err == nil || !strings.Contains(err.Error(), "rotated") {
		t.Errorf("a shorter log: %v", err)
	}
}

func TestClassesAreBounded(t *testing.T) {
	c := newClasses("db", nil)
	for i := range maxClasses + 100 {
		if err := c.add(sqllog.SlowEntry{SQL: "SELECT a FROM t" + strings.Repeat("x", i%97) + "_" + string(rune('a'+i%26)) + strings.Repeat("y", i/97), QueryTime: 1}); err != nil {
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

// A log of half a million statements must not hold up the loop.
func BenchmarkSlowLog(b *testing.B) {
	data := bytes.Repeat(fixture(b, "../../sqllog/testdata/mariadb-10.11-verbose.slow.log"), 50)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		c := newClasses("db", nil)
		if err := sqllog.ParseSlowLog(bytes.NewReader(data), c.add); err != nil {
			b.Fatal(err)
		}
	}
}
