package evidence

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// fpmSlowHead begins an entry of PHP-FPM's slow log:
// "[21-Nov-2026 23:59:59]  [pool www] pid 1234".
var fpmSlowHead = regexp.MustCompile(`^\[\d{1,2}-\w{3}-\d{4} [\d:.]+\]\s+\[pool [^\]]*\] pid \d+$`)

// fpmSlowFrame is one function of a trace, innermost first:
// "[0x00007f1c0f612080] sleep() /var/www/index.php:3".
var fpmSlowFrame = regexp.MustCompile(`^\[0x[0-9a-fA-F]+\] (\S.*?)\(\) (.*):(\d+)$`)

// parseFPMSlowLog reads PHP-FPM's slow log (PHP manual, "FPM configuration",
// slowlog; sapi/fpm/fpm/fpm_php_trace.c writes it) and hands each trace to add,
// innermost frame first. Lines that belong to no entry are counted as bad.
func parseFPMSlowLog(r io.Reader, add func(stack []stackFrame)) (bad int, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), mostStackLine)
	var stack []stackFrame
	open := false
	flush := func() {
		if len(stack) > 0 {
			add(stack)
		}
		stack, open = nil, false
	}
	for in.Scan() {
		line := strings.TrimRight(in.Text(), "\r ")
		switch f := fpmSlowFrame.FindStringSubmatch(line); {
		case line == "":
			flush()
		case fpmSlowHead.MatchString(line):
			flush()
			open = true
		case open && strings.HasPrefix(line, "script_filename = "):
		case open && f != nil:
			n, err := strconv.ParseInt(f[3], 10, 32)
			if err != nil {
				bad++
				continue
			}
			stack = append(stack, stackFrame{name: f[1], file: f[2], line: n})
		default:
			bad++
		}
	}
	flush()
	if err := in.Err(); err != nil {
		return bad, fmt.Errorf("read PHP-FPM slow log: %w", err)
	}
	return bad, nil
}
