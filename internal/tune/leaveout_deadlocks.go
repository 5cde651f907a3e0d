package tune

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// leaveOutDeadlocks takes out what lets transactions deadlock where the service as it is left
// answered errors for that, which its experiment did not show: the faster the rest, the more
// transactions meet. Then it measures again.
func (t *Tuner) leaveOutDeadlocks(ctx context.Context) error {
	told := t.Bench.scored.deadlocks
	if told == "" {
		return nil
	}
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return err
	}
	var last *store.Step
	for i := range steps {
		for _, p := range keptDeadlocks(&steps[i]) {
			look, err := t.outForDeadlocks(ctx, &steps[i], p, told)
			if err != nil {
				return err
			}
			if look.Tx != 0 {
				last = look
			}
		}
	}
	if last == nil {
		return nil
	}
	before := cmp.Or(t.session.AfterRestart, t.session.Final)
	scores, err := t.measure(ctx, "without what deadlocks", 1)
	if err != nil {
		return err
	}
	if t.session.AfterRestart > 0 {
		t.session.AfterRestart = scores[0]
	}
	if scores[0] > 0 { // of all that was taken out: its factor in what the session gained
		last.Verdict.Effect = before/scores[0] - 1
		if err := t.Store.SaveStep(last); err != nil {
			return err
		}
	}
	if err := t.compareEnds(ctx); err != nil {
		return err
	}
	t.session.Final = cmp.Or(t.session.Compared.Final, scores[0]) // it was with it
	return t.Store.SaveSession(t.session)
}

// keptDeadlocks are the parts of a kept step with which transactions may end in deadlocks; nil among
// them is the step itself.
func keptDeadlocks(s *store.Step) (parts []*remedy.Part) {
	switch {
	case !changesTarget(*s):
	case len(s.Plan.Parts) == 0 && s.Plan.Deadlocks:
		return []*remedy.Part{nil}
	default:
		for k := range s.Plan.Parts {
			if p := &s.Plan.Parts[k]; p.Deadlocks && !p.LeftOut {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// outForDeadlocks takes one step's change, or a part of it, out of what is kept. The step that it
// returns says so; it has no Tx where that could not be. The error is that the target is not as
// it was then, or that ctx has ended.
func (t *Tuner) outForDeadlocks(ctx context.Context, s *store.Step, part *remedy.Part, told string) (*store.Step, error) {
	t.course.seq++
	look := &store.Step{Session: t.session.ID, Seq: t.course.seq, Started: time.Now(), Binding: t.seen.diag.Binds, LeavesOut: []int{s.Seq}}
	title := s.Plan.Title
	look.Plan = remedy.Plan{ID: fmt.Sprintf("leave-out:%v", look.LeavesOut), Remedy: "leave-out", Why: "Once all was kept requests failed: " + told + "."}
	if part != nil {
		title, look.LeavesOutPart = part.Title, part.ID
		look.Plan.ID += ":" + part.ID
	}
	look.Plan.Title = "Without: " + title
	look.Verdict = experiment.Verdict{Outcome: experiment.Broke, Reason: told}
	if err := t.Store.SaveStep(look); err != nil {
		return nil, err
	}
	t.opens(look)
	failed, err := t.outNow(ctx, look, s, part)
	look.Ended = time.Now()
	if failed != nil {
		look.Verdict.Outcome, look.Verdict.Reason = experiment.Failed, "it cannot be taken out, so it stays: "+failed.Error()
		t.session.Doubts = append(t.session.Doubts, fmt.Sprintf("%s stays, though %s: it cannot be taken out: %v", title, told, failed))
		t.UI.Warn(fmt.Sprintf("%s: %s; it cannot be taken out: %v", title, told, failed), "kasoku undo takes its step back")
	} else if err == nil {
		t.UI.Info(fmt.Sprintf("taken out: %s: requests failed with it: %s", title, told))
	}
	if err == nil {
		err = t.Store.SaveStep(look)
	}
	if err == nil {
		err = t.noteLooks(look, []store.Step{*s})
	}
	t.closes(look, err)
	return look, err
}

// outNow applies and keeps what takes something out. failed says why it could not be, where the
// target is as it was.
func (t *Tuner) outNow(ctx context.Context, look, s *store.Step, part *remedy.Part) (failed, err error) {
	look.Plan.Changes, failed = t.without(ctx, []store.Step{*s}, part)
	if failed != nil {
		return failed, ctx.Err()
	}
	look.Diffs = diffs(look.Plan.Changes)
	look.Tx, failed, err = applyNow(ctx, t.Exec, change.Intent{Title: look.Plan.Title, Plan: look.Plan.ID, Session: t.session.ID, Changes: look.Plan.Changes})
	if look.Tx != 0 {
		t.Bench.kept()
	}
	return failed, err
}
