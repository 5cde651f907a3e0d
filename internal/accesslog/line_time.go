package accesslog

import (
	"bytes"
	"time"
)

// column is the place of a time that has no name.
type column struct {
	at   int // from the line's begin: 1, 2, …; from its end: -1, -2, …; 0: none
	unit time.Duration
	// whole: samples showed it; it counts where it holds a number alone and
	// nothing else is the time
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

// times by their form, unless the user said which value is the time.
func (l *lineReader) times() {
	if l.f.column.at != 0 && !l.f.column.whole || l.f.field != "" {
		return
	}
	request, upstream := pairOf(l.f.pairs, l.tokens)
	for i := range l.tokens {
		if !l.mayBeTime(i) {
			continue
		}
		d, dash, ok := l.timeAt(i)
		if !ok {
			d, ok = l.timeOfTwo(i)
		}
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

// onlyTime takes the one value with a unit of a line whose request has names, as the
// (12.1ms) of semantic_logger; of several, nothing tells which it is.
func (l *lineReader) onlyTime() {
	if l.e.Request >= 0 || l.e.Upstream >= 0 || l.f.column.at != 0 || l.f.field != "" {
		return
	}
	found := time.Duration(-1)
	for i := range l.tokens {
		if t := &l.tokens[i]; t.key != nil || t.form != 0 {
			continue
		}
		d, ok := withUnit(bytes.TrimSuffix(bytes.TrimPrefix(l.tokens[i].value, []byte("(")), []byte(")")))
		switch {
		case !ok:
		case found >= 0:
			return
		default:
			found = d
		}
	}
	if found >= 0 {
		l.e.Request = found
		l.took++
	}
}

// withUnit reads a time that names its unit: 12ms, 1.5s.
func withUnit(v []byte) (time.Duration, bool) {
	if len(v) < 2 || v[0] < '0' || v[0] > '9' || isDigits(v[len(v)-1:]) {
		return 0, false
	}
	return duration(v, 0)
}

// mayBeTime leaves out what is known to be another value.
func (l *lineReader) mayBeTime(i int) bool {
	t := &l.tokens[i]
	return t.key == nil && i != l.time && i != l.status && (i < l.request || i >= l.requestEnd)
}

// pair are the places of two times in lines of so many tokens, from their ends:
// where samples showed that the first one is not the request's.
type pair struct{ tokens, request, upstream int }

// pairOf returns the two tokens; nil if the line is another one.
func pairOf(pairs []pair, tokens []token) (request, upstream *token) {
	for _, p := range pairs {
		if len(tokens) == p.tokens {
			return (column{at: p.request}).pick(tokens), (column{at: p.upstream}).pick(tokens)
		}
	}
	return nil, nil
}

// timeAt is timeOf for a token. In brackets only what has a unit is a time: [0.012 s].
func (l *lineReader) timeAt(i int) (d time.Duration, dash, ok bool) {
	v := l.tokens[i].value
	if l.tokens[i].form != '[' {
		return l.timeOf(v)
	}
	if len(v) == 0 || v[0] < '0' || v[0] > '9' || isDigits(v[len(v)-1:]) {
		return 0, false, false
	}
	d, ok = duration(v, 0)
	return d, false, ok
}

// timeOf reads a value whose form says that it is a time: three decimals
// (nginx) or six (gunicorn's %(L)s, Python's and Ruby's floats), or a unit behind it; several joined by nginx are summed up.
func (l *lineReader) timeOf(v []byte) (d time.Duration, dash, ok bool) {
	if len(v) > 2 && v[0] == '(' && v[len(v)-1] == ')' {
		v = v[1 : len(v)-1]
	}
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
		if d += n; !fine || d > maxDuration {
			return 0, false, false
		}
		ok = true
	}
	return d, false, ok
}

// timeOfTwo reads a time of two words, or of two numbers: "12 msecs" (uWSGI), and
// 0/14529 before the request, Apache's %T/%D, whose whole seconds must be those
// of the microseconds.
func (l *lineReader) timeOfTwo(i int) (time.Duration, bool) {
	v := l.tokens[i].value
	if i+1 < len(l.tokens) && l.tokens[i+1].key == nil {
		number, word := v, l.tokens[i+1].value
		if len(v) > 1 && v[0] == '(' { // (12 ms)
			number, word = v[1:], bytes.TrimSuffix(word, []byte(")"))
		}
		if unit, ok := unitWords[string(word)]; ok && isDecimal(number) {
			return duration(number, unit)
		}
	}
	secs, micros, ok := bytes.Cut(bytes.Trim(v, "*"), []byte("/"))
	if !ok || i > l.request || !isDigits(secs) || !isDigits(micros) {
		return 0, false
	}
	s, fine := number(secs)
	us, fits := number(micros)
	if !fine || !fits || us/1e6 != s || us < leastMicros.Microseconds() {
		return 0, false
	}
	return duration(micros, time.Microsecond)
}

// unitWords stand behind a number, a space between.
var unitWords = map[string]time.Duration{"msecs": time.Millisecond, "msec": time.Millisecond, "micros": time.Microsecond, "usecs": time.Microsecond, "usec": time.Microsecond,
	"milliseconds": time.Millisecond, "microseconds": time.Microsecond, "ms": time.Millisecond, "secs": seconds, "seconds": seconds}

// isTimeForm: 1.234 or 1.234567 of less than a million, or digits and a unit of time.
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
			return (m-n-1 == 3 || m-n-1 == 6) && n <= 6
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
	if t == nil || c.whole && (t.key != nil || t.form == '[' || !isDecimal(t.value)) {
		return
	}
	if d, ok := duration(t.value, c.unit); ok {
		l.e.Request = d
	}
}
