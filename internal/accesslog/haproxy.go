package accesslog

import (
	"bytes"
	"time"
)

// HAProxy are lines of "option httplog", "option httpslog" and "option tcplog"
// (HAProxy's configuration manual, 8.2), and of a log-format that begins as
// these do, with or without syslog's begin:
//
//	haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1
//	10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {captured} {} "GET /index.html HTTP/1.1"
//
// Times are milliseconds. The request's is Ta (Tt before HAProxy 1.7); the
// upstream's is Tc+Tr, to connect and to get the answer's header. A connection
// has Tt and no request. Other are the frontend, the backend, the server, the
// timers and the termination state.
func HAProxy() *Format {
	return &Format{Name: "haproxy", parse: parseHAProxy, retimed: retimedHAProxy}
}

const whyHAProxy = "it is not a line of HAProxy's option httplog"

func parseHAProxy(_ *Format, line []byte, e *Entry, c *clock) string {
	rest, why := e.haproxyBegin(line, c)
	if why != "" {
		return why
	}
	// The request is the first in quotes (others in it are #22); with httpslog
	// or a log-format more may follow.
	request, quoted := []byte(nil), false
	words := rest
	if begin := bytes.IndexByte(rest, '"'); begin >= 0 {
		words, quoted = rest[:begin], true
		end := bytes.IndexByte(rest[begin+1:], '"')
		if end < 0 {
			return whyShort
		}
		request = rest[begin+1 : begin+1+end]
	}
	var h haproxyWords
	if !h.read(e, words) || !quoted && !h.connection && !h.named {
		return whyHAProxy
	}
	e.Other = append(e.Other, h.others()...)
	if quoted && string(request) != "<BADREQ>" {
		e.setRequest(unhash(request))
		if e.Method == nil {
			return whyOddRequest
		}
	}
	e.finish(c)
	return ""
}

// haproxyBegin reads the client and the time, and returns what follows.
func (e *Entry) haproxyBegin(line []byte, c *clock) (rest []byte, why string) {
	if len(line) > 0 && line[0] == '[' {
		return e.haproxyTimeFirst(line, c)
	}
	open := bytes.Index(line, []byte(" ["))
	if open <= 0 {
		return nil, whyHAProxy
	}
	client := line[bytes.LastIndexByte(line[:open], ' ')+1 : open]
	rest = line[open+2:]
	end := bytes.IndexByte(rest, ']')
	if end < 0 {
		return nil, whyHAProxy
	}
	var ok bool
	if e.Time, ok = c.read(rest[:end]); !ok {
		return nil, whyTime
	}
	if len(client) == 0 {
		return nil, whyHAProxy
	}
	e.Client = haproxyClient(client)
	return bytes.TrimPrefix(rest[end+1:], []byte(" ")), ""
}

// haproxyTimeFirst is haproxyBegin for log-formats that begin with [%tr], and may have
// more in brackets ([%ID]) before the client.
func (e *Entry) haproxyTimeFirst(line []byte, c *clock) (rest []byte, why string) {
	for rest = line; len(rest) > 0 && rest[0] == '['; {
		end := bytes.Index(rest, []byte("] "))
		if end < 0 {
			return nil, whyHAProxy
		}
		if t, ok := c.read(rest[1:end]); ok && e.Time.IsZero() {
			e.Time = t
		}
		rest = rest[end+2:]
	}
	client, rest, _ := bytes.Cut(rest, []byte(" "))
	if e.Time.IsZero() || !isAddress(client) {
		return nil, whyHAProxy
	}
	e.Client = haproxyClient(client)
	return rest, ""
}

// haproxyClient is an address without its port, which always follows, also ::1.
func haproxyClient(v []byte) []byte {
	if at := bytes.LastIndexByte(v, ':'); at > 0 {
		return v[:at]
	}
	return v
}

// haproxyWords are what stands before the request.
type haproxyWords struct {
	frontend, backend, timers, state []byte

	at         int  // how many words were read
	after      int  // how many since the timers
	connection bool // option tcplog
	named      bool // Ta=109 instead of timers
}

// read goes through the words; false if they are no line of HAProxy's.
func (h *haproxyWords) read(e *Entry, words []byte) bool {
	for len(words) > 0 {
		var word []byte
		word, words, _ = bytes.Cut(words, []byte(" "))
		if len(word) == 0 {
			continue
		}
		if word[0] == '{' { // captured headers, with spaces in them
			break
		}
		if !h.word(e, word) {
			return false
		}
		h.at++
	}
	return h.timers != nil && h.backend != nil || h.named
}

func (h *haproxyWords) word(e *Entry, word []byte) bool {
	if key, value, ok := bytes.Cut(word, []byte("=")); ok && h.variable(e, key, value) {
		return true
	}
	switch {
	case h.timers == nil && h.backend != nil && (isTimers(word, 5) || isTimers(word, 6) || isTimers(word, 7)):
		h.timers = word
		return e.timers(word)
	case h.timers == nil && h.backend != nil && isTimers(word, 3):
		h.timers, h.connection = word, true
		_, total, _ := bytes.Cut(word[bytes.IndexByte(word, '/')+1:], []byte("/"))
		return e.set(place{kind: kindGoTime, unit: time.Millisecond}, "", bytes.TrimPrefix(total, []byte("+")), nil)
	case h.timers != nil:
		h.after++
		return h.behindTimers(e, word)
	case h.frontend == nil:
		h.frontend = word
	case h.backend == nil && bytes.IndexByte(word, '/') > 0:
		h.backend = word
	}
	return true
}

// behindTimers stand the status (not with tcplog), the bytes, two cookies (not
// with tcplog) and the termination state.
func (h *haproxyWords) behindTimers(e *Entry, word []byte) bool {
	n := h.after
	if h.connection {
		n++ // it has no status
	}
	switch {
	case n == 1 && string(word) != "-1":
		status, ok := number(word)
		e.Status = int(status)
		return ok && len(word) == 3
	case n == 2:
		size, ok := number(bytes.TrimPrefix(word, []byte("+")))
		e.Bytes = size
		return ok
	case n == 5 && !h.connection, n == 3 && h.connection:
		h.state = word
	}
	return true
}

// haproxyNames are the variables that a log-format may name, as in Ta=%Ta.
var haproxyNames = map[string]place{
	"Ta": goMillis, "Tt": goMillis, "ta": goMillis, "tt": goMillis, "Tr": upMillis, "tr": upMillis,
	"ST": {kind: kindCode}, "status": {kind: kindCode}, "st": {kind: kindCode}, "B": {kind: kindSize}, "bytes": {kind: kindSize}, "size": {kind: kindSize},
	"TR": {kind: kindSkip}, "Tw": {kind: kindSkip}, "Tc": {kind: kindSkip}, "Tq": {kind: kindSkip}, "Th": {kind: kindSkip}, "Ti": {kind: kindSkip}, "Td": {kind: kindSkip},
}

// variable reads a variable behind its name; false if it has none of haproxyNames.
func (h *haproxyWords) variable(e *Entry, key, value []byte) bool {
	p, ok := haproxyNames[string(key)]
	if !ok || !e.set(p, "", bytes.TrimPrefix(value, []byte("+")), nil) {
		return false
	}
	h.named = h.named || p == goMillis
	return true
}

func (h *haproxyWords) others() []Field {
	backend, server, _ := bytes.Cut(h.backend, []byte("/"))
	return []Field{{"frontend", h.frontend}, {"backend", backend}, {"server", server}, {"timers", h.timers}, {"termination", h.state}}
}

// isTimers: n numbers with slashes between.
func isTimers(b []byte, n int) bool {
	digits := 0
	for _, c := range b {
		switch {
		case c == '/':
			n--
		case c == '-' || c == '+':
		case c < '0' || c > '9':
			return false
		default:
			digits++
		}
	}
	return n == 1 && digits > 0
}

// unhash undoes #22, in place: HAProxy writes quotes, #, and what is not
// printable so.
func unhash(b []byte) []byte {
	to := 0
	for i := 0; i < len(b); i, to = i+1, to+1 {
		b[to] = b[i]
		if b[i] == '#' && i+2 < len(b) {
			if hi, lo := hexValue(b[i+1]), hexValue(b[i+2]); hi >= 0 && lo >= 0 {
				b[to] = byte(hi<<4 | lo)
				i += 2
			}
		}
	}
	return b[:to]
}

// timers reads TR/Tw/Tc/Tr/Ta in milliseconds; -1 where the request did not
// get so far, + before a total that was logged before the end (option logasap).
// A log-format may have more of them; the last is Ta then, and which are Tc and Tr is
// not known.
func (e *Entry) timers(v []byte) bool {
	usual := bytes.Count(v, []byte("/")) == 4
	var ms [3]int64 // Tc, Tr, Ta
	for more := true; more; {
		var one []byte
		one, v, more = bytes.Cut(v, []byte("/"))
		n := int64(-1)
		if string(one) != "-1" {
			var ok bool
			if n, ok = number(bytes.TrimPrefix(one, []byte("+"))); !ok || n > int64(maxDuration/time.Millisecond) {
				return false
			}
		}
		ms[0], ms[1], ms[2] = ms[1], ms[2], n
	}
	if ms[2] >= 0 {
		e.Request = time.Duration(ms[2]) * time.Millisecond
	}
	if usual && ms[0] >= 0 && ms[1] >= 0 {
		e.Upstream = time.Duration(ms[0]+ms[1]) * time.Millisecond
	}
	return true
}
