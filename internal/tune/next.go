package tune

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// remember notes a step's plan, so that it is not repeated in vain.
func (t *Tuner) remember(st *store.Step) {
	t.learned.from(st)
	t.halves.after(st)
	if t.rememberParts(st) {
		return
	}
	if st.LeftOut {
		t.tried[key(st.Plan)] = attempt{final: true} // or it would come and go
		return
	}
	if st.Kept && st.Plan.Search != nil && !st.Ended.IsZero() {
		// The number has been found; it is looked for again when something
		// else binds.
		t.tried[key(st.Plan)] = attempt{binding: st.Binding}
	}
	if st.Plan.Back != "" && (st.Kept || st.Plan.Search != nil && !st.Ended.IsZero()) {
		t.tried[st.Plan.Back] = attempt{binding: st.Binding} // it lost just now
	}
	if st.Kept {
		t.rememberKept(st)
		return
	}
	if st.Ended.IsZero() {
		return
	}
	switch outcome := st.Verdict.Outcome; {
	case outcome == experiment.Inconclusive && !st.Verdict.TooFew, outcome == "":
		return // may be tried again
	case splits(st): // nobody is guilty until it is alone; but the same together is no use
		t.tried[key(st.Plan)] = attempt{binding: st.Binding, small: true, faster: 1}
		return
	case outcome == experiment.Broke || outcome == experiment.Failed:
		t.mark(st.Plan, attempt{final: true})
	default:
		t.mark(st.Plan, attempt{binding: st.Binding, small: outcome == experiment.NoDifference || outcome == experiment.Inconclusive})
	}
}

// rememberParts notes the parts of a group that were left out or put back in the course
// of the step. It reports whether some were put back: then the others come to turn
// without them, and nothing is known of the step's plan.
func (t *Tuner) rememberParts(st *store.Step) (putBack bool) {
	for _, p := range st.Plan.Parts {
		if st.LeftOut || p.LeftOut {
			for _, id := range p.IDs() {
				t.tried[id] = attempt{final: true}
			}
		}
	}
	if !someUndone(st.Plan.Parts) {
		return false
	}
	for _, p := range st.Plan.Parts {
		if p.Undone {
			t.mark(remedy.Plan{Parts: []remedy.Part{p}}, attempt{final: true})
		}
	}
	return true
}

// rememberKept notes what a kept step says of the plans that were tried before.
func (t *Tuner) rememberKept(st *store.Step) {
	if st.Verdict.CandidateScore >= muchFaster*st.Verdict.BaselineScore {
		// What loaded the old service may not load this one: the workload is
		// looked for again where the machine is not full (G08).
		maps.DeleteFunc(t.tried, func(plan string, a attempt) bool { return !a.final && strings.HasPrefix(plan, "load.workload:") })
	}
	t.changed = t.changed || st.Tx != 0
	t.faster(st.Verdict)
	if st.Tx != 0 && st.Verdict.Effect < weakEffect {
		t.weak++
	}
	for _, p := range st.Plan.Parts {
		if led(st.Plan, p.ID) && p.LookedAgain == 0 {
			t.behind++
		}
	}
}

// faster notes with each attempt that showed no effect that the service is
// faster now: what a plan saves per request is a larger part of less, and a run
// of as many seconds holds more requests that find caches warm.
func (t *Tuner) faster(v experiment.Verdict) {
	if v.BaselineScore <= 0 || v.CandidateScore <= 0 {
		return
	}
	for id, a := range t.tried {
		if a.small {
			a.faster *= v.CandidateScore / v.BaselineScore
			t.tried[id] = a
		}
	}
}

// mark notes an attempt with a plan, or with each part of a group.
func (t *Tuner) mark(p remedy.Plan, a attempt) {
	a.faster = 1
	if len(p.Parts) == 0 {
		t.tried[key(p)] = a
	}
	for _, part := range p.Parts {
		for _, id := range part.IDs() {
			t.tried[id] = a
		}
	}
}

// muchFaster is the gain of one step after which the workload that was found
// before says nothing any more, and of several after which a plan that showed no
// effect is worth another try.
const muchFaster = 1.5

// next picks the plan with the best promise that is worth a try: one whose
// verdict is known from before an interruption, a half of a group that was not
// kept, or the first of choices that the time left allows.
func (t *Tuner) next() (*remedy.Plan, *diagnose.Finding, error) {
	in := remedy.Input{Stack: t.Stack, Evidence: t.evidence, Snapshot: t.snapshot, Diagnosis: t.diag, Rights: t.Rights}
	res := remedy.PlanAll(in)
	t.refused(res.Refusals)
	if p := t.provedPlan(in, res.Plans); p != nil {
		return p, t.finding(*p), nil
	}
	var due, open []remedy.Plan
	for _, p := range res.Plans {
		if t.due(key(p), t.diag.Binds) {
			due = append(due, p)
		} else if t.tried[key(p)].cut {
			open = append(open, p)
		}
	}
	o := t.outlook()
	// A half that is not worth a try must not keep others from theirs.
	worth := slices.DeleteFunc(slices.Clone(due), func(p remedy.Plan) bool { return !t.worth(p, o) })
	var plans []remedy.Plan
	if p := t.halves.next(in, worth); p != nil {
		plans = []remedy.Plan{*p}
	} else {
		plans = choices(in, due, o)
	}
	p, f, err := t.pick(plans, o)
	if p != nil {
		t.tellOrder(plans, o)
		t.waiting, t.open = t.othersWait(due, *p, o), t.othersWait(open, *p, o)
	} else if err == nil && t.session.StopReason != store.StopBudget && t.uncut() {
		return t.next()
	}
	return p, f, err
}

// othersWait reports whether another plan than p is worth a try.
func (t *Tuner) othersWait(plans []remedy.Plan, p remedy.Plan, o outlook) bool {
	own := p.PlanIDs()
	return slices.ContainsFunc(plans, func(q remedy.Plan) bool {
		return t.worth(q, o) && !slices.Contains(own, q.ID)
	})
}

// worth reports whether a plan may bring enough, and the time left allows it.
func (t *Tuner) worth(p remedy.Plan, o outlook) bool {
	return p.Bound-1 >= t.Rule.SmallestEffect && !t.late(p, o) && !t.hidden(p, o)
}

// hidden is outlook.hidden in the time that is left for trials.
func (t *Tuner) hidden(p remedy.Plan, o outlook) bool {
	return !t.deadline.IsZero() && o.hidden(p, time.Until(t.deadline)-t.secondLook()-t.reserve())
}

// uncut lets what was cut off for others come to turn again; false if nothing
// was.
func (t *Tuner) uncut() bool {
	had := len(t.tried)
	maps.DeleteFunc(t.tried, func(_ string, a attempt) bool { return a.cut })
	return len(t.tried) < had
}

// pick takes the first plan that is worth a try and that the time left allows.
// If there is none, it says why.
func (t *Tuner) pick(plans []remedy.Plan, o outlook) (*remedy.Plan, *diagnose.Finding, error) {
	best, late, hidden := 0.0, (*remedy.Plan)(nil), (*remedy.Plan)(nil)
	for _, p := range plans {
		best = max(best, p.Bound)
		if p.Bound-1 < t.Rule.SmallestEffect || len(p.Parts) > 1 && !t.due(key(p), t.diag.Binds) {
			continue
		}
		if t.late(p, o) {
			if late == nil {
				late = &p
			}
			continue
		}
		if t.hidden(p, o) {
			if hidden == nil {
				hidden = &p
			}
			continue
		}
		return &p, t.finding(p), nil
	}
	switch {
	case hidden != nil:
		t.stopped(store.StopBelowShown, fmt.Sprintf("pairs of runs differ by %s, so what is left would not be seen in the time left; first of it: %s (%s)",
			ui.Percent(o.noise), hidden.Title, ui.Bound(hidden.Bound)))
	case late != nil:
		t.stopped(store.StopBudget, fmt.Sprintf("the budget of %s is used; next would be: %s (%s, about %s)",
			t.Budget, late.Title, ui.Bound(late.Bound), o.time(*late).Round(time.Second)))
	case best > 0:
		t.stopped(store.StopBelowSmallest, fmt.Sprintf("nothing that is left could bring more than the smallest effect worth keeping (%s; the best that is left: at most %s)",
			ui.Percent(t.Rule.SmallestEffect), ui.Percent(best-1)))
	default:
		t.stopped(store.StopNothingLeft, "every plan that the findings call for has been tried")
	}
	return nil, nil, nil
}

// late reports whether the time left does not allow to try a plan, with what
// must follow.
func (t *Tuner) late(p remedy.Plan, o outlook) bool {
	if t.deadline.IsZero() {
		return false
	}
	// The fewest pairs may do, and the step may end the session's search.
	pairs := min(leastPairs, o.pairs(o.gain(p)))
	least := max(time.Duration(2*pairs+1)*t.Bench.runTime(), time.Duration(pairs)*(2*o.run+o.activation(p.Changes))+p.Build) + o.probing(p, float64(pairs))
	return time.Until(t.deadline) < least+t.secondLook()+t.reserve()
}

// provedPlan is a plan that was judged better before an interruption and is
// not in force. One that can no longer be planned is forgotten.
func (t *Tuner) provedPlan(in remedy.Input, plans []remedy.Plan) *remedy.Plan {
	for id, st := range t.proved {
		if len(st.LeavesOut) > 0 {
			continue
		}
		ids, found := st.Plan.PlanIDs(), []remedy.Plan(nil)
		for _, p := range plans {
			for _, want := range ids {
				if p.ID == want {
					found = append(found, p)
				}
			}
		}
		if p := sameAgain(in, st.Plan, found); p != nil {
			return p
		}
		delete(t.proved, id)
	}
	return nil
}

// sameAgain plans what was planned before out of the plans that it stood for,
// nil if that is something else by now.
func sameAgain(in remedy.Input, was remedy.Plan, plans []remedy.Plan) *remedy.Plan {
	if len(plans) == 0 {
		return nil
	}
	if len(was.Parts) == 0 {
		return &plans[0]
	}
	together := remedy.Together(in, plans)
	for _, q := range together {
		if q.ID == was.ID {
			return &q
		}
	}
	for _, parts := range [][]remedy.Plan{together, plans} { // halves hold small ones one by one
		if p, left := remedy.Group(in, parts); len(left) == 0 && p.ID == was.ID {
			return &p
		}
	}
	return nil
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
func (t *Tuner) due(plan, binds string) bool {
	a, was := t.tried[plan]
	return !was || !a.final && (a.binding != binds || a.faster >= muchFaster)
}

// finding is what a plan answers; of a group, what its first part does: the
// others name theirs in Part.Rule.
func (t *Tuner) finding(p remedy.Plan) *diagnose.Finding {
	for i, f := range t.diag.Findings {
		if f.Rule == p.Rule {
			return &t.diag.Findings[i]
		}
	}
	return nil
}

// refused keeps each refusal once for the report.
func (t *Tuner) refused(rs []remedy.Refusal) {
	for _, r := range rs {
		known := false
		for _, old := range t.session.Refusals {
			known = known || old.Plan.ID == r.Plan.ID
		}
		if !known {
			t.session.Refusals = append(t.session.Refusals, r)
		}
	}
}
