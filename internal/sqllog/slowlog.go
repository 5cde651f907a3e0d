package sqllog

import (
	"errors"
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
	// Fault says why the entry is no statement with its time; "" for all others.
	// SQL is then what is there of it.
	Fault SlowFault
	// Unended: no ";" ends the statement, which may be cut. Last: nothing follows.
	Unended, Last bool
	// BadTime: the query or lock time is no number, or cannot be: old servers wrote
	// 18446744073699.4 when a clock was set back. It is 0 here.
	BadTime bool
	// At is where the entry begins in its piece.
	At int
	// Carried: the schema is that which was in use before the piece of the log
	// that was scanned (SlowScanner); Schema is "" then.
	Carried bool
}

// SlowFault is what an entry lacks.
type SlowFault string

// Faults of entries.
const (
	SlowHeadless SlowFault = "text before the first entry" // its own begin is missing
	SlowEmpty    SlowFault = "an entry without a statement"
	SlowUntimed  SlowFault = "an entry without Query_time"
)

// MaxStatement bounds how much of one statement is kept: enough for any query
// written by a person or an ORM; a bulk INSERT says no more after it.
const MaxStatement = 64 << 10

// ParseSlowLog reads the slow query log of MariaDB (5.5 to 11, with any
// log_slow_verbosity), MySQL (5.1 to 8.4, with or without log_slow_extra) and
// Percona Server and calls each for every whole entry: those with a Fault and a
// statement cut off at the end are left out. A server-side prepared
// statement stands in the log once for each execution, with its values filled
// in; preparing and closing it are not logged (seen with MariaDB 10.11).
//
// Errors are those of r and each; the log's own text never is one.
func ParseSlowLog(r io.Reader, each func(SlowEntry) error) error {
	var state SlowState
	pieces := NewSlowPieces(r, 256<<10)
	var piece SlowPiece
	for {
		err := pieces.Next(&piece)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		before := state
		scan := SlowScanner{Before: func() SlowState { return before }}
		err2 := scan.Scan(&piece, func(e *SlowEntry) error {
			if e.Fault != "" || e.Unended && e.Last && piece.Unended == 0 {
				return nil
			}
			whole := *e
			whole.At = 0
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

func trimEnd(line []byte) []byte {
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line
}
