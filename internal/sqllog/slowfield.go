package sqllog

import (
	"bytes"
	"time"
)

// textLines are header lines whose values are names that users choose, with the
// keys that are taken from them: a schema may be called "a Query_time: 9".
var textLines = map[string]map[string]bool{
	"Thread_id":      wordSet("Thread_id Schema QC_hit Last_errno Killed"),
	"Schema":         wordSet("Schema QC_hit Last_errno Killed"),
	"Stored_routine": {},
}

// isWarnings: the line after which MariaDB writes the statement's warnings, up to
// the statement (log_slow_verbosity=warnings). They cite values, so all there is
// is text.
func isWarnings(s []byte) bool {
	return bytes.Equal(bytes.TrimRight(s, " :"), warningsLine) || bytes.HasPrefix(s, levelPrefix)
}

var (
	warningsLine = []byte("# Warnings")
	levelPrefix  = []byte("# level: ")
)

// fields reads "# Key: value  Key: value". A value may be missing. A line counts
// only if its first key is a server's, and the first line with that key only.
func (p *SlowScanner) fields(s []byte) {
	i, n := 1, len(s)
	for i < n && s[i] <= ' ' {
		i++
	}
	first, _, _ := bytes.Cut(s[i:], []byte(":"))
	number := slowKeys[string(first)]
	if number == 0 || p.lines&(1<<number) != 0 {
		return
	}
	p.lines |= 1 << number
	only, text := textLines[string(first)]
	times := string(first) == "Query_time"
	var key []byte
	for i < n {
		for i < n && s[i] <= ' ' {
			i++
		}
		from := i
		for i < n && s[i] > ' ' {
			i++
		}
		if i == from {
			break
		}
		if s[i-1] == ':' {
			if key != nil {
				p.field(key, nil)
			}
			if key = s[from : i-1]; text && !only[string(key)] || !times && string(key) == "Query_time" {
				return
			}
			continue
		}
		if key != nil {
			p.field(key, s[from:i])
			key = nil
		}
	}
	if key != nil {
		p.field(key, nil)
	}
}

// field takes one value. Names are those of MariaDB, Percona Server and
// MySQL's log_slow_extra (MySQL manual, "The Slow Query Log"; MariaDB
// Knowledge Base, "Slow Query Log Extended Statistics").
func (p *SlowScanner) field(key, value []byte) {
	e := &p.entry
	switch string(key) {
	case "Query_time":
		e.QueryTime = slowSeconds(value)
		p.timed = true
		e.BadTime = e.BadTime || badSeconds(value, e.QueryTime)
	case "Lock_time":
		e.LockTime = slowSeconds(value)
		e.BadTime = e.BadTime || badSeconds(value, e.LockTime)
	case "Rows_sent":
		e.RowsSent = slowInt(value)
	case "Rows_examined":
		e.RowsExamined = slowInt(value)
	case "Rows_affected":
		e.RowsAffected = slowInt(value)
	case "Bytes_sent":
		e.BytesSent = slowInt(value)
	case "Thread_id":
		e.Thread = uint64(slowInt(value))
	case "Schema":
		e.Schema, p.ownUse = view(value), true
	case "Full_scan":
		e.FullScan = yes(value)
	case "Full_join":
		e.FullJoin = yes(value)
	case "Tmp_tables", "Created_tmp_tables":
		e.TmpTables = slowInt(value)
	case "Tmp_disk_tables", "Created_tmp_disk_tables":
		e.TmpDisk = slowInt(value)
	case "Tmp_table":
		e.TmpTables = max(e.TmpTables, int64(btoi(yes(value))))
	case "Tmp_table_on_disk":
		e.TmpDisk = max(e.TmpDisk, int64(btoi(yes(value))))
	case "Filesort":
		e.Filesort = yes(value)
	case "Sort_scan_count", "Sort_range_count":
		e.Filesort = e.Filesort || slowInt(value) > 0
	case "Read_rnd_next":
		// MySQL's log_slow_extra: rows read by scanning, one more than there
		// are rows for each scan (MySQL manual, "Handler_read_rnd_next").
		n := slowInt(value)
		e.FullScan = n > 1 && n > e.RowsExamined/2
	case "Errno", "Last_errno":
		e.Failed = e.Failed || slowInt(value) != 0
	case "Killed":
		e.Failed = e.Failed || slowInt(value) != 0
	case "Log_slow_rate_limit":
		e.RateLimit = slowInt(value)
	}
}

func yes(value []byte) bool { return string(value) == "Yes" }

// slowInt reads leading digits; 0 if there are none or too many.
func slowInt(s []byte) int64 {
	var n int64
	for i, c := range s {
		if !isDigit(c) {
			break
		}
		if i >= 18 {
			return 0 // 10^18 of anything: a counter that ran below zero
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// badSeconds: the value of a time is none, or cannot be.
func badSeconds(value []byte, read time.Duration) bool {
	return read == 0 && (len(value) == 0 || len(bytes.Trim(value, "0.,")) > 0)
}

// slowSeconds reads "0.000215", also with a comma (a log that went through a
// spreadsheet; servers write no separators of thousands); 0 if it is no time or longer than three years
// (10^8 s): old servers wrote 18446744073699.4 when a clock was set back.
func slowSeconds(s []byte) time.Duration {
	var whole, part, unit int64 = 0, 0, 1e9
	dot := false
	for _, c := range s {
		switch {
		case (c == '.' || c == ',') && !dot:
			dot = true
		case !isDigit(c):
			return 0
		case dot:
			if unit > 1 {
				unit /= 10
				part += int64(c-'0') * unit
			}
		default:
			if whole = 10*whole + int64(c-'0'); whole >= 1e8 {
				return 0
			}
		}
	}
	return time.Duration(whole*1e9 + part)
}

// slowStamp returns the length of the time at the start of s, 0 if there is
// none: "261121  2:27:56", also with a fraction, or "2024-05-01T10:00:00…".
func slowStamp(s []byte) int {
	if len(s) >= 19 && s[4] == '-' && s[7] == '-' && (s[10] == 'T' || s[10] == ' ') && s[13] == ':' && s[16] == ':' {
		for _, i := range []int{0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18} {
			if !isDigit(s[i]) {
				return 0
			}
		}
		return 19
	}
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i != 6 {
		return 0
	}
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	hour := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == 6 || i-hour < 1 || i-hour > 2 || len(s) < i+6 || s[i] != ':' || s[i+3] != ':' ||
		!isDigit(s[i+1]) || !isDigit(s[i+2]) || !isDigit(s[i+4]) || !isDigit(s[i+5]) {
		return 0
	}
	return i + 6
}

// slowClock reads the time that slowStamp found. The old form has no zone: it
// is taken as this machine's.
func slowClock(s []byte) time.Time {
	n := slowStamp(s)
	if n == 0 {
		return time.Time{}
	}
	if s[4] == '-' {
		for n < len(s) && s[n] > ' ' {
			n++
		}
		text := string(s[:10]) + "T" + string(s[11:n])
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return t
		}
		t, _ := time.ParseInLocation("2006-01-02T15:04:05", text[:19], time.Local)
		return t
	}
	i := 6
	for s[i] == ' ' || s[i] == '\t' {
		i++
	}
	t, _ := time.ParseInLocation("060102 15:04:05", string(s[:6])+" "+string(s[i:n]), time.Local)
	return t
}
