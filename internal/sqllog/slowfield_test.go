package sqllog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// warnedEntry is an entry of MariaDB with the warnings' lines after its numbers.
func warnedEntry(lines string) string {
	return "# User@Host: shop[shop] @ web1 []\n# Thread_id: 14  Schema: store  QC_hit: No\n" +
		"# Query_time: 0.031500  Lock_time: 0.000210  Rows_sent: 4  Rows_examined: 8100\n# Rows_affected: 0  Bytes_sent: 212\n" +
		"# Full_scan: No  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n" + lines + "SET timestamp=1740999801;\nSELECT name FROM items WHERE code = 5;\n"
}

// What a header's text cites is no number of the server's.
func TestSlowHeaderTextIsText(t *testing.T) {
	level := "# Warnings\n# level: 1  code: 1292  msg: Truncated incorrect DOUBLE value: 'x "
	second := strings.ReplaceAll(warnedEntry(""), "1740999801", "1740999802")
	for _, c := range []struct{ why, lines string }{
		{"nothing more", ""},
		{"numbers in a warning", level + "Query_time: 700.25  Rows_examined: 1 '\n"},
		{"with a number sign", level + "# Query_time: 700.25  Full_scan: Yes'\n"},
		{"without the line of its head", "# level: 2  code: 1051  msg: Query_time: 700.25\n"},
		{"a warning of several lines", level + "\n# Query_time: 700.25  Lock_time: 9.5\n# Full_scan: Yes\nmore: text; isn't it\n'\n"},
		{"a warning with a header's line", level + "\n# User@Host: x[x] @ y []\n# Time: 250303 10:00:00\n'\n"},
		{"with fields of an unknown name first", "# Note: Query_time: 700.25  Full_scan: Yes\n"},
		{"a routine's name", "# Stored_routine: store.a Query_time: 700.25  Rows_examined: 1\n"},
		{"a second line of the same name", "# Query_time: 700.250000  Lock_time: 9.000000  Rows_sent: 1  Rows_examined: 1\n"},
	} {
		log := warnedEntry(c.lines) + second
		all := parseAll(t, []byte(log))
		for _, size := range []int{64, 333} {
			var got []string
			pieces := NewSlowPieces(strings.NewReader(log), size)
			for end := false; !end; {
				var piece SlowPiece
				end = pieces.Next(&piece) != nil
				var scan SlowScanner
				_ = scan.Scan(&piece, func(e *SlowEntry) error { got = append(got, fmt.Sprint(e.QueryTime, e.SQL)); return nil })
			}
			if len(got) != len(all) || got[0] != fmt.Sprint(all[0].QueryTime, all[0].SQL) {
				t.Errorf("%s, pieces of %d: %q", c.why, size, got)
			}
		}
		if len(all) != 2 {
			t.Errorf("%s: %d entries", c.why, len(all))
			continue
		}
		for _, e := range all {
			if e.QueryTime != 31500*time.Microsecond || e.LockTime != 210*time.Microsecond || e.RowsExamined != 8100 || e.RowsSent != 4 || e.BytesSent != 212 ||
				e.FullScan || e.Thread != 14 || e.Schema != "store" || e.SQL != "SELECT name FROM items WHERE code = 5" {
				t.Errorf("%s: %+v", c.why, e)
			}
		}
	}
	e := parseAll(t, []byte(strings.Replace(warnedEntry(""), "Schema: store", "Schema: my Query_time: 800.5 Rows_examined: 3", 1)))[0]
	if e.QueryTime != 31500*time.Microsecond || e.RowsExamined != 8100 {
		t.Errorf("a schema's name: %+v", e)
	}
}

// Times that are none, or cannot be.
func TestSlowTimes(t *testing.T) {
	for _, c := range []struct {
		query, lock string
		want        SlowEntry
	}{
		{"1.250000", "0.500000", SlowEntry{QueryTime: 1250 * time.Millisecond, LockTime: 500 * time.Millisecond}},
		{"1,250000", "0,500000", SlowEntry{QueryTime: 1250 * time.Millisecond, LockTime: 500 * time.Millisecond}},
		{"0.000000", "0,000000", SlowEntry{}},
		{"1.250000", "18446744073708.406250", SlowEntry{QueryTime: 1250 * time.Millisecond, BadTime: true}},
		{"18446744073708.406250", "0.500000", SlowEntry{LockTime: 500 * time.Millisecond, BadTime: true}},
		{"1.2.5", "0", SlowEntry{BadTime: true}},
		{"-1.5", "0", SlowEntry{BadTime: true}},
		{"nan", "0.500000", SlowEntry{LockTime: 500 * time.Millisecond, BadTime: true}},
	} {
		log := strings.Replace(strings.Replace(warnedEntry(""), "0.031500", c.query, 1), "0.000210", c.lock, 1)
		e := parseAll(t, []byte(log))[0]
		if e.QueryTime != c.want.QueryTime || e.LockTime != c.want.LockTime || e.BadTime != c.want.BadTime {
			t.Errorf("%s, %s: %v, %v, bad %v", c.query, c.lock, e.QueryTime, e.LockTime, e.BadTime)
		}
	}
}

// A comment behind the statement's end makes no class of its own.
func TestFingerprintOfATrailingComment(t *testing.T) {
	want := Fingerprint("SELECT a FROM b WHERE c = 1")
	for _, sql := range []string{"SELECT a FROM b WHERE c = 2; -- why", "SELECT a FROM b WHERE c = 2; # why", "SELECT a FROM b WHERE c = 2 ; /* why */ ;", "SELECT a FROM b WHERE c = 2;; -- a;\n-- b"} {
		if got := Fingerprint(sql); got != want {
			t.Errorf("%q: %q, want %q", sql, got, want)
		}
	}
}
