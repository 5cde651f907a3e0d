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

// unwrapAll takes lines out of their envelopes and leaves out those that hold
// nothing; opened is how many had an envelope.
func unwrapAll(lines [][]byte) (out [][]byte, opened int) {
	for _, line := range lines {
		inner, names := unwrap(bytes.Clone(line), make([]string, 0, maxEnvelopes))
		if len(names) > 0 {
			opened++
		}
		if len(inner) > 0 {
			out = append(out, inner)
		}
	}
	return out, opened
}

// mostWithin are the lines within their envelopes; nil: not even half of them have one.
func mostWithin(lines [][]byte) [][]byte {
	if inner, opened := unwrapAll(lines); opened*2 >= len(lines) {
		return inner
	}
	return nil
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
