package digest

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/sqllog"
)

// runTable maps the columns of mysql.slow_log or mysql.general_log, which servers
// write with log_output=TABLE: one run a row (MySQL manual, "Selecting General
// Query Log and Slow Query Log Output Destinations").
type runTable struct {
	names   []string
	general *generalFeed // nil: slow_log
	parts   bool         // a time has a part of a second
	rows    int64
}

// runTableOf reads a table's head; nil if it is none of both.
func runTableOf(head []string) *runTable {
	t := &runTable{}
	for _, name := range head {
		t.names = append(t.names, columnName(name))
	}
	switch {
	case slices.Contains(t.names, "sql_text") && slices.Contains(t.names, "query_time"):
	case slices.Contains(t.names, "command_type") && slices.Contains(t.names, "argument"):
		t.general = &generalFeed{schema: map[uint64]string{}}
	default:
		return nil
	}
	return t
}

func columnName(name string) string {
	return strings.ToLower(strings.Trim(strings.TrimSpace(name), "`\""))
}

// begin notes what the table is.
func (t *runTable) begin(f *statementFeed) {
	if t.general == nil {
		f.c.name("mysql.slow_log")
		return
	}
	f.c.name("mysql.general_log")
	f.c.out.Untimed = true
	t.general.f = f
}

// end tells what limits what the table says.
func (t *runTable) end(f *statementFeed) {
	switch {
	case t.general != nil:
		f.c.warn(generalUntimed)
	case t.rows > 0 && !t.parts:
		f.c.warn("its times are whole seconds, so a shorter run counts as 0 s; log_output=FILE writes microseconds")
	}
}

// row takes a run.
func (t *runTable) row(f *statementFeed, record []string, line int64) error {
	if len(record) != len(t.names) {
		f.c.fault(1, line, "a row that is cut", "")
		return nil
	}
	of := func(name string) string {
		if i := slices.Index(t.names, name); i >= 0 && !isNull(record[i]) {
			return record[i]
		}
		return ""
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(strings.TrimSpace(of(name)), 10, 64)
		return max(n, 0)
	}
	t.rows++
	if t.general != nil {
		return t.general.entry(sqllog.GeneralEntry{Time: tableTime(of("event_time")), Thread: uint64(number("thread_id")),
			Command: of("command_type"), Text: binaryText(of("argument"))})
	}
	e := sqllog.SlowEntry{Time: tableTime(of("start_time")), Thread: uint64(number("thread_id")), Schema: of("db"),
		RowsSent: number("rows_sent"), RowsExamined: number("rows_examined"), RowsAffected: number("rows_affected")}
	var ok, lock bool
	e.QueryTime, ok = clockSpan(of("query_time"))
	if e.LockTime, lock = clockSpan(of("lock_time")); !lock && of("lock_time") == "" {
		lock = true
	}
	if !ok || !lock {
		f.c.fault(1, line, "a row whose times are none", of("sql_text"))
		return nil
	}
	t.parts = t.parts || strings.Contains(of("query_time"), ".")
	text := binaryText(of("sql_text"))
	e.SQL = strings.TrimRight(text[:min(len(text), sqllog.MaxStatement)], "; \t\r\n")
	if sqllog.IsCommand(e.SQL) || e.SQL == "" {
		e.Command, e.SQL = "command", ""
	}
	return f.add(&e)
}

// tableTime reads a TIMESTAMP as clients write it, in the zone of this machine; zero
// if it is none.
func tableTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.DateTime, time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t
		}
	}
	return time.Time{}
}

// clockSpan reads a TIME, "00:00:01.500000", up to 838:59:59 (MySQL manual, "The
// TIME Type").
func clockSpan(s string) (time.Duration, bool) {
	part := strings.Split(strings.TrimSpace(s), ":")
	if len(part) != 3 {
		return 0, false
	}
	hours, err := strconv.ParseUint(part[0], 10, 16)
	minutes, err2 := strconv.ParseUint(part[1], 10, 16)
	second, err3 := time.ParseDuration(part[2] + "s")
	if err != nil || err2 != nil || err3 != nil || hours > 838 || minutes > 59 || second < 0 || second >= time.Minute {
		return 0, false
	}
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + second, true
}

// binaryText reads a text that the client shows as 0x53454C… (mysql's
// --binary-as-hex, which is the default on a terminal since 8.0.19).
func binaryText(s string) string {
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok || len(digits) == 0 {
		return s
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return s
	}
	return string(b)
}
