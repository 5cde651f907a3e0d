package accesslog

import "bytes"

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

// isStatus: a number that servers answer with. The registry (RFC 9110, and what
// nginx, IIS, Cloudflare and AWS add to it) has 100 to 103, 200 to 226, 300 to 308,
// and any of 400 to 599; 174 is a size or a time. 000 is HAProxy's and curl's for none.
func isStatus(t *token) bool {
	return t.key == nil && t.form != '[' && possibleStatus(t.value)
}

func possibleStatus(v []byte) bool {
	if len(v) != 3 || !isDigits(v) {
		return false
	}
	switch string(v[:2]) {
	case "00":
		return v[2] == '0'
	case "10":
		return v[2] <= '3'
	case "20", "21", "22", "30":
		return true
	}
	return v[0] == '4' || v[0] == '5'
}

// isDecimal: digits, with a fraction or not.
func isDecimal(v []byte) bool {
	whole, fraction, dotted := bytes.Cut(v, []byte("."))
	return isDigits(whole) && (!dotted || isDigits(fraction))
}

func isDigits(v []byte) bool {
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(v) > 0
}

// findStatus takes the first number of three digits behind the request, unless a
// code that servers answer with stands right before it, as in
// '[$time_local] $status "$request" $body_bytes_sent'.
func (l *lineReader) findStatus() {
	if l.e.Status != 0 {
		return
	}
	at := -1
	if l.resultStatus() || l.swappedStatus() || l.onlySize() {
		return
	}
	if l.bothBefore() {
		return
	}
	if i := l.request - 1; i > l.time && l.time >= 0 && l.tokens[i].form == 0 && isStatus(&l.tokens[i]) && usualStatus(l.tokens[i].value) {
		at, l.status = i, l.requestEnd-1
	}
	for i := l.requestEnd; i < len(l.tokens) && at < 0; i++ {
		if t := &l.tokens[i]; i > 0 && bytes.HasPrefix(l.tokens[i-1].value, []byte("(HTTP/")) { // uWSGI: (HTTP/1.1 200)
			t.value = bytes.TrimSuffix(t.value, []byte(")"))
		}
		if isStatus(&l.tokens[i]) && !l.counted(i) && !l.port(i) {
			at, l.status = i, i
		}
	}
	if at < 0 {
		if at = l.statusBefore(); at >= 0 {
			l.status = l.requestEnd - 1
		}
	}
	if at >= 0 {
		n, _ := number(l.tokens[at].value)
		l.e.Status = int(n)
	}
}

// counted: a word behind the number says what it counts, as in "250 msecs".
func (l *lineReader) counted(i int) bool {
	if i+1 >= len(l.tokens) || l.tokens[i+1].key != nil || l.tokens[i+1].form != 0 {
		return false
	}
	next := string(l.tokens[i+1].value)
	_, unit := unitWords[next]
	return unit || next == "bytes"
}

// port: no server answers with 443, which stands before the status in lines of IIS's form.
func (l *lineReader) port(i int) bool {
	if string(l.tokens[i].value) != "443" {
		return false
	}
	for i++; i < len(l.tokens); i++ {
		if isStatus(&l.tokens[i]) && usualStatus(l.tokens[i].value) {
			l.ported = true
			return true
		}
	}
	return false
}

// onlySize takes the one number that is all that stands behind the request for
// the size, where the status is before it ('$status [$time_local] "$request"
// $body_bytes_sent'), or where there is none: Apache's ssl_request_log is
// "%t %h %{SSL_PROTOCOL}x %{SSL_CIPHER}x \"%r\" %b". false: it is not so.
func (l *lineReader) onlySize() bool {
	i := l.requestEnd
	if i >= len(l.tokens) || l.tokens[i].key != nil || l.tokens[i].form != 0 || !isDigits(l.tokens[i].value) && string(l.tokens[i].value) != "-" {
		return false
	}
	status, secure := -1, false
	for j := range l.request {
		t := &l.tokens[j]
		secure = secure || bytes.HasPrefix(t.value, []byte("TLSv")) || bytes.HasPrefix(t.value, []byte("SSLv"))
		if t.form == 0 && isStatus(t) && usualStatus(t.value) && (j == 0 || j > l.time) {
			status = j
		}
	}
	alone := i+1 == len(l.tokens)
	if next := i + 1; !alone {
		alone = status >= 0 && !isDigits(l.tokens[next].value) && string(l.tokens[next].value) != "-"
	}
	if !alone || status < 0 && !secure {
		return false
	}
	l.e.Bytes = 0
	if n, ok := number(l.tokens[i].value); ok {
		l.e.Bytes = n
	}
	if l.status = i; status >= 0 {
		n, _ := number(l.tokens[status].value)
		l.e.Status = int(n)
	}
	return true
}

// usualStatus: 443 and 120 are numbers of three digits, too.
func usualStatus(v []byte) bool {
	switch string(v) {
	case "101", "200", "201", "202", "204", "206", "301", "302", "303", "304", "307", "308", "400", "401", "403", "404", "405", "408", "409", "410",
		"413", "422", "429", "499", "500", "501", "502", "503", "504":
		return true
	}
	return false
}
