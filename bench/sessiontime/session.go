package main

import (
	"fmt"
	"path/filepath"
	"time"

	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// session is what a finished session of tune tells.
type session struct {
	asFound, final float64
	// took is the whole session, reached the time until what it kept afterwards
	// brought, by its own experiments, no more than from near the final score to it.
	// Scores of two moments would not do: a machine's speed changes by more.
	took, reached time.Duration
	plans         []wanted // that it tried, in its order
	kept          []string // IDs of those that it had kept by then
}

// wanted is a plan that the session tried; chosen is the value that a search
// settled on, 0 if there was none.
type wanted struct {
	id     string
	chosen int
}

// readSession reads the last session of tune in a copy of the case.
func readSession(dir string) (session, error) {
	var out session
	st, err := stack.Load(filepath.Join(dir, "kasoku.yaml"))
	if err != nil {
		return out, err
	}
	db, err := store.Open(filepath.Join(st.Dir, ".kasoku"))
	if err != nil {
		return out, err
	}
	defer db.Close()
	s, err := db.LastSession()
	if err != nil {
		return out, err
	}
	if s.Command != "tune" || s.State != "done" || s.Final <= 0 {
		return out, fmt.Errorf("%s: the last session (%s, %s) is no finished one of tune", dir, s.Command, s.State)
	}
	steps, err := db.Steps(s.ID)
	if err != nil {
		return out, err
	}
	return summarize(s, steps), nil
}

// summarize reads time and plans from the steps of a session.
func summarize(s *store.Session, steps []store.Step) session {
	out := session{asFound: s.AsFound, final: s.Final, took: s.Ended.Sub(s.Started), reached: s.Ended.Sub(s.Started)}
	left := 1.0 // factor of what is still to be kept
	for _, st := range steps {
		if stays(st) {
			left *= 1 + st.Verdict.Effect
		}
	}
	for _, st := range steps {
		if len(st.LeavesOut) > 0 {
			continue
		}
		var tried []wanted
		for _, id := range st.Plan.PlanIDs() {
			tried = append(tried, wanted{id, st.Chosen}) // a group has no number to choose
		}
		out.plans = append(out.plans, tried...)
		if !stays(st) || left*near <= 1 {
			continue
		}
		for _, w := range tried {
			out.kept = append(out.kept, w.id)
		}
		if left /= 1 + st.Verdict.Effect; left*near <= 1 {
			out.reached = st.Ended.Sub(s.Started)
		}
	}
	return out
}

// stays: it was kept and not taken out later.
func stays(st store.Step) bool { return st.Kept && !st.LeftOut && len(st.LeavesOut) == 0 }
