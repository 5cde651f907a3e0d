package sqllog

import "bytes"

// slowDivider finds where the entries of a slow log begin.
//
// A statement may hold any text, lines that look like an entry's header too,
// and a statement may be cut, so neither a header's look nor a missing ";"
// tells alone. The rule:
//
//   - After a line that ends with ";" outside quotes and comments, a line that
//     looks like a header, and has more of one after it, is one.
//   - Elsewhere it is one only if the lines after it are a whole header of the
//     form that the entry before has (slowGroup), and its time is not before
//     that entry's.
//   - Within a quote or comment, moreover, only if that quote does not end with
//     a statement's end: then it is text that somebody stored (quoteCloses).
//
// What cannot be told: a text in an unfinished quote, with a whole header of the
// very same form and a later time, where a second unfinished quote follows.
type slowDivider struct {
	buf    []byte
	eof    bool // nothing follows buf
	at     int  // the line that is looked at
	mid    bool // at lies within a line whose start was text
	starts []int
	phase  int
	quote  quoteState
	closed bool
	header slowShape // of the present entry
	warned bool      // its warnings are read

	taken   int64 // lines that look like a header and were taken for text
	unended int64 // statements without ";" that another entry follows
	ended   int64 // statements with it
	dropped int64 // lines that dropMiddle took out of the present piece
}

// Phases of an entry.
const (
	slowOutside   = iota // before the first header, or after the server's banner
	slowStamped          // a "# Time:" line was read
	slowHeader           // header lines
	slowStatement        // what follows is the statement
)

const (
	// longLine of which the part that is there is looked at, though its end is not.
	longLine = 64 << 10
	// quoteLook is how far a quote's end is looked for.
	quoteLook = 4 << 20
	// quoteHeaders in a quote: after so many it is not closed any more.
	quoteHeaders = 32
)

// verdict of a look that may need more bytes.
type verdict int

const (
	no verdict = iota
	sure
	needMore
)

// run looks at all lines that can be judged.
func (d *slowDivider) run() {
	for d.at < len(d.buf) {
		end, next := lineEnd(d.buf, d.at)
		if end < 0 {
			if !d.eof {
				d.long()
				return
			}
			end, next = len(d.buf), len(d.buf)
		}
		line := d.buf[d.at:end]
		if !d.mid && !d.line(line) {
			return
		}
		if d.mid {
			d.text(line)
			d.mid = false
		}
		d.at = next
	}
}

// long takes what is there of a line that is longer than any header.
func (d *slowDivider) long() {
	const keep = 16 // for the line's end
	if len(d.buf)-d.at < longLine {
		return
	}
	if !d.mid && d.phase == slowHeader {
		d.begin()
	}
	d.mid = true
	part := d.buf[d.at : len(d.buf)-keep]
	if d.phase == slowStatement {
		d.quote.feed(part)
	}
	d.at += len(part)
}

// lineEnd returns where the line at ends and the next begins; -1 if its end is
// not there.
func lineEnd(data []byte, at int) (end, next int) {
	n := bytes.IndexByte(data[at:], '\n')
	if n < 0 {
		return -1, -1
	}
	return at + n, at + n + 1
}

// line takes a whole line; false: more bytes are needed.
func (d *slowDivider) line(s []byte) bool {
	s = trimEnd(s)
	if kind := lineKind(s); kind != notHeader {
		switch d.judge(kind, s) {
		case needMore:
			return false
		case sure:
			d.enter(kind, s)
			return true
		}
		d.taken++
	}
	switch d.phase {
	case slowHeader:
		if !d.headerLine(s) {
			d.text(s)
		}
	case slowStatement:
		d.text(s)
	}
	return true
}

// lineKind looks at a line's ends before headerKind does.
func lineKind(s []byte) int {
	if len(s) == 0 {
		return notHeader
	}
	switch c := s[0]; {
	case c == '#':
		if len(s) < 3 || s[2] != 'T' && s[2] != 'U' {
			return notHeader
		}
	case c == 0 || c == 0xef: // zeros of a log that was truncated; a byte order mark
		return headerKind(withoutNoise(s))
	case c != 'T' && c != 't' && c != '=' && s[len(s)-1] != ':':
		return notHeader
	}
	return headerKind(s)
}

// withoutNoise leaves out what may stand before a log's first byte.
func withoutNoise(s []byte) []byte {
	return bytes.TrimPrefix(bytes.TrimLeft(s, "\x00"), []byte("\xef\xbb\xbf"))
}

// enter begins an entry, or the server's banner.
func (d *slowDivider) enter(kind int, s []byte) {
	if d.phase == slowStatement {
		d.unended += int64(btoi(!d.closed))
		d.ended += int64(btoi(d.closed))
	}
	switch {
	case kind == bannerHeader:
		d.starts = append(d.starts, d.at)
		d.phase = slowOutside
		return
	case kind == userHeader && d.phase == slowStamped:
	default:
		d.starts = append(d.starts, d.at)
		d.header = slowShape{times: d.header.times[:0], clock: d.header.clock[:0]}
	}
	d.phase, d.warned = slowHeader, false
	if kind == timeHeader {
		d.header.clock = append(d.header.clock, s...)
		if !bytes.Contains(s, userPrefix) {
			d.phase = slowStamped
		}
	}
	d.closed = false
}

// headerLine: the line belongs to the entry's header.
func (d *slowDivider) headerLine(s []byte) bool {
	if d.phase == slowStatement {
		return false
	}
	switch {
	case len(s) == 0:
		return false
	case s[0] == '#':
		if bytes.HasPrefix(s, commandPrefix) {
			return false
		}
		d.warned = d.warned || isWarnings(s)
		d.header.note(s)
		return true
	case isUseLine(s):
		return true
	}
	if stamp, ok := slowSet(s); ok {
		d.header.stamp, d.header.stamped = stamp, true
		d.begin()
		return true
	}
	if bareFields(s) {
		d.header.note(s)
		return true
	}
	return d.warned // the further line of a warning
}

// begin: the statement follows.
func (d *slowDivider) begin() {
	d.phase, d.closed, d.quote = slowStatement, false, quoteState{last: [2]byte{'\n', '\n'}}
}

// text takes a line, or its rest, of a statement.
func (d *slowDivider) text(s []byte) {
	if d.phase == slowHeader {
		d.begin()
	}
	if d.phase == slowStatement {
		closed := d.quote.line(s)
		d.closed = closed || d.closed && len(trimEnd(s)) == 0 && !d.quote.quoted() // an empty line changes nothing
	}
}

// line takes a line with its end and tells whether it may end a statement.
func (q *quoteState) line(s []byte) bool {
	s = trimEnd(s)
	q.feed(s)
	closed := !q.quoted() && len(s) > 0 && s[len(s)-1] == ';'
	q.newline()
	return closed
}

// judge tells whether the line at d.at, which looks like a header, is one.
func (d *slowDivider) judge(kind int, s []byte) verdict {
	switch {
	case d.phase == slowHeader && d.warned:
		return d.group(d.at) // it may stand in a warning's text
	case d.phase != slowStatement:
		return sure
	}
	if d.closed {
		return d.goesOn(kind)
	}
	v := d.group(d.at)
	if v != sure || !d.quote.quoted() {
		return v
	}
	return d.quoteCloses()
}

// goesOn: the line after a header's first belongs to a header as well.
func (d *slowDivider) goesOn(kind int) verdict {
	_, next := lineEnd(d.buf, d.at)
	if next < 0 || next >= len(d.buf) {
		if !d.eof {
			return needMore
		}
		return sure // cut off
	}
	c := d.buf[next]
	if kind == bannerHeader || c == '#' || c == ' ' || c == 'T' || c == 't' || lineKind(d.buf[next:]) != notHeader {
		return sure
	}
	return no
}

// quoteCloses looks for the end of the quote that the header at d.at would lie
// in. no: it is text, because a statement ends after it.
func (d *slowDivider) quoteCloses() verdict {
	q := d.quote
	closed := false
	seen := 0
	for at := d.at; at < len(d.buf); {
		if at-d.at > quoteLook || seen > quoteHeaders {
			return sure
		}
		end, next := lineEnd(d.buf, at)
		if end < 0 {
			if !d.eof {
				break
			}
			end, next = len(d.buf), len(d.buf)
		}
		s := trimEnd(d.buf[at:end])
		if kind := lineKind(s); at > d.at && kind != notHeader && kind != bannerHeader {
			v := d.group(at)
			if v == needMore {
				return needMore
			}
			if v == sure {
				switch {
				case closed:
					return no
				case !q.quoted():
					// Of two statements that are cut within quotes the second seems to
					// end the first one's; but where the server writes no ";" it is text.
					return verdict(btoi(d.ended >= d.unended))
				}
				seen++
			}
		}
		closed = q.line(s)
		at = next
	}
	switch {
	case !d.eof && len(d.buf)-d.at <= quoteLook:
		return needMore
	case closed:
		return no
	}
	return sure
}
