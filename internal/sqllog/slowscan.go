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

// SlowScanner parses one piece of a slow log (SlowPieces).
type SlowScanner struct {
	// Before is asked, at most once, for the state that the pieces before left,
	// when an entry needs it. nil: such entries are marked Carried.
	Before func() SlowState

	before *SlowState
	entry  SlowEntry
	timed  bool   // the entry's header had a Query_time
	lines  uint64 // header lines that the entry had, by the number of their first key
	warned bool   // the entry's warnings are read: text up to the statement
	ownUse bool   // the entry's own header named its schema
	schema string // of the last use line in this piece
	used   bool   // there was one
	stamp  []byte // of the last "# Time:" line in this piece
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

// Scan calls each for every entry, also for what is none any more (Fault). The
// entry and its texts are valid during the call only: they lie in the piece.
func (p *SlowScanner) Scan(piece *SlowPiece, each func(*SlowEntry) error) error {
	data := piece.Data
	first := len(data)
	if len(piece.Starts) > 0 {
		first = piece.Starts[0]
	}
	if err := p.lost(data[:first], each); err != nil {
		return err
	}
	for i, at := range piece.Starts {
		end := len(data)
		if i+1 < len(piece.Starts) {
			end = piece.Starts[i+1]
		}
		p.entry, p.ownUse, p.timed, p.lines, p.warned = SlowEntry{At: at}, false, false, 0, false
		if err := p.scanEntry(data[at:end], piece.Last && end == len(data), each); err != nil {
			return err
		}
	}
	if p.stamp != nil {
		p.stamp = bytes.Clone(p.stamp) // the piece's buffer is used again
	}
	return nil
}

// lost is text before the first header: the rest of an entry.
func (p *SlowScanner) lost(s []byte, each func(*SlowEntry) error) error {
	rest := bytes.TrimSpace(withoutNoise(s))
	if len(rest) == 0 {
		return nil
	}
	return each(&SlowEntry{Fault: SlowHeadless, SQL: view(rest[:min(len(rest), MaxStatement)]), At: bytes.Index(s, rest[:1])})
}

// scanEntry reads an entry's header and what follows it.
func (p *SlowScanner) scanEntry(s []byte, last bool, each func(*SlowEntry) error) error {
	at, user := 0, false
	for at < len(s) {
		end, next := lineEnd(s, at)
		if end < 0 {
			end, next = len(s), len(s)
		}
		line := trimEnd(s[at:end])
		if kind := lineKind(line); kind == bannerHeader && at == 0 {
			return nil
		} else if kind == timeHeader && at == 0 || kind == userHeader && !user {
			user = p.header(kind, withoutNoise(line))
			at = next
			continue
		}
		set, header := p.headerLine(line)
		if !header && !(p.warned && hasSlowSet(s[next:])) {
			break
		}
		at = next
		if set {
			break
		}
	}
	return p.finish(s[at:], last, each)
}

// headerLine takes a line of the header; set: the statement follows it.
func (p *SlowScanner) headerLine(s []byte) (set, header bool) {
	switch {
	case len(s) == 0 || bytes.HasPrefix(s, commandPrefix):
		return false, false
	case s[0] == '#':
		if p.warned = p.warned || isWarnings(s); !p.warned {
			p.fields(s)
		}
		return false, true
	case isUseLine(s):
		p.useLine(s)
		return false, true
	}
	if stamp, ok := slowSet(s); ok {
		if stamp > 0 {
			p.entry.Time = time.Unix(stamp, 0)
		}
		return true, true
	}
	if !p.warned && bareFields(s) {
		p.fields(append([]byte("# "), s...))
		return false, true
	}
	return false, false
}

// finish hands the entry on.
func (p *SlowScanner) finish(text []byte, last bool, each func(*SlowEntry) error) error {
	e := &p.entry
	text = bytes.TrimRight(text, "\r\n\x00")
	if trimmed := bytes.TrimRight(text, " \t\r\n\x00"); len(trimmed) == 0 {
		text = trimmed
	}
	if n := len(text); n > 0 && text[n-1] == ';' {
		text = text[:n-1]
	} else {
		e.Unended, e.Last = true, last
	}
	if bytes.HasPrefix(text, commandPrefix) && bytes.IndexByte(text, '\n') < 0 {
		e.Command, text = view(bytes.TrimRight(text[len(commandPrefix):], ";")), nil
	}
	text = text[:min(len(text), MaxStatement)]
	switch {
	case e.Command != "":
	case len(bytes.TrimSpace(text)) == 0:
		e.Fault = SlowEmpty
	case !p.timed:
		e.Fault = SlowUntimed
	}
	e.SQL = view(text)
	if !p.ownUse {
		p.inherit()
	}
	if e.Time.IsZero() {
		e.Time = p.clock()
	}
	return each(e)
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
	// A log begins with three such lines after each (re)start or FLUSH LOGS; tail
	// writes ==> slow.log <== between the lines of several files.
	switch {
	case bytes.HasPrefix(s, []byte("==> ")) && bytes.HasSuffix(s, []byte(" <==")):
		return bannerHeader
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

// header reads one of the two lines that an entry begins with, and tells whether
// that of the user is read.
func (p *SlowScanner) header(kind int, s []byte) bool {
	if kind == timeHeader {
		p.stamp = s[len(timePrefix):]
		// Some MySQL 5.1 wrote both headers on one line.
		n := bytes.Index(s, userPrefix)
		if n < 0 {
			return false
		}
		s = s[n:]
	}
	p.entry.Thread = lastID(s)
	return true
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

// isUseLine: "use `shop`;" before a statement.
func isUseLine(s []byte) bool {
	if len(s) < 6 || s[len(s)-1] != ';' || s[3] != ' ' || s[0]|0x20 != 'u' || s[1]|0x20 != 's' || s[2]|0x20 != 'e' {
		return false
	}
	name := view(s[4 : len(s)-1])
	if strings.HasPrefix(name, "`") {
		return quotedLength(name, '`', false) == len(name) && len(name) >= 3
	}
	return !strings.ContainsAny(name, ";`")
}

// useLine takes the schema of such a line.
func (p *SlowScanner) useLine(s []byte) {
	name := string(s[4 : len(s)-1])
	if strings.HasPrefix(name, "`") {
		name = strings.ReplaceAll(name[1:len(name)-1], "``", "`")
	}
	p.schema, p.used = name, true
}

// slowSet reads "SET last_insert_id=3,insert_id=7,timestamp=1714557600;", the
// line that a server writes before the statement.
func slowSet(s []byte) (stamp int64, ok bool) {
	if len(s) < 14 || string(s[:4]) != "SET " || s[len(s)-1] != ';' {
		return 0, false
	}
	const usual = "SET timestamp="
	if len(s) > len(usual)+1 && string(s[:len(usual)]) == usual && allDigits(s[len(usual):len(s)-1]) {
		return setStamp(s[len(usual):]), true
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
			stamp = setStamp(value)
		case "last_insert_id", "insert_id":
		default:
			return 0, false
		}
		ok = true
	}
	return stamp, ok
}

// setStamp is seconds since 1970; proxies that write a slow log (dble) have milliseconds
// there, others may have microseconds. 10¹¹ s are in the year 5138.
func setStamp(s []byte) int64 {
	stamp := slowInt(s)
	for _, unit := range []int64{1e6, 1e3} {
		if stamp > 1e8*unit {
			return stamp / unit
		}
	}
	return stamp
}

// hasSlowSet: such a line follows, among as many as a header may have.
func hasSlowSet(s []byte) bool {
	n := 0
	for line := range bytes.Lines(s) {
		if _, ok := slowSet(trimEnd(bytes.TrimRight(line, "\n"))); ok {
			return true
		}
		if n++; n >= groupLines {
			break
		}
	}
	return false
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
