package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
)

const sessionCookie = "login_session"

var sessionID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// session is what is remembered of one browser.
type session struct {
	id     string
	UserID int64  `json:"user_id,omitempty"`
	Notice string `json:"notice,omitempty"`
}

// sessionStore keeps each session in a file of its own.
type sessionStore struct{ dir string }

// open returns the request's session, or a new one whose cookie it sets.
func (st sessionStore) open(w http.ResponseWriter, r *http.Request) (*session, error) {
	if c, err := r.Cookie(sessionCookie); err == nil && sessionID.MatchString(c.Value) {
		s := &session{id: c.Value}
		text, err := os.ReadFile(st.path(s.id))
		switch {
		case err == nil:
			if err := json.Unmarshal(text, s); err != nil {
				return nil, fmt.Errorf("session %s: %w", st.path(s.id), err)
			}
			return s, nil
		case !errors.Is(err, os.ErrNotExist):
			return nil, fmt.Errorf("session: %w", err)
		}
	}
	s := &session{id: rand.Text()}
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: s.id, Path: "/", HttpOnly: true})
	return s, st.save(s)
}

// save replaces the session's file in one step.
func (st sessionStore) save(s *session) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	f, err := os.CreateTemp(st.dir, "new_")
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), st.path(s.id))
	}
	if err != nil {
		return fmt.Errorf("session: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

func (st sessionStore) path(id string) string { return filepath.Join(st.dir, "sess_"+id) }
