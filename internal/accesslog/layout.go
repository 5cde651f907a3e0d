package accesslog

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"time"
)

// layout is the short way through a line: text that must stand there, and
// values between. It is made of a format's template or learnt from a line of
// labelled values.
type layout struct {
	pieces []piece
	// wanted is how many pieces a row needs; the rest of the line is not read.
	wanted int
	ended  literal // behind the last piece
	// appTime: where the request's time is missing, the application's is it.
	appTime bool
	// rivals: other values are request times, too, and count where this one is none.
	rivals bool
}

// piece is a literal and the value behind it.
type piece struct {
	before literal
	after  *literal // the next one's before
	place
	until byte // ends the value; 0: the line's end does
	never byte // 0, or what the last value of a line does not hold
	width int  // > 0: as in the format; else that of the line before
	fixed bool
	list  bool // may be several, joined as nginx does
	luck  int8 // of guessing the width: below 0 it is not tried
}

// literal is text compared by its first eight bytes and its last eight, which
// overlap if it is shorter than sixteen.
type literal struct {
	text       string
	head, tail uint64
	mask       uint64 // of head's and tail's bytes that count; 0: the text is too long for this
	tailAt     int
}

// literalRoom is what a literal's short comparison reads.
const literalRoom = 16

func newLiteral(s string) literal {
	var b, m [8]byte
	copy(b[:], s)
	for i := range min(len(s), 8) {
		m[i] = 0xff
	}
	l := literal{text: s, head: binary.LittleEndian.Uint64(b[:]), mask: binary.LittleEndian.Uint64(m[:])}
	l.tail = l.head
	if len(s) > 8 {
		l.tailAt = len(s) - 8
		l.tail = binary.LittleEndian.Uint64([]byte(s[l.tailAt:]))
	}
	if len(s) > literalRoom {
		l.mask, l.tailAt = 0, 0
	}
	return l
}

// differs is 0 if b, which has literalRoom bytes, begins with the text; for
// texts longer than that it says nothing.
func (l *literal) differs(b []byte) uint64 {
	return ((binary.LittleEndian.Uint64(b) ^ l.head) | (binary.LittleEndian.Uint64(b[l.tailAt:]) ^ l.tail)) & l.mask
}

// begins reports whether b begins with the text.
func (l *literal) begins(b []byte) bool {
	return len(b) >= len(l.text) && string(b[:len(l.text)]) == l.text
}

// read fills the row; false if the line is not so, and then the row is
// undefined.
func (l *layout) read(b []byte, row *Row, c *clock) bool {
	*row = Row{Bytes: -1, Request: -1, Upstream: -1}
	at, known := 0, false // the text before is there
	pieces := l.pieces[:l.wanted]
	for i := range pieces {
		p := &pieces[i]
		if !known {
			rest := b[at:]
			if len(rest) < literalRoom || p.before.mask == 0 {
				if !p.before.begins(rest) {
					return false
				}
			} else if p.before.differs(rest) != 0 {
				return false
			}
		}
		at += len(p.before.text)
		known = false
		var ok bool
		switch p.kind {
		case kindSkip:
			if p.luck >= 0 {
				end := at + p.width
				if after := p.after; end+literalRoom <= len(b) && b[end] == p.until && after.mask != 0 && after.differs(b[end:]) == 0 {
					p.luck = min(p.luck+1, maxLuck)
					at, known = end, true
					continue
				}
				p.luck -= missedWidth
			}
			at, ok = p.skip(b, at)
		case kindRequest, kindMethod, kindTarget, kindCache:
			at, ok = p.text(b, at, row)
		case kindStatus:
			at, ok = p.status(b, at, row)
		case kindRequestTime, kindUpstreamTime:
			at, ok = p.seconds(b, at, row)
		case kindTime:
			at, ok = p.time(b, at, row, c)
		default:
			at, ok = p.number(b, at, row)
		}
		if !ok {
			return false
		}
	}
	if l.rivals && row.Request < 0 {
		return false
	}
	if l.appTime && row.Request < 0 {
		row.Request = row.Upstream
	}
	if l.wanted < len(l.pieces) {
		return row.Target != nil && l.endsAsKnown(b)
	}
	return row.Target != nil && l.ended.begins(b[at:]) && at+len(l.ended.text) == len(b)
}

// status reads three digits; what else may be there goes the way of numbers.
func (p *piece) status(b []byte, at int, row *Row) (int, bool) {
	if v := b[at:]; len(v) > 3 && v[3] == p.until {
		x, y, z := v[0]-'0', v[1]-'0', v[2]-'0'
		if x <= 9 && y <= 9 && z <= 9 {
			row.Status = int(x)*100 + int(y)*10 + int(z)
			return at + 3, true
		}
	}
	return p.number(b, at, row)
}

// seconds reads a time below ten seconds with three decimals, as nginx writes
// it; others go the way of numbers.
func (p *piece) seconds(b []byte, at int, row *Row) (int, bool) {
	if v := b[at:]; (p.unit == 0 || p.unit == seconds) && !p.whole && len(v) > 5 && v[1] == '.' && v[5] == p.until && !(p.list && p.goesOn(b, at, at+5)) {
		w, x, y, z := v[0]-'0', v[2]-'0', v[3]-'0', v[4]-'0'
		if w <= 9 && x <= 9 && y <= 9 && z <= 9 {
			d := time.Duration(int64(w)*1000+int64(x)*100+int64(y)*10+int64(z)) * time.Millisecond
			if p.kind == kindRequestTime {
				row.Request = d
			} else {
				row.Upstream = max(row.Upstream, d)
			}
			return at + 5, true
		}
	}
	return p.number(b, at, row)
}

// A width that is guessed wrongly costs more than it saves when it is right:
// a miss takes what four hits give, and below 0 it is not guessed any more.
const (
	maxLuck     = 64
	missedWidth = 4
)

// skip walks over a value.
func (p *piece) skip(b []byte, at int) (end int, ok bool) {
	if p.fixed {
		return 0, false
	}
	end = p.end(b, at)
	return end, end >= 0 && !(p.list && p.goesOn(b, at, end))
}

// goesOn: the value that ends at end is followed by another one of its list.
func (p *piece) goesOn(b []byte, at, end int) bool {
	return end > at && (b[end-1] == ',' || b[end-1] == ':') || end+1 < len(b) && b[end+1] == ':'
}

// end of a value; -1: there is none, or an escaped quote.
func (p *piece) end(b []byte, at int) int {
	if p.until == 0 {
		if p.never != 0 && bytes.IndexByte(b[at:], p.never) >= 0 {
			return -1
		}
		return len(b)
	}
	n := -1
	if p.width < shortValue {
		n = indexShort(b[at:], p.until)
	}
	if n < 0 {
		n = bytes.IndexByte(b[at:], p.until)
	}
	if n < 0 || n > 0 && b[at+n-1] == '\\' {
		return -1
	}
	if !p.fixed {
		p.width = n
	}
	return at + n
}

// shortValue bytes are looked at without a call.
const shortValue = 16

// indexShort is bytes.IndexByte if c is among the first bytes; else -1. A byte
// that is c becomes 0, and only the lowest 0 must be told from others.
func indexShort(b []byte, c byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	if len(b) < shortValue {
		return -1
	}
	x := binary.LittleEndian.Uint64(b) ^ uint64(c)*ones
	if x = (x - ones) &^ x & highs; x != 0 {
		return bits.TrailingZeros64(x) / 8
	}
	x = binary.LittleEndian.Uint64(b[8:]) ^ uint64(c)*ones
	if x = (x - ones) &^ x & highs; x != 0 {
		return 8 + bits.TrailingZeros64(x)/8
	}
	return -1
}

// text reads a request, its parts, or a cache state. Values with escapes go
// the long way.
func (p *piece) text(b []byte, at int, row *Row) (int, bool) {
	end := p.end(b, at)
	if end < 0 {
		return 0, false
	}
	v := b[at:end]
	if len(v) == 0 || len(v) == 1 && v[0] == '-' {
		return end, p.kind == kindCache
	}
	switch p.kind {
	case kindMethod:
		row.Method = v
	case kindTarget:
		row.Target = v
		return end, bytes.IndexByte(v, '\\') < 0
	case kindCache:
		row.Cache = v
	case kindRequest:
		return end, row.request(v)
	}
	return end, true
}

// protocolLength is that of " HTTP/1.1".
const protocolLength = len(" HTTP/1.1")

// request splits "GET /path HTTP/1.1"; others go the long way.
func (row *Row) request(v []byte) bool {
	n := 0
	for n < len(v) && n < 8 && v[n] >= 'A' && v[n] <= 'Z' {
		n++
	}
	cut := len(v) - protocolLength
	if n == 0 || cut <= n || v[n] != ' ' || string(v[cut:cut+6]) != " HTTP/" {
		return false
	}
	row.Method, row.Target = v[:n], v[n+1:cut]
	return bytes.IndexByte(row.Target, '\\') < 0
}

func (p *piece) time(b []byte, at int, row *Row, c *clock) (int, bool) {
	end := at + p.width
	if !p.fixed || end >= len(b) || b[end] != p.until {
		if end = p.end(b, at); end < 0 {
			return 0, false
		}
	}
	t, ok := c.read(b[at:end])
	row.Time = t
	return end, ok
}

// pow10 of the digits that a duration's fraction lacks.
var pow10 = [10]int64{1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// maxShortDigits of a number read the short way: below 2⁶³ ns in seconds with
// nine decimals.
const maxShortDigits = 15

// maxShortDuration is maxDuration.
const maxShortDuration = int64(maxDuration)

// number reads digits up to the value's end. Lists, signs and units go the
// long way.
func (p *piece) number(b []byte, at int, row *Row) (int, bool) {
	v := b[at:]
	n, length, dot := int64(0), len(v), -1
	for i, c := range v {
		if d := c - '0'; d <= 9 {
			n = n*10 + int64(d)
			continue
		}
		if c != '.' || dot >= 0 {
			length = i
			break
		}
		dot = i
	}
	if length == len(v) {
		if p.until != 0 {
			return 0, false
		}
	} else if v[length] != p.until {
		if length == 0 && v[0] == '-' && (len(v) > 1 && v[1] == p.until || len(v) == 1 && p.until == 0) {
			return at + 1, p.absent(row)
		}
		return 0, false
	}
	end := at + length
	switch {
	case length == 0:
		return end, p.absent(row)
	case length > maxShortDigits, p.list && p.goesOn(b, at, end):
		return 0, false
	case dot < 0:
		return end, p.put(row, n, length)
	}
	return end, p.putFraction(row, n, length-dot-1, length)
}

// absent is an empty value or a dash.
func (p *piece) absent(row *Row) bool {
	if p.kind == kindBytesDash && row.Bytes < 0 {
		row.Bytes = 0
	}
	return !p.needed
}

func (p *piece) put(row *Row, n int64, length int) bool {
	switch p.kind {
	case kindStatus:
		row.Status = int(n)
		return length == 3
	case kindBytes:
		row.Bytes = n
		return true
	case kindBytesDash:
		if row.Bytes < 0 {
			row.Bytes = n
		}
		return true
	}
	if p.unit == 0 { // a fraction is required
		return false
	}
	return p.putDuration(row, n, int64(p.unit))
}

// putFraction puts a number with decimals, which are among n's digits.
func (p *piece) putFraction(row *Row, n int64, decimals, length int) bool {
	unit := int64(p.unit)
	if unit == 0 {
		unit = int64(time.Second)
	}
	if p.whole || p.kind != kindRequestTime && p.kind != kindUpstreamTime || decimals == 0 || decimals > 9 || p.form && decimals != 3 || p.decimals > 0 && decimals != int(p.decimals) || unit < pow10[decimals] || length == decimals+1 {
		return false
	}
	if unit == int64(time.Second) && decimals == 3 { // as nginx writes
		return p.putDuration(row, n, int64(time.Millisecond))
	}
	return p.putDuration(row, n, unit/pow10[decimals])
}

// putDuration puts n times per.
func (p *piece) putDuration(row *Row, n, per int64) bool {
	if n > maxShortDuration/per {
		return false
	}
	if d := time.Duration(n * per); p.kind == kindRequestTime {
		row.Request = d
	} else {
		row.Upstream = max(row.Upstream, d)
	}
	return true
}
