package tune

import (
	"errors"

	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// doubts is how many experiments in a row could not be judged.
type doubts int

// after counts a step, and marks its plan where it could not be judged.
func (d *doubts) after(t *Tuner, step *store.Step) {
	v := step.Verdict
	switch {
	case v.Shared:
		if v.Looked() {
			*d = 0
		}
		t.schedule.mark(step.Plan, attempt{binding: t.seen.diag.Binds, small: true, cut: true})
	case v.Outcome == experiment.Inconclusive && !v.TooFew:
		first := !loud(step) || t.schedule.firstLoud(step)
		t.schedule.mark(step.Plan, attempt{binding: t.seen.diag.Binds, small: true, cut: loud(step) && first})
		if first && !unscored(v) {
			*d++
		}
	default:
		*d = 0
	}
}

// loud reports whether a step could not be judged because its runs, or its probes, were
// no evidence.
func loud(st *store.Step) bool {
	n := len(st.Verdict.Samples)
	return n == 0 && st.Plan.Search != nil || n > 0 && st.Verdict.Samples[n-1].Unfit != ""
}

// firstLoud reports whether a loud step's plan was not loud before in this session. Then
// it comes to turn again after the others; the second time is nobody's doubt.
func (s *schedule) firstLoud(st *store.Step) bool {
	ids, first := st.Plan.PlanIDs(), false
	if len(st.Plan.Parts) == 0 {
		ids[0] = key(st.Plan)
	}
	for _, id := range ids {
		first = first || !s.loud[id]
		s.loud[id] = true
	}
	return first
}

// unscored reports whether neither side scored in the last pair. That comes of the
// service or its scenario, not of what else runs on the machine.
func unscored(v experiment.Verdict) bool {
	n := len(v.Samples)
	return n > 1 && v.Samples[n-1].Unfit == "" && v.Samples[n-1].Score <= 0 && v.Samples[n-2].Score <= 0
}

// maxDoubts inconclusive experiments in a row end the session: where nothing
// can be judged, going on only disturbs the service.
const maxDoubts = 2

// ErrNoisy ends a session that can be taken up again: nothing can be judged beside what
// else runs.
var ErrNoisy = errors.New("two experiments in a row could not be judged; stop what else runs on this machine, then `kasoku tune` goes on from here")
