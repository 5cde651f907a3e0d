package envelope

import (
	"bytes"
	"strings"
)

// Table is how a log's rows are divided: values between separators, in quotes
// where they hold one (RFC 4180).
type Table struct {
	sep byte
	// keys of the columns; nil: the log does not name them.
	keys []string
}

// longestRow of a table that is read whole.
const longestRow = 1 << 20

// mostColumns that a table can have; the most of a known one is 33.
const mostColumns = 200

// TableOf tells a table by a log's head: a first row of names, or rows of as many
// values each, of which none has a blank outside quotes. nil: it is none.
func TableOf(head []byte) *Table {
	rows := sampleRows(head)
	if len(rows) == 0 {
		return nil
	}
	for _, sep := range []byte{',', ';', '\t', '|'} {
		values, ok := split(rows[0], sep)
		if !ok || len(values) < 2 || len(values) > mostColumns {
			continue
		}
		if keys := keysOf(values); keys != nil {
			return &Table{sep: sep, keys: keys}
		}
		if sep == ',' && len(values) == len(iisColumns) && bytes.HasPrefix(values[4], []byte("W3SVC")) {
			return &Table{sep: sep, keys: iisColumns}
		}
		if allNames(values) {
			return nil // of other things than requests
		}
		if len(values) >= 5 && sep != '\t' && sameRows(rows, sep, len(values)) {
			return &Table{sep: sep}
		}
	}
	return nil
}

// sampleRows are the head's first lines.
func sampleRows(head []byte) [][]byte {
	var rows [][]byte
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(head) {
		whole := bytes.HasSuffix(line, []byte("\n"))
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 || !whole && len(rows) > 1 {
			continue
		}
		if rows = append(rows, line); len(rows) == 50 {
			break
		}
	}
	return rows
}

// sameRows: nearly all have n values, and no blank outside quotes.
func sameRows(rows [][]byte, sep byte, n int) bool {
	fits := 0
	for _, row := range rows {
		values, ok := split(row, sep)
		if ok && len(values) == n && !bareBlank(row) {
			fits++
		}
	}
	return fits*10 >= len(rows)*9
}

// bareBlank: a blank outside quotes, which lines of words have.
func bareBlank(row []byte) bool {
	quoted := false
	for _, c := range row {
		switch c {
		case '"':
			quoted = !quoted
		case ' ':
			if !quoted {
				return true
			}
		}
	}
	return false
}

// split a row; false: a quote is open.
func split(row []byte, sep byte) (values [][]byte, ok bool) {
	for {
		value, rest, more, ok := cutValue(row, sep)
		if !ok {
			return nil, false
		}
		if values = append(values, value); !more {
			return values, true
		}
		row = rest
	}
}

// cutValue takes the first value off a row.
func cutValue(row []byte, sep byte) (value, rest []byte, more, ok bool) {
	trimmed := bytes.TrimLeft(row, " ")
	if len(trimmed) == 0 || trimmed[0] != '"' {
		value, rest, more = bytes.Cut(row, []byte{sep})
		return bytes.TrimSpace(value), rest, more, true
	}
	for i := 1; i < len(trimmed); i++ {
		switch {
		case trimmed[i] == '\\' && i+1 < len(trimmed) && trimmed[i+1] == '"' && i+2 < len(trimmed) && trimmed[i+2] != sep: // as some tools escape
			value = append(value, '"')
			i++
		case trimmed[i] != '"':
			value = append(value, trimmed[i])
		case i+1 < len(trimmed) && trimmed[i+1] == '"':
			value = append(value, '"')
			i++
		default:
			rest = bytes.TrimLeft(trimmed[i+1:], " ")
			if len(rest) == 0 {
				return value, nil, false, true
			}
			if rest[0] != sep {
				return nil, nil, false, false
			}
			return value, rest[1:], true, true
		}
	}
	return nil, nil, false, false
}

// keysOf a first row, if all its values are names and one is that of what a
// request's line has.
func keysOf(values [][]byte) []string {
	known := false
	keys := make([]string, len(values))
	seen := map[string]bool{}
	for i, v := range values {
		key := keyOf(string(v))
		if key == "" && len(v) > 0 || seen[key] && key != "" {
			return nil
		}
		keys[i], seen[key] = key, true
		last := strings.ToLower(key)
		known = known || knownColumns[strings.TrimLeft(last, "@_")] || knownColumns[last[strings.LastIndexByte(last, '.')+1:]]
	}
	if !known {
		return nil
	}
	return keys
}

// allNames: a first row of names.
func allNames(values [][]byte) bool {
	for _, v := range values {
		if keyOf(string(v)) == "" {
			return false
		}
	}
	return len(values) > 2
}

// iisColumns of IIS's own log file format, which is always the same ("IIS Log File
// Format"): the time is milliseconds, the date is written as the machine's
// language has it, and so is not read.
var iisColumns = []string{"client_ip", "remote_user", "date_text", "time_text", "service", "server_name", "server_ip", "duration_ms", "received", "bytes_sent", "status",
	"win_status", "method", "path", "query", ""}

// knownColumns: one of them is in every table of requests, or of lines.
var knownColumns = keySet("method", "request", "request_line", "request_method", "requestmethod", "http_method", "httpmethod", "verb", "request_verb", "cs_method", "cs-method", "clientrequestmethod",
	"status", "status_code", "statuscode", "http_status", "elb_status_code", "sc_status", "sc-status", "edgeresponsestatus", "response_code", "responsecode",
	"path", "uri", "url", "request_uri", "request_url", "message", "log", "line", "raw", "textpayload", "msg")

// keyOf a column's name: "Response Time (ms)" is response_time_ms; "" if it is
// no name.
func keyOf(name string) string {
	name = strings.TrimSpace(name)
	letters := false
	out := make([]byte, 0, len(name))
	for i := range len(name) {
		c := name[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters = true
		case c >= '0' && c <= '9' && i > 0, c == '_', c == '-', c == '.', c == '@' && i == 0, c == '$' && i == 0:
		case c == ' ' || c == '(' || c == ')' || c == '[' || c == ']' || c == '/':
			if len(out) > 0 && out[len(out)-1] != '_' {
				out = append(out, '_')
			}
			continue
		default:
			return ""
		}
		if c != '$' {
			out = append(out, c)
		}
	}
	if !letters || len(name) > 64 {
		return ""
	}
	key := strings.TrimRight(string(out), "_")
	if strings.HasPrefix(key, "@") && key != "@timestamp" && key != "@message" { // Datadog's
		key = key[1:]
	}
	if strings.Contains(name, " ") || !camel(key) { // written for people
		key = strings.ToLower(key)
	}
	return key
}

// camel: requestTime, ClientIP.
func camel(key string) bool {
	for i := 1; i < len(key); i++ {
		if key[i] >= 'A' && key[i] <= 'Z' && key[i-1] >= 'a' && key[i-1] <= 'z' {
			return true
		}
	}
	return false
}
