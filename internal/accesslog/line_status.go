package accesslog

import "bytes"

// resultStatus takes the status that is joined to what a proxy did with the request, as
// Squid's and Traffic Server's TCP_MISS/200, and the size behind it. false: there is none.
func (l *lineReader) resultStatus() bool {
	for i := range l.tokens {
		t := &l.tokens[i]
		at := bytes.IndexByte(t.value, '/')
		if t.key != nil || t.form != 0 || at < 0 || !isResult(t.value[:at]) || !possibleStatus(t.value[at+1:]) {
			continue
		}
		n, _ := number(t.value[at+1:])
		l.e.Status = int(n)
		if l.status = i; i < l.request {
			l.status = l.requestEnd - 1
			if next := &l.tokens[i+1]; next.key == nil && next.form == 0 && isDigits(next.value) {
				l.e.Bytes, _ = number(next.value)
			}
		}
		return true
	}
	return false
}

// bothBefore takes status and size of a line that has them right before the request, and
// no number behind it but a time elsewhere: 0.012 192.0.2.7 200 503 GET /a HTTP/1.1.
func (l *lineReader) bothBefore() bool {
	at := l.request - 2
	if at <= l.time || at < 0 || l.tokens[l.request].key != nil {
		return false
	}
	status, size := &l.tokens[at], &l.tokens[at+1]
	if status.form != 0 || !isStatus(status) || !usualStatus(status.value) || size.key != nil || size.form != 0 || !isDigits(size.value) || len(size.value) > 10 {
		return false
	}
	timed := false
	for i := range l.tokens {
		t := &l.tokens[i]
		if i >= l.requestEnd && t.key == nil && t.form == 0 && isDigits(t.value) {
			return false
		}
		timed = timed || l.mayBeTime(i) && t.form == 0 && isTimeForm(t.value)
	}
	if !timed {
		return false
	}
	n, _ := number(status.value)
	l.e.Status, l.status = int(n), l.requestEnd-1
	l.e.Bytes, _ = number(size.value)
	return true
}

// isResult: TCP_MISS, ERR_CLIENT_ABORT, NONE.
func isResult(v []byte) bool {
	if string(v) == "NONE" {
		return true
	}
	for _, c := range v {
		if c != '_' && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return bytes.HasPrefix(v, []byte("TCP_")) || bytes.HasPrefix(v, []byte("UDP_")) || bytes.HasPrefix(v, []byte("ERR_")) || bytes.HasPrefix(v, []byte("NONE_"))
}

// statusBefore is the place of the status of a line that has it before the method, as
// application loggers write it: the only code that servers answer with that stands there
// behind the line's time, if a time with a unit is between it and the method (Hertz, Iris,
// Beego: 200 12.3ms 192.0.2.7 GET /a), or if it stands right before the method, in
// brackets (PHP's own server: [200]: GET /a) or with such a time behind the path
// (Tornado: 200 GET /a (192.0.2.7) 12.3ms). -1: there is none.
func (l *lineReader) statusBefore() int {
	if l.request < 1 || l.tokens[l.request].key != nil {
		return -1
	}
	last := &l.tokens[l.request-1]
	if last.key == nil && last.form == '[' && l.request-1 != l.time && possibleStatus(last.value) {
		return l.request - 1
	}
	found := -1
	for i := l.time + 1; i < l.request; i++ {
		if t := &l.tokens[i]; t.form == 0 && isStatus(t) && usualStatus(t.value) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	switch {
	case found < 0:
	case l.unitIn(found+1, l.request), found == l.request-1 && l.unitIn(l.requestEnd, len(l.tokens)):
		return found
	}
	return -1
}

// unitIn: a value of some tokens is a time that names its unit.
func (l *lineReader) unitIn(from, to int) bool {
	for i := from; i < to; i++ {
		t := &l.tokens[i]
		if t.key != nil || t.form != 0 {
			continue
		}
		if _, ok := withUnit(t.value); ok {
			return true
		}
	}
	return false
}
