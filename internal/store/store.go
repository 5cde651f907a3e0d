package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// FileName of the database in the .kasoku folder.
const FileName = "kasoku.db"

// ErrNotFound is returned (wrapped) when no row has the ID that was asked for.
var ErrNotFound = errors.New("not found")

// Store is an open database. It may be used by several goroutines; a second
// process may read and write the same file at the same time (WAL).
type Store struct {
	db   *sql.DB
	path string
}

// busyTimeout in milliseconds: how long a write waits for another process's
// write. Writes take milliseconds; ten seconds outlast a slow disk's fsync.
const busyTimeout = 10_000

// Open opens DIR/kasoku.db, creating folder (0700) and file (0600) as needed,
// and brings an older schema up to date. dir is the project's .kasoku.
//
// A file that is damaged, is not Kasoku's, or was written by a newer Kasoku is
// refused with an error that says so; it is never changed or replaced.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open store: create folder %s: %w; check who owns its parent", dir, err)
	}
	path, err := filepath.Abs(filepath.Join(dir, FileName))
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	if err := private(path); err != nil {
		return nil, fmt.Errorf("open store: %w; check who owns it", err)
	}
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	// One connection: SQLite has one writer anyway, and every reading method
	// fetches all its rows before it returns.
	db.SetMaxOpenConns(1)
	s := &Store{db: db, path: path}
	if err := s.migrate(); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

// private makes sure that the file exists and that only its owner can read
// it. SQLite gives its -wal and -shm files the same mode.
//
// A file that is there is not opened: closing it would drop the locks that
// another Store of this process holds (sqlite.org/howtocorrupt.html, 2.2), and
// `kasoku mcp` reads while it tries.
func private(path string) error {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil // another Kasoku was quicker
		}
		if err != nil {
			return err
		}
		return f.Close()
	}
	if err != nil {
		return err
	}
	if st.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// dsn: synchronous=FULL, because a step that the journal knows as kept must
// not be forgotten here after a power loss; a session writes a few rows a
// minute, so the fsyncs cost nothing. Transactions begin IMMEDIATE: a read
// that turns into a write could otherwise fail in spite of the busy timeout.
func dsn(path string) string {
	q := url.Values{}
	for _, p := range []string{fmt.Sprintf("busy_timeout(%d)", busyTimeout), "journal_mode(WAL)", "synchronous(FULL)"} {
		q.Add("_pragma", p)
	}
	q.Set("_txlock", "immediate")
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// Path of the database file.
func (s *Store) Path() string { return s.path }

// Close ends the use of the database.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return s.fail("close", err)
	}
	return nil
}

// stamp is the form of times in columns: UTC, sortable as text.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
