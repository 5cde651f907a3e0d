package accesslog

import "bytes"

// envelope is what a container's runtime, a supervisor or syslog puts around a
// line. open returns the line within; false: the line has no such envelope.
type envelope struct {
	name string
	open func(line []byte) ([]byte, bool)
}

// envelopes in the order in which they are tried.
//
//   - nginx before 1.11.8, which knows no escape=json and writes it out
//   - docker's json-file driver: {"log":"…\n","stream":"stdout","time":"…"}, and
//     the like of Fluent Bit ("log"), Filebeat ("message") and journald ("MESSAGE")
//   - Kubernetes' CRI log format: 2024-05-12T22:06:00.356130693+02:00 stdout F …
//   - Papertrail's archives: id, two times, source's id, name and address, facility, severity,
//     program and the line, between tabs
//   - docker compose: web-1  | …
//   - kubectl logs --prefix: [pod/web-7c9/nginx] …
//   - RFC 5424: <190>1 2024-05-12T22:06:00Z web1 nginx 12 - - …
//   - RFC 3164 and journalctl: <190>May 12 22:06:00 web1 nginx[12]: …, also with
//     times of RFC 3339 (rsyslog), in journalctl's other short forms, and as Papertrail shows
//     them, without a colon
//   - zap's console encoder, as Caddy has it on a terminal, and Monolog's lines: time, level,
//     message, and the fields as JSON
//   - OpenLiteSpeed: the whole line in quotes
//   - stern: web-7c9 nginx …
//   - docker logs -t, kubectl logs --timestamps: 2024-05-12T22:06:00.356130693Z …
var envelopes = []envelope{
	{"escape", openEscape},
	{"JSON", openJSON},
	{"CRI", openCRI},
	{"Papertrail", openPapertrail},
	{"compose", openCompose},
	{"kubectl", openKubectl},
	{"syslog", openSyslog5424},
	{"syslog", openSyslog},
	{"console", openConsole},
	{"quotes", openQuotes},
	{"stern", openStern},
	{"timestamps", openTimestamp},
}

// maxEnvelopes around one line: syslog within docker's JSON, say.
const maxEnvelopes = 3

// unwrap takes a line out of its envelopes; names are theirs. A line that has
// none is returned as it is. The line's bytes may change.
func unwrap(line []byte, names []string) ([]byte, []string) {
	for range maxEnvelopes {
		opened := false
		for i := range envelopes {
			if inner, ok := envelopes[i].open(line); ok {
				line, opened = inner, true
				if names != nil {
					names = append(names, envelopes[i].name)
				}
				break
			}
		}
		if !opened {
			break
		}
	}
	return line, names
}

func openEscape(line []byte) ([]byte, bool) {
	return bytes.CutPrefix(line, []byte("escape=json"))
}

// messageKeys hold the line in JSON.
var messageKeys = [][]byte{[]byte(`"log"`), []byte(`"message"`), []byte(`"MESSAGE"`), []byte(`"msg"`), []byte(`"short_message"`), []byte(`"@message"`), []byte(`"line"`), []byte(`"_raw"`), []byte(`"raw"`), []byte(`"textPayload"`)}

// openJSON takes a text out of an object: the value of the first place where the
// key stands, which is looked for as a text and may be at any depth. It must be a
// log line by its look, because "msg" of a logger is a word or two.
func openJSON(line []byte) ([]byte, bool) {
	if len(line) < 2 || line[0] != '{' {
		return nil, false
	}
	for _, key := range messageKeys {
		at := bytes.Index(line, key)
		if at < 0 {
			continue
		}
		s := scanner{b: line, at: at + len(key)}
		s.spaces()
		if s.peek() != ':' {
			continue
		}
		s.at++
		s.spaces()
		if inner, ok := byteArray(line[s.at:]); ok { // journald, of what is not printable
			return bytes.TrimRight(inner, "\r\n"), true
		}
		if s.peek() != '"' {
			continue
		}
		text, ok := s.text()
		if !ok || !bytes.ContainsAny(text, " \\\t") || bytes.Count(text, []byte(" "))+bytes.Count(text, []byte(`\t`))+bytes.Count(text, []byte(`\"`)) < 3 {
			continue
		}
		return bytes.TrimRight(decode(text), "\r\n"), true
	}
	return nil, false
}

// byteArray reads [49, 57, …], in place.
func byteArray(b []byte) ([]byte, bool) {
	if len(b) == 0 || b[0] != '[' {
		return nil, false
	}
	to, n, digits := 0, 0, 0
	for _, c := range b[1:] {
		switch {
		case c >= '0' && c <= '9' && digits < 3:
			n, digits = n*10+int(c-'0'), digits+1
		case c == ' ':
		case (c == ',' || c == ']') && digits > 0 && n < 256:
			b[to] = byte(n)
			to++
			if n, digits = 0, 0; c == ']' {
				return b[:to], true
			}
		default:
			return nil, false
		}
	}
	return nil, false
}

// openCRI: time, stream, F for a whole line or P for a part of one.
func openCRI(line []byte) ([]byte, bool) {
	rest, ok := afterTime(line)
	if !ok {
		return nil, false
	}
	for _, stream := range []string{"stdout F ", "stderr F "} {
		if inner, ok := bytes.CutPrefix(rest, []byte(stream)); ok {
			return inner, true
		}
	}
	return nil, false
}

// afterTime cuts a time of RFC 3339 and the space behind it.
func afterTime(line []byte) ([]byte, bool) {
	if len(line) < 21 || line[4] != '-' || line[7] != '-' || line[10] != 'T' && line[10] != ' ' || line[13] != ':' || line[16] != ':' {
		return nil, false
	}
	at := bytes.IndexByte(line[19:], ' ')
	if at < 0 || !isDigits(line[:4]) {
		return nil, false
	}
	return line[19+at+1:], true
}

func openCompose(line []byte) ([]byte, bool) {
	at := bytes.Index(line, []byte("| "))
	if at < 1 || at > maxKey {
		return nil, false
	}
	name := bytes.TrimRight(stripColor(line[:at]), " ")
	if len(name) == len(line[:at]) || !isKey(name) {
		return nil, false
	}
	return stripColor(line[at+2:]), true
}

// stripColor takes a terminal's colours from a text's begin and end.
func stripColor(b []byte) []byte {
	for len(b) > 2 && b[0] == 0x1b && b[1] == '[' {
		end := bytes.IndexByte(b, 'm')
		if end < 0 || end > 12 {
			break
		}
		b = b[end+1:]
	}
	b = bytes.TrimRight(b, " ")
	if at := bytes.LastIndexByte(b, 0x1b); at >= 0 && len(b)-at <= 6 && b[len(b)-1] == 'm' {
		b = b[:at]
	}
	return b
}

func openKubectl(line []byte) ([]byte, bool) {
	if !bytes.HasPrefix(line, []byte("[pod/")) {
		return nil, false
	}
	at := bytes.Index(line, []byte("] "))
	if at < 0 {
		return nil, false
	}
	return line[at+2:], true
}

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

// openConsole: a time, a level, a text, and the entry's fields as one object of JSON,
// which may be followed by empty ones ([] of Monolog). The time goes into the object,
// where there is room before it.
func openConsole(line []byte) ([]byte, bool) {
	at := bytes.Index(line, []byte(`{"`))
	if at < 12 || line[0] == '{' {
		return nil, false
	}
	text := bytes.TrimRight(line, " []")
	if text[len(text)-1] != '}' {
		return nil, false
	}
	stamp, level := consoleStamp(line[:at])
	if stamp == nil || !level {
		return nil, false
	}
	room := at + 1 - len(`{"ts":"",`) - len(stamp)
	if room < 0 || bytes.Contains(line[at:], []byte(`"ts":`)) {
		return text[at:], true
	}
	begin := append(append(append(make([]byte, 0, len(stamp)+16), `{"ts":"`...), stamp...), `",`...)
	copy(line[room:], begin)
	return text[room:], true
}

// consoleStamp is the time that a line begins with, and whether one of the words
// behind it is a level.
func consoleStamp(head []byte) (stamp []byte, level bool) {
	head = stripColor(head)
	if end := bytes.IndexByte(head, ']'); head[0] == '[' && end > 0 { // Monolog
		stamp, head = head[1:end], head[end+1:]
	} else {
		end := bytes.IndexByte(head, '\t')
		if end < 0 {
			return nil, false
		}
		stamp, head = head[:end], head[end+1:]
	}
	if !looksLikeTime(stamp) {
		return nil, false
	}
	for word := range bytes.FieldsFuncSeq(head, func(r rune) bool { return r < 'A' || r > 'z' || r == '[' || r == ']' }) {
		switch string(word) {
		case "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY", "DPANIC", "PANIC", "FATAL", "info", "debug", "warn", "error":
			return stamp, true
		}
	}
	return stamp, false
}

// openQuotes: a line that begins with an address and stands in quotes as a whole, with
// quotes of its own that are not escaped.
func openQuotes(line []byte) ([]byte, bool) {
	n := len(line)
	if n < 20 || line[0] != '"' || line[n-1] != '"' {
		return nil, false
	}
	first, rest, ok := bytes.Cut(line[1:n-1], []byte(" "))
	if !ok || !isAddress(first) || bytes.IndexByte(rest, '"') < 0 {
		return nil, false
	}
	return line[1 : n-1], true
}

// openStern: pod, container, and a line that begins as one.
func openStern(line []byte) ([]byte, bool) {
	line = stripColor(line)
	pod, rest, _ := bytes.Cut(line, []byte(" "))
	container, inner, ok := bytes.Cut(stripColor(rest), []byte(" "))
	inner = stripColor(inner)
	if !ok || !isKey(pod) || !isKey(container) || bytes.IndexByte(pod, '-') < 0 || bytes.IndexByte(container, '.') >= 0 || len(inner) == 0 {
		return nil, false
	}
	first, _, _ := bytes.Cut(inner, []byte(" "))
	if inner[0] != '{' && inner[0] != '[' && !isAddress(first) && bytes.IndexByte(first, '\t') < 0 {
		return nil, false
	}
	return inner, true
}

// openTimestamp cuts a time that stands before a whole line.
func openTimestamp(line []byte) ([]byte, bool) {
	rest, ok := afterTime(line)
	if !ok || line[10] != 'T' || len(rest) == 0 {
		return nil, false
	}
	first, _, _ := bytes.Cut(rest, []byte(" "))
	if rest[0] != '{' && rest[0] != '[' && !isAddress(first) && bytes.IndexByte(first, '\t') < 0 {
		return nil, false
	}
	return rest, true
}
