package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks the file as Kasoku's ("KSKU"; SQLite manual, PRAGMA
// application_id), so that another program's database is not written to.
const applicationID = 0x4b534b55

// migrations bring the schema from version i to i+1. An entry that was
// released is never edited; a new one is appended.
//
// Columns hold what is filtered or sorted by, and what a person would look for
// with the sqlite3 shell; the whole is JSON in doc (evidence and diagnosis:
// gzip).
var migrations = []string{`
CREATE TABLE sessions (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  started TEXT NOT NULL,
  command TEXT NOT NULL,
  stack   TEXT NOT NULL,
  state   TEXT NOT NULL,
  doc     TEXT NOT NULL
);
CREATE TABLE steps (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  plan    TEXT NOT NULL,
  outcome TEXT NOT NULL,
  kept    INTEGER NOT NULL,
  tx      INTEGER NOT NULL,
  doc     TEXT NOT NULL
);
CREATE INDEX steps_session ON steps (session, seq);
CREATE TABLE runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  session     INTEGER NOT NULL,
  step        INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  side        TEXT NOT NULL,
  label       TEXT NOT NULL,
  started     TEXT NOT NULL,
  score       REAL NOT NULL,
  unfit       TEXT NOT NULL,
  config_hash TEXT NOT NULL,
  evidence    BLOB,
  diagnosis   BLOB
);
CREATE INDEX runs_session ON runs (session, id);
CREATE INDEX runs_step ON runs (step, id);
`, `
CREATE TABLE artifacts (
  id   INTEGER PRIMARY KEY AUTOINCREMENT,
  run  INTEGER NOT NULL,
  name TEXT NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (run, name)
);
`, `
CREATE TABLE drawn (
  pool TEXT PRIMARY KEY,
  rows INTEGER NOT NULL
);
`, `
ALTER TABLE runs ADD COLUMN scenario TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN workload INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_measured ON runs (kind, unfit, scenario, workload, side, started, score, session, step, config_hash);
`}

// migrate checks whose file it is and applies what is missing.
func (s *Store) migrate() error {
	tx, err := s.begin()
	if err != nil {
		return s.fail("open", err)
	}
	defer tx.Rollback()
	have, err := s.version(tx)
	if err != nil {
		return err
	}
	if have > len(migrations) {
		return fmt.Errorf("open store %s: its schema has version %d, this Kasoku knows versions up to %d: use the newer Kasoku that wrote it, or move the file away to begin a new history",
			s.path, have, len(migrations))
	}
	for v := have; v < len(migrations); v++ {
		if _, err := tx.Exec(migrations[v]); err != nil {
			return s.fail(fmt.Sprintf("bring the schema to version %d", v+1), err)
		}
		if _, err := tx.Exec(`INSERT INTO migrations (version, applied) VALUES (?, ?)`, v+1, stamp(time.Now())); err != nil {
			return s.fail(fmt.Sprintf("note schema version %d", v+1), err)
		}
	}
	if err := tx.Commit(); err != nil {
		return s.fail("open", err)
	}
	return nil
}

// version reads the schema version; 0 for a file that was just created.
func (s *Store) version(tx *sql.Tx) (int, error) {
	var tables, ours int
	if err := tx.QueryRow(`SELECT count(*), coalesce(sum(name = 'migrations'), 0) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).Scan(&tables, &ours); err != nil {
		return 0, s.fail("read the schema", err)
	}
	if tables == 0 {
		if _, err := tx.Exec(fmt.Sprintf(`PRAGMA application_id = %d; CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied TEXT NOT NULL)`, applicationID)); err != nil {
			return 0, s.fail("create the schema", err)
		}
		return 0, nil
	}
	var id, version int
	if err := tx.QueryRow(`PRAGMA application_id`).Scan(&id); err != nil {
		return 0, s.fail("read the schema", err)
	}
	if ours == 0 || id != applicationID {
		return 0, fmt.Errorf("open store %s: it is a database of another program (application id %#x): move it away", s.path, id)
	}
	if err := tx.QueryRow(`SELECT coalesce(max(version), 0) FROM migrations`).Scan(&version); err != nil {
		return 0, s.fail("read the schema version", err)
	}
	return version, nil
}

// begin opens the first transaction. Two processes that create the file at the
// same time both switch it to WAL, and SQLite refuses one of them at once,
// whatever its busy time-out is (https://www.sqlite.org/wal.html, "Sometimes
// Queries Return SQLITE_BUSY In WAL Mode"); so it is tried again for as long.
func (s *Store) begin() (*sql.Tx, error) {
	for deadline := time.Now().Add(busyTimeout * time.Millisecond); ; {
		tx, err := s.db.Begin()
		var se *sqlite.Error
		if err == nil || !errors.As(err, &se) || se.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return tx, err
		}
		time.Sleep(busyPause)
	}
}

// busyPause between two tries to open.
const busyPause = 5 * time.Millisecond
