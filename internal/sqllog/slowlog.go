package sqllog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// SlowEntry is one statement of a slow query log.
type SlowEntry struct {
	// Time of the statement as the log's own SET timestamp tells it, to the
	// second, else of its "# Time:" line; zero if it has neither.
	Time         time.Time
	Thread       uint64
	Schema       string
	SQL          string // without its final ";"; at most MaxStatement bytes
	QueryTime    time.Duration
	LockTime     time.Duration
	RowsSent     int64
	RowsExamined int64
	RowsAffected int64 // MariaDB, Percona Server
	BytesSent    int64 // MariaDB, Percona Server, MySQL with log_slow_extra
	FullScan     bool
	FullJoin     bool // MariaDB, Percona Server
	TmpTables    int64
	TmpDisk      int64
	Filesort     bool
	// Failed: ended with an error (Percona Server, MySQL with log_slow_extra).
	Failed bool
	// RateLimit n > 1: the server wrote one statement of n (log_slow_rate_limit).
	RateLimit int64
	// Command is set instead of SQL for "# administrator command: Ping;".
	Command string
	// Carried: the schema is that which was in use before the piece of the log
	// that was scanned (SlowScanner); Schema is "" then.
	Carried bool
}

// MaxStatement bounds how much of one statement is kept: enough for any query
// written by a person or an ORM; a bulk INSERT says no more after it.
const MaxStatement = 64 << 10

// ParseSlowLog reads the slow query log of MariaDB (5.5 to 11, with any
// log_slow_verbosity), MySQL (5.1 to 8.4, with or without log_slow_extra) and
// Percona Server and calls each for every whole entry. Text before the first
// header and an entry cut off at the end are left out. A server-side prepared
// statement stands in the log once for each execution, with its values filled
// in; preparing and closing it are not logged (seen with MariaDB 10.11).
//
// Errors are those of r and each; the log's own text never is one.
func ParseSlowLog(r io.Reader, each func(SlowEntry) error) error {
	var state SlowState
	pieces := NewSlowPieces(r, 256<<10)
	for {
		piece, err := pieces.Next(nil)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		before := state
		scan := SlowScanner{Before: func() SlowState { return before }}
		err2 := scan.Scan(piece, func(e *SlowEntry) error {
			whole := *e
			whole.SQL, whole.Schema, whole.Command = strings.Clone(e.SQL), strings.Clone(e.Schema), strings.Clone(e.Command)
			return each(whole)
		})
		if err2 != nil {
			return err2
		}
		state = scan.After(before)
		if err != nil {
			return nil
		}
	}
}

// SlowPieces cuts a slow log into pieces that each begin at an entry's start,
// so that they can be parsed side by side.
type SlowPieces struct {
	r    io.Reader
	size int
	rest []byte
	done bool
	read int64
}

// NewSlowPieces reads pieces of about size bytes.
func NewSlowPieces(r io.Reader, size int) *SlowPieces {
	return &SlowPieces{r: r, size: max(size, 64)}
}

// Read is how many bytes of the log were read so far.
func (p *SlowPieces) Read() int64 { return p.read }

// What stays of an entry that is larger than a piece: its head, which holds
// more than MaxStatement bytes of the statement, and its tail, for the end.
const (
	entryHead = MaxStatement + 16<<10
	entryTail = 16 << 10
)

// Next returns the next piece, in buf if that is large enough; with io.EOF the
// last one (it may be empty). A piece is longer than size only if one entry
// is; an entry longer than that loses its middle, so memory stays bounded.
func (p *SlowPieces) Next(buf []byte) ([]byte, error) {
	if p.done {
		return nil, io.EOF
	}
	buf = append(buf[:0], p.rest...)
	p.rest = p.rest[:0]
	want := p.size
	for {
		var err error
		buf, err = p.fill(buf, want)
		if errors.Is(err, io.EOF) {
			p.done = true
			return buf, io.EOF
		}
		if err != nil {
			return nil, fmt.Errorf("read slow log after %d bytes: %w", p.read, err)
		}
		if cut := SlowCut(buf); cut > 0 {
			p.rest = append(p.rest, buf[cut:]...)
			return buf[:cut], nil
		}
		if len(buf) > 4*(entryHead+entryTail) {
			buf = dropMiddle(buf)
		}
		want = len(buf) + p.size
	}
}

func (p *SlowPieces) fill(buf []byte, want int) ([]byte, error) {
	if cap(buf) < want {
		buf = append(make([]byte, 0, want), buf...)
	}
	for len(buf) < want {
		n, err := p.r.Read(buf[len(buf):want])
		buf = buf[:len(buf)+n]
		p.read += int64(n)
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// dropMiddle keeps head and tail of one very long entry. The line at the cut
// must not become one that starts like a header, so the head does not end with
// a line.
func dropMiddle(buf []byte) []byte {
	head := entryHead
	for head < len(buf)-entryTail && buf[head-1] == '\n' {
		head++
	}
	n := copy(buf[head:], buf[len(buf)-entryTail:])
	return buf[:head+n]
}

// SlowCut returns the last place in data, after its first byte, where an entry
// surely starts: a header line with its end after a statement's end. 0: none.
func SlowCut(data []byte) int {
	for end := bytes.LastIndexByte(data, '\n'); end > 0; {
		at := bytes.LastIndexByte(data[:end], '\n') + 1
		if at == 0 {
			return 0
		}
		if data[at] == '#' && headerKind(data[at:end]) != notHeader && statementEnd(data[:at-1]) {
			return at
		}
		end = at - 1
	}
	return 0
}

// statementEnd: data ends with a line that ends a statement. A SET timestamp
// does not: a statement follows that may look like anything.
func statementEnd(data []byte) bool {
	if !closes(data) {
		return false
	}
	line := trimEnd(data[bytes.LastIndexByte(data, '\n')+1:])
	_, set := slowSet(line)
	return !set
}

// closes: the text's last line ends with ";".
func closes(line []byte) bool {
	line = trimEnd(line)
	return len(line) > 0 && line[len(line)-1] == ';'
}

func trimEnd(line []byte) []byte {
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line
}
