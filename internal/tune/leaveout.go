package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// weakEffect: kept changes that brought less are looked at again together. Each
// alone may be lost in noise by now, and together they take one experiment.
const weakEffect = 0.10

// leaveOut looks at kept changes again, now that others came after them: the
// service with them against the service without. What no longer pays is taken
// out. Weak ones go first, as one group; the others follow one by one, the
// least effect first, as far as the budget reaches: each has its share of the
// time that is left. What was kept last needs no second look.
func (t *Tuner) leaveOut(ctx context.Context) error {
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil {
		return err
	}
	groups, parts := groupsToLeaveOut(steps), len(partsToLeaveOut(steps, nil))
	for i, group := range groups {
		if t.noTimeToLookAgain() {
			return nil
		}
		t.schedule.looks = len(groups) - i + parts
		if err := t.leaveOutGroup(ctx, group, nil); err != nil {
			return err
		}
	}
	return t.leaveOutParts(ctx)
}

func (t *Tuner) noTimeToLookAgain() bool {
	if t.course.deadline.IsZero() || time.Until(t.course.deadline) >= t.moment().stepTime()+t.reserve() {
		return false
	}
	t.UI.Info("the budget leaves no time to look again at what else was kept")
	return true
}

// groupsToLeaveOut are the kept steps that others followed and that were not
// looked at again yet.
func groupsToLeaveOut(steps []store.Step) [][]store.Step {
	last := 0
	for _, s := range steps {
		if changesTarget(s) {
			last = max(last, s.Seq)
		}
	}
	var weak []store.Step
	var strong [][]store.Step
	for _, s := range steps {
		switch {
		case !changesTarget(s) || s.Plan.Fills || s.Seq == last || s.LookedAgain != 0 || slices.ContainsFunc(s.Plan.Parts, func(p remedy.Part) bool { return p.LeftOut }):
		case s.Verdict.Effect < weakEffect:
			weak = append(weak, s)
		case len(s.Plan.Parts) > 1 && !s.Plan.OfSmall(): // each part is looked at
		default:
			strong = append(strong, []store.Step{s})
		}
	}
	sort.SliceStable(strong, func(i, j int) bool { return strong[i][0].Verdict.Effect < strong[j][0].Verdict.Effect })
	if len(weak) > 0 {
		return append([][]store.Step{weak}, strong...)
	}
	return strong
}

// changesTarget: it was kept and is in the journal; a new workload is not.
func changesTarget(s store.Step) bool {
	return s.Kept && s.Tx != 0 && len(s.LeavesOut) == 0 && !s.LeftOut
}

// leaveOutGroup is one such experiment: about kept steps, or about one part of
// one step.
func (t *Tuner) leaveOutGroup(ctx context.Context, group []store.Step, part *remedy.Part) error {
	var titles []string
	step := &store.Step{Session: t.session.ID, Seq: t.course.seq + 1, Started: time.Now(), Binding: t.seen.diag.Binds}
	for _, s := range group {
		step.LeavesOut = append(step.LeavesOut, s.Seq)
		titles = append(titles, s.Plan.Title)
	}
	step.Plan = remedy.Plan{ID: fmt.Sprintf("leave-out:%v", step.LeavesOut), Remedy: "leave-out", Title: "Once more: " + strings.Join(titles, "; "),
		Why: "It was kept before others were; with it is compared with without it."}
	if part != nil {
		titles = []string{part.Title}
		step.LeavesOutPart, step.LeavesOutLed = part.ID, led(group[0].Plan, part.ID)
		step.Plan.ID += ":" + part.ID
		step.Plan.Title, step.Plan.Why = "Once more: "+part.Title, "It was kept together with others; with it is compared with without it."
	}
	changes, err := t.without(ctx, group, part)
	if err != nil {
		t.UI.Info(fmt.Sprintf("not looked at again: %s: %v", strings.Join(titles, "; "), err))
		return nil
	}
	was, judged := t.schedule.proved[step.Plan.ID]
	if judged { // before an interruption
		delete(t.schedule.proved, step.Plan.ID)
		step.ID, step.Seq, step.Started, step.Verdict = was.ID, was.Seq, was.Started, was.Verdict
	} else {
		t.course.seq++
	}
	step.Plan.Changes = changes
	if err := t.Store.SaveStep(step); err != nil {
		return err
	}
	t.opens(step)
	sw := &switcher{exec: t.Exec, bench: t.Bench, step: step.ID, baseWorkload: t.course.workload, candWorkload: t.course.workload,
		brief:  t.Bench.brief(t.seenGain(group, part)),
		intent: change.Intent{Title: "Without: " + strings.Join(titles, "; "), Plan: step.Plan.ID, Session: t.session.ID, Changes: changes}}
	rule, err := t.rule(step)
	if err != nil {
		return t.finishLeaveOut(ctx, step, group, sw, err)
	}
	if !judged {
		step.Verdict, err = experiment.Run(ctx, rule, mirrored{sw}, t.sofar)
	}
	return t.finishLeaveOut(ctx, step, group, sw, err)
}

// seenGain is what steps brought, or one part is expected to, as log of a factor.
func (t *Tuner) seenGain(group []store.Step, part *remedy.Part) float64 {
	if part != nil {
		return t.outlook().part(part.Remedy, part.Worth())
	}
	sum := 0.0
	for _, s := range group {
		sum += math.Log1p(s.Verdict.Effect)
	}
	return sum
}

// without plans the reversal of the group's transactions, the last one first;
// with part, of that part alone.
func (t *Tuner) without(ctx context.Context, group []store.Step, part *remedy.Part) ([]change.Change, error) {
	snap, err := evidence.Take(ctx, t.Stack, t.Bench.Hosts, evidence.TakeOptions{})
	if err != nil {
		return nil, err
	}
	kept := t.Exec.Kept()
	var all []change.Change
	for _, s := range group {
		i := slices.IndexFunc(kept, func(tx change.Tx) bool { return tx.ID == s.Tx })
		if i < 0 {
			return nil, fmt.Errorf("it was undone meanwhile")
		}
		tx, err := t.Exec.Load(kept[i])
		if err != nil {
			return nil, err
		}
		if part != nil {
			if part.First+part.Count > len(tx.Changes) {
				return nil, fmt.Errorf("the journal has %d changes of it", len(tx.Changes))
			}
			return remedy.Without(snap, tx.Changes[part.First:part.First+part.Count])
		}
		// One transaction after the other, each with phases of its own.
		first := 0
		if len(all) > 0 {
			first = all[len(all)-1].Phase + 1
		}
		for _, c := range tx.Changes {
			c.Phase += first
			all = append(all, c)
		}
	}
	return remedy.Without(snap, all)
}

// mirrored swaps the sides: what is in place counts as the candidate, so that
// it must prove again that it is better than the service without it.
type mirrored struct{ sw *switcher }

func (m mirrored) Measure(ctx context.Context, side experiment.Side, pair int) (experiment.Sample, error) {
	other := experiment.Baseline
	if side == experiment.Baseline {
		other = experiment.Candidate
	}
	s, err := m.sw.Measure(ctx, other, pair)
	s.Side = side
	return s, err
}

// finishLeaveOut takes the group out if it no longer pays, and notes with the
// steps what was seen.
func (t *Tuner) finishLeaveOut(ctx context.Context, step *store.Step, group []store.Step, sw *switcher, err error) error {
	sw.tell(&step.Verdict)
	if errors.Is(err, experiment.ErrCandidate) {
		step.Verdict.Outcome, step.Verdict.Reason = experiment.Failed, whyItStays(err)
		err = nil
	}
	drop := err == nil && t.drops(step)
	if err == nil { // on disk before the target follows it
		if err = t.Store.SaveStep(step); err != nil {
			drop = false
		}
	}
	side := experiment.Baseline
	if drop {
		side = experiment.Candidate
	}
	// Also when ctx has ended: one side must be in place.
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	serr := sw.to(back, side)
	if drop && isCandidate(serr) { // it came up without it before, and does not any more
		drop, step.Verdict.Outcome, step.Verdict.Reason = false, experiment.Failed, whyItStays(serr)
		serr = nil
	}
	if serr != nil {
		err, drop = errors.Join(err, serr), false
	}
	if drop {
		if kerr := t.Exec.Keep(back, sw.tx); kerr != nil {
			err, drop = errors.Join(err, kerr), false
		} else {
			step.Tx = sw.tx
			t.Bench.kept()
		}
	}
	step.Diffs = diffs(step.Plan.Changes)
	if cut := err != nil && t.drops(step) && !drop; !cut {
		step.Ended = time.Now() // otherwise a session that goes on takes it out
	}
	if err != nil && step.Verdict.Outcome == "" {
		step.Verdict.Outcome, step.Verdict.Reason = experiment.Inconclusive, "interrupted: "+err.Error()
	}
	if err = errors.Join(err, t.Store.SaveStep(step)); err == nil {
		err = t.noteLooks(step, group)
	}
	t.closes(step, err)
	if err == nil {
		t.tellLeftOut(step, drop)
	}
	return err
}

// whyItStays says why something cannot be taken out.
func whyItStays(err error) string {
	if errors.Is(err, change.ErrTableHeld) {
		return "it cannot be taken out, so it stays: " + err.Error()
	}
	return "the service does not come up without it: " + err.Error()
}

// noteLooks stores with the steps what a second look at them showed.
func (t *Tuner) noteLooks(step *store.Step, group []store.Step) error {
	for _, s := range group {
		noteLook(&s, step)
		if err := t.Store.SaveStep(&s); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tuner) tellLeftOut(step *store.Step, drop bool) {
	v := step.Verdict
	word := "it stays"
	if drop {
		word = "taken out"
	}
	t.UI.Info(fmt.Sprintf("%s: with it %s (95 %%: %s to %s), %d runs; %s", word, ui.Percent(v.Effect), ui.Percent(v.Low), ui.Percent(v.High), v.Runs, v.Reason))
}

// drops reports whether what a second look was about is taken out by its
// verdict. A part of a group goes only if it is seen to harm: alone it may well
// be too small to be proved, together they were; unless another part may have
// brought it all.
func (t *Tuner) drops(look *store.Step) bool {
	if look.LeavesOutPart != "" && !look.LeavesOutLed {
		return harmed(look.Verdict) && look.Verdict.Outcome != experiment.Failed
	}
	return look.Verdict.NoLongerPays(t.Rule.SmallestEffect)
}
