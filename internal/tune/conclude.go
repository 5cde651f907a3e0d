package tune

import (
	"context"
	"fmt"
	"time"

	"kasoku/internal/ui"
)

// reserve is kept for the end: what follows the comparison of as found and as left,
// and the pairs for that (reservedPairs), if something was kept before; a single step's own
// experiment is that comparison (compareEnds).
func (t *Tuner) reserve() time.Duration {
	if !t.schedule.changed && t.Bench.runTime() >= longRun {
		return t.afterwards()
	}
	return t.afterwards() + time.Duration(t.endRuns()*t.reservedPairs())*t.Bench.runTime()
}

// endShare of the budget (0–1) is kept for comparing as found and as left in more than one pair,
// as one has no interval: two pairs of runs of 22 s in 12 minutes. A choice, about as much as
// second looks may take (secondLook).
const endShare = 0.15

// reservedPairs are how many pairs of the comparison of as found and as left there is time
// kept for, 1 to endPairs; where runs are long it is one, as each counts.
func (t *Tuner) reservedPairs() int {
	run := t.Bench.runTime()
	if run >= longRun {
		return 1
	}
	return min(max(int(endShare*t.Options.Budget.Seconds()/(2*run+1).Seconds()), 1), endPairs)
}

// afterwards is what the end takes after the comparison: a restart and a run, another
// one if that is slow and a run is short, two with the load as found if it is another by
// now, and the checks.
func (t *Tuner) afterwards() time.Duration {
	runs := time.Duration(2)
	if t.Bench.runTime() >= longRun {
		runs = 1
	}
	if t.loadChanged() {
		runs += 2
	}
	return runs*t.Bench.runTime() + 10*time.Second + t.checksTime()
}

// noTimeForAnother reports whether a look at what binds now would take of the time that is
// kept for the end, or, where runs are long, does not fit before the end together with the
// shortest step.
func (t *Tuner) noTimeForAnother() bool {
	if t.course.deadline.IsZero() {
		return false
	}
	need := t.Bench.runTime()
	if need >= longRun {
		need = t.moment().stepTime()
	}
	return time.Until(t.course.deadline) < need+t.reserve()
}

// tellRuns says how long a run is here and how many fit, before anything is tried: an
// experiment takes six and more.
func (t *Tuner) tellRuns() {
	run := t.Bench.runTime()
	text := fmt.Sprintf("a run takes %s", ui.Duration(run))
	if !t.course.deadline.IsZero() {
		left := max(time.Until(t.course.deadline)-t.reserve(), 0)
		text += fmt.Sprintf(": about %d fit into the time left, beside the %s that the end takes", int(left/run), ui.Duration(t.reserve()))
		if left < t.moment().stepTime() {
			text += fmt.Sprintf("; the shortest experiment takes %s, so nothing can be shown: a budget of %s or more would do", ui.Duration(t.moment().stepTime()), ui.Duration((t.Options.Budget+t.moment().stepTime()-left).Round(time.Minute)+time.Minute))
		}
	}
	t.UI.Info(text)
}

// unchanged reports whether the service and its load are as the session found them:
// then its score is the one as found, and no restart can lose anything.
func (t *Tuner) unchanged() bool {
	return !t.schedule.changed && t.course.workload == t.session.AsFoundWorkload
}

// conclude compares the service as left with the service as found, restarts every
// service and measures again, if anything was kept.
func (t *Tuner) conclude(ctx context.Context) error {
	if err := t.lastLook(ctx); err != nil {
		return err
	}
	if t.unchanged() {
		t.session.Final, t.session.FinalWorkload = t.session.AsFound, t.course.workload
		t.UI.Info("nothing was kept: the final score is the one as found, and no service is restarted")
		return t.check(ctx)
	}
	if err := t.compareEnds(ctx); err != nil {
		return err
	}
	t.session.Final, t.session.FinalWorkload = t.session.Compared.Final, t.course.workload
	if t.session.Final == 0 {
		t.UI.Step("Measure the final score")
		scores, err := t.measure(ctx, "final", 2)
		if err != nil {
			return err
		}
		t.session.Final = level(scores)
	}
	if err := t.sameLoad(ctx); err != nil {
		return err
	}
	if err := t.afterRestart(ctx); err != nil {
		return err
	}
	if err := t.leaveOutDeadlocks(ctx); err != nil {
		return err
	}
	return t.check(ctx)
}

// loadChanged reports whether the service is measured with another number of users than as found.
func (t *Tuner) loadChanged() bool {
	return t.session.AsFoundWorkload != 0 && t.course.workload != t.session.AsFoundWorkload
}

// sameLoad tells the final configuration's score with as many users as found, if the
// load was raised meanwhile (G08). Where as found could not be put in place again it
// is measured now; that score is beside no runs as found, so no factor is made of it.
func (t *Tuner) sameLoad(ctx context.Context) error {
	s := t.session
	if !t.loadChanged() {
		return nil
	}
	if c := s.Compared; c != nil && c.SameLoad != nil {
		s.FinalAsFoundLoad = c.SameLoad.Final
		t.UI.Info(fmt.Sprintf("with %d users, as found, %s %s: %s of the factor of %s do not come from more users", s.AsFoundWorkload, score(s.FinalAsFoundLoad), s.Unit(), ui.Factor(c.SameLoad.Factor), ui.Factor(c.Factor)))
		return nil
	}
	t.UI.Step(fmt.Sprintf("Measure the final score with %d users, as found", t.session.AsFoundWorkload))
	raised := t.course.workload
	t.course.workload = t.session.AsFoundWorkload
	defer func() { t.course.workload = raised }()
	scores, err := t.measure(ctx, "final, with the load as found", 2)
	if err != nil {
		return err
	}
	s.FinalAsFoundLoad = level(scores)
	t.UI.Info(score(s.FinalAsFoundLoad) + " " + s.Unit())
	return nil
}

// lastLook is observe with everything, so that the report can say what is left
// to do in the source.
func (t *Tuner) lastLook(ctx context.Context) error {
	if !t.Bench.Instruments.Plain && !t.Bench.Instruments.Unwalked {
		return nil // the last one was such a run, and nothing was kept since
	}
	t.Bench.Instruments.Walk = t.walkTime()
	if !t.course.deadline.IsZero() && time.Until(t.course.deadline) < t.reserve()+2*t.Bench.runTime()+t.Bench.walkLimit() {
		t.UI.Info("the budget leaves no time to follow single requests and take profiles again; `kasoku run` does")
		return nil
	}
	t.UI.Step("Look at what is left")
	t.Bench.Instruments.Plain, t.Bench.Instruments.Unwalked = false, false
	return t.look(ctx, "at the end, with everything recorded")
}
