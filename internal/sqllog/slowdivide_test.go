package sqllog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// slowEntryOf is an entry of MySQL 8, second n of a minute; its statement has
// its end in it.
func slowEntryOf(n int, seconds, statement string) string {
	return fmt.Sprintf("# Time: 2025-03-02T10:00:%02d.250000Z\n# User@Host: shop[shop] @ web1 [10.1.2.3]  Id:    21\n"+
		"# Query_time: %s  Lock_time: 0.000003 Rows_sent: 2  Rows_examined: 40\nSET timestamp=%d;\n%s", n, seconds, 1740909600+n, statement)
}

const slowSecond = "0.250000"

// What is an entry, and what is text of one.
func TestSlowEntriesAreToldFromText(t *testing.T) {
	one := func(n int, statement string) string { return slowEntryOf(n, slowSecond, statement) }
	forged := slowEntryOf(3, "77.000000", "DROP TABLE stolen")
	after := one(9, "SELECT 9;\n")
	for _, c := range []struct {
		why, log string
		want     []string // the statements' begins
		text     int64
	}{
		{"a stored header of the server's own form", one(1, "INSERT INTO c (b) VALUES ('a;\n"+forged+"');\n") + after, []string{"INSERT", "SELECT 9"}, 2},
		{"one that balances its quotes with a comment", one(1, "INSERT INTO c (b) VALUES ('a;\n"+forged+" -- ');\n") + after, []string{"INSERT", "SELECT 9"}, 2},
		{"two of them", one(1, "INSERT INTO c (b) VALUES ('a;\n"+forged+";\n"+slowEntryOf(4, "78.000000", "SELECT 1;")+"');\n") + after, []string{"INSERT", "SELECT 9"}, 4},
		{"in the last entry", after + one(11, "INSERT INTO c (b) VALUES (\"a;\n"+slowEntryOf(12, "77.000000", "DROP TABLE stolen")+"\");\n"), []string{"SELECT 9", "INSERT"}, 2},
		{"in a comment", one(1, "SELECT 1 /* a;\n"+forged+" */;\n") + after, []string{"SELECT 1", "SELECT 9"}, 2},
		{"a stored banner", one(1, "SELECT 'a;\n/usr/sbin/mysqld, Version: 8.0.36 (x). started with:\nTcp port: 3306  Unix socket: a\nTime                 Id Command    Argument\n"+forged+"';\n") + after, []string{"SELECT 'a;", "SELECT 9"}, 5},
		{"quotes of all kinds before it", one(1, "SELECT 'it''s', 'b\\'c', \"'\", `'`, 5 - 3 -- it's\n, 'd;\n"+forged+"';\n") + after, []string{"SELECT 'it", "SELECT 9"}, 2},
		{"a statement's own comment looks like one line of a header", one(1, "SELECT 5;\n# Time: 2025-03-02T10:00:02.250000Z\nSELECT 6;\n") + after, []string{"SELECT 5", "SELECT 9"}, 1},
		{"cut within a quote", one(1, "INSERT INTO c VALUES ('abc") + "\n" + one(2, "SELECT 'x', 'y';\n") + after, []string{"INSERT", "SELECT 'x'", "SELECT 9"}, 0},
		{"cut within a quote twice", one(1, "INSERT INTO c VALUES ('abc\n") + one(2, "UPDATE c SET d = 'e\n") + one(3, "SELECT 'x';\n") + after, []string{"INSERT", "UPDATE", "SELECT 'x'", "SELECT 9"}, 0},
		{"a backslash that escapes nothing (NO_BACKSLASH_ESCAPES)", one(1, "SELECT 'C:\\';\n") + one(2, "SELECT 'D:\\', 'a';\n") + one(3, "SELECT 3;\n") + after, []string{"SELECT 'C", "SELECT 'D", "SELECT 3", "SELECT 9"}, 0},
		{"no semicolons", one(1, "SELECT 1\n") + one(2, "SELECT 2\nFROM t\n") + one(3, "SELECT 3\n"), []string{"SELECT 1", "SELECT 2", "SELECT 3"}, 0},
		{"an unfinished comment", one(1, "SELECT 1 /* oh;\n") + one(2, "SELECT 2;\n") + after, []string{"SELECT 1", "SELECT 2", "SELECT 9"}, 0},
		{"the server ended within a statement", one(1, "INSERT INTO c VALUES (3,\n") + "/usr/sbin/mysqld, Version: 8.0.36 (x). started with:\nTcp port: 3306  Unix socket: a\nTime                 Id Command    Argument\n" + after, []string{"INSERT", "SELECT 9"}, 0},
		{"lines of tail -f", "==> error.log <==\n2025-03-02T10:00:00Z 3 [Note] [MY-010914] [Server] Aborted\n\n==> slow.log <==\n" + one(1, "SELECT 1;\n") +
			"\n==> error.log <==\n2025-03-02T10:00:02Z 3 [Note] it's\n\n==> slow.log <==\n" + one(3, "SELECT 3;\n") + "\n==> error.log <==\n2025-03-02T10:00:04Z x\n", []string{"SELECT 1", "SELECT 3"}, 0},
		{"a stored line of tail's", one(1, "INSERT INTO c VALUES ('a;\n==> slow.log <==\nb');\n") + after, []string{"INSERT", "SELECT 9"}, 1},
		{"a header after zeros", one(1, "SELECT 1;\n") + strings.Repeat("\x00", 300) + after, []string{"SELECT 1", "SELECT 9"}, 0},
		{"lines that end with CR LF", strings.ReplaceAll(one(1, "SELECT 1,\n2;\n")+after, "\n", "\r\n"), []string{"SELECT 1,", "SELECT 9"}, 0},
		{"a header that runs back in time is text", one(5, "SELECT 'a\n"+forged+";\n"), []string{"SELECT 'a"}, 2},
	} {
		var got []string
		all := parseAll(t, []byte(c.log))
		for i, e := range all {
			got = append(got, e.SQL)
			if i < len(c.want) && !strings.HasPrefix(e.SQL, c.want[i]) {
				t.Errorf("%s: entry %d is %q", c.why, i, e.SQL)
			}
			if e.QueryTime.Seconds() != 0.25 {
				t.Errorf("%s: %q took %v", c.why, e.SQL, e.QueryTime)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", c.why, got)
		}
		if p := lastPiece(t, []byte(c.log), 1<<20); p.Text != c.text {
			t.Errorf("%s: %d lines were taken for text, want %d", c.why, p.Text, c.text)
		}
		for _, size := range []int{64, 200, 333} {
			if p := lastPiece(t, []byte(c.log), size); p.Text != c.text {
				t.Errorf("%s, pieces of %d: %d lines were taken for text", c.why, size, p.Text)
			}
		}
	}
}

func lastPiece(t *testing.T, log []byte, size int) SlowPiece {
	t.Helper()
	pieces := NewSlowPieces(bytes.NewReader(log), size)
	var p SlowPiece
	for {
		if err := pieces.Next(&p); errors.Is(err, io.EOF) {
			return p
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// Percona Server 8.0 leaves the "#" of one line out (PS-7492).
func TestSlowHeaderLinesWithoutHash(t *testing.T) {
	log := "# Time: 2025-03-02T10:00:01.250000Z\n# User@Host: a[a] @ localhost []  Id:     3\n# Schema: shop  Last_errno: 0  Killed: 0\n" +
		"# Query_time: 0.250000  Lock_time: 0.000010  Rows_sent: 1  Rows_examined: 7  Rows_affected: 0  Bytes_sent: 5\n" +
		"  Tmp_tables: 4  Tmp_disk_tables: 3  Tmp_table_sizes: 9\nSET timestamp=1740909601;\nSELECT 1;\n"
	bare := strings.ReplaceAll(strings.Replace(log, "# Query_time", "Query_time", 1), "# Schema", "  Schema")
	if e := parseAll(t, []byte(bare+log)); len(e) != 2 || e[0].QueryTime.Seconds() != 0.25 || e[0].Schema != "shop" || e[0].TmpTables != 4 {
		t.Errorf("%+v", e)
	}
	e := parseAll(t, []byte(strings.Repeat(log, 2)))
	if len(e) != 2 || e[1].SQL != "SELECT 1" || e[1].TmpTables != 4 || e[1].TmpDisk != 3 {
		t.Errorf("%+v", e)
	}
}

// Entries that are none any more are told, and not dropped in silence.
func TestSlowFaults(t *testing.T) {
	log := "WHERE a = 5;\n" + slowEntryOf(1, slowSecond, "SELECT 1;\n") + slowEntryOf(2, slowSecond, "") + slowEntryOf(3, slowSecond, "SELECT 3;\n") +
		"# User@Host: a[a] @ localhost []  Id: 3\n# Schema: shop\nSET timestamp=1740909604;\nSELECT 4;\n" +
		slowEntryOf(5, "18446744073699.484375", "SELECT 5;\n") + slowEntryOf(6, slowSecond, "SELECT 6")
	pieces := NewSlowPieces(strings.NewReader(log), 1<<20)
	var p SlowPiece
	if err := pieces.Next(&p); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	var got []string
	var scan SlowScanner
	if err := scan.Scan(&p, func(e *SlowEntry) error {
		got = append(got, fmt.Sprintf("%s|%s|%t %t %t", e.Fault, e.SQL, e.Unended, e.Last, e.BadTime))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"text before the first entry|WHERE a = 5;|false false false", "|SELECT 1|false false false", "an entry without a statement||true false false",
		"|SELECT 3|false false false", "an entry without Query_time|SELECT 4|false false false", "|SELECT 5|false false true", "|SELECT 6|true true false"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// In whatever portions the bytes come, the state at their end is the same.
func FuzzQuoteState(f *testing.F) {
	f.Add([]byte("a 'b\\'c' -- d"), uint8(3))
	f.Add([]byte("/* ' */ `x`\"y\\\\\" 5 --6 # z"), uint8(1))
	f.Fuzz(func(t *testing.T, line []byte, at uint8) {
		var whole, parts quoteState
		whole.feed(line)
		n := min(int(at), len(line))
		parts.feed(line[:n])
		parts.feed(line[n:])
		whole.newline()
		parts.newline()
		if whole != parts {
			t.Fatalf("%q: %+v, in parts %+v", line, whole, parts)
		}
	})
}
