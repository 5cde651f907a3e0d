package main

import (
	"time"

	"kasoku/internal/store"
)

// endKilled says of sessions that stand as running that they are not: whoever
// has the lease knows that no other Kasoku works here, so theirs was killed.
func endKilled(st *store.Store) error {
	sessions, err := st.Sessions(0)
	if err != nil {
		return err
	}
	for i := range sessions {
		if !killed(&sessions[i]) {
			continue
		}
		sessions[i].Ended = time.Now()
		if err := st.SaveSession(&sessions[i]); err != nil {
			return err
		}
	}
	return nil
}

// killed turns a session that stands as running into an interrupted one, and
// reports whether it was. Its Kasoku is known to be gone.
func killed(s *store.Session) bool {
	if s.State != "running" {
		return false
	}
	s.State, s.Stopped, s.StopReason = "interrupted", "Kasoku was killed", store.StopInterrupted
	return true
}
