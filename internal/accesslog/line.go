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

// column is the place of a time that has no name.
type column struct {
	at   int // from the line's begin: 1, 2, …; from its end: -1, -2, …; 0: none
	unit time.Duration
	// only where a value of another form is there: a column that samples
	// showed must hold a whole number
	whole bool
}

// pick is the token at the column; nil: there is none.
func (c column) pick(tokens []token) *token {
	i := c.at - 1
	if c.at < 0 {
		i = len(tokens) + c.at
	}
	if c.at == 0 || i < 0 || i >= len(tokens) {
		return nil
	}
	return &tokens[i]
}

// lineReader reads the tokens of one line.
type lineReader struct {
	f      *Format
	e      *Entry
	c      *clock
	b      []byte
	tokens []token

	time, request, status int // tokens of these; -1: none found
	requestEnd            int // the first token behind the request
	took                  int // times found by their form
}

func parseLine(f *Format, line []byte, e *Entry, c *clock) string {
	e.Ended = f.ended
	c.units = f.units
	var whole bool
	c.tokens, whole = split(line, c.tokens)
	if !whole {
		return whyCut
	}
	l := lineReader{f: f, e: e, c: c, b: line, tokens: c.tokens, time: -1, request: -1, status: -1}
	return l.read()
}

func (l *lineReader) read() string {
	for i := range l.tokens {
		if t := &l.tokens[i]; t.form == '[' && isLevel(t.value) {
			return whyError
		}
	}
	l.findTime()
	l.findRequest()
	l.keyed()
	if l.request >= 0 {
		l.before()
		l.behind()
	}
	l.column()
	l.e.finish()
	if l.took == 0 {
		l.e.appTime()
	}
	switch {
	case l.e.Target == nil && l.request < 0:
		return whyNoLine
	case l.e.Status == 0 && l.e.Request < 0 && l.e.Upstream < 0:
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
	for _, bracketed := range []bool{true, false} {
		for i := range l.tokens {
			t := &l.tokens[i]
			if t.key != nil || bracketed != (t.form == '[') {
				continue
			}
			v := t.value
			if !bracketed && t.form == 0 && len(v) == len("02/Jan/2006:15:04:05") && v[2] == '/' && i+1 < len(l.tokens) {
				v = l.b[t.at:l.tokens[i+1].end] // the zone is a word of its own
			}
			if !looksLikeTime(v) {
				continue
			}
			if at, ok := l.c.read(v); ok {
				l.e.Time, l.time = at, i
				return
			}
		}
	}
}

// looksLikeTime: a date and a time of day, or seconds since 1970 with decimals.
func looksLikeTime(v []byte) bool {
	switch {
	case len(v) >= 20 && v[2] == '/' && v[6] == '/':
		return true
	case len(v) >= 19 && (v[4] == '-' || v[4] == '/') && v[13] == ':':
		return true
	case len(v) == len("1700000000.123") && v[10] == '.' && v[0] == '1':
		return true
	}
	return false
}

// findRequest takes the first text in quotes that is one, else method and path
// that stand there as words, else what a status follows.
func (l *lineReader) findRequest() {
	for i := range l.tokens {
		if t := &l.tokens[i]; t.form == '"' && t.key == nil && isRequest(t.value) {
			l.setRequest(i, i+1, t.value)
			return
		}
	}
	for i := range l.tokens {
		t := &l.tokens[i]
		if t.form != 0 || t.key != nil || !knownMethod(t.value) || i+1 == len(l.tokens) {
			continue
		}
		if next := &l.tokens[i+1]; next.form != 0 || len(next.value) == 0 || next.value[0] != '/' && next.value[0] != '*' && !bytes.Contains(next.value, []byte("://")) {
			continue
		}
		l.request, l.requestEnd = i, i+2
		l.e.Method, l.e.Target = t.value, l.tokens[i+1].value
		for j := i + 2; j < len(l.tokens) && j < i+6; j++ { // spaces within the path stay
			if bytes.HasPrefix(l.tokens[j].value, []byte("HTTP/")) {
				l.requestEnd = j + 1
				l.e.Target, l.e.Protocol = l.b[l.tokens[i+1].at:l.tokens[j-1].end], l.tokens[j].value
				break
			}
		}
		return
	}
	for i := 0; i+1 < len(l.tokens); i++ {
		if t := &l.tokens[i]; i > l.time && l.time >= 0 && t.form == '"' && t.key == nil && isStatus(&l.tokens[i+1]) {
			l.setRequest(i, i+1, t.value)
			return
		}
	}
}

func (l *lineReader) setRequest(from, end int, v []byte) {
	l.request, l.requestEnd = from, end
	if l.tokens[from].form != 0 {
		v = decode(v)
	}
	if len(v) > 0 && string(v) != "-" {
		l.e.setRequest(v)
	}
}

// isRequest: a method, a space and something.
func isRequest(v []byte) bool {
	at := bytes.IndexByte(v, ' ')
	return at > 0 && at+1 < len(v) && isMethod(v[:at]) && (knownMethod(v[:at]) || bytes.Contains(v[at:], []byte(" HTTP/")))
}

func knownMethod(v []byte) bool {
	switch string(v) {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE", "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK",
		"UNLOCK", "REPORT", "SEARCH", "QUERY", "PURGE", "BAN", "PRI":
		return true
	}
	return false
}

func isStatus(t *token) bool {
	v := t.value
	return t.key == nil && t.form != '[' && len(v) == 3 && (v[0] >= '1' && v[0] <= '5' || string(v) == "000") && isDigits(v)
}

func isDigits(v []byte) bool {
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(v) > 0
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
	dot := false
	for i, c := range v {
		switch {
		case c == '.' && i > 0:
			dot = true
		case c == '-' || c == ':' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z':
		default:
			return false
		}
	}
	return dot && !isAddress(v)
}

// behind the request: status, size, referer, agent. Times may be anywhere.
func (l *lineReader) behind() {
	for i := l.requestEnd; i < len(l.tokens) && l.e.Status == 0; i++ {
		if t := &l.tokens[i]; isStatus(t) {
			l.status = i
			n, _ := number(t.value)
			l.e.Status = int(n)
		}
	}
	at := l.status + 1
	if l.status >= 0 && at < len(l.tokens) && l.e.Bytes < 0 {
		if t := &l.tokens[at]; t.key == nil && t.form == 0 && (isDigits(t.value) || string(t.value) == "-") {
			l.e.Bytes = 0
			if n, ok := number(t.value); ok {
				l.e.Bytes = n
			}
			at++
		}
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

// times by their form, unless the user said which value is the time.
func (l *lineReader) times() {
	if l.f.column.at != 0 && !l.f.column.whole || l.f.field != "" {
		return
	}
	request, upstream := l.f.pair.of(l.tokens)
	for i := range l.tokens {
		if !l.mayBeTime(i) {
			continue
		}
		d, dash, ok := l.timeOf(l.tokens[i].value)
		if dash && l.took == 0 || !ok {
			continue
		}
		to := &l.e.Request
		switch {
		case request != nil && request != &l.tokens[i] && upstream != &l.tokens[i]:
			continue
		case request == nil && l.took == 1, request != nil && upstream == &l.tokens[i]:
			to = &l.e.Upstream
		case request == nil && l.took > 1:
			return
		}
		if l.took++; !dash && *to < 0 {
			*to = d
		}
	}
}

// mayBeTime leaves out what is known to be another value.
func (l *lineReader) mayBeTime(i int) bool {
	t := &l.tokens[i]
	return t.key == nil && t.form != '[' && i != l.time && i != l.status && (i < l.request || i >= l.requestEnd)
}

// pair are the places of two times in lines of so many tokens, from their ends:
// where samples showed that the first one is not the request's.
type pair struct{ tokens, request, upstream int }

// of returns the two tokens; nil if the line is another one.
func (p pair) of(tokens []token) (request, upstream *token) {
	if p.tokens == 0 || len(tokens) != p.tokens {
		return nil, nil
	}
	return (column{at: p.request}).pick(tokens), (column{at: p.upstream}).pick(tokens)
}

// timeOf reads a value whose form says that it is a time: three decimals, or a
// unit behind it; several joined by nginx are summed up.
func (l *lineReader) timeOf(v []byte) (d time.Duration, dash, ok bool) {
	if string(v) == "-" {
		return 0, true, true
	}
	for len(v) > 0 {
		end := 0
		for end < len(v) && v[end] != ',' && v[end] != ' ' {
			end++
		}
		one := v[:end]
		v = v[min(end+1, len(v)):]
		if len(one) == 0 || string(one) == "-" || string(one) == ":" {
			continue
		}
		if !isTimeForm(one) {
			return 0, false, false
		}
		unit := seconds
		if l.f.unit > 0 {
			unit = l.f.unit
		}
		n, fine := duration(one, unit)
		if !fine {
			return 0, false, false
		}
		d, ok = d+n, true
	}
	return d, false, ok
}

// isTimeForm: 1.234 of less than a million, or digits and a unit of time.
func isTimeForm(v []byte) bool {
	n := 0
	for n < len(v) && v[n] >= '0' && v[n] <= '9' {
		n++
	}
	if n == 0 || n > 6 && n == len(v) || n == len(v) {
		return false
	}
	if v[n] == '.' {
		m := n + 1
		for m < len(v) && v[m] >= '0' && v[m] <= '9' {
			m++
		}
		if m == len(v) {
			return m-n-1 == 3 && n <= 6
		}
		n = m
	}
	switch v[n] {
	case 'm', 's', 'u', 'n', 'h', 0xc2, 0xce: // µ and μ
		_, ok := duration(v, 0)
		return ok
	}
	return false
}

// column takes the time from where the samples or the user say it is.
func (l *lineReader) column() {
	c := l.f.column
	if c.at == 0 || c.whole && l.e.Request >= 0 {
		return
	}
	t := c.pick(l.tokens)
	if t == nil || c.whole && (t.key != nil || t.form == '[' || !isDigits(t.value)) {
		return
	}
	if d, ok := duration(t.value, c.unit); ok {
		l.e.Request = d
	}
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
			v = decode(v)
		}
		p, ok := lineKeys[snake(t.key)]
		if !ok {
			p = l.c.placeOf(t.key)
		}
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

// lineKeys are names that JSON lines have, too.
var lineKeys = map[string]place{}

func init() {
	for name, p := range jsonPlaces {
		if p.unsure == sure && p.kind != kindRequestTime && p.kind != kindUpstreamTime {
			lineKeys[snake([]byte(name))] = p
		}
	}
	lineKeys["client"], lineKeys["fwd"] = place{kind: kindClient}, place{kind: kindForwarded}
	lineKeys["level"], lineKeys["msg"] = place{kind: kindSkip}, place{kind: kindSkip}
}
