package tune

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/stat"
	"kasoku/internal/store"
)

// rule of the step's experiment. What its level is comes from the stored steps,
// so a session that is taken up again goes on where it was.
func (t *Tuner) rule(step *store.Step) (experiment.Rule, error) {
	r := t.Rule
	if t.Bench != nil {
		r.WrongBefore, r.AskedBefore = t.Bench.scored.wrong, t.Bench.scored.asked
	}
	r.Seed, r.AnyTail = uint64(step.ID), step.Plan.Workload > 0
	switch {
	case t.course.deadline.IsZero():
	case t.session.Command == "tune":
		t.shareOut(&r, len(step.LeavesOut) > 0)
	default: // a proposal has nothing to conclude
		r.Deadline = t.course.deadline
	}
	t.fit(&r, step)
	if t.session.Command != "tune" || len(step.LeavesOut) > 0 {
		// A proposal is judged for itself. What is looked at again was kept
		// already: it cannot be kept in vain by that.
		return r, nil
	}
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return r, err
	}
	r.Spread = t.schedule.learned.spread
	p, others, most := step.Plan, t.schedule.waiting || t.schedule.open, t.Rule.MaxPairs
	if whole := p.Search != nil || p.Workload > 0 || len(p.Parts) > 1 && !p.OfSmall(); whole && others {
		// Nothing of it is left for later: its number is found anew, or it is split.
		if most = min(most, FirstPatience); r.MaxPairs >= most {
			r.MaxPairs, r.Fitted = most, false
		}
		others = false
	}
	was, err := cutOff(steps, &p, most, t.asNow)
	if err != nil {
		return r, err
	}
	levels := levelsAfter(steps, r.Alpha)
	r.Earlier, r.Alpha = was.runs, levels.Next()
	if was.level > 0 {
		r.Alpha = was.level // it is the same test, gone on with
	}
	if was.maxPairs > 0 {
		r.MaxPairs, r.Fitted = was.maxPairs, was.fitted
	}
	// Where its pairs are lost it would make way again and again.
	if lost := len(r.Earlier) == 0 && t.schedule.learned.opened[key(p)].pairs > 0; others && !lost {
		r.Patience = min(Patience(len(experiment.PairsOf(r.Earlier))), r.MaxPairs)
	}
	return r, nil
}

// fitMore / fitOf: half as many pairs again are reckoned to fit, as runs get shorter when
// the service gets faster. Levels for nine pairs are a fifth stricter than those for six;
// to have had all pairs while there is time left would end an experiment undecided.
const fitMore, fitOf = 3, 2

// fit makes the levels of a step's experiment for the pairs that the time left allows.
// What makes way for others may go on until the end, what is looked at again may not.
func (t *Tuner) fit(r *experiment.Rule, step *store.Step) {
	if r.Deadline.IsZero() {
		return
	}
	end := r.Deadline
	if r.Latest.After(end) {
		end = r.Latest
	}
	o := t.outlook()
	r.MaxPairs = experiment.Fit(t.Rule.MaxPairs, o.pair(step.Plan), fitMore*time.Until(end)/fitOf)
	r.Fitted = r.MaxPairs < t.Rule.MaxPairs
}

// shareOut bounds an experiment of a session: what is tried leaves time for second
// looks, and one of these for the others.
func (t *Tuner) shareOut(r *experiment.Rule, look bool) {
	r.Deadline = t.course.deadline.Add(-t.reserve())
	share := t.lookShare
	if !look {
		r.Latest = r.Deadline // a gain that is near is worth more than a second look
		r.Deadline = r.Deadline.Add(-t.schedule.secondLook(t.moment()))
		share = t.share
	}
	if t.standIns.shares != nil {
		share = t.standIns.shares
	}
	if own := share(time.Now(), r.Deadline); own.Before(r.Deadline) {
		r.Deadline, r.Shared = own, true
	}
}

// lookShare is when a second look must have ended, so that those after it have as
// much time: one that comes to no end would take it all.
func (t *Tuner) lookShare(now, end time.Time) time.Time {
	return now.Add(max(end.Sub(now)/time.Duration(max(t.schedule.looks, 1)), t.moment().stepTime()))
}

const (
	// FirstPatience is how many pairs an experiment has at most while others
	// wait, unless it leads. An effect of a tenth shows in so many where pairs
	// differ by 11 %, one of a twentieth where they differ by 7 % (docs/explanation/verdict.md).
	FirstPatience = 40
	// patienceGrows: whenever all have had their turn, those that are open have
	// two and a half times as many in all, so that what is likely to pay comes
	// before what is not, and none is begun with in vain.
	patienceGrows = 2.5
)

// Patience of an experiment that has so many pairs from before.
func Patience(before int) int {
	return max(FirstPatience, int(patienceGrows*float64(before)))
}

// unended is an experiment that came to no end.
type unended struct {
	runs []experiment.Sample
	// level is the one that the first of its attempts had; 0: there is none, or it had
	// none yet.
	level    float64
	maxPairs int // that its looks were made for; 0: not stored
	fitted   bool
}

// sameTest reports whether an attempt before had looks that this one can go on with.
func (u unended) sameTest(v experiment.Verdict, maxPairs int) bool {
	switch had := v.MaxPairs; {
	case had == 0: // not stored
		return true
	case u.maxPairs != 0:
		return had == u.maxPairs
	case v.Fitted:
		return had <= maxPairs
	default:
		return had == maxPairs
	}
}

// cutOff are the last experiments with the plan that came to no end,
// for want of time, of a quiet machine, or because Kasoku was interrupted, since
// something was kept or taken out and nobody else changed the configuration:
// both sides are what they were. asNow reports the latter of a run. Its looks
// were made for what the time left allowed then, or for maxPairs; one that might have
// had another number of pairs was another test: its runs do not count.
func cutOff(steps []store.Step, plan *remedy.Plan, maxPairs int, asNow func(run int64) (bool, error)) (unended, error) {
	var u unended
	if plan.Search != nil || plan.Workload > 0 {
		return u, nil // its number is found anew
	}
	for i, s := range slices.Backward(steps) {
		if s.Kept || s.Tx != 0 || len(s.LeavesOut) > 0 && s.Ended.IsZero() {
			break
		}
		if s.Plan.ID != plan.ID || len(s.LeavesOut) > 0 || s.Verdict.Outcome != experiment.Inconclusive {
			continue
		}
		if s.Verdict.TooFew || !sameChanges(s.Plan.All(), plan.All()) || !u.sameTest(s.Verdict, maxPairs) {
			break
		}
		same, err := asThen(s.Verdict, asNow)
		if err != nil {
			return unended{}, err
		}
		if !same {
			break
		}
		if u.put(s.Verdict, i*pairsApart); s.Verdict.Earlier > 0 {
			break // it has those before
		}
	}
	return u, nil
}

// asThen reports whether the configuration is what it was in an experiment, as far as
// its runs tell.
func asThen(v experiment.Verdict, asNow func(run int64) (bool, error)) (bool, error) {
	if len(v.Samples) == 0 {
		return true, nil
	}
	return asNow(v.Samples[0].RunID)
}

// put puts an experiment before those that u has. apart is added to the numbers of its
// pairs.
func (u *unended) put(v experiment.Verdict, apart int) {
	if v.MaxPairs != 0 {
		u.maxPairs, u.fitted = v.MaxPairs, v.Fitted
	}
	if v.Looked() {
		u.level = v.Level
	}
	own := slices.Clone(v.Samples)
	for k := range own {
		own[k].Pair += apart
	}
	u.runs = append(own, u.runs...)
}

// asNow reports whether a run was made with the configuration that is in place,
// as the diagnostic run before each of them read it.
func (t *Tuner) asNow(run int64) (bool, error) {
	r, err := t.Store.Run(run)
	if err != nil {
		return false, err
	}
	return r.ConfigHash == t.Bench.Stamp.ConfigHash, nil
}

// pairsApart keeps the pairs of several steps apart; no experiment has as many.
const pairsApart = 1000

// sameChanges as they are stored.
func sameChanges(a, b []change.Change) bool {
	one, err := json.Marshal(a)
	other, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}

// waitersShare of the time left is what one experiment may take while others
// wait, but not less than leastShare steps of the fewest pairs: about ten pairs.
// Where less than that would be left for the others, it need not end for them.
const (
	waitersShare = 1.0 / 3
	leastShare   = 3
)

// share is when an experiment that begins at now must end for those that wait;
// end if none does.
func (t *Tuner) share(now, end time.Time) time.Time {
	if !t.schedule.waiting {
		return end
	}
	left, least := end.Sub(now), leastShare*t.moment().stepTime()
	own := max(time.Duration(waitersShare*float64(left)), least)
	if left < own+least {
		return end
	}
	return now.Add(own)
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
		l.Charge(level, s.Verdict.Outcome == experiment.Improved, s.Verdict.Earlier >= stat.FirstLook)
	}
	return l
}
