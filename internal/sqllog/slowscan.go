package sqllog

import (
	"bytes"
	"strings"
	"time"
	"unsafe"
)

// SlowState is what a slow log's text hands on from entry to entry.
type SlowState struct {
	Schema string    // of the last use line
	Time   time.Time // of the last "# Time:" line
}

// SlowScanner parses one piece of a slow log that begins at an entry's start
// (SlowCut) or at the log's. It is for one piece.
type SlowScanner struct {
	// Before is asked, at most once, for the state that the pieces before left,
	// when an entry needs it. nil: such entries are marked Carried.
	Before func() SlowState

	before *SlowState
	entry  SlowEntry
	open   bool // an entry's header was read
	began  bool // a line of the statement, or SET timestamp, was read
	closed bool // the last line ended with ";"
	data   []byte
	from   int
	to     int
	ownUse bool   // the entry's own header named its schema
	schema string // of the last use line in this piece
	used   bool   // there was one
	stamp  []byte // of the last "# Time:" line in this piece
	cut    bool   // the piece ended within an entry
}

// After is the state that follows the piece, which was before.
func (p *SlowScanner) After(before SlowState) SlowState {
	if p.used {
		before.Schema = p.schema
	}
	if p.stamp != nil {
		before.Time = slowClock(p.stamp)
	}
	return before
}

// Schema returns the schema of the piece's last use line, if it has one.
func (p *SlowScanner) Schema() (string, bool) { return p.schema, p.used }

// Cut: the piece ended within an entry, which was left out.
func (p *SlowScanner) Cut() bool { return p.cut }

// Scan calls each for every whole entry. The entry and its texts are valid
// during the call only: they lie in data.
func (p *SlowScanner) Scan(data []byte, each func(*SlowEntry) error) error {
	p.data = data
	for at := 0; at < len(data); {
		end := len(data)
		next := end
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			end = at + n
			next = end + 1
		}
		line := data[at:end]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = trimEnd(line)
		}
		if err := p.line(line, at, each); err != nil {
			return err
		}
		at = next
	}
	if p.stamp != nil {
		p.stamp = bytes.Clone(p.stamp) // the piece's buffer is used again
	}
	p.cut = p.open && !p.closed
	return p.flush(each)
}

// Kinds of lines that end the entry before them.
const (
	notHeader = iota
	timeHeader
	userHeader
	bannerHeader
)

var (
	timePrefix = []byte("# Time: ")
	userPrefix = []byte("# User@Host: ")
	userMark   = []byte("] @ ")
)

func headerKind(s []byte) int {
	if len(s) < 12 {
		return notHeader
	}
	if s[0] == '#' {
		switch {
		case bytes.HasPrefix(s, timePrefix) && isStamp(s[len(timePrefix):]):
			return timeHeader
		case bytes.HasPrefix(s, userPrefix) && isUser(s[len(userPrefix):]):
			return userHeader
		}
		return notHeader
	}
	// A log begins with three such lines after each (re)start or FLUSH LOGS.
	switch {
	case bytes.EqualFold(s[:10], []byte("tcp port: ")) && isDigit(s[10]),
		s[0] == 'T' && bytes.HasPrefix(s, []byte("Time")) && bytes.Equal(bytes.Join(bytes.Fields(s), []byte(" ")), []byte("Time Id Command Argument")),
		bytes.HasSuffix(s, []byte("started with:")) && bytes.Contains(s, []byte(", Version: ")):
		return bannerHeader
	}
	return notHeader
}

// isStamp: a time, and nothing else but a fraction, a zone or a user after it.
func isStamp(s []byte) bool {
	n := slowStamp(s)
	if n == 0 {
		return false
	}
	for n < len(s) && (isDigit(s[n]) || s[n] == '.' || s[n] == 'Z' || s[n] == '+' || s[n] == '-' || s[n] == ':') {
		n++
	}
	rest := bytes.TrimSpace(s[n:])
	return len(rest) == 0 || bytes.HasPrefix(rest, userPrefix)
}

func isUser(s []byte) bool {
	at := bytes.Index(s, userMark)
	return at >= 0 && bytes.IndexByte(s[:at], '[') >= 0
}

func (p *SlowScanner) line(s []byte, at int, each func(*SlowEntry) error) error {
	if (!p.open || !p.began || p.closed) && len(s) > 0 {
		if c := s[0]; c == '#' && len(s) > 2 && (s[2] == 'T' || s[2] == 'U') || c != '#' && (c == 'T' || c == 't' || s[len(s)-1] == ':') {
			if kind := headerKind(s); kind != notHeader {
				return p.header(kind, s, each)
			}
		}
	}
	switch {
	case !p.open:
	case len(s) > 0 && s[0] == '#' && p.from == p.to && p.command(s):
	case !p.began && len(s) > 0 && s[0] == '#':
		p.fields(s)
	case !p.began && p.useLine(s):
	case !p.began && p.setLine(s):
	default:
		p.began = true
		if p.from == p.to {
			p.from = at
		}
		p.to = at + len(s)
		p.closed = len(s) > 0 && s[len(s)-1] == ';'
	}
	return nil
}

func (p *SlowScanner) header(kind int, s []byte, each func(*SlowEntry) error) error {
	if err := p.flush(each); err != nil {
		return err
	}
	if kind == timeHeader {
		p.stamp = s[len(timePrefix):]
		// Some MySQL 5.1 wrote both headers on one line.
		if n := bytes.Index(s, userPrefix); n > 0 && isUser(s[n+len(userPrefix):]) {
			s, kind = s[n:], userHeader
		}
	}
	if kind == userHeader {
		p.open = true
		p.entry.Thread = lastID(s)
	}
	return nil
}

// lastID reads "Id: 42" at a line's end.
func lastID(s []byte) uint64 {
	end := len(s)
	for end > 0 && s[end-1] == ' ' {
		end--
	}
	at := end
	for at > 0 && isDigit(s[at-1]) {
		at--
	}
	id := at
	for id > 0 && s[id-1] == ' ' {
		id--
	}
	if at == end || id < 4 || string(s[id-3:id]) != "Id:" || s[id-4] != ' ' {
		return 0
	}
	return uint64(max(slowInt(s[at:end]), 0))
}

func (p *SlowScanner) command(s []byte) bool {
	const prefix = "# administrator command: "
	if len(s) < len(prefix) || s[2] != 'a' || string(s[:len(prefix)]) != prefix || p.entry.Command != "" {
		return false
	}
	p.entry.Command = view(bytes.TrimRight(s[len(prefix):], ";"))
	p.began, p.closed = true, true
	return p.entry.Command != ""
}

// useLine takes "use `shop`;" before a statement.
func (p *SlowScanner) useLine(s []byte) bool {
	if len(s) < 6 || s[len(s)-1] != ';' || s[3] != ' ' || s[0]|0x20 != 'u' || s[1]|0x20 != 's' || s[2]|0x20 != 'e' {
		return false
	}
	name := string(s[4 : len(s)-1])
	if strings.HasPrefix(name, "`") {
		if quotedLength(name, '`', false) != len(name) || len(name) < 3 {
			return false
		}
		name = strings.ReplaceAll(name[1:len(name)-1], "``", "`")
	} else if strings.ContainsAny(name, ";`") {
		return false
	}
	p.schema, p.used = name, true
	return true
}

func (p *SlowScanner) setLine(s []byte) bool {
	stamp, ok := slowSet(s)
	if !ok {
		return false
	}
	p.began = true // what follows is the statement, whatever it looks like
	if stamp > 0 {
		p.entry.Time = time.Unix(stamp, 0)
	}
	return true
}

// slowSet reads "SET last_insert_id=3,insert_id=7,timestamp=1714557600;", the
// line that a server writes before the statement.
func slowSet(s []byte) (stamp int64, ok bool) {
	if len(s) < 14 || string(s[:4]) != "SET " || s[len(s)-1] != ';' {
		return 0, false
	}
	const usual = "SET timestamp="
	if len(s) > len(usual)+1 && string(s[:len(usual)]) == usual && allDigits(s[len(usual):len(s)-1]) {
		return slowInt(s[len(usual):]), true
	}
	for part := range bytes.SplitSeq(s[4:len(s)-1], []byte(",")) {
		name, value, found := bytes.Cut(part, []byte("="))
		if len(part) == 0 && ok {
			continue // a list that ends with a comma
		}
		if !found || len(value) == 0 {
			return 0, false
		}
		for _, c := range value {
			if !isDigit(c) && c != '.' {
				return 0, false
			}
		}
		switch string(name) {
		case "timestamp":
			stamp = slowInt(value)
		case "last_insert_id", "insert_id":
		default:
			return 0, false
		}
		ok = true
	}
	return stamp, ok
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// view is b as a string without a copy: valid as long as b is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (p *SlowScanner) flush(each func(*SlowEntry) error) error {
	e := &p.entry
	text := p.data[p.from:p.to]
	whole := p.open && p.closed && (len(text) > 0 || e.Command != "")
	p.open, p.began, p.closed, p.from, p.to = false, false, false, 0, 0
	defer p.reset()
	if !whole {
		return nil
	}
	if e.Command == "" {
		text = text[:len(text)-1]
		if len(bytes.TrimSpace(text[:min(len(text), MaxStatement)])) == 0 {
			return nil
		}
		e.SQL = view(text[:min(len(text), MaxStatement)])
	}
	if !p.ownUse {
		p.inherit()
	}
	if e.Time.IsZero() {
		e.Time = p.clock()
	}
	return each(e)
}

func (p *SlowScanner) reset() { p.entry, p.ownUse = SlowEntry{}, false }

func (p *SlowScanner) inherit() {
	switch {
	case p.used:
		p.entry.Schema = p.schema
	case p.Before == nil:
		p.entry.Carried = true
	default:
		p.entry.Schema = p.ask().Schema
	}
}

func (p *SlowScanner) clock() time.Time {
	switch {
	case p.stamp != nil:
		return slowClock(p.stamp)
	case p.Before == nil:
		return time.Time{}
	}
	return p.ask().Time
}

func (p *SlowScanner) ask() *SlowState {
	if p.before == nil {
		s := p.Before()
		p.before = &s
	}
	return p.before
}
