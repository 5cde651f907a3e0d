package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/prove"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// coldRules are what cold caches after a reboot are answered by, settings
// before what runs at boot.
var coldRules = []string{"db.pool-cold", "boot.cold"}

// warmUp answers a check of a reboot that failed by the score alone. If the
// score has come back by itself, caches were cold: what fills them at boot is
// tried, one plan after the other, and each is judged by another reboot. Runs in
// pairs cannot judge it, because a service that is under load is warm.
func (t *Tuner) warmUp(ctx context.Context) error {
	at := slices.IndexFunc(t.session.Checks, prove.Result.Short)
	if at < 0 {
		return nil
	}
	short := &t.session.Checks[at]
	// One plan takes what this check took; whether it is called for, two runs.
	if t.noTimeToWarmUp(short.Took + 2*t.Bench.runTime()) {
		return nil
	}
	t.UI.Step("See whether caches were cold after the reboot")
	scores, err := t.measure(ctx, "some time after a reboot", 2)
	if err != nil {
		return err
	}
	r := &diagnose.Reboot{Before: short.Before, After: short.After, Later: level(scores), Least: prove.KeptScore}
	if !r.Cold() {
		t.UI.Info(fmt.Sprintf("it is %s %s still, so the reboot took more than caches: compare what ran and what was set before it", score(r.Later), t.session.Unit()))
		return nil
	}
	t.UI.Info(fmt.Sprintf("it is %s %s again, so caches were cold", score(r.Later), t.session.Unit()))
	plans, findings, err := t.coldPlans(ctx, r)
	if err != nil {
		return err
	}
	for i, p := range plans {
		if t.noTimeToWarmUp(short.Took) {
			return nil
		}
		held, err := t.tryAtBoot(ctx, p, findings[i], short)
		if err != nil || held {
			return err
		}
	}
	return nil
}

// undecidedAtBoot takes back what a killed session had in place for the reboot
// that would have judged it.
func (t *Tuner) undecidedAtBoot(ctx context.Context) error {
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return err
	}
	for i := range steps {
		st := &steps[i]
		if !st.Kept || st.Verdict.Outcome != "" || !st.Ended.IsZero() || !slices.Contains(coldRules, st.Plan.Rule) {
			continue
		}
		if slices.ContainsFunc(t.Exec.Kept(), func(tx change.Tx) bool { return tx.ID == st.Tx }) {
			if err := t.Exec.Undo(ctx, st.Tx, false); err != nil {
				return fmt.Errorf("take back %q, which no reboot has judged: %w", st.Plan.Title, err)
			}
		}
		st.Kept, st.Tx, st.Ended = false, 0, time.Now()
		st.Verdict.Outcome, st.Verdict.Reason = experiment.Inconclusive, "Kasoku ended before the reboot that would have judged it"
		if err := t.Store.SaveStep(st); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tuner) noTimeToWarmUp(takes time.Duration) bool {
	if t.course.deadline.IsZero() || time.Until(t.course.deadline) >= takes {
		return false
	}
	t.UI.Info("the budget leaves no time to try what fills caches at boot, which takes another reboot")
	return true
}

// coldPlans are the plans against cold caches, in the order of coldRules, with
// the finding of each.
func (t *Tuner) coldPlans(ctx context.Context, r *diagnose.Reboot) ([]remedy.Plan, []*diagnose.Finding, error) {
	if t.standIns.colds != nil {
		plans := t.standIns.colds(r)
		return plans, make([]*diagnose.Finding, len(plans)), nil
	}
	if t.seen.evidence == nil || t.seen.snapshot == nil {
		t.UI.Info("no run of this session was diagnosed, so nothing is planned against cold caches")
		return nil, nil, nil
	}
	snap := *t.seen.snapshot
	snap.Boot = maps.Clone(snap.Boot)
	for _, name := range t.Stack.Checks.Reboot {
		boot, err := evidence.ReadBoot(ctx, t.Bench.Hosts[name])
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			t.UI.Info(fmt.Sprintf("host %s: %v", name, err))
			continue
		}
		if snap.Boot == nil {
			snap.Boot = map[string]evidence.Boot{}
		}
		snap.Boot[name] = boot
	}
	d, err := diagnose.Diagnose(diagnose.Input{Stack: t.Stack, Evidence: t.seen.evidence, Snapshot: &snap, Reboot: r})
	if err != nil {
		return nil, nil, err
	}
	d.Findings = slices.DeleteFunc(d.Findings, func(f diagnose.Finding) bool { return !slices.Contains(coldRules, f.Rule) })
	res := remedy.PlanAll(remedy.Input{Stack: t.Stack, Evidence: t.seen.evidence, Snapshot: &snap, Diagnosis: d, Rights: t.Rights})
	t.refused(res.Refusals)
	for _, s := range res.Skipped {
		t.UI.Info("not planned: " + s)
	}
	slices.SortStableFunc(res.Plans, func(a, b remedy.Plan) int {
		return slices.Index(coldRules, a.Rule) - slices.Index(coldRules, b.Rule)
	})
	var findings []*diagnose.Finding
	for _, p := range res.Plans {
		i := slices.IndexFunc(d.Findings, func(f diagnose.Finding) bool { return f.Rule == p.Rule })
		findings = append(findings, &d.Findings[i])
	}
	return res.Plans, findings, nil
}

// tryAtBoot keeps a plan, reboots, and takes it back unless the check holds
// with it. It must be kept before: what is only applied a host that boots takes
// back by itself, as after any other end of Kasoku.
func (t *Tuner) tryAtBoot(ctx context.Context, p remedy.Plan, f *diagnose.Finding, short *prove.Result) (held bool, err error) {
	step := &store.Step{Session: t.session.ID, Seq: t.course.seq + 1, Started: time.Now(), Plan: p, Finding: f, Diffs: diffs(p.All())}
	if t.seen.diag != nil {
		step.Binding = t.seen.diag.Binds
	}
	if err := t.Store.SaveStep(step); err != nil {
		return false, err
	}
	t.course.seq++
	t.opens(step, "why: "+p.Why, ui.Bound(p.Bound))
	// Also when ctx has ended: it is put back, or known to be in place.
	defer func() {
		step.Ended = time.Now()
		if err != nil && step.Verdict.Outcome == "" {
			step.Verdict.Outcome, step.Verdict.Reason = experiment.Inconclusive, "interrupted: "+err.Error()
		}
		err = errors.Join(err, t.Store.SaveStep(step))
		t.closes(step, err)
		if err == nil {
			t.announce(step)
		}
	}()
	tx, err := t.Exec.Apply(ctx, change.Intent{Title: p.Title, Plan: p.ID, Session: t.session.ID, Changes: p.All()})
	if err != nil {
		if ctx.Err() != nil || len(t.Exec.Pending()) > 0 {
			return false, err
		}
		step.Verdict.Outcome, step.Verdict.Reason = experiment.Failed, err.Error()
		return false, nil
	}
	if err := t.Exec.Keep(ctx, tx.ID); err != nil {
		return false, err
	}
	step.Kept, step.Tx = true, tx.ID
	if err := t.Store.SaveStep(step); err != nil {
		return false, err
	}
	r, err := t.rebootAgain(ctx)
	if err == nil {
		step.Verdict = bootVerdict(short, &r)
		held = step.Verdict.Outcome == experiment.Improved
	}
	if !held {
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		if uerr := t.Exec.Undo(back, tx.ID, false); uerr != nil {
			return false, errors.Join(err, fmt.Errorf("%s could not be put back, `kasoku undo` does: %w", p.Title, uerr))
		}
		step.Kept, step.Tx = false, 0
		short.Notes = append(short.Notes, p.Title+" was tried against it: "+step.Verdict.Reason)
		return false, err
	}
	r.Notes = append(r.Notes, fmt.Sprintf("without %q the score after a reboot was %s, %s of before", p.Title, ui.Number(short.After), ui.Factor(short.After/short.Before)))
	*short = r
	t.Bench.kept()
	return true, nil
}

// rebootAgain makes the check of a reboot alone.
func (t *Tuner) rebootAgain(ctx context.Context) (prove.Result, error) {
	proves := t.standIns.proves
	if proves == nil {
		p := t.prover()
		p.Only = []string{prove.Restart}
		proves = p.Run
	}
	all, err := proves(ctx)
	if err != nil {
		return prove.Result{}, err
	}
	for _, r := range all {
		if r.Check == prove.Restart {
			return r, nil
		}
	}
	return prove.Result{}, errors.New("the check of a reboot was not made again")
}

// bootVerdict compares a check of a reboot without a plan and one with it. It
// is one pair, so there is no interval: the check itself is what must hold.
func bootVerdict(without, with *prove.Result) experiment.Verdict {
	v := experiment.Verdict{Pairs: 1, Runs: 4, Took: with.Took, BaselineScore: without.After, CandidateScore: with.After}
	if with.After <= 0 || without.After <= 0 {
		v.Pairs, v.Runs = 0, 0
	} else {
		v.Effect = with.After/without.After - 1
	}
	share := func(r *prove.Result) string { return ui.Factor(r.After / max(r.Before, 1e-9)) }
	switch {
	case with.Outcome == prove.Held && v.Pairs > 0:
		v.Outcome, v.Reason = experiment.Improved, fmt.Sprintf("after a reboot the score is %s of before with it, %s without", share(with), share(without))
	case with.Short():
		v.Outcome, v.Reason = experiment.Inconclusive, fmt.Sprintf("after a reboot the score is %s of before with it, %s without: less than the check asks for", share(with), share(without))
	case with.Outcome == prove.Failed && len(with.Problems) > 0:
		v.Outcome, v.Reason = experiment.Failed, "with it the reboot went wrong: "+with.Problems[0].What
	default:
		v.Outcome, v.Reason = experiment.Inconclusive, "whether the reboot holds with it could not be judged: "+with.Text
	}
	return v
}
