package tune

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// schedule chooses what a session tries next, out of the plans that its findings call
// for. It is pure: it reads no clock and asks no host; what time it is, and how much of
// it is left, a moment says. What it knows follows from stored steps alone, so a session
// that is taken up again knows it, too. Only it decides what comes first: for a session
// (Tuner.next), and for who asks beforehand (Tuner.Ahead).
//
// Files: promise.go and learned.go reckon what a plan brings and takes, tried.go holds
// what came of those before, joined.go makes groups, split.go takes them apart, order.go
// tells.
type schedule struct {
	tried   map[string]attempt // by plan ID
	loud    map[string]bool    // by plan ID: its runs were no evidence
	learned learned
	halves  halves                // of groups that were not kept
	proved  map[string]store.Step // by plan ID: judged, but what follows was cut off
	weak    int                   // steps that were kept with less than weakEffect
	behind  int                   // parts that were kept behind one that may have brought all
	changed bool                  // a step was kept that changes the target
	waiting bool                  // others wait for the plan that was chosen last
	open    bool                  // and some that made way for others are open
	looks   int                   // second looks that are left, with the one that is made
}

func newSchedule() schedule {
	return schedule{tried: map[string]attempt{}, proved: map[string]store.Step{}, loud: map[string]bool{}}
}

// moment is when something is chosen or reckoned.
type moment struct {
	rule experiment.Rule // of the experiments
	run  time.Duration   // about what one run takes, with reset and set-up
	// left is the time until the deadline, without what the end takes (below 0 when it
	// has begun to be missed); bounded: there is a deadline. budget is that of the whole
	// session.
	left    time.Duration
	bounded bool
	budget  time.Duration
}

// choice is what is tried next.
type choice struct {
	plan    *remedy.Plan // nil: nothing, and stop says why
	finding *diagnose.Finding
	order   []remedy.Plan // all that may be tried, the next one first; of one proved before: none
	stop    stop
}

// stop is why nothing is tried any more: one of store.Stop…, and the words.
type stop struct{ reason, text string }

// next picks, of the plans that a diagnosis calls for, the one with the best promise that
// is worth a try: one whose verdict is known from before an interruption, a half of a
// group that was not kept, or the first of choices that the time left allows.
func (s *schedule) next(m moment, in remedy.Input, called []remedy.Plan) choice {
	if p := s.provedPlan(in, called); p != nil {
		return choice{plan: p, finding: finding(in.Diagnosis, *p)}
	}
	var due, open []remedy.Plan
	for _, p := range called {
		if s.due(key(p), in.Diagnosis.Binds) {
			due = append(due, p)
		} else if s.tried[key(p)].cut {
			open = append(open, p)
		}
	}
	o := s.outlook(m)
	// A half that is not worth a try must not keep others from theirs.
	worth := slices.DeleteFunc(slices.Clone(due), func(p remedy.Plan) bool { return !s.worth(m, p, o) })
	var plans []remedy.Plan
	if p := s.halves.next(in, worth); p != nil {
		plans = []remedy.Plan{*p}
	} else {
		plans = o.dearLoadLast(choices(in, due, o))
	}
	p, why := s.pick(m, in.Diagnosis.Binds, plans, o)
	if p != nil {
		s.waiting, s.open = s.othersWait(m, due, *p, o), s.othersWait(m, open, *p, o)
		return choice{plan: p, finding: finding(in.Diagnosis, *p), order: plans}
	}
	if why.reason != store.StopBudget && s.uncut() {
		return s.next(m, in, called)
	}
	return choice{order: plans, stop: why}
}

// outlook is what is to be expected then, with the pairs that an experiment may have.
func (s *schedule) outlook(m moment) outlook {
	o := s.learned.outlook(m.run, m.rule)
	if m.bounded {
		o.left = max(m.left, 1)
		o.maxPairs = experiment.Fit(o.maxPairs, o.pair(remedy.Plan{}), o.left)
	}
	return o
}

// pick takes the first plan that is worth a try and that the time left allows.
// If there is none, it says why.
func (s *schedule) pick(m moment, binds string, plans []remedy.Plan, o outlook) (*remedy.Plan, stop) {
	best, late, hidden := 0.0, (*remedy.Plan)(nil), (*remedy.Plan)(nil)
	for _, p := range plans {
		best = max(best, p.Bound)
		if p.Bound-1 < m.rule.SmallestEffect || len(p.Parts) > 1 && !s.due(key(p), binds) {
			continue
		}
		if s.late(m, p, o) {
			if late == nil {
				late = &p
			}
			continue
		}
		if s.hidden(m, p, o) {
			if hidden == nil {
				hidden = &p
			}
			continue
		}
		return &p, stop{}
	}
	switch {
	case hidden != nil:
		return nil, stop{store.StopBelowShown, fmt.Sprintf("pairs of runs differ by %s, so what is left would not be seen in the time left; first of it: %s (%s)",
			ui.Percent(o.noise), hidden.Title, ui.Bound(hidden.Bound))}
	case late != nil:
		return nil, stop{store.StopBudget, fmt.Sprintf("the budget of %s is used; next would be: %s (%s, about %s)",
			m.budget, late.Title, ui.Bound(late.Bound), o.time(*late).Round(time.Second))}
	case best > 0:
		return nil, stop{store.StopBelowSmallest, fmt.Sprintf("nothing that is left could bring more than the smallest effect worth keeping (%s; the best that is left: at most %s)",
			ui.Percent(m.rule.SmallestEffect), ui.Percent(best-1))}
	default:
		return nil, stop{store.StopNothingLeft, "every plan that the findings call for has been tried"}
	}
}

// othersWait reports whether another plan than p is worth a try.
func (s *schedule) othersWait(m moment, plans []remedy.Plan, p remedy.Plan, o outlook) bool {
	own := p.PlanIDs()
	return slices.ContainsFunc(plans, func(q remedy.Plan) bool {
		return s.worth(m, q, o) && !slices.Contains(own, q.ID)
	})
}

// worth reports whether a plan may bring enough, and the time left allows it.
func (s *schedule) worth(m moment, p remedy.Plan, o outlook) bool {
	return p.Bound-1 >= m.rule.SmallestEffect && !s.late(m, p, o) && !s.hidden(m, p, o)
}

// hidden is outlook.hidden in the time that is left for trials.
func (s *schedule) hidden(m moment, p remedy.Plan, o outlook) bool {
	return m.bounded && o.hidden(p, m.left-s.secondLook(m))
}

// late reports whether the time left does not allow to try a plan, with what
// must follow.
func (s *schedule) late(m moment, p remedy.Plan, o outlook) bool {
	if !m.bounded {
		return false
	}
	// The fewest pairs may do, and the step may end the session's search.
	pairs := min(leastPairs, o.pairs(o.gain(p)))
	least := max(time.Duration(2*pairs+1)*m.run, time.Duration(pairs)*(2*o.run+o.activation(p.Changes))+p.Build) + o.probing(p, float64(pairs))
	return m.left < least+s.secondLook(m)
}

// longRun is how long a run takes from which on each counts: of a benchmark that takes
// a minute and more, two dozen runs are all that a session has.
const longRun = time.Minute

// stepTime is the shortest experiment: three pairs and a diagnostic run. Where runs are
// long, two pairs are what counts: they show what is worth the time.
func (m moment) stepTime() time.Duration {
	pairs := time.Duration(leastPairs)
	if m.run >= longRun {
		pairs = fewestPairs
	}
	return (2*pairs + 1) * m.run
}

// secondLook is kept for leaveOut, where something weak was kept, or something
// behind another that may have brought all; at most a sixth of the budget, as it
// seldom brings anything and what was not tried yet may. Where not even one look fits into
// that, none is kept: it would show nothing, and a plan may.
func (s *schedule) secondLook(m moment) time.Duration {
	looks := s.behind
	if s.weak > 0 {
		looks++
	}
	kept := min(time.Duration(looks)*m.stepTime(), m.budget/6)
	if kept < m.stepTime()-m.run { // a look needs no diagnosis
		return 0
	}
	return kept
}

// provedPlan is a plan that was judged better before an interruption and is
// not in force. One that can no longer be planned is forgotten.
func (s *schedule) provedPlan(in remedy.Input, plans []remedy.Plan) *remedy.Plan {
	for _, id := range slices.Sorted(maps.Keys(s.proved)) {
		st := s.proved[id]
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
		delete(s.proved, id)
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

// finding is what a plan answers; of a group, what its first part does: the
// others name theirs in Part.Rule.
func finding(d *diagnose.Diagnosis, p remedy.Plan) *diagnose.Finding {
	for i, f := range d.Findings {
		if f.Rule == p.Rule {
			return &d.Findings[i]
		}
	}
	return nil
}
