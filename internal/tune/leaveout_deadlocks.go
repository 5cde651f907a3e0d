package tune

import (
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
// transactions meet. before are the scores with it. It measures again, and returns scores
// without it; nil where nothing is to be taken out.
func (t *Tuner) leaveOutDeadlocks(ctx context.Context, before []float64) ([]float64, error) {
	told := t.Bench.scored.deadlocks
	if told == "" {
		return nil, nil
	}
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return nil, err
	}
	var looks []*store.Step
	for i := range steps {
		s := &steps[i]
		if !changesTarget(*s) {
			continue
		}
		if len(s.Plan.Parts) == 0 && s.Plan.Deadlocks {
			looks = t.outAfterRestart(ctx, looks, s, nil, told)
		}
		for k := range s.Plan.Parts {
			if p := &s.Plan.Parts[k]; p.Deadlocks && !p.LeftOut {
				looks = t.outAfterRestart(ctx, looks, s, p, told)
			}
		}
	}
	if len(looks) == 0 {
		return nil, ctx.Err()
	}
	t.Bench.scored.deadlocks = ""
	scores, err := t.measure(ctx, "after a restart, without what deadlocks", 1)
	if err != nil {
		return nil, err
	}
	if scores[0] > 0 { // one run of either, of all that was taken out: its factor in what the session gained
		looks[0].Verdict.Effect = level(before)/scores[0] - 1
		if err := t.Store.SaveStep(looks[0]); err != nil {
			return nil, err
		}
	}
	return scores, t.compareEnds(ctx)
}

// outAfterRestart takes one step's change, or a part of it, out of what is kept, and adds the step that
// says so to looks.
func (t *Tuner) outAfterRestart(ctx context.Context, looks []*store.Step, s *store.Step, part *remedy.Part, told string) []*store.Step {
	t.course.seq++
	look := &store.Step{Session: t.session.ID, Seq: t.course.seq, Started: time.Now(), Binding: t.seen.diag.Binds, LeavesOut: []int{s.Seq}}
	title := s.Plan.Title
	look.Plan = remedy.Plan{ID: fmt.Sprintf("leave-out:%v", look.LeavesOut), Remedy: "leave-out", Why: "After a restart requests failed: " + told + "."}
	if part != nil {
		title, look.LeavesOutPart = part.Title, part.ID
		look.Plan.ID += ":" + part.ID
	}
	look.Plan.Title = "Without: " + title
	look.Verdict = experiment.Verdict{Outcome: experiment.Broke, Reason: told}
	t.opens(look)
	changes, err := t.without(ctx, []store.Step{*s}, part)
	if err == nil {
		look.Plan.Changes, look.Diffs = changes, diffs(changes)
		err = t.outNow(ctx, look)
	}
	if look.Ended = time.Now(); err != nil {
		t.session.Doubts = append(t.session.Doubts, fmt.Sprintf("%s stays, though %s: it cannot be taken out: %v", title, told, err))
		t.UI.Warn(fmt.Sprintf("%s: %s; it cannot be taken out: %v", title, told, err), "kasoku undo takes its step back")
		t.closes(look, nil)
		return looks
	}
	t.UI.Info(fmt.Sprintf("taken out: %s: after a restart requests failed with it: %s", title, told))
	t.closes(look, nil)
	return append(looks, look)
}

// outNow applies and keeps what takes something out, and notes it with the step that it was of.
func (t *Tuner) outNow(ctx context.Context, look *store.Step) error {
	if err := t.Store.SaveStep(look); err != nil {
		return err
	}
	tx, err := t.Exec.Apply(ctx, change.Intent{Title: look.Plan.Title, Plan: look.Plan.ID, Session: t.session.ID, Changes: look.Plan.Changes})
	if err != nil {
		return err
	}
	if err := t.Exec.Keep(ctx, tx.ID); err != nil {
		return err
	}
	look.Tx = tx.ID
	t.Bench.kept()
	if err := t.Store.SaveStep(look); err != nil {
		return err
	}
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if s.Seq == look.LeavesOut[0] {
			return t.noteLooks(look, []store.Step{s})
		}
	}
	return nil
}
