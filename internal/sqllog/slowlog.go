package sqllog

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// SlowEntry is one statement of a slow query log.
type SlowEntry struct {
	Thread       uint64
	Schema       string
	SQL          string // without its final ";"; at most MaxStatement bytes
	QueryTime    time.Duration
	LockTime     time.Duration
	RowsSent     int64
	RowsExamined int64
	FullScan     bool
	TmpTables    int64
	TmpDisk      int64
	Filesort     bool
	// Command is set instead of SQL for "# administrator command: Ping;".
	Command string
}

// MaxStatement bounds how much of one statement is kept: enough for any query
// written by a person or an ORM; a bulk INSERT says no more after it.
const MaxStatement = 64 << 10

var (
	// A log begins with three such lines after each (re)start or FLUSH LOGS.
	slowBanner = regexp.MustCompile(`^(\S+, Version: .*started with:|Tcp port: \d+ .*|Time\s+Id Command\s+Argument)\s*$`)
	// "# Time: 261121  2:27:56" (MariaDB), "# Time: 2024-05-01T10:00:00.1Z" (MySQL).
	slowTime = regexp.MustCompile(`^# Time: (\d{6}\s+\d{1,2}:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)`)
	slowUser = regexp.MustCompile(`^# User@Host: .*\[.*\] @ `)
	slowID   = regexp.MustCompile(`\bId:\s*(\d+)\s*$`)
	slowUse  = regexp.MustCompile("(?i)^use (`(?:[^`]|``)+`|[^`;]+);$")
	slowSet  = regexp.MustCompile(`^SET ((last_insert_id|insert_id|timestamp)=[\d.]+,?)+;$`)
)

// ParseSlowLog reads the slow query log of MariaDB (10.x, 11.x, with any
// log_slow_verbosity) and MySQL (5.7, 8.x, with or without log_slow_extra) and
// calls each for every whole entry. Text before the first header and an entry
// cut off at the end are left out. A server-side prepared statement stands in
// the log once for each execution, with its values filled in; preparing and
// closing it are not logged (seen with MariaDB 10.11).
//
// Errors are those of r and each; the log's own text never is one.
func ParseSlowLog(r io.Reader, each func(SlowEntry) error) error {
	p := slowParser{each: each}
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		atEnd := err != nil
		if line != "" || !atEnd {
			if err := p.line(line); err != nil {
				return err
			}
		}
		if atEnd {
			return p.flush()
		}
	}
}

// readLine returns one line without its end, cut to MaxStatement bytes plus
// its last byte, so that a final ";" is not lost.
func readLine(br *bufio.Reader) (string, error) {
	var b []byte
	var last byte
	for {
		part, err := br.ReadSlice('\n')
		if n := len(part); n > 0 {
			text := strings.TrimRight(string(part), "\r\n")
			if text != "" {
				last = text[len(text)-1]
			}
			b = append(b, text[:min(len(text), MaxStatement-min(len(b), MaxStatement))]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(b) >= MaxStatement && last == ';' {
			b = append(b[:MaxStatement], ';')
		}
		return string(b), err
	}
}

// Kinds of lines that end the entry before them.
const (
	notHeader = iota
	timeHeader
	userHeader
	bannerHeader
)

// headerKind looks at the first bytes before it asks a regular expression:
// nearly all lines are no header.
func headerKind(s string) int {
	switch {
	case strings.HasPrefix(s, "# Time: "):
		if slowTime.MatchString(s) {
			return timeHeader
		}
	case strings.HasPrefix(s, "# User@Host: "):
		if slowUser.MatchString(s) {
			return userHeader
		}
	case strings.HasPrefix(s, "Tcp port: "), strings.HasPrefix(s, "Time"), strings.HasSuffix(s, "started with:"):
		if slowBanner.MatchString(s) {
			return bannerHeader
		}
	}
	return notHeader
}

type slowParser struct {
	each   func(SlowEntry) error
	entry  *SlowEntry // nil before the first header
	body   strings.Builder
	began  bool   // a line of the statement was seen
	closed bool   // the last line ended with ";"
	schema string // of the last use line
	use    bool   // the entry's own header named no schema
}

func (p *slowParser) line(s string) error {
	kind := notHeader
	if p.entry == nil || !p.began || p.closed {
		kind = headerKind(s)
	}
	if kind != notHeader {
		if p.began || kind == bannerHeader {
			if err := p.flush(); err != nil {
				return err
			}
		}
		if kind == userHeader {
			p.entry = &SlowEntry{}
			p.use = true
			if m := slowID.FindStringSubmatch(s); m != nil {
				p.entry.Thread, _ = strconv.ParseUint(m[1], 10, 64)
			}
		}
		return nil
	}
	if p.entry == nil {
		return nil
	}
	if cmd, ok := strings.CutPrefix(s, "# administrator command: "); ok && p.body.Len() == 0 {
		p.entry.Command = strings.TrimRight(cmd, ";")
		p.began, p.closed = true, true
		return nil
	}
	if !p.began && strings.HasPrefix(s, "#") {
		p.fields(s)
		return nil
	}
	if p.body.Len() == 0 && p.entry.Command == "" {
		if m := useLine(s); m != nil && !p.began {
			p.schema = strings.ReplaceAll(strings.Trim(m[1], "`"), "``", "`")
			return nil
		}
		if !p.began && strings.HasPrefix(s, "SET ") && slowSet.MatchString(s) {
			p.began = true // what follows is the statement, whatever it looks like
			return nil
		}
	}
	p.began = true
	if room := MaxStatement + 1 - p.body.Len(); room > 0 {
		if p.body.Len() > 0 {
			p.body.WriteByte('\n')
		}
		p.body.WriteString(s[:min(len(s), room)])
	}
	p.closed = strings.HasSuffix(s, ";")
	return nil
}

func useLine(s string) []string {
	if len(s) < 6 || !strings.EqualFold(s[:4], "use ") {
		return nil
	}
	return slowUse.FindStringSubmatch(s)
}

// fields reads "Key: value  Key: value". A value may be missing.
func (p *slowParser) fields(s string) {
	f := strings.Fields(strings.TrimPrefix(s, "#"))
	if len(f) > 0 && f[0] == "explain:" {
		return
	}
	e := p.entry
	for i := 0; i < len(f); i++ {
		key, ok := strings.CutSuffix(f[i], ":")
		if !ok {
			continue
		}
		value := ""
		if i+1 < len(f) && !strings.HasSuffix(f[i+1], ":") {
			value = f[i+1]
			i++
		}
		n, _ := strconv.ParseInt(value, 10, 64)
		switch key {
		case "Thread_id":
			e.Thread = uint64(max(n, 0))
		case "Schema":
			e.Schema, p.use = value, false
		case "Query_time":
			e.QueryTime = slowSeconds(value)
		case "Lock_time":
			e.LockTime = slowSeconds(value)
		case "Rows_sent":
			e.RowsSent = max(n, 0)
		case "Rows_examined":
			e.RowsExamined = max(n, 0)
		case "Full_scan":
			e.FullScan = value == "Yes"
		case "Tmp_tables", "Created_tmp_tables":
			e.TmpTables = max(n, 0)
		case "Tmp_disk_tables", "Created_tmp_disk_tables":
			e.TmpDisk = max(n, 0)
		case "Tmp_table":
			e.TmpTables = max(e.TmpTables, int64(btoi(value == "Yes")))
		case "Tmp_table_on_disk":
			e.TmpDisk = max(e.TmpDisk, int64(btoi(value == "Yes")))
		case "Filesort":
			e.Filesort = value == "Yes"
		case "Sort_scan_count", "Sort_range_count":
			e.Filesort = e.Filesort || n > 0
		case "Read_rnd_next":
			// MySQL's log_slow_extra: rows read by scanning, one more than there
			// are rows for each scan (MySQL manual, "Handler_read_rnd_next").
			e.FullScan = n > 1 && n > e.RowsExamined/2
		}
	}
}

// slowSeconds reads "0.000215"; 0 if it is no time.
func slowSeconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f < 1e8) {
		return 0
	}
	return time.Duration(f * 1e9)
}

func (p *slowParser) flush() error {
	e := p.entry
	text := p.body.String()
	whole := p.closed
	p.entry, p.began, p.closed = nil, false, false
	p.body.Reset()
	if e == nil || !whole || text == "" && e.Command == "" {
		return nil
	}
	if p.use {
		e.Schema = p.schema
	}
	e.SQL = strings.TrimSuffix(text, ";")
	if e.Command == "" && strings.TrimSpace(e.SQL) == "" {
		return nil
	}
	return p.each(*e)
}
