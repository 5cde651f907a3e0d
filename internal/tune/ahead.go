package tune

import (
	"math"
	"slices"
	"time"

	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// Ahead is what a session would do that is begun now.
type Ahead struct {
	// Plans that the findings call for: the one that would be tried first, then the others
	// in the order in which they come, groups before what they are made of.
	Plans []remedy.Plan
	// First is whether the first of them would be tried; otherwise none would, and Why
	// says why.
	First bool
	Why   string

	outlook outlook
}

// Expected is the factor of throughput, ≥ 1, that the session expects of a plan: of a
// group what its parts bring together, each within what limits it (outlook.gain).
func (a Ahead) Expected(p remedy.Plan) float64 { return math.Exp(a.outlook.gain(p)) }

// Ahead asks the schedule, as a session does (next), what comes first of the plans that a
// diagnosis calls for: of a session that begins, or of the interrupted one that would go
// on. It changes nothing.
func (t *Tuner) Ahead(in remedy.Input, called []remedy.Plan) (Ahead, error) {
	s := &Tuner{Stack: t.Stack, Store: t.Store, Exec: t.Exec, Bench: t.Bench, Rule: t.Rule, UI: t.UI, Options: t.Options, schedule: newSchedule()}
	s.course.workload = s.Bench.Users()
	s.session = &store.Session{Command: "tune", AsFoundWorkload: s.course.workload}
	runs := time.Duration(3) // two as found, and the one that is diagnosed
	last, err := s.resumable()
	if err != nil {
		return Ahead{}, err
	}
	if last != nil {
		steps, err := s.Store.Steps(last.ID)
		if err != nil {
			return Ahead{}, err
		}
		s.session, runs = last, 1
		s.recall(steps)
	}
	if s.Options.Budget > 0 {
		s.course.deadline = time.Now().Add(s.Options.Budget - runs*s.Bench.runTime())
	}
	c := s.schedule.next(s.moment(), in, s.retouching(called))
	a := Ahead{First: c.plan != nil, Why: c.stop.text, outlook: s.outlook()}
	if c.plan != nil {
		a.Plans = []remedy.Plan{*c.plan}
	}
	add := func(plans []remedy.Plan) {
		for _, p := range plans {
			if !slices.ContainsFunc(a.Plans, func(q remedy.Plan) bool { return q.ID == p.ID }) {
				a.Plans = append(a.Plans, p)
			}
		}
	}
	add(c.order)
	add(remedy.Together(in, called)) // with those that were tried before
	return a, nil
}
