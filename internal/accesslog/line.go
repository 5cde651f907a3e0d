package accesslog

import (
	"bytes"
	"time"
)

// Line are lines that are read value by value: the ones of the combined and
// common form with anything before, between and behind, and those of named
// values (request_time=0.012 status=200). What a value is, its form and its
// name tell:
//
//   - the first of [10/Oct/2023:13:55:36 +0000] and its kin is the time; the
//     last address before it is the client, a host name before that the host;
//   - the first text in quotes that is a request is the request; the first
//     number of three digits behind it is the status, the next the size, the
//     next two texts in quotes are referer and agent;
//   - behind the request, and before it, 0.012 with three decimals (nginx), and
//     12ms, 1.5s, 250µs (Go) are times, the first the request's, the second the
//     upstream's. Other numbers are no times, unless the samples or the user
//     said which of them is.
//
// Where a line must be matched exactly, a template does so.
func Line() *Format {
	return &Format{Name: lineName, parse: parseLine, escapes: true, ended: true}
}

// lineName is what the format is called before its lines were seen.
const lineName = "lines with more values"

const (
	whyNoLine = "it has no request with a status"
	whyCut    = "a quote or bracket is not closed: the line is cut"
	whyError  = "it is a line of an error log"
)

// lineReader reads the tokens of one line.
type lineReader struct {
	f      *Format
	e      *Entry
	c      *clock
	b      []byte
	tokens []token

	time, request, status int  // tokens of these; -1: none found
	requestEnd            int  // the first token behind the request
	took                  int  // times found by their form
	ported                bool // a port stands behind the request, as IIS has it: its size is further behind
}

func parseLine(f *Format, line []byte, e *Entry, c *clock) string {
	e.Ended = f.ended
	c.follow(f)
	joinDate(line)
	var whole bool
	c.tokens, whole = split(line, c.tokens)
	if !whole {
		return whyCut
	}
	nameTimes(line, c.tokens)
	l := lineReader{f: f, e: e, c: c, b: line, tokens: c.tokens, time: -1, request: -1, status: -1}
	return l.read()
}

func (l *lineReader) read() string {
	message := false
	for i := range l.tokens {
		t := &l.tokens[i]
		message = message || t.form == '[' && isLevel(t.value)
	}
	l.findTime()
	l.findRequest()
	l.keyed()
	if l.request >= 0 {
		l.before()
		l.behind()
	}
	l.column()
	l.e.finish(l.c)
	if l.request < 0 && l.e.Target != nil {
		l.onlyTime()
	}
	if l.took == 0 {
		l.e.appTime()
	}
	switch {
	// Error logs name the request as such (nginx) or have none; what has a
	// request and its status by themselves is a logger's: [info] GET /x 200 5.1ms,
	// or [info] method=GET path=/x status=200.
	case message && (l.e.Status == 0 || l.request < 0 && (l.e.Method == nil || l.e.Target == nil) || l.request >= 0 && l.tokens[l.request].key != nil):
		return whyError
	case l.e.Target == nil && l.request < 0:
		return whyNoLine
	case l.e.Status == 0 && l.e.Request < 0 && l.e.Upstream < 0 && l.e.Bytes < 0:
		return whyNoLine
	case l.e.Method == nil && l.request < 0: // a path alone is no request
		return whyNoLine
	}
	return ""
}

// isLevel: of a line that is a message, as nginx's and Apache's error logs have
// it; both may go to one file or container.
func isLevel(v []byte) bool {
	if at := bytes.IndexByte(v, ':'); at >= 0 { // Apache's module:level
		v = v[at+1:]
	}
	switch string(v) {
	case "emerg", "alert", "crit", "error", "warn", "notice", "info", "debug", "trace1", "trace2":
		return true
	}
	return false
}

// findTime takes the first value in brackets that is a time, else the first
// that stands alone.
func (l *lineReader) findTime() {
	for i := range l.tokens {
		if t := &l.tokens[i]; t.key == nil && t.form == '[' && l.timeIn(i, bracketed(t.value)) {
			return
		}
	}
	for i := range l.tokens {
		if t := &l.tokens[i]; t.key == nil && t.form != '[' && l.timeAlone(i) {
			return
		}
	}
}

// bracketed is what may be a time of a value in brackets: env_logger's is
// [2024-05-12T09:50:40Z INFO target].
func bracketed(v []byte) []byte {
	if word, _, more := bytes.Cut(v, []byte(" ")); more && looksLikeTime(word) && bytes.IndexByte(word, 'T') > 0 {
		return word
	}
	return v
}

// before the request: client, user and host.
func (l *lineReader) before() {
	if l.time < 0 || l.time > l.request {
		return
	}
	client := -1
	for i := l.time - 1; i >= 0 && client < 0; i-- {
		if t := &l.tokens[i]; t.key == nil && isAddress(t.value) {
			client = i
		}
	}
	if client < 0 {
		if client = l.time - 3; client < 0 {
			return
		}
	}
	l.e.Client = withoutPort(l.tokens[client].value)
	if user := &l.tokens[l.time-1]; l.time-1 > client && string(user.value) != "-" && user.key == nil {
		l.e.User = user.value
	}
	for _, i := range []int{client - 1, client + 1} {
		if l.e.Host == nil && i >= 0 && i < l.time && isHostName(l.tokens[i].value) {
			l.e.Host = l.tokens[i].value
		}
	}
}

// isAddress: IPv4 or IPv6, with a port or not, or a list of such.
func isAddress(v []byte) bool {
	if at := bytes.IndexByte(v, ','); at > 0 {
		v = v[:at]
	}
	dots, colons := 0, 0
	for _, c := range v {
		switch {
		case c == '.':
			dots++
		case c == ':':
			colons++
		case c >= '0' && c <= '9', c == '[', c == ']':
		case (c|0x20 < 'a' || c|0x20 > 'f') || dots > 0 && colons < 2:
			return false
		}
	}
	return dots == 3 || colons >= 2
}

// isHostName: letters and a dot, with a port or not.
func isHostName(v []byte) bool {
	dot, letter := false, false
	for i, c := range v {
		switch {
		case c == '.' && i > 0:
			dot = true
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letter = true
		case c == '-' || c == ':' || c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return dot && letter && !isAddress(v)
}

// behind the request: status, size, referer, agent. Times may be anywhere.
func (l *lineReader) behind() {
	l.findStatus()
	at := l.status + 1
	if l.status >= 0 {
		at = l.size(at)
	}
	for i, to := range []*[]byte{&l.e.Referer, &l.e.Agent} {
		if l.status < 0 || at+i >= len(l.tokens) {
			break
		}
		t := &l.tokens[at+i]
		if t.key != nil || t.form != '"' && string(t.value) != "-" {
			break
		}
		if v := t.value; len(v) > 0 && string(v) != "-" {
			*to = decode(v)
		}
	}
	l.times()
}

// size takes the first whole number behind the status for it, before which
// times may stand, and returns where the texts begin that follow the numbers.
func (l *lineReader) size(at int) int {
	bare := func(i int) bool {
		return i < len(l.tokens) && l.tokens[i].key == nil && l.tokens[i].form == 0
	}
	for i := l.requestEnd; i+1 < len(l.tokens) && l.e.Bytes < 0; i++ { // uWSGI: generated 512 bytes in 12 msecs
		if bare(i) && bare(i+1) && isDigits(l.tokens[i].value) && string(l.tokens[i+1].value) == "bytes" {
			l.e.Bytes, _ = number(l.tokens[i].value)
		}
	}
	for bare(at) && isTimeForm(l.tokens[at].value) {
		at++
	}
	if l.e.Bytes >= 0 || l.ported || !bare(at) {
		return at
	}
	if v := l.tokens[at].value; isDigits(v) || string(v) == "-" {
		l.e.Bytes = 0
		if n, ok := number(v); ok {
			l.e.Bytes = n
		}
		at++
	}
	for bare(at) && isDecimal(l.tokens[at].value) {
		at++
	}
	return at
}

// keyed sets the values that have a name.
func (l *lineReader) keyed() {
	for i := range l.tokens {
		t := &l.tokens[i]
		if t.key == nil {
			continue
		}
		v := t.value
		if t.form != 0 {
			v = bytes.TrimSpace(decode(v)) // some pad their times
		}
		p := l.placeOf(t.key)
		switch p.kind {
		case kindRequest:
			if l.request < 0 && isRequest(v) {
				l.request, l.requestEnd = i, i+1
				l.e.setRequest(v)
			}
			continue
		case kindTarget, kindPath:
			if l.e.Target != nil {
				continue
			}
		}
		if why := l.e.place(p, t.key, v, l.c); why == "" && p.kind == kindStatus {
			l.status = i
		}
	}
}

// placeOf a name: the line's own tables know it, or the log's other lines, or it is a
// variable's or a time's.
func (l *lineReader) placeOf(key []byte) place {
	switch string(key) {
	case "D":
		return apacheD
	case "Ta", "Tt":
		return haproxyT
	}
	if p, ok := lineKeys[snake(key)]; ok {
		return p
	}
	if p, ok := l.c.aliases[string(key)]; ok {
		return p
	}
	return l.c.placeOf(key)
}

// apacheD is D=14529: Apache's manual of mod_headers has "D=%D t=%t" as the example.
var apacheD = place{kind: kindRequestTime, unit: time.Microsecond, whole: true}

// haproxyT is Tt=70, as log-formats of HAProxy's name their variables.
var haproxyT = place{kind: kindRequestTime, unit: time.Millisecond, whole: true}

// lineKeys are names that JSON lines have, too.
var lineKeys = map[string]place{}

func init() {
	for name, p := range jsonPlaces {
		if p.unsure == sure && p.kind != kindRequestTime && p.kind != kindUpstreamTime {
			lineKeys[snake([]byte(name))] = p
		}
	}
	lineKeys["client"], lineKeys["fwd"] = place{kind: kindClient}, place{kind: kindForwarded}
	for _, name := range []string{"src", "src_ip", "clientip"} {
		lineKeys[name] = place{kind: kindClient}
	}
	lineKeys["t"] = place{kind: kindTime} // log15, Grafana
	lineKeys["level"], lineKeys["msg"] = place{kind: kindSkip}, place{kind: kindSkip}
}
