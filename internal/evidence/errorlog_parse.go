package evidence

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"
)

// maxLogKinds of messages are kept per service: who has more has one problem
// with many faces.
const maxLogKinds = 50

// maxLogLine is how much of one line is looked at, bytes: a stack trace that
// is written as one line has its message in front.
const maxLogLine = 8 << 10

// ParseErrorLog groups the lines of one error log: numbers, addresses and
// quoted values are put together, secrets masked. The forms of nginx, Apache,
// PHP, PHP-FPM, MariaDB, MySQL and Redis are known; lines of others count as
// messages without a level. Lines that go on with the message before them are
// left out, and those of requests that were answered without a fault. more counts the kinds beyond the limit.
func ParseErrorLog(r io.Reader, service string) (kinds []LogLine, more int, err error) {
	var g logGroups
	known := false // a line with a time has been seen
	in := bufio.NewReaderSize(r, maxLogLine)
	for {
		line, cut, err := readLogLine(in)
		if len(line) > 0 {
			level, text, headed := logMessage(line)
			known = known || headed
			if (headed || !known) && text != "" {
				g.add(service, level, text, cut)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
	}
	kinds, more = g.sorted()
	return kinds, more, nil
}

// logGroups puts alike messages together.
type logGroups struct {
	kinds []LogLine
	at    map[string]int // by level and kind: place in kinds
	more  int            // messages without a place
}

func (g *logGroups) add(service, level, text string, cut bool) {
	if levelRank(level) > levelRank("warning") && answered(text) {
		return
	}
	key := level + "\x00" + logKind(text)
	if i, ok := g.at[key]; ok {
		g.kinds[i].Count++
		return
	}
	if len(g.at) >= 20*maxLogKinds { // bounds what a hostile log costs
		g.more++
		return
	}
	if g.at == nil {
		g.at = map[string]int{}
	}
	g.at[key] = len(g.kinds)
	g.kinds = append(g.kinds, LogLine{Service: service, Level: level, Text: maskLog(clipLog(text, cut)), Count: 1, Measures: logMeasures(text)})
}

// sorted returns at most maxLogKinds; more counts what is not among them.
func (g *logGroups) sorted() (kinds []LogLine, more int) {
	kinds, more = g.kinds, g.more
	sortLogs(kinds)
	if len(kinds) > maxLogKinds {
		more += len(kinds) - maxLogKinds
		kinds = kinds[:maxLogKinds]
	}
	return kinds, more
}

func countLogs(kinds []LogLine) int64 {
	var lines int64
	for _, k := range kinds {
		lines += k.Count
	}
	return lines
}

// readLogLine returns the begin of the next line; cut if there was more.
func readLogLine(in *bufio.Reader) (line []byte, cut bool, err error) {
	line, err = in.ReadSlice('\n')
	line = bytes.TrimRight(bytes.Clone(line), "\r\n")
	for err == bufio.ErrBufferFull {
		cut = true
		_, err = in.ReadSlice('\n')
	}
	return line, cut, err
}

// sortLogs: what points to a measure first, then the worst, then the most.
func sortLogs(kinds []LogLine) {
	slices.SortStableFunc(kinds, func(a, b LogLine) int {
		known := func(l LogLine) int { return min(1, len(l.Measures)) }
		return cmp.Or(cmp.Compare(known(b), known(a)), cmp.Compare(levelRank(a.Level), levelRank(b.Level)), cmp.Compare(b.Count, a.Count))
	})
}

var levelOrder = []string{"crit", "error", "warning", "", "notice"}

func levelRank(level string) int { return slices.Index(levelOrder, level) }

// logHeads are the begins of lines: the group "level" and what follows is the
// message.
var logHeads = []*regexp.Regexp{
	// nginx: 2025/11/21 23:15:45 [error] 123#123: *45 message
	regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[(?P<level>\w+)\] \d+#\d+: (?:\*\d+ )?`),
	// MariaDB: 2025-11-21 23:15:45 12 [Warning] message
	// MySQL 8: 2025-11-21T23:15:45.123456Z 12 [Warning] [MY-010055] [Server] message
	regexp.MustCompile(`^\d{4}-\d\d-\d\d[ T] ?\d?\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)? (?:0x[0-9a-f]+|\d+) \[(?P<level>\w+)\] (?:\[MY-\d+\] \[\w+\] )?`),
	// Apache: [Fri Nov 21 23:15:45.123456 2025] [mpm_event:error] [pid 1:tid 2] [client 1.2.3.4:5] message
	regexp.MustCompile(`^\[\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \d{4}\] \[[\w-]*:?(?P<level>[a-z]+)\d?\] (?:\[pid [^]]*\] )?(?:\([^)]*\)[^:]*: )?(?:\[client [^]]*\] )?`),
	// PHP-FPM and PHP: [21-Nov-2025 23:15:45] WARNING: message, [21-Nov-2025 23:15:45 UTC] PHP Warning:  message
	regexp.MustCompile(`^\[\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d(?:\.\d+)?(?: [\w/+:-]+)?\] (?:(?:PHP )?(?P<level>NOTICE|WARNING|ERROR|ALERT|DEBUG|Fatal error|Parse error|Recoverable fatal error|Warning|Notice|Deprecated):\s+)?`),
	// Redis: 123:M 21 Nov 2025 23:15:45.123 # message
	regexp.MustCompile(`^\d+:[A-Z] \d\d \w{3} \d{4} \d\d:\d\d:\d\d\.\d+ (?P<level>[.*#-]) `),
	// A time alone, as many programs write it.
	regexp.MustCompile(`^\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)? (?:\[?(?P<level>CRITICAL|ERROR|WARNING|WARN|INFO|DEBUG|FATAL)\]?:? )?`),
}

// levels as the servers write them, in lower case.
var levels = map[string]string{
	"emerg": "crit", "alert": "crit", "crit": "crit", "critical": "crit", "fatal": "crit", "fatal error": "crit", "parse error": "crit", "recoverable fatal error": "crit",
	"error": "error", "warn": "warning", "warning": "warning", "#": "warning",
	"notice": "notice", "note": "notice", "info": "notice", "debug": "notice", "deprecated": "notice", "system": "notice",
	"trace": "notice", "*": "notice", "-": "notice", ".": "notice",
}

// logMessage takes time and level off a line. headed is false for a line that
// has neither.
func logMessage(line []byte) (level, text string, headed bool) {
	s := strings.ToValidUTF8(string(line), "\uFFFD")
	for _, head := range logHeads {
		m := head.FindStringSubmatchIndex(s)
		if m == nil {
			continue
		}
		if i := 2 * head.SubexpIndex("level"); m[i] >= 0 {
			level = levels[strings.ToLower(s[m[i]:m[i+1]])]
		}
		return level, strings.TrimSpace(logCore(s[m[1]:])), true
	}
	if level, ok := fieldLevel(s); ok || strings.HasPrefix(s, "{") {
		return level, strings.TrimSpace(logCore(s)), true
	}
	return "", strings.TrimSpace(logCore(s)), false
}

// logCore leaves out what nginx adds about the request, and stack traces,
// which hold arguments.
func logCore(s string) string {
	for _, end := range []string{", client: ", "Stack trace:", "\" while reading response header", "\" while reading upstream"} {
		if at := strings.Index(s, end); at > 0 {
			s = s[:at]
		}
	}
	return s
}

var logVariables = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`"[^"]*"`), `"…"`},
	{regexp.MustCompile(`'[^']*'`), `'…'`},
	{regexp.MustCompile("`[^`]*`"), "`…`"},
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\b`), "…"},
	{regexp.MustCompile(`\b(?:0x)?[0-9a-fA-F]*\d[0-9a-fA-F]{6,}\b`), "N"},
	{regexp.MustCompile(`\d+(?:[.:]\d+)*`), "N"},
	{regexp.MustCompile(`(?:/[\w.@%+~-]+){2,}`), "/…"},
}

// logKind is a message with all that varies put together.
func logKind(text string) string {
	for _, v := range logVariables {
		text = v.from.ReplaceAllString(text, v.to)
	}
	return text
}

// mostLogText is how much of a message is kept, runes.
const mostLogText = 400

func clipLog(text string, cut bool) string {
	r := []rune(text)
	if len(r) > mostLogText {
		return string(r[:mostLogText]) + "…"
	}
	if cut {
		return text + "…"
	}
	return text
}
