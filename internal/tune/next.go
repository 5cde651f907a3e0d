package tune

import (
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/remedy"
)

// next asks the schedule what to try, and notes why nothing is.
func (t *Tuner) next() (*remedy.Plan, *diagnose.Finding) {
	in := remedy.Input{Stack: t.Stack, Evidence: t.seen.evidence, Snapshot: t.seen.snapshot, Diagnosis: t.seen.diag, Rights: t.Rights}
	res := remedy.PlanAll(in)
	t.refused(res.Refusals)
	m := t.moment()
	c := t.schedule.next(m, in, t.retouching(res.Plans))
	if c.plan == nil {
		t.stopped(c.stop.reason, c.stop.text)
		return nil, nil
	}
	if m.bounded && !t.course.orderTold && c.order != nil {
		t.course.orderTold = true
		if text := t.schedule.orderText(m, c.order); text != "" {
			t.UI.Info(text)
		}
	}
	return c.plan, c.finding
}

// moment is now, for the schedule.
func (t *Tuner) moment() moment {
	m := moment{rule: t.Rule, run: t.Bench.runTime(), budget: t.Options.Budget}
	if !t.course.deadline.IsZero() {
		m.bounded, m.left = true, time.Until(t.course.deadline)-t.reserve()
	}
	return m
}

func (t *Tuner) outlook() outlook { return t.schedule.outlook(t.moment()) }

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

// retouching marks those of plans to be tried by themselves that edit what was kept before.
func (t *Tuner) retouching(plans []remedy.Plan) []remedy.Plan {
	var kept []change.Change
	for _, tx := range t.inForce() {
		kept = append(kept, tx.Changes...)
	}
	out := slices.Clone(plans)
	for i := range out {
		out[i].Alone = out[i].Alone || remedy.Retouches(kept, out[i])
	}
	return out
}

// inForce are the changes that are kept, the oldest first, with their files' bytes as far as
// these are known. plan, which changes nothing, reads them from the journal.
func (t *Tuner) inForce() []change.Tx {
	var txs []change.Tx
	load := func(tx change.Tx) (change.Tx, error) { return change.Load(t.Bench.Data.Dir, tx) }
	if t.Exec != nil {
		txs, load = t.Exec.Kept(), t.Exec.Load
	} else if all, err := change.Read(t.Bench.Data.Dir); err == nil { // else nothing is tried either
		txs = slices.DeleteFunc(all, func(tx change.Tx) bool { return !tx.InForce() })
	}
	for i, tx := range txs {
		if full, err := load(tx); err == nil {
			txs[i] = full
		}
	}
	return txs
}
