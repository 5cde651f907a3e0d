package tune

import (
	"maps"
	"strings"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// attempt is what came of a plan that was not kept.
type attempt struct {
	binding string // what bound then
	final   bool   // not to be tried again: it failed or broke answers
	// small: no effect was seen. faster is by how much the service became faster
	// since then, as a factor.
	small  bool
	faster float64
	// cut: its share of the time was not enough.
	cut bool
}

// key names a plan for what was tried. A search is the same whatever number it
// begins from, which is the last part of its ID.
func key(p remedy.Plan) string {
	if i := strings.LastIndexByte(p.ID, ':'); p.Search != nil && i > 0 {
		return p.ID[:i]
	}
	return p.ID
}

// due reports whether a plan is worth a try now: it was not tried yet, or it
// was put back while something else bound (I16), or it showed no effect and the
// service is much faster now. What failed or broke answers is not tried again.
func (s *schedule) due(plan, binds string) bool {
	a, was := s.tried[plan]
	return !was || !a.final && (a.binding != binds || a.faster >= muchFaster)
}

// remember notes a step's plan, so that it is not repeated in vain.
func (s *schedule) remember(st *store.Step) {
	s.learned.from(st)
	s.halves.after(st)
	if s.rememberParts(st) {
		return
	}
	if st.LeftOut {
		s.tried[key(st.Plan)] = attempt{final: true} // or it would come and go
		return
	}
	if st.Kept && st.Plan.Search != nil && !st.Ended.IsZero() {
		// The number has been found; it is looked for again when something
		// else binds.
		s.tried[key(st.Plan)] = attempt{binding: st.Binding}
	}
	if st.Plan.Back != "" && (st.Kept || st.Plan.Search != nil && !st.Ended.IsZero()) {
		s.tried[st.Plan.Back] = attempt{binding: st.Binding} // it lost just now
	}
	if st.Kept {
		s.rememberKept(st)
		return
	}
	if st.Ended.IsZero() {
		return
	}
	switch outcome := st.Verdict.Outcome; {
	case outcome == experiment.Inconclusive && !st.Verdict.TooFew, outcome == "":
		return // may be tried again
	case splits(st): // nobody is guilty until it is alone; but the same together is no use
		s.tried[key(st.Plan)] = attempt{binding: st.Binding, small: true, faster: 1}
		return
	case outcome == experiment.Broke || outcome == experiment.Failed:
		s.mark(st.Plan, attempt{final: true})
	default:
		s.mark(st.Plan, attempt{binding: st.Binding, small: outcome == experiment.NoDifference || outcome == experiment.Inconclusive})
	}
}

// rememberParts notes the parts of a group that were left out or put back in the course
// of the step. It reports whether some were put back: then the others come to turn
// without them, and nothing is known of the step's plan.
func (s *schedule) rememberParts(st *store.Step) (putBack bool) {
	for _, p := range st.Plan.Parts {
		if st.LeftOut || p.LeftOut {
			for _, id := range p.IDs() {
				s.tried[id] = attempt{final: true}
			}
		}
	}
	if !someUndone(st.Plan.Parts) {
		return false
	}
	for _, p := range st.Plan.Parts {
		if p.Undone {
			s.mark(remedy.Plan{Parts: []remedy.Part{p}}, attempt{final: true})
		}
	}
	return true
}

// rememberKept notes what a kept step says of the plans that were tried before.
func (s *schedule) rememberKept(st *store.Step) {
	if st.Verdict.CandidateScore >= muchFaster*st.Verdict.BaselineScore {
		// What loaded the old service may not load this one: the workload is
		// looked for again where the machine is not full (G08).
		maps.DeleteFunc(s.tried, func(plan string, a attempt) bool { return !a.final && strings.HasPrefix(plan, "load.workload:") })
	}
	s.changed = s.changed || st.Tx != 0
	s.faster(st.Verdict)
	if st.Tx != 0 && st.Verdict.Effect < weakEffect {
		s.weak++
	}
	for _, p := range st.Plan.Parts {
		if led(st.Plan, p.ID) && p.LookedAgain == 0 {
			s.behind++
		}
	}
}

// faster notes with each attempt that showed no effect that the service is
// faster now: what a plan saves per request is a larger part of less, and a run
// of as many seconds holds more requests that find caches warm.
func (s *schedule) faster(v experiment.Verdict) {
	if v.BaselineScore <= 0 || v.CandidateScore <= 0 {
		return
	}
	for id, a := range s.tried {
		if a.small {
			a.faster *= v.CandidateScore / v.BaselineScore
			s.tried[id] = a
		}
	}
}

// mark notes an attempt with a plan, or with each part of a group.
func (s *schedule) mark(p remedy.Plan, a attempt) {
	a.faster = 1
	if len(p.Parts) == 0 {
		s.tried[key(p)] = a
	}
	for _, part := range p.Parts {
		for _, id := range part.IDs() {
			s.tried[id] = a
		}
	}
}

// muchFaster is the gain of one step after which the workload that was found
// before says nothing any more, and of several after which a plan that showed no
// effect is worth another try.
const muchFaster = 1.5

// uncut lets what was cut off for others come to turn again; false if nothing
// was.
func (s *schedule) uncut() bool {
	had := len(s.tried)
	maps.DeleteFunc(s.tried, func(_ string, a attempt) bool { return a.cut })
	return len(s.tried) < had
}
