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

// parseStacks reads the lines that Kasoku's PHP file writes (PHPProfileFile),
// one stack each, outermost frame first:
//
//	{main}<TAB>/app/index.php:3;App\login<TAB>/app/user.php:120 7 2
//
// The numbers are how many samples of elapsed and of CPU time saw it. add gets
// the stack innermost first. bad counts lines that are something else, such as
// one that a process had not finished writing.
func parseStacks(r io.Reader, add func(stack []stackFrame, wall, cpu int64)) (bad int, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), mostStackLine)
	for in.Scan() {
		line := in.Text()
		if line == "" {
			continue
		}
		rest, cpu, ok1 := cutCount(line)
		rest, wall, ok2 := cutCount(rest)
		stack, ok3 := parseStack(rest)
		if !ok1 || !ok2 || !ok3 || wall+cpu == 0 {
			bad++
			continue
		}
		add(stack, wall, cpu)
	}
	if err := in.Err(); err != nil {
		return bad, fmt.Errorf("read sampled stacks: %w", err)
	}
	return bad, nil
}

// cutCount takes the number behind the last blank off a line.
func cutCount(line string) (rest string, n int64, ok bool) {
	at := strings.LastIndexByte(line, ' ')
	if at <= 0 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(line[at+1:], 10, 32)
	return line[:at], n, err == nil && n >= 0 && n <= mostCount
}

func parseStack(text string) ([]stackFrame, bool) {
	frames := strings.Split(text, ";")
	stack := make([]stackFrame, 0, len(frames))
	for i := len(frames) - 1; i >= 0; i-- {
		f, ok := parseStackFrame(frames[i])
		if !ok {
			return nil, false
		}
		stack = append(stack, f)
	}
	return stack, true
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
