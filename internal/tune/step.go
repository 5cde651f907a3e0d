package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// try makes one plan the candidate of an experiment, keeps it or puts it
// back, and stores what came of it.
func (t *Tuner) try(ctx context.Context, plan remedy.Plan, finding *diagnose.Finding, binding string) (*store.Step, error) {
	if was, ok := t.schedule.proved[plan.ID]; ok {
		return t.again(ctx, &was, plan)
	}
	step := &store.Step{Session: t.session.ID, Seq: t.course.seq + 1, Started: time.Now(), Plan: plan, Finding: finding, Binding: binding}
	if plan.Bound > 1 { // a proposal comes without a bound
		step.Expected = math.Exp(t.outlook().gain(plan))
	}
	if err := t.Store.SaveStep(step); err != nil {
		return nil, err
	}
	t.course.seq++
	facts := whys(plan)
	if step.Expected > 0 {
		facts = append(facts, fmt.Sprintf("expected: about %s; %s%s", ui.Factor(step.Expected), ui.Bound(plan.Bound), t.Bench.counts()))
	}
	t.opens(step, facts...)
	if err := t.setPace(); err != nil {
		return nil, err
	}
	t.foresee(ctx, &step.Plan)
	sw, stop, err := t.candidate(ctx, step)
	if err != nil {
		return t.finish(ctx, step, sw, err)
	}
	if !stop {
		sw.brief = t.Bench.brief(t.outlook().gain(step.Plan))
		rule, err := t.rule(step)
		if err != nil {
			return t.finish(ctx, step, sw, err)
		}
		step.Verdict, err = experiment.Run(ctx, rule, sw, t.sofar)
		if more, undone := t.lasting(ctx, step.Plan.Changes, err); len(more) > 0 {
			err = t.lastingly(ctx, step, sw, rule, more)
		} else {
			err = undone
		}
		return t.finish(ctx, step, sw, err)
	}
	return t.finish(ctx, step, sw, nil)
}

// whys are the lines that say why a plan is tried: of several changes one for each.
func whys(plan remedy.Plan) []string {
	lines := strings.Split(plan.Why, "\n")
	for i := range lines {
		lines[i] = "why: " + lines[i]
	}
	return lines
}

// lastingly makes the experiment again with what makes its candidate last.
func (t *Tuner) lastingly(ctx context.Context, step *store.Step, sw *switcher, rule experiment.Rule, more []change.Change) error {
	if err := sw.to(ctx, experiment.Baseline); err != nil {
		return err
	}
	for _, c := range more {
		t.UI.Info(fmt.Sprintf("the candidate was undone by what makes its table anew; tried again with %s", c.Path))
	}
	step.Plan.Changes = slices.Concat(step.Plan.Changes, more)
	sw.intent.Changes = step.Plan.Changes
	if err := t.Store.SaveStep(step); err != nil {
		return err
	}
	var err error
	step.Verdict, err = experiment.Run(ctx, rule, sw, t.sofar)
	_, err = t.lasting(ctx, step.Plan.Changes, err)
	return err
}

// again keeps what was judged better before an interruption, without another
// experiment.
func (t *Tuner) again(ctx context.Context, step *store.Step, plan remedy.Plan) (*store.Step, error) {
	delete(t.schedule.proved, plan.ID)
	title := step.Plan.Title
	step.Plan = plan
	if step.Chosen != 0 && plan.Search != nil {
		changes, err := plan.Search.At(step.Chosen)
		if err != nil {
			return nil, err
		}
		step.Plan.Changes = changes
	}
	step.Plan.Title = title
	t.opens(step, "it was proved before the interruption")
	t.foresee(ctx, &step.Plan)
	sw := t.switcher(step)
	return t.finish(ctx, step, sw, nil)
}

// switcher puts the sides of a step in place.
func (t *Tuner) switcher(step *store.Step) *switcher {
	plan := step.Plan
	sw := &switcher{exec: t.Exec, bench: t.Bench, step: step.ID, judge: t.judging.judge,
		baseWorkload: t.course.workload, candWorkload: t.course.workload, prep: t.toPrepare(plan),
		intent: change.Intent{Title: plan.Title, Plan: plan.ID, Session: t.session.ID, Changes: plan.Changes}}
	if plan.Fills {
		sw.fill = sw.fillCache
	}
	return sw
}

// candidate prepares the switcher; a search settles its number first. stop is
// true when the search already showed that nothing is better.
func (t *Tuner) candidate(ctx context.Context, step *store.Step) (sw *switcher, stop bool, err error) {
	sw = t.switcher(step)
	if err := sw.prepare(ctx); err != nil {
		return sw, false, err
	}
	switch {
	case step.Plan.Workload > 0:
		stop, err = t.searchWorkload(ctx, step, sw)
	case step.Plan.Search != nil:
		stop, err = t.search(ctx, step, sw)
	}
	return sw, stop, err
}

// finish keeps the candidate if it improved, else makes sure that the
// baseline is back, and stores the step.
func (t *Tuner) finish(ctx context.Context, step *store.Step, sw *switcher, err error) (*store.Step, error) {
	sw.tell(&step.Verdict)
	if errors.Is(err, experiment.ErrCandidate) {
		markUndone(step.Plan.Parts, err)
		step.Verdict.Outcome, step.Verdict.Reason = experiment.Failed, err.Error()
		step.Verdict.Refused = errors.Is(err, change.ErrRefused)
		err = nil
	}
	err = tampered(step, err)
	step.Diffs = diffs(step.Plan.All())
	judged := err == nil
	if text := experiment.Stall(step.Verdict); text != "" && judged {
		step.Verdict.Reason += "; " + text
	}
	if judged {
		// The verdict is on disk before the target follows it: whoever is killed
		// from here on need not measure again.
		err = t.Store.SaveStep(step)
	}
	if err == nil && step.Verdict.Outcome == experiment.Improved {
		err = tampered(step, t.follow(ctx, step, sw))
	}
	if !step.Kept && sw != nil {
		// Also when ctx has ended: the target must be put back.
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		rerr := tampered(step, sw.to(back, experiment.Baseline))
		if rerr == nil {
			rerr = sw.unprepare(back)
		}
		if rerr != nil {
			err = errors.Join(err, rerr)
		}
		t.handBack(back, step)
	}
	if cut := judged && err != nil && step.Verdict.Outcome == experiment.Improved && !step.Kept; !cut {
		step.Ended = time.Now() // otherwise a session that goes on keeps it
	}
	if err != nil && step.Verdict.Outcome == "" {
		step.Verdict.Outcome, step.Verdict.Reason = experiment.Inconclusive, "interrupted: "+err.Error()
	}
	if serr := t.Store.SaveStep(step); serr != nil {
		err = errors.Join(err, serr)
	}
	t.closes(step, err)
	if err == nil {
		t.announce(step)
	}
	return step, err
}

// follow keeps what improved, unless its pages turn out to be stale, or it is
// only tried.
func (t *Tuner) follow(ctx context.Context, step *store.Step, sw *switcher) error {
	why, err := t.stale(ctx, step, sw)
	if err == nil && why == "" && !t.judging.putBack {
		if err = t.keep(ctx, step, sw); isCandidate(err) {
			why, err = err.Error(), nil // it came up before, and does not any more
		}
	}
	if why != "" {
		step.Verdict.Outcome, step.Verdict.Reason = experiment.Failed, why
	}
	return err
}

// undoTime bounds putting a candidate back after Ctrl-C.
const undoTime = 2 * time.Minute

func (t *Tuner) keep(ctx context.Context, step *store.Step, sw *switcher) error {
	if err := sw.prepare(ctx); err != nil { // it is there, but after an interruption
		return err
	}
	if err := sw.to(ctx, experiment.Candidate); err != nil {
		return err
	}
	if err := sw.keepPrepared(ctx, t.Exec); err != nil {
		return err
	}
	if sw.tx != 0 {
		if err := t.Exec.Keep(ctx, sw.tx); err != nil {
			return err
		}
	}
	if step.Plan.Workload > 0 {
		t.course.workload = sw.candWorkload
	}
	step.Kept, step.Tx = true, sw.tx
	t.session.BindsBefore = true
	t.Bench.kept()
	return nil
}

func (t *Tuner) announce(step *store.Step) {
	v := step.Verdict
	word := "put back"
	if step.Kept {
		word = "kept"
	}
	text := fmt.Sprintf("%s: %s", word, v.Words())
	if v.Pairs > 1 {
		text += fmt.Sprintf(", %s (95 %%: %s to %s), %d runs, %s", ui.Percent(v.Effect), ui.Percent(v.Low), ui.Percent(v.High), v.Runs, v.Took.Round(time.Second))
	}
	if v.Earlier > 0 {
		text += fmt.Sprintf(", and %d pairs of the experiment that was cut off", v.Earlier)
	}
	text += "; " + v.Reason
	if t.session.Command == "try" { // whose result follows and says the same
		t.Bench.Listeners.feed.say("info", text, "")
		return
	}
	t.UI.Info(text)
}

func diffs(cs []change.Change) []store.Diff {
	var out []store.Diff
	for _, c := range cs {
		d := store.Diff{Kind: "command", Title: strings.TrimSpace(string(c.Kind) + " " + c.Service), Text: change.Diff(c)}
		switch c.Kind {
		case change.KindFile:
			d.Kind, d.Title = "file", c.Path
		case change.KindIndex, change.KindTable, change.KindVariable:
			d.Kind, d.Title = "sql", c.Service
		case change.KindDir, change.KindLink:
			d.Title = c.Path
		default: // a command, as above
		}
		out = append(out, d)
	}
	return out
}
