package sqllog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// ParsePostgres reads PostgreSQL's log as it goes to standard error, with any
// log_line_prefix, and calls each for every message. A further line of a
// message begins with a tab (elog.c, append_with_tabs), so a statement cannot
// hold what looks like a message; where something has taken the tabs away,
// lines without a severity belong to the message before them.
func ParsePostgres(r io.Reader, each func(*PostgresMessage) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var m PostgresMessage
	var text []byte
	open := false
	flush := func() error {
		if !open {
			return nil
		}
		open = false
		m.Text = string(text)
		return each(&m)
	}
	for {
		line, err := generalLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		if at, severity := postgresSeverity(line); severity != "" {
			if err := flush(); err != nil {
				return err
			}
			m = PostgresMessage{Severity: severity}
			m.prefix(string(line[:at]))
			rest := line[at+len(severity)+3:]
			text, open = append(text[:0], rest[:min(len(rest), mostMessage)]...), true
		} else if open && len(line) > 0 && len(text) < mostMessage {
			text = append(text, '\n')
			line = bytes.TrimPrefix(line, []byte("\t"))
			text = append(text, line[:min(len(line), mostMessage-len(text))]...)
		}
		if err != nil {
			return flush()
		}
	}
}

// postgresSeverities stand before a message, with a colon and two spaces
// (PostgreSQL manual, "Message Severity Levels", and elog.c).
var postgresSeverities = [][]byte{[]byte("LOG:  "), []byte("ERROR:  "), []byte("STATEMENT:  "), []byte("DETAIL:  "), []byte("WARNING:  "),
	[]byte("FATAL:  "), []byte("PANIC:  "), []byte("HINT:  "), []byte("CONTEXT:  "), []byte("NOTICE:  "), []byte("INFO:  "), []byte("QUERY:  "),
	[]byte("LOCATION:  "), []byte("DEBUG1:  "), []byte("DEBUG2:  "), []byte("DEBUG3:  "), []byte("DEBUG4:  "), []byte("DEBUG5:  "), []byte("DEBUG:  ")}

// mostMessage is what is kept of a message: the longest statement and what stands
// before it.
const mostMessage = MaxStatement + 1024

// longPrefix is more than a log_line_prefix with every escape takes.
const longPrefix = 1024

// postgresSeverity finds the first one of a line; "" if it has none.
func postgresSeverity(line []byte) (at int, severity string) {
	if len(line) == 0 || line[0] == '\t' {
		return 0, ""
	}
	head := line[:min(len(line), longPrefix)]
	for colon := 0; ; {
		n := bytes.Index(head[colon:], []byte(":  "))
		if n < 0 {
			return 0, ""
		}
		colon += n
		for _, s := range postgresSeverities {
			name := s[:len(s)-3]
			from := colon - len(name)
			if from >= 0 && bytes.Equal(head[from:colon], name) && (from == 0 || head[from-1] < 'A' || head[from-1] > 'Z') {
				return from, string(name)
			}
		}
		colon++
	}
}

var (
	postgresTime     = lazyregexp.New(`(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?: ?(Z\b|[A-Z][A-Za-z]{1,4}\b|[+-]\d\d(?::?\d\d)?))?`)
	postgresEpoch    = lazyregexp.New(`(?:^|[^\d.])(\d{10})\.(\d{3})(?:[^\d]|$)`)
	postgresProcess  = lazyregexp.New(`\[(\d+)\]|(?:pid=|p=)(\d+)|(?:^|\s)(\d{2,7})(?:\s|$)`)
	postgresDatabase = lazyregexp.New(`\b(?:db|database|d)=([^,\s\]]+)|[\w.$-]+@([\w.$-]+)`)
)

// prefix reads what a log_line_prefix usually holds.
func (m *PostgresMessage) prefix(s string) {
	if g := postgresTime.FindStringSubmatch(s); g != nil {
		m.Time, m.Zone = PostgresTime(g[1]+" "+strings.ReplaceAll(g[2], ",", "."), g[3])
	} else if g := postgresEpoch.FindStringSubmatch(s); g != nil {
		whole, _ := strconv.ParseInt(g[1], 10, 64)
		part, _ := strconv.ParseInt(g[2], 10, 64)
		m.Time = time.Unix(whole, part*1e6)
	}
	if g := postgresProcess.FindStringSubmatch(s); g != nil {
		m.Process = g[1] + g[2] + g[3]
	}
	if g := postgresDatabase.FindStringSubmatch(s); g != nil {
		m.Database = g[1] + g[2]
	}
	if m.Database == "[unknown]" {
		m.Database = ""
	}
}

// zones are names that mean one offset, in seconds (IANA, "tz database"). CST,
// IST, BST and others mean several.
var zones = map[string]int{"UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 3600, "CET": 3600, "CEST": 7200, "EET": 7200, "EEST": 10800, "MSK": 10800,
	"JST": 32400, "KST": 32400, "EST": -18000, "EDT": -14400, "CDT": -18000, "MST": -25200, "MDT": -21600, "PST": -28800, "PDT": -25200,
	"AEST": 36000, "AEDT": 39600, "NZST": 43200, "NZDT": 46800}

// PostgresTime reads "2024-05-12 08:00:01.123" with its zone: a name, an offset
// such as +02 or +05:30, or "", which is this machine's. A name that is not
// known, or means several zones, is returned, and the time is UTC.
func PostgresTime(text, zone string) (time.Time, string) {
	const layout = "2006-01-02 15:04:05"
	at := time.Local
	unknown := ""
	if offset, ok := zones[zone]; ok {
		at = time.FixedZone(zone, offset)
	} else if zone != "" && (zone[0] == '+' || zone[0] == '-') {
		digits := strings.ReplaceAll(zone[1:], ":", "")
		n, _ := strconv.Atoi((digits + "00")[:4])
		seconds := n/100*3600 + n%100*60
		if zone[0] == '-' {
			seconds = -seconds
		}
		at = time.FixedZone(zone, seconds)
	} else if zone != "" {
		local, _ := time.ParseInLocation(layout, text, time.Local)
		if name, _ := local.Zone(); name != zone {
			at, unknown = time.UTC, zone
		}
	}
	t, err := time.ParseInLocation(layout, text, at)
	if err != nil {
		return time.Time{}, unknown
	}
	return t, unknown
}

// postgresBegins are messages by which a log is known, statements' first.
var postgresBegins = []string{"duration: ", "statement: ", "execute ", "database system", "starting PostgreSQL", "listening on", "checkpoint ", "connection ", "disconnection"}

// PostgresMessageAt finds the first line that is a message of PostgreSQL's log
// as it goes to standard error; -1 if there is none. timed: only one that has a
// statement or its time counts.
func PostgresMessageAt(text []byte, timed bool) int {
	begins := postgresBegins
	if timed {
		begins = begins[:2]
	}
	for at := 0; at < len(text); {
		end, next := lineEnd(text, at)
		if end < 0 {
			end, next = len(text), len(text)
		}
		line := text[at:end]
		if n, severity := postgresSeverity(line); severity == "LOG" {
			for _, b := range begins {
				if bytes.HasPrefix(line[n+len("LOG:  "):], []byte(b)) {
					return at
				}
			}
		}
		at = next
	}
	return -1
}
