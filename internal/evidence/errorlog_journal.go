package evidence

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/host"
)

// journalPart is what the window wrote to systemd's journal for one unit: its
// standard output and error, its syslog, and what systemd says of it.
type journalPart struct {
	unit string
	// from and to are cursors (systemd.journal-fields(7)) of the unit's last
	// entry before and in the window; "" if it had none.
	from, to string
	err      error
}

// journalEntry is a line of `journalctl --output=json`. A message that is no
// UTF-8 is an array of bytes; who has several has an array of them.
type journalEntry struct {
	Cursor    string          `json:"__CURSOR"`
	Message   json.RawMessage `json:"MESSAGE"`
	Priority  string          `json:"PRIORITY"`
	Transport string          `json:"_TRANSPORT"`
}

// text is the message's first line.
func (e journalEntry) text() string {
	var s string
	if json.Unmarshal(e.Message, &s) != nil {
		var numbers []uint16 // encoding/json takes []byte for base64
		if json.Unmarshal(e.Message, &numbers) != nil {
			return ""
		}
		b := make([]byte, len(numbers))
		for i, n := range numbers {
			b[i] = byte(n)
		}
		s = string(b)
	}
	line, _, _ := strings.Cut(strings.TrimLeft(s, "\r\n"), "\n")
	return strings.TrimRight(line, "\r")
}

// journalLevels by priority (syslog(3)).
var journalLevels = map[string]string{"0": "crit", "1": "crit", "2": "crit", "3": "error", "4": "warning", "5": "notice", "6": "notice", "7": "notice"}

// journalctl runs it for one unit. keep bounds what is read, bytes; 0: all.
func journalctl(ctx context.Context, h host.Host, unit string, keep int64, args ...string) ([]byte, error) {
	argv := append([]string{"journalctl", "--unit=" + unit, "--output=json", "--quiet", "--no-pager"}, args...)
	res, err := h.Run(ctx, host.Command{Argv: argv, Timeout: 20 * time.Second, Keep: keep / 2})
	if err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", unit, err)
	}
	if res.ExitCode != 0 {
		why, _, _ := strings.Cut(strings.TrimSpace(string(res.Stderr)), "\n")
		return nil, fmt.Errorf("read the journal of %s: journalctl ended with %d: %s; name a file as logs in kasoku.yaml, or let this user read the journal (group systemd-journal)", unit, res.ExitCode, maskLog(why))
	}
	return res.Stdout, nil
}

// last is the cursor of the unit's last entry, "" if there is none.
func (j *journalPart) last(ctx context.Context, h host.Host) string {
	if j.err != nil {
		return ""
	}
	out, err := journalctl(ctx, h, j.unit, 0, "--lines=1", "--output-fields=PRIORITY")
	if err != nil {
		j.err = err
		return ""
	}
	var e journalEntry
	if out = bytes.TrimSpace(out); len(out) > 0 {
		if err := json.Unmarshal(out, &e); err != nil {
			j.err = fmt.Errorf("read the journal of %s: %w", j.unit, err)
		}
	}
	return e.Cursor
}

// read groups what the unit's journal got in the window.
func (j *journalPart) read(ctx context.Context, h host.Host, service string) (kinds []LogLine, text string, err error) {
	if j.err != nil {
		return nil, "", j.err
	}
	name := "the journal of " + j.unit
	switch j.to {
	case "": // systemd says of every unit that it started it
		return nil, fmt.Sprintf("not judged: the journal has no entry of %s that this user may read (`journalctl -u %s`; group systemd-journal); name a file as logs in kasoku.yaml", j.unit, j.unit), nil
	case j.from:
		return nil, "nothing in " + name, nil
	}
	args := []string{"--all", "--output-fields=MESSAGE,PRIORITY,_TRANSPORT"}
	if j.from != "" {
		args = append(args, "--after-cursor="+j.from)
	}
	out, err := journalctl(ctx, h, j.unit, MaxErrorLog, args...)
	if err != nil {
		return nil, "", err
	}
	kinds, more, unread := parseJournal(out, j.to, service)
	text = fmt.Sprintf("messages in %s: %d, of kinds: %d", name, countLogs(kinds), len(kinds))
	if more > 0 {
		text += fmt.Sprintf(", %d more", more)
	}
	if unread > 0 {
		text += fmt.Sprintf("; lines that could not be read: %d", unread)
	}
	return kinds, text, nil
}

// parseJournal groups entries up to the one with the cursor to. A level that
// the message itself tells counts; that of what a program prints is systemd's
// default for all lines, and so tells nothing. unread counts lines that are no
// entry, as one that was cut.
func parseJournal(out []byte, to, service string) (kinds []LogLine, more, unread int) {
	var g logGroups
	known := false // a printed line with a time has been seen
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, MaxErrorLog+1)
	for in.Scan() {
		line := in.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e journalEntry
		if json.Unmarshal(line, &e) != nil {
			unread++
			continue
		}
		message := e.text()
		level, text, headed := logMessage([]byte(message[:min(len(message), maxLogLine)]))
		printed := e.Transport == "stdout"
		known = known || printed && headed
		if level == "" && !(printed && e.Priority == "6") {
			level = journalLevels[e.Priority]
		}
		if text != "" && (headed || !printed || !known) {
			g.add(service, level, text, len(message) > maxLogLine)
		}
		if to != "" && e.Cursor == to {
			break
		}
	}
	kinds, more = g.sorted()
	return kinds, more, unread
}
