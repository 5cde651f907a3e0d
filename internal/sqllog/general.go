package sqllog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
)

// GeneralEntry is one line of a general query log: what one connection sent.
type GeneralEntry struct {
	// Time of the line; zero where the log leaves it out (MariaDB writes it
	// only when the second changes).
	Time   time.Time
	Thread uint64
	// Command as the server names it: "Query", "Connect", "Prepare",
	// "Execute", "Close stmt", "Reset stmt", "Quit", "Init DB", …
	Command string
	Text    string // the statement or argument; at most MaxStatement bytes
}

// generalCommands are the names that servers write, of MariaDB and MySQL
// (sql_parse.cc, command_name).
var generalCommands = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range []string{"Sleep", "Quit", "Init DB", "Query", "Field List", "Create DB", "Drop DB", "Refresh", "Shutdown",
		"Statistics", "Processlist", "Connect", "Kill", "Debug", "Ping", "Time", "Delayed insert", "Change user", "Binlog Dump",
		"Table Dump", "Connect Out", "Register Slave", "Register Replica", "Prepare", "Execute", "Long Data", "Close stmt", "Reset stmt",
		"Set option", "Fetch", "Daemon", "Binlog Dump GTID", "Reset Connection", "clone", "Group Replication Data Stream subscription",
		"Bulk_execute", "Slave_worker", "Slave_IO", "Slave_SQL", "Com_multi", "Error"} {
		out[name] = true
	}
	return out
}()

// IsCommand tells whether a text is the name of a command that is no statement, as
// a table of slow statements holds it ("Quit", "Ping").
func IsCommand(text string) bool { return generalCommands[text] && text != "Query" }

// ParseGeneral reads a general query log of MariaDB or MySQL (4.1 to 8.4) and
// calls each for every entry. A text of several lines is one entry; text
// before the first entry is left out. Errors are those of r and each.
func ParseGeneral(r io.Reader, each func(GeneralEntry) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var e GeneralEntry
	var text []byte
	var form generalForm
	open := false
	flush := func() error {
		if !open {
			return nil
		}
		open = false
		e.Text = string(text)
		return each(e)
	}
	for {
		line, err := generalLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) > 0 || err == nil {
			next, rest, ok := form.header(line)
			switch {
			case ok:
				if err := flush(); err != nil {
					return err
				}
				e, text, open = next, append(text[:0], rest[:min(len(rest), MaxStatement)]...), true
			case headerKind(line) == bannerHeader:
				if err := flush(); err != nil {
					return err
				}
			case open && len(text) < MaxStatement:
				text = append(text, '\n')
				text = append(text, line[:min(len(line), MaxStatement-len(text))]...)
			}
		}
		if err != nil {
			return flush()
		}
	}
}

// generalLine returns a line without its end; of a very long one the start.
func generalLine(br *bufio.Reader) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimRight(line, "\r\n"), err
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = br.ReadSlice('\n')
		if len(long) < 2*MaxStatement {
			long = append(long, line...)
		}
	}
	return bytes.TrimRight(long, "\r\n"), err
}

// spacedTabs are the tabs before a line of the same second in a text that was
// copied off a screen: a stamp's width, and more than a statement is indented.
var spacedTabs = []byte("                ")

// threadWidth: servers pad a connection's number to it (log.cc, "%5ld ").
const threadWidth = 5

// generalForm is how the log's commands are written: by its first one, so that
// a statement cannot hold what another form takes for a command.
type generalForm struct{ tabs, padded bool }

// header reads "261121 10:00:00\t    45 Connect\troot@localhost on shop",
// "\t\t    45 Query\tSELECT 1" (within the same second) or
// "2024-05-01T10:00:00.123456Z\t   45 Query\tSELECT 1"; of old servers also
// "071015 21:43:52\t     45 Query       SELECT 1".
func (f *generalForm) header(line []byte) (e GeneralEntry, rest []byte, ok bool) {
	i := 0
	if len(line) > 0 && isDigit(line[0]) {
		n := slowStamp(line)
		if n == 0 {
			return e, nil, false
		}
		e.Time = slowClock(line)
		for i = n; i < len(line) && line[i] != '\t' && line[i] != ' '; i++ {
		}
	} else if !bytes.HasPrefix(line, []byte("\t\t")) && (f.tabs || !bytes.HasPrefix(line, spacedTabs)) {
		return e, nil, false
	}
	for i < len(line) && (line[i] == '\t' || line[i] == ' ') {
		i++
	}
	from := i
	for i < len(line) && isDigit(line[i]) {
		i++
	}
	width := i - bytes.LastIndexByte(line[:i], '\t') - 1
	if i == from || width < threadWidth || i >= len(line) || line[i] != ' ' {
		return e, nil, false
	}
	e.Thread = uint64(slowInt(line[from:i]))
	command, rest, tab := bytes.Cut(line[i+1:], []byte("\t"))
	switch {
	case !f.padded && tab && generalCommands[string(command)]:
		f.tabs, e.Command = true, string(command)
	case !f.tabs:
		e.Command, rest = paddedCommand(line[i+1:])
		f.padded = f.padded || e.Command != ""
	}
	return e, rest, e.Command != ""
}

// commandWidth is what MySQL up to 5.1 pads a command to and cuts it at; a blank
// follows, where later ones write a tab.
const commandWidth = 11

// paddedCommand reads "Query       SELECT 1".
func paddedCommand(s []byte) (command string, rest []byte) {
	if len(s) > commandWidth {
		if s[commandWidth] != ' ' {
			return "", nil
		}
		s, rest = s[:commandWidth], s[commandWidth+1:]
	}
	command = string(bytes.TrimRight(s, " "))
	if generalCommands[command] {
		return command, rest
	}
	for name := range generalCommands {
		if len(command) == commandWidth && strings.HasPrefix(name, command) {
			return name, rest
		}
	}
	return "", nil
}
