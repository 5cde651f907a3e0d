package evidence

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// maxLogBefore is how much of Apache's error log before the window is read,
// bytes: some ten thousand lines.
const maxLogBefore = 1 << 20

// apacheFull is what Apache writes when no worker is idle, once in its life
// (AH00161, AH00286, AH00484; maxclients_reported in server/mpm). That few are
// idle (AH10159) it also writes of a server that has nothing to do.
const apacheFull = "server reached MaxRequestWorkers"

// before reads what Apache has said since its start and will not say again.
func (x *errorSource) before(ctx context.Context, l *logPart) ([]LogLine, error) {
	if !x.apache || l.err != nil || l.from == 0 {
		return nil, nil
	}
	lines, err := parseApacheBefore(&pieces{ctx: ctx, h: x.h, file: l.Path, at: max(0, l.from-maxLogBefore), end: l.from}, x.svc)
	if err != nil {
		return nil, fmt.Errorf("read %s before the window: %w", l.Path, err)
	}
	return lines, nil
}

// parseApacheBefore takes from an error log of Apache what the server that
// runs now has said once. Reloads (SIGHUP, SIGUSR1) do not make it forget that
// it has, starts do.
func parseApacheBefore(r io.Reader, service string) ([]LogLine, error) {
	var said []LogLine
	reload := false
	in := bufio.NewReaderSize(r, maxLogLine)
	for {
		line, cut, err := readLogLine(in)
		level, text, _ := logMessage(line)
		switch {
		case strings.Contains(text, "SIGHUP received") || strings.Contains(text, "SIGUSR1 received") || strings.Contains(text, "Graceful restart requested"):
			reload = true
		case strings.Contains(text, "resuming normal operations"):
			if !reload {
				said = nil
			}
			reload = false
		case len(said) == 0 && strings.Contains(text, apacheFull):
			said = []LogLine{{Service: service, Level: level, Text: maskLog(clipLog(text, cut)), Count: 1, Measures: logMeasures(text)}}
		}
		if err == io.EOF {
			return said, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
