package accesslog

import (
	"bytes"
	"fmt"
	"strings"
)

// unread says why no format reads a log's lines, and what to do.
func unread(head []byte, lines [][]byte) error {
	const begin = "detect the log's format: "
	if why := unreadColumns(head); why != "" {
		return fmt.Errorf(begin+"%s", why)
	}
	for _, l := range severalLines {
		if n := l.in(lines); n > 0 && n*4 >= len(lines) {
			return fmt.Errorf(begin+"it is %s, which writes a request in several lines: %s; or digest the log of the web server before it", l.name, l.do)
		}
	}
	first := quoteText(lines[0], 200)
	if c := lines[0]; c[0] == '{' || c[0] == '[' && len(c) > 1 && c[1] == '{' {
		return fmt.Errorf(begin+"the first line %s begins as JSON, but is no request: its keys are unknown, or it is cut; name the request's keys as jq -c '{method: .…, path: .…, status: .…, duration_ms: .…}' writes them", first)
	}
	return fmt.Errorf(begin+"no known one fits the line %s; give the log_format or LogFormat text of the server's configuration", first)
}

// unreadColumns says of a log whose begin names its columns which line has not those;
// "": it names none.
func unreadColumns(head []byte) string {
	var columns, n int
	tabs := false
	for line := range bytes.Lines(head) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if text, ok := bytes.CutPrefix(line, []byte(fieldsBegin)); ok {
			columns, tabs = len(bytes.Fields(text)), bytes.Contains(text, []byte("x-edge-"))
			continue
		}
		if columns == 0 || len(line) == 0 || line[0] == '#' {
			continue
		}
		between := "a space"
		if tabs {
			between = "a tab"
		}
		got := len(bytes.Fields(line))
		if got == columns {
			return fmt.Sprintf("line %d has as many values as its #Fields line names, but one of them is none of its column, or they do not stand one behind %s: %s", n, between, quoteText(line, 200))
		}
		return fmt.Sprintf("its #Fields line names %d columns, and line %d has %d values: %s; name the columns that the lines have in the #Fields line", columns, n, got, quoteText(line, 200))
	}
	return ""
}

// severalLinesOf is a program's log of which a line is no request.
type severalLinesOf struct {
	name string
	// begins are those of a request's lines, behind what a logger writes before them.
	begins []string
	do     string // what makes one line of them
}

var severalLines = []severalLinesOf{
	{"Rails' log", []string{"Started GET ", "Started POST ", "Started HEAD ", "Started PUT ", "Started PATCH ", "Started DELETE ", "Processing by ", "Completed "}, "lograge makes one of them"},
	{"Phoenix's log", []string{"Sent 20", "Sent 30", "Sent 40", "Sent 50"}, "logster makes one of them"},
	{"pino-pretty's output", []string{"req: {", "res: {", "responseTime: "}, "digest what pino itself writes, which is JSON"},
}

// halves says of JSON whose requests are lines of two kinds, one with the request and one
// with its answer and time, what makes one of them: of Fastify's log each half would be
// a request without the other's values. nil: it is not so.
func halves(lines [][]byte) error {
	requests, answers := 0, 0
	for _, line := range lines {
		req, res := hasObject(line, "req"), hasObject(line, "res")
		switch {
		case !bytes.Contains(line, []byte("reqId")):
		case req && !res:
			requests++
		case res && !req && bytes.Contains(line, []byte("responseTime")):
			answers++
		}
	}
	if answers == 0 || 4*min(requests, answers) < len(lines) {
		return nil
	}
	return fmt.Errorf("detect the log's format: it is Fastify's log, which writes a request in two lines: jq -s -c 'group_by([.pid, .reqId])[] | add' makes one of them; or digest the log of the web server before it")
}

// hasObject: a line of JSON, or one within such a line, has an object of the name.
func hasObject(line []byte, name string) bool {
	for _, form := range []string{`"` + name + `":{`, `"` + name + `": {`, `\"` + name + `\":{`} {
		if bytes.Contains(line, []byte(form)) {
			return true
		}
	}
	return false
}

// in counts the lines that begin so.
func (l *severalLinesOf) in(lines [][]byte) (n int) {
	for _, line := range lines {
		for _, begin := range l.begins {
			at := strings.Index(string(line), begin)
			if at == 0 || at > 0 && (line[at-1] == ' ' || line[at-1] == '\t') {
				n++
				break
			}
		}
	}
	return n
}
