package evidence

import (
	"strconv"
	"strings"

	"kasoku/internal/lazyregexp"
)

// What an application prints for each request that it answers is no message of an error
// log, unless the answer is one: as text, `"GET /a HTTP/1.1" … 200`, or as fields of JSON
// or logfmt, which name the method and the status.
var (
	requestLine   = lazyregexp.New(`\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \S+ HTTP/\d(?:\.\d)?\b`)
	statusBehind  = lazyregexp.New(`(?:^|[\s"])([1-5]\d\d)\b`)
	requestMethod = lazyregexp.New(`"?\b(?:request_)?method"?\s*[:=]\s*"?(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\b`)
	statusField   = lazyregexp.New(`"?\bstatus(?:_?code)?"?\s*[:=]\s*"?([1-5]\d\d)\b`)
)

// errorStatus is the first status that is the service's own fault (RFC 9110, 15.6).
const errorStatus = 500

// answered reports whether a line tells of one request that was answered without a fault
// of the service's.
func answered(text string) bool {
	var status []string
	if at := requestLine.FindStringIndex(text); at != nil {
		behind := text[at[1]:]
		// Where the client was, "from 127.0.0.1:56146", is no status.
		if i := strings.Index(behind, " - "); i >= 0 && strings.Contains(behind[:i], " from ") {
			behind = behind[i:]
		}
		status = statusBehind.FindStringSubmatch(behind)
	} else if requestMethod.MatchString(text) {
		status = statusField.FindStringSubmatch(text)
	}
	if status == nil {
		return false
	}
	n, err := strconv.Atoi(status[1])
	return err == nil && n < errorStatus
}

// levelField is the level among the fields of a line of JSON or logfmt: "level":"DEBUG",
// severity=warning.
var levelField = lazyregexp.New(`(?i)(?:^\{\s*|[{,]\s*|^|\s)"?(?:level|lvl|severity|levelname)"?\s*[:=]\s*"?([a-z]+)\b`)

// fieldLevel is the level that a line of fields names; false if it is no such line, or
// the level is none that is known.
func fieldLevel(line string) (string, bool) {
	if !strings.HasPrefix(line, "{") && !strings.Contains(line, "=") {
		return "", false
	}
	m := levelField.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	level, ok := levels[strings.ToLower(m[1])]
	return level, ok
}
