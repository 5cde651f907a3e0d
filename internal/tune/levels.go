package tune

import (
	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// rule of the step's experiment. What its level is comes from the stored steps,
// so a session that is taken up again goes on where it was.
func (t *Tuner) rule(step *store.Step) (experiment.Rule, error) {
	r := t.Rule
	r.Seed, r.AnyTail = uint64(step.ID), step.Plan.Workload > 0
	switch {
	case t.deadline.IsZero():
	case t.session.Command == "tune":
		r.Deadline = t.deadline.Add(-t.reserve())
		if len(step.LeavesOut) == 0 {
			r.Deadline = r.Deadline.Add(-t.secondLook())
		}
	default: // a proposal has nothing to conclude
		r.Deadline = t.deadline
	}
	if t.session.Command != "tune" || len(step.LeavesOut) > 0 {
		// A proposal is judged for itself. What is looked at again was kept
		// already: it cannot be kept in vain by that.
		return r, nil
	}
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return r, err
	}
	levels := levelsAfter(steps, r.Alpha)
	r.Alpha = levels.Next()
	return r, nil
}

// levelsAfter the steps of a session, of which each experiment may err at most
// at the given rate.
func levelsAfter(steps []store.Step, each float64) experiment.Levels {
	l := experiment.Levels{Each: each}
	for _, s := range steps {
		if len(s.LeavesOut) > 0 || !s.Verdict.Looked() {
			continue
		}
		level := s.Verdict.Level
		if level == 0 { // stored before levels were
			level = l.Next()
		}
		l.Charge(level, s.Verdict.Outcome == experiment.Improved)
	}
	return l
}
