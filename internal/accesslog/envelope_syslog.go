package accesslog

import (
	"bytes"
	"time"
)

// stampLength is how long the time of RFC 3164 is that a line begins with, with the
// fraction or year that some devices write; 0: it has none.
func stampLength(b []byte) int {
	var p clockParts
	if len(b) < 16 || !p.monthName(b[:3]) || b[3] != ' ' || b[6] != ' ' || b[9] != ':' || b[12] != ':' {
		return 0
	}
	n := 15
	for n < len(b) && b[n] != ' ' && n < 25 {
		n++
	}
	if len(b) > n+5 && b[n] == ' ' && b[n+1] == '2' && b[n+2] == '0' && isDigits(b[n+1:n+5]) && b[n+5] == ' ' {
		n += 5
	}
	return n
}

// afterProgram cuts the host's and the program's names off that stand before a line
// without a colon, as Papertrail shows them: "web1 nginx 192.0.2.7 - - …", "shop
// heroku/router at=info …". false: they have one, or no line is behind them.
func afterProgram(b []byte) ([]byte, bool) {
	for range 2 {
		word, rest, ok := bytes.Cut(b, []byte(" "))
		if !ok || !isTag(word) {
			return nil, false
		}
		if b = bytes.TrimLeft(rest, " "); beginsLine(b) {
			return b, true
		}
	}
	return nil, false
}

// beginsLine: an object, an address, a method, or a name with its value or label.
func beginsLine(b []byte) bool {
	first, _, _ := bytes.Cut(b, []byte(" "))
	name, _, named := bytes.Cut(first, []byte("="))
	label, value, _ := bytes.Cut(b, []byte(":"))
	if isKey(label) && len(value) > 0 && value[0] != ' ' && bytes.IndexByte(value, '\t') >= 0 { // LTSV
		return true
	}
	return len(b) > 0 && (b[0] == '{' || isAddress(first) || knownMethod(bytes.Trim(first, `"`)) || named && isKey(name))
}

// papertrailColumns are those before the line.
const papertrailColumns = 9

// papertrail are the columns of a line of Papertrail's archives.
func papertrail(line []byte) (columns [papertrailColumns][]byte, inner []byte, ok bool) {
	if len(line) == 0 || !isDigit(line[0]) {
		return columns, nil, false
	}
	for i := range columns {
		value, rest, more := bytes.Cut(line, []byte("\t"))
		if !more {
			return columns, nil, false
		}
		columns[i], line = value, rest
	}
	ok = isDigits(columns[0]) && isStamp(columns[1]) && isStamp(columns[2]) && (isDigits(columns[3]) || len(columns[3]) == 0)
	return columns, line, ok
}

// isStamp: 2024-05-12T09:50:40Z and the like.
func isStamp(b []byte) bool {
	return len(b) >= 19 && b[4] == '-' && b[7] == '-' && b[13] == ':' && b[16] == ':' && isDigits(b[:4])
}

func openPapertrail(line []byte) ([]byte, bool) {
	_, inner, ok := papertrail(line)
	return inner, ok
}

// papertrailTimes are when the line was written and when it came, in the order that the
// archive has.
func papertrailTimes(line []byte) (first, second []byte, ok bool) {
	columns, _, ok := papertrail(line)
	return columns[1], columns[2], ok
}

// earlier of two times: a line is written before it is received.
func (c *clock) earlier(first, second []byte) time.Time {
	a, ok := c.read(first)
	b, fine := c.read(second)
	if !ok || fine && b.Before(a) {
		return b
	}
	return a
}
