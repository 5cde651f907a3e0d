package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// causes names what a person can do about SQLite's primary result codes
// (https://www.sqlite.org/rescode.html).
var causes = map[int]string{
	sqlite3.SQLITE_FULL:     "the disk is full: free some space and run the command again",
	sqlite3.SQLITE_CORRUPT:  "the file is damaged: move it away to begin a new history (the journal of changes is separate and not affected), or try the sqlite3 shell's .recover on a copy",
	sqlite3.SQLITE_NOTADB:   "the file is not a SQLite database: move it away to begin a new history (the journal of changes is separate and not affected)",
	sqlite3.SQLITE_BUSY:     "another process holds the database: wait until it ends",
	sqlite3.SQLITE_READONLY: "the file or its folder cannot be written: check its owner and mode",
	sqlite3.SQLITE_CANTOPEN: "the file cannot be opened: check its owner and mode",
	sqlite3.SQLITE_IOERR:    "the disk failed to read or write: check the disk and the kernel's log",
}

// fail names operation, file, cause and what to do.
func (s *Store) fail(operation string, err error) error {
	var se *sqlite.Error
	if errors.As(err, &se) {
		// The low byte is the primary code, the rest refines it.
		if hint := causes[se.Code()&0xff]; hint != "" {
			return fmt.Errorf("store %s: %s: %w; %s", s.path, operation, err, hint)
		}
	}
	return fmt.Errorf("store %s: %s: %w", s.path, operation, err)
}

// missing is the error for an ID that no row has.
func (s *Store) missing(what string, id int64) error {
	return fmt.Errorf("%s %d in %s: %w", what, id, s.path, ErrNotFound)
}
