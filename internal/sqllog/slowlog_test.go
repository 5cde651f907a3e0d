package sqllog

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

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
	if len(e) != 2 || len(e[0].SQL) > MaxStatement+1 || e[1].SQL != "SELECT 1" {
		t.Fatalf("%d entries", len(e))
	}
}

func FuzzSlowLog(f *testing.F) {
	// A part, because the fuzzer minimizes large inputs for minutes.
	f.Add(fixture(f, "mariadb-10.11-verbose.slow.log")[:3000])
	f.Add([]byte(mysql8Log))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := ParseSlowLog(bytes.NewReader(data), func(e SlowEntry) error {
			if e.SQL == "" && e.Command == "" || e.QueryTime < 0 || e.RowsSent < 0 || len(e.SQL) > MaxStatement+1 {
				t.Fatalf("%+v", e)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
