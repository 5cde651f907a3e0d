package tune

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// resumable returns the last session of tune if it was interrupted, or ended
// with an error, and nothing that was tried since changed the target or the
// scenario.
func (t *Tuner) resumable() (*store.Session, error) {
	if t.Options.Fresh {
		return nil, nil
	}
	sessions, err := t.Store.Sessions(0)
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		switch {
		case s.Stack != t.Stack.Name:
			return nil, nil
		case s.Command != "tune":
			steps, err := t.Store.Steps(s.ID)
			if err != nil || slices.ContainsFunc(steps, func(x store.Step) bool { return x.Kept }) {
				return nil, err
			}
			continue
		case s.AsFound == 0 || s.State == "done":
			return nil, nil
		case s.Scenario != "" && s.Scenario != t.Bench.scenarioHash():
			t.UI.Info(fmt.Sprintf("session %d did not come to its end, and the scenario is another since: its scores do not compare, so a new one begins", s.ID))
			return nil, nil
		}
		return &s, nil
	}
	return nil, nil
}

// resume goes on with a session: kept steps are in place, tried ones are known.
func (t *Tuner) resume(s *store.Session) error {
	steps, err := t.Store.Steps(s.ID)
	if err != nil {
		return err
	}
	t.session, t.Bench.Stamp.Session = s, s.ID
	s.Compared = nil // more may be kept
	if t.course.workload == 0 {
		t.course.workload = s.AsFoundWorkload
	}
	t.goOn(s)
	if s.Worked == 0 && !s.Ended.IsZero() { // an earlier version did not note it
		s.Worked = s.Ended.Sub(s.Started)
	}
	s.State, s.Budget, s.Resumed, s.Ended = "running", t.Options.Budget, time.Now(), time.Time{}
	t.stopped("", "")
	if err := t.reconcile(steps); err != nil {
		return err
	}
	t.recall(steps)
	t.tellSession(steps)
	t.UI.Step(fmt.Sprintf("Take up session %d after %d steps (--new begins a fresh one)", s.ID, len(steps)))
	return t.Store.SaveSession(t.session)
}

// recall takes the steps of a session in that goes on.
func (t *Tuner) recall(steps []store.Step) {
	for i := range steps {
		st := &steps[i]
		t.course.seq = max(t.course.seq, st.Seq)
		if len(st.LeavesOut) > 0 {
			continue
		}
		t.schedule.remember(st)
		if st.Kept && st.Plan.Workload > 0 {
			t.course.workload = st.Plan.Workload
		}
	}
}

// reconcile finishes in the store what a killed session had finished on the
// target, by what the journal says: a step is stored with its verdict before it
// is kept or put back, and Recover has put back whatever was not kept.
func (t *Tuner) reconcile(steps []store.Step) error {
	if err := t.noteUndone(steps); err != nil {
		return err
	}
	for i := range steps {
		st := &steps[i]
		if !st.Ended.IsZero() || st.Verdict.Outcome == "" || st.Verdict.Outcome == experiment.Inconclusive {
			continue // not judged: it is tried again
		}
		if err := t.reconcileStep(st, steps); err != nil {
			return err
		}
	}
	// A second look is noted with the steps that it is about only after it ended.
	var errs []error
	for _, look := range steps {
		if len(look.LeavesOut) == 0 || look.Ended.IsZero() || look.Verdict.Outcome == "" || look.Verdict.Outcome == experiment.Inconclusive {
			continue
		}
		for i := range steps {
			if st := &steps[i]; slices.Contains(look.LeavesOut, st.Seq) && noteLook(st, &look) {
				errs = append(errs, t.Store.SaveStep(st))
			}
		}
	}
	return errors.Join(errs...)
}

// noteUndone notes kept steps whose changes somebody put back while the session
// stood still. They are not tried again in it.
func (t *Tuner) noteUndone(steps []store.Step) error {
	history := t.Exec.History()
	var errs []error
	for i := range steps {
		st := &steps[i]
		stays := func(tx change.Tx) bool { return tx.ID == st.Tx && tx.State == change.StateKept }
		if changesTarget(*st) && !st.Ended.IsZero() && !slices.ContainsFunc(history, stays) {
			st.LeftOut = true
			st.Verdict.Reason += "; undone while the session stood still"
			errs = append(errs, t.Store.SaveStep(st))
		}
	}
	return errors.Join(errs...)
}

// reconcileStep is reconcile for one step that was judged and not ended.
func (t *Tuner) reconcileStep(st *store.Step, steps []store.Step) error {
	all := t.Exec.Kept()
	kept := slices.IndexFunc(all, func(tx change.Tx) bool {
		return tx.Session == st.Session && tx.Plan == st.Plan.ID && !slices.ContainsFunc(steps, func(o store.Step) bool { return o.Tx == tx.ID })
	})
	look := len(st.LeavesOut) > 0
	follows := st.Verdict.Outcome == experiment.Improved
	if look {
		follows = t.drops(st)
	}
	switch {
	case kept >= 0:
		st.Tx, st.Ended, st.Kept = all[kept].ID, all[kept].Ended, !look
	case follows && !look && st.Plan.Workload > 0: // nothing on the target belongs to it
		st.Kept, st.Ended = true, time.Now()
	case follows: // it was to be kept, or taken out, and was not any more
		t.schedule.proved[st.Plan.ID] = *st
		return nil
	default:
		st.Ended = time.Now()
	}
	return t.Store.SaveStep(st)
}
