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
		s := &sessions[i]
		if s.Ended, err = lastSeen(st, s); err != nil {
			return err
		}
		s.Worked += s.Ended.Sub(s.Began())
		if err := st.SaveSession(s); err != nil {
			return err
		}
	}
	return nil
}

// lastSeen is when the last step of a session's present stretch of work began or ended,
// as far as it has any.
func lastSeen(st *store.Store, s *store.Session) (time.Time, error) {
	steps, err := st.Steps(s.ID)
	last := s.Began()
	for _, x := range steps {
		for _, at := range []time.Time{x.Started, x.Ended} {
			if at.After(last) {
				last = at
			}
		}
	}
	return last, err
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
