package evidence

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// perfSample is one sample of `perf script`.
type perfSample struct {
	pid    int
	at     float64 // seconds on perf's clock
	period int64   // nanoseconds of CPU time that it stands for
	stack  []stackFrame
}

// perfFields are what perfScript reads: perf script -F.
const perfFields = "pid,tid,time,period,ip,sym,dso"

// mostPerfLine is the longest line of perf script that is read: a demangled
// C++ name seldom has more than 10 KiB.
const mostPerfLine = 1 << 20

// parsePerfScript reads the text that `perf script -F pid,tid,time,period,ip,sym,dso`
// prints (perf-script(1)) and hands each sample to add. A sample is a line
//
//	1234/1240  1249.549765:   10101010
//
// then one line per frame, innermost first, then an empty one:
//
//	1c1190 name (/usr/sbin/mariadbd)
//
// Callers that perf could not put into any program, which are what a program
// without frame pointers leaves on its stack, are dropped. bad counts lines that
// are neither; the error is for a text that is something else, or of r.
func parsePerfScript(r io.Reader, add func(perfSample)) (bad int, err error) {
	scan := bufio.NewScanner(r)
	scan.Buffer(make([]byte, 0, 64<<10), mostPerfLine)
	var now perfSample
	open, samples := false, 0
	flush := func() {
		if open && len(now.stack) > 0 {
			samples++
			add(now)
		}
		open = false
	}
	for scan.Scan() {
		line := scan.Text()
		switch {
		case strings.TrimSpace(line) == "":
			flush()
		case line[0] == '\t' || strings.HasPrefix(line, "        "):
			f, ok := parsePerfFrame(line)
			switch {
			case !ok || !open:
				bad++
			case f.name == "[unknown]" && f.file == "" && len(now.stack) > 0:
			default:
				now.stack = append(now.stack, f)
			}
		default:
			flush()
			s, ok := parsePerfHead(line)
			if !ok {
				bad++
				continue
			}
			now, open = s, true
		}
	}
	flush()
	if err := scan.Err(); err != nil {
		return bad, fmt.Errorf("read perf script: %w", err)
	}
	if samples == 0 && bad > 0 {
		return bad, fmt.Errorf("read perf script: none of %d lines is a sample; is this the output of perf script -F %s?", bad, perfFields)
	}
	return bad, nil
}

func parsePerfHead(line string) (perfSample, bool) {
	var s perfSample
	f := strings.Fields(line)
	if len(f) < 3 {
		return s, false
	}
	pid, _, ok := strings.Cut(f[0], "/")
	n, err1 := strconv.Atoi(pid)
	at, err2 := strconv.ParseFloat(strings.TrimSuffix(f[1], ":"), 64)
	period, err3 := strconv.ParseInt(f[2], 10, 64)
	if !ok || err1 != nil || err2 != nil || err3 != nil || period < 0 || math.IsNaN(at) || math.IsInf(at, 0) {
		return s, false
	}
	// A sample of more than an hour of CPU is not one.
	const most = 3600e9
	s.pid, s.at, s.period = n, at, min(period, most)
	return s, true
}

// parsePerfFrame reads "  1c1190 name (/path/program)". The name may hold
// blanks and brackets, as C++ names do.
func parsePerfFrame(line string) (stackFrame, bool) {
	ip, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
	if _, err := strconv.ParseUint(ip, 16, 64); !ok || err != nil {
		return stackFrame{}, false
	}
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, ")"), " (deleted)")
	at := strings.LastIndex(rest, " (")
	if at < 0 {
		return stackFrame{}, false
	}
	f := stackFrame{name: strings.TrimSpace(rest[:at]), file: rest[at+2:]}
	if f.name == "" {
		return stackFrame{}, false
	}
	if f.file == "[unknown]" {
		f.file = ""
	}
	return f, true
}
