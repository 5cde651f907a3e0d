package accesslog

import (
	"bytes"
	"time"
)

// stampKeys hold the time at which an envelope of JSON was written, by docker's json-file
// driver, Fluent Bit, Filebeat, Google and journald.
var stampKeys = [][]byte{[]byte(`"time":`), []byte(`"@timestamp":`), []byte(`"timestamp":`), []byte(`"date":`), []byte(`"__REALTIME_TIMESTAMP":`)}

// stampOf is the time that a line's envelope has, of which the line within has none: a
// container's runtime and syslog write it when the program writes the line. Zero: it has
// none, or one without a year (RFC 3164) where nothing tells it.
func (c *clock) stampOf(line []byte) time.Time {
	if len(line) > 0 && line[0] == '{' {
		return c.jsonStamp(line)
	}
	if first, second, ok := papertrailTimes(line); ok {
		return c.earlier(first, second)
	}
	line, _ = priority(line)
	if n := stampLength(line); n > 0 {
		t, _ := c.read(line[:n])
		return t
	}
	line = bytes.TrimPrefix(line, []byte("1 ")) // RFC 5424
	word, _, ok := bytes.Cut(line, []byte(" "))
	if ok && len(word) >= len("2006-01-02T15:04:05") && word[4] == '-' && word[10] == 'T' {
		if t, ok := c.read(word); ok {
			return t
		}
	}
	return time.Time{}
}

// archived counts the lines of Papertrail's archives, whose first number and second time
// are none of the line's.
func archived(lines [][]byte) (n int) {
	for _, line := range lines {
		if _, _, ok := papertrail(line); ok {
			n++
		}
	}
	return n
}

// jsonStamp is stampOf for an envelope of JSON.
func (c *clock) jsonStamp(line []byte) time.Time {
	for _, key := range stampKeys {
		at := bytes.Index(line, key)
		if at < 0 {
			continue
		}
		s := scanner{b: line, at: at + len(key)}
		if s.spaces(); s.peek() != '"' {
			continue
		}
		if text, ok := s.text(); ok {
			if t, fine := c.read(text); fine {
				return t
			}
		}
	}
	return time.Time{}
}
