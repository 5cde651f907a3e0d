package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// SaveSession inserts the session and sets its ID, or updates it if it has one.
func (s *Store) SaveSession(x *Session) error {
	if x.ID == 0 {
		id, err := s.insert("save a session", `INSERT INTO sessions (started, command, stack, state, doc) VALUES (?, ?, ?, ?, '{}')`,
			stamp(x.Started), x.Command, x.Stack, x.State)
		if err != nil {
			return err
		}
		x.ID = id
	}
	doc, err := json.Marshal(x)
	if err != nil {
		return fmt.Errorf("save session %d: %w", x.ID, err)
	}
	return s.update("session", x.ID, `UPDATE sessions SET started = ?, command = ?, stack = ?, state = ?, doc = ? WHERE id = ?`,
		stamp(x.Started), x.Command, x.Stack, x.State, string(doc), x.ID)
}

// Session returns one session, ErrNotFound (wrapped) if there is none.
func (s *Store) Session(id int64) (*Session, error) {
	xs, err := s.sessions(`WHERE id = ?`, id)
	if err != nil {
		return nil, err
	}
	if len(xs) == 0 {
		return nil, s.missing("session", id)
	}
	return &xs[0], nil
}

// Sessions returns the latest sessions, newest first; limit 0 = all.
func (s *Store) Sessions(limit int) ([]Session, error) {
	return s.sessions(`ORDER BY id DESC LIMIT ?`, every(limit))
}

// SessionsBefore returns the latest sessions whose ID is less than before,
// newest first: the next page of a list. limit 0 = all.
func (s *Store) SessionsBefore(before int64, limit int) ([]Session, error) {
	return s.sessions(`WHERE id < ? ORDER BY id DESC LIMIT ?`, before, every(limit))
}

// LastSession returns the newest session, ErrNotFound (wrapped) if there is none.
func (s *Store) LastSession() (*Session, error) {
	xs, err := s.Sessions(1)
	if err != nil {
		return nil, err
	}
	if len(xs) == 0 {
		return nil, fmt.Errorf("last session in %s: %w", s.path, ErrNotFound)
	}
	return &xs[0], nil
}

func (s *Store) sessions(where string, args ...any) ([]Session, error) {
	return docs[Session](s, "read sessions", `SELECT id, doc FROM sessions `+where, args,
		func(x *Session, id int64) { x.ID = id })
}

// docs reads rows of (id, JSON).
func docs[T any](s *Store, operation, query string, args []any, setID func(*T, int64)) ([]T, error) {
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return nil, s.fail(operation, err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var id int64
		var doc []byte
		if err := rows.Scan(&id, &doc); err != nil {
			return nil, s.fail(operation, err)
		}
		var x T
		if err := json.Unmarshal(doc, &x); err != nil {
			return nil, s.fail(fmt.Sprintf("%s: ID %d cannot be understood", operation, id), err)
		}
		setID(&x, id)
		out = append(out, x)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fail(operation, err)
	}
	return out, nil
}

// insert runs an INSERT and returns the new row's ID.
func (s *Store) insert(operation, query string, args ...any) (int64, error) {
	res, err := s.db.Exec(query, args...)
	if err != nil {
		return 0, s.fail(operation, err)
	}
	id, err := res.LastInsertId()
	if err != nil {
		return 0, s.fail(operation, err)
	}
	return id, nil
}

// update runs an UPDATE of one row that must exist.
func (s *Store) update(what string, id int64, query string, args ...any) error {
	operation := fmt.Sprintf("save %s %d", what, id)
	res, err := s.db.Exec(query, args...)
	if err != nil {
		return s.fail(operation, err)
	}
	if n, err := res.RowsAffected(); err != nil {
		return s.fail(operation, err)
	} else if n == 0 {
		return s.missing(what, id)
	}
	return nil
}

// every turns "0 = all" into SQLite's "-1 = no limit".
func every(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

// isNoRows tells a missing row from a failure.
func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
