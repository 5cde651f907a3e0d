package evidence

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// mostStackLine is the longest line that is read: 200 frames of 300 bytes.
const mostStackLine = 256 << 10

// mostCount of one stack in one request: ten thousand seconds.
const mostCount = 1_000_000

// parseStacks reads the lines that Kasoku's PHP file writes (phpProfileFile),
// one stack each, outermost frame first:
//
//	{main}<TAB>/app/index.php:3;App\login<TAB>/app/user.php:120 7
//
// The number behind the last blank is how many samples saw it. add gets the
// stack innermost first. bad counts lines that are something else, such as one
// that a process had not finished writing.
func parseStacks(r io.Reader, add func(stack []stackFrame, count int64)) (bad int, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), mostStackLine)
	for in.Scan() {
		line := in.Text()
		if line == "" {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if at <= 0 {
			bad++
			continue
		}
		count, err := strconv.ParseInt(line[at+1:], 10, 32)
		if err != nil || count <= 0 || count > mostCount {
			bad++
			continue
		}
		frames := strings.Split(line[:at], ";")
		stack := make([]stackFrame, 0, len(frames))
		for i := len(frames) - 1; i >= 0; i-- {
			f, ok := parseStackFrame(frames[i])
			if !ok {
				break
			}
			stack = append(stack, f)
		}
		if len(stack) != len(frames) {
			bad++
			continue
		}
		add(stack, count)
	}
	if err := in.Err(); err != nil {
		return bad, fmt.Errorf("read sampled stacks: %w", err)
	}
	return bad, nil
}

func parseStackFrame(text string) (stackFrame, bool) {
	name, place, ok := strings.Cut(text, "\t")
	at := strings.LastIndexByte(place, ':')
	if !ok || name == "" || at < 0 {
		return stackFrame{}, false
	}
	line, err := strconv.ParseInt(place[at+1:], 10, 32)
	if err != nil || line < 0 {
		return stackFrame{}, false
	}
	return stackFrame{name: name, file: place[:at], line: line}, true
}
