package accesslog

import (
	"bytes"
	"time"
)

// maxPriority is the length of <191>, the highest that RFC 5424 has (6.2.1).
const maxPriority = 5

// priority cuts <190>.
func priority(line []byte) ([]byte, bool) {
	if at := bytes.IndexByte(line[:min(len(line), maxPriority+2)], ' '); at > 0 && isDigits(line[:at]) && bytes.HasPrefix(line[at+1:], []byte("<")) {
		line = line[at+1:] // its length before it, as over TCP (RFC 6587, 3.4.1)
	}
	if len(line) < 4 || line[0] != '<' {
		return line, false
	}
	end := bytes.IndexByte(line[:min(len(line), maxPriority)], '>')
	if end < 2 || !isDigits(line[1:end]) {
		return line, false
	}
	return line[end+1:], true
}

// openSyslog5424: version, time, host, application, process, message's id,
// structured data, message.
func openSyslog5424(line []byte) ([]byte, bool) {
	rest, ok := priority(line)
	if !ok || !bytes.HasPrefix(rest, []byte("1 ")) {
		return nil, false
	}
	rest = rest[2:]
	var id []byte
	for range 5 {
		word, after, ok := bytes.Cut(rest, []byte(" "))
		if !ok {
			return nil, false
		}
		id, rest = word, after
	}
	switch {
	case bytes.HasPrefix(rest, []byte("- ")):
		rest = rest[2:]
	case len(rest) > 0 && rest[0] == '[':
		at := bytes.Index(rest, []byte("] "))
		if at < 0 {
			return nil, false
		}
		rest = rest[at+2:]
	case string(id) == "-" && beginsLine(rest): // Heroku's drains have no structured data
	default:
		return nil, false
	}
	return bytes.TrimPrefix(rest, []byte("\xef\xbb\xbf")), true
}

// openSyslog: time, host, program[process]: message. HAProxy's own lines keep
// what its format needs.
func openSyslog(line []byte) ([]byte, bool) {
	stamped, _ := priority(line)
	rest, ok := afterStamp(stamped)
	if !ok {
		return nil, false
	}
	if isLetter(stamped[0]) {
		if inner, ok := afterProgram(rest); ok {
			return inner, true
		}
	}
	// The host is missing where a server writes to the local socket.
	for range 2 {
		word, after, ok := bytes.Cut(rest, []byte(" "))
		if !ok || len(word) == 0 {
			return nil, false
		}
		rest = after
		if word[len(word)-1] == ':' && isTag(word[:len(word)-1]) {
			return rest, true
		}
		if isAddress(word) && bytes.HasPrefix(after, []byte("- ")) { // a line of its own
			return nil, false
		}
	}
	return nil, false
}

// afterStamp cuts the time of a syslog line and the space behind it.
func afterStamp(b []byte) ([]byte, bool) {
	if len(b) > 9 && b[3] == ' ' && b[8] == '-' { // "Sun 2024-05-12 …" of journalctl -o short-full
		b = b[4:]
	}
	if rest, ok := afterTime(b); ok {
		if b[10] == ' ' || bytes.HasPrefix(rest, []byte("UTC ")) { // a zone's name
			if _, after, ok := bytes.Cut(rest, []byte(" ")); ok && bytes.IndexByte([]byte("ABCDEFGHIJKLMNOPQRSTUVWXYZ+-"), rest[0]) >= 0 {
				return after, true
			}
		}
		return rest, true
	}
	var p clockParts
	if len(b) > 16 && p.monthName(b[:3]) && b[3] == ' ' && b[6] == ' ' && b[9] == ':' && b[12] == ':' {
		at := bytes.IndexByte(b[15:], ' ')
		if at < 0 || at > 10 {
			return nil, false
		}
		rest := b[15+at+1:]
		if len(rest) > 5 && (string(rest[:2]) == "20" && rest[4] == ' ') { // the year, as some devices write it
			rest = rest[5:]
		}
		return rest, true
	}
	if at := bytes.IndexByte(b, ' '); at > 11 && at < 20 && b[10] == '.' && isDigits(b[:10]) { // short-unix
		return b[at+1:], true
	}
	if len(b) > 3 && b[0] == '[' { // short-monotonic
		if at := bytes.Index(b, []byte("] ")); at > 0 && at < 20 && isDigits(bytes.ReplaceAll(bytes.TrimLeft(b[1:at], " "), []byte("."), nil)) {
			return b[at+2:], true
		}
	}
	return nil, false
}

// isTag is a program's name with its process or without: nginx, nginx[12],
// php-fpm, /usr/sbin/nginx.
func isTag(b []byte) bool {
	if at := bytes.IndexByte(b, '['); at > 0 && b[len(b)-1] == ']' {
		b = b[:at]
	}
	b = bytes.ReplaceAll(bytes.TrimPrefix(b, []byte("/")), []byte("/"), []byte("_"))
	return isKey(b) && len(b) > 0
}

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
