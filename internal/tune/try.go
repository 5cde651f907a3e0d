package tune

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// Proposal is a change that somebody else made.
type Proposal struct {
	Title string
	Set   []string // service.key=value
	Patch string   // file with a unified diff
	Diff  []byte   // the unified diff itself, instead of Patch
	// Rev is a branch, tag or commit that the application's checkout is moved
	// to, with its build and restart.
	Rev string
	// Dir that a patch is relative to, that commands run in, or inside the
	// checkout; "": the working folder, with Rev that of the only application.
	Dir string
	// Host that Dir and the commands are on; "": that of the app whose root
	// holds Dir, or the only one that there is.
	Host        string
	Apply, Undo string // shell commands
	Restart     []string
	Reload      []string
	Keep        bool
	// Budget is the wall-clock time after which no pair of runs begins any more;
	// 0 = until the verdict is sure. Below 0 is an error.
	Budget time.Duration
	// Confined: only the applications' folders and the configuration files that
	// services read may be written.
	Confined bool
}

func (p *Proposal) patches() bool { return p.Patch != "" || len(p.Diff) > 0 }

// Incomplete says what is wrong with a proposal that proposes nothing, or half of
// something; nil if nothing is.
func (p *Proposal) Incomplete() error {
	switch {
	case len(p.Set) == 0 && !p.patches() && p.Rev == "" && p.Apply == "" && p.Undo == "":
		return fmt.Errorf("try: nothing is proposed; use --set, --patch, --branch, --commit or --apply with --undo")
	case (p.Apply == "") != (p.Undo == ""):
		return fmt.Errorf("try: --apply and --undo go together, so that it can be taken away again")
	case p.Rev != "" && p.patches():
		return fmt.Errorf("try: a patch and a commit cannot be tried at once; commit the patch on that branch")
	case p.Budget < 0:
		return fmt.Errorf("try: the budget %s is below 0; give a time such as 10m", p.Budget)
	}
	return nil
}

// proposed is a proposal turned into changes.
type proposed struct {
	remedy.Plan
	// writes are the files on this machine that they write, as far as it is
	// known beforehand.
	writes []string
	// patches are the services whose configuration a patch changes.
	patches []string
	// diff of a commit, with secrets masked.
	diff *store.Diff
}

// ProposalError says why a proposal is not tried at all.
type ProposalError struct{ Err error }

func (e *ProposalError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *ProposalError) Unwrap() error { return e.Err }

// Try judges a proposal by the same rule as the loop's own plans. Unless Keep
// is set the target is put back even if it improved. One that touches what
// judges it is refused: its step tells why.
func (t *Tuner) Try(ctx context.Context, p Proposal) (*store.Step, error) {
	defer t.watch(ctx)()
	if p.Budget > 0 {
		t.Options.Budget, t.course.deadline = p.Budget, time.Now().Add(p.Budget)
	}
	t.Rule.Losses = true // whoever made it wants to know
	plan, err := t.plan(ctx, p)
	if err != nil {
		return nil, &ProposalError{err}
	}
	why := remedy.Forbidden(t.Stack.Regulation, plan.Plan)
	if why == "" {
		why = t.Stack.Regulation.Refuses(nil, plan.patches, nil)
	}
	if why != "" {
		return nil, &ProposalError{fmt.Errorf("the regulation refuses it: %s", why)}
	}
	if err := change.Lacking(t.Stack, t.Rights, plan.Changes); err != nil {
		return nil, &ProposalError{err}
	}
	if t.judging.judge, err = newJudge(t.Bench, t.Exec); err != nil {
		return nil, err
	}
	t.course.workload = t.Bench.Users()
	t.session = &store.Session{Command: "try", Stack: t.Stack.Name, Started: time.Now(), Budget: t.Options.Budget, State: "running", AsFoundWorkload: t.course.workload, FinalWorkload: t.course.workload}
	if err := t.Store.SaveSession(t.session); err != nil {
		return nil, err
	}
	t.Bench.Stamp.Session = t.session.ID
	t.tellSession(nil)
	t.judging.putBack = !p.Keep
	step, err := t.judged(ctx, plan)
	t.session.Ended, t.session.State = time.Now(), "done"
	switch {
	case err != nil && ctx.Err() != nil:
		t.session.State, t.session.Stopped = "interrupted", t.interrupted("the target was put back")
	case err != nil:
		t.session.State, t.session.Stopped = "failed", err.Error()
	default:
		t.session.AsFound, t.session.Final = step.Verdict.BaselineScore, step.Verdict.BaselineScore
		if step.Kept {
			t.session.Final = step.Verdict.CandidateScore
		}
	}
	return step, errors.Join(err, t.Store.SaveSession(t.session))
}

// interrupted says how an interruption left the target: back says how if everything
// could be put back.
func (t *Tuner) interrupted(back string) string {
	if len(t.Exec.Pending()) > 0 {
		return "interrupted; not everything could be put back: `kasoku recover`"
	}
	return "interrupted; " + back
}

// judged tries a plan, unless it touches what judges it.
func (t *Tuner) judged(ctx context.Context, plan proposed) (*store.Step, error) {
	var step *store.Step
	var err error
	if why := t.judging.judge.touches(plan.writes); why != "" {
		step = &store.Step{Session: t.session.ID, Seq: t.course.seq + 1, Started: time.Now(), Ended: time.Now(), Plan: plan.Plan, Diffs: diffs(plan.Changes),
			Verdict: experiment.Verdict{Outcome: experiment.Tampered, Reason: why + "; nothing was applied"}}
		t.course.seq++
		err = t.Store.SaveStep(step)
	} else if step, err = t.try(ctx, plan.Plan, nil, ""); step == nil {
		return nil, err
	}
	if plan.diff == nil {
		return step, err
	}
	step.Diffs = append(step.Diffs, *plan.diff)
	return step, errors.Join(err, t.Store.SaveStep(step))
}

// plan turns a proposal into changes.
func (t *Tuner) plan(ctx context.Context, p Proposal) (proposed, error) {
	plan := proposed{Plan: remedy.Plan{Remedy: "proposal", Title: p.Title, Why: "proposed with kasoku try", Bound: 1}}
	if err := p.Incomplete(); err != nil {
		return plan, err
	}
	snap, err := evidence.Take(ctx, t.Stack, t.Bench.Hosts, evidence.TakeOptions{})
	if err != nil {
		return plan, fmt.Errorf("read the configuration: %w", err)
	}
	t.Bench.Stamp.ConfigHash = snap.Hash()
	if len(p.Set) > 0 {
		sets, trades, err := remedy.Set(t.Stack, snap, p.Set)
		if err != nil {
			return plan, err
		}
		plan.Changes, plan.Trades = append(plan.Changes, sets...), trades
		if err := t.written(snap, p, &plan, sets); err != nil {
			return plan, err
		}
	}
	if err := t.patchedInto(ctx, snap, p, &plan); err != nil {
		return plan, err
	}
	if p.Rev != "" {
		if err := t.moved(ctx, p, &plan); err != nil {
			return plan, err
		}
	}
	if p.Apply != "" {
		hostName, dir, err := t.place(p)
		if err != nil {
			return plan, err
		}
		plan.Changes = append(plan.Changes, change.Change{Kind: change.KindExec, Host: hostName, Dir: dir, Why: plan.Why,
			Apply: []string{"sh", "-c", p.Apply}, Undo: []string{"sh", "-c", p.Undo}, Command: p.Apply})
	}
	acts, err := t.activations(p)
	if err != nil {
		return plan, err
	}
	plan.Changes = append(plan.Changes, acts...)
	if plan.Title == "" {
		plan.Title = p.words()
	}
	plan.ID = "try:" + plan.Title
	return plan, nil
}

// patchedInto adds the files of a proposal's patch to its plan, with what makes them take
// effect.
func (t *Tuner) patchedInto(ctx context.Context, snap *evidence.Snapshot, p Proposal, plan *proposed) error {
	if !p.patches() {
		return nil
	}
	files, err := t.patched(ctx, p)
	if err != nil {
		return err
	}
	trades, services, err := remedy.Patched(t.Stack, snap, files)
	if err != nil {
		return err
	}
	plan.Trades, plan.patches = append(plan.Trades, trades...), services
	if err := t.written(snap, p, plan, files); err != nil {
		return err
	}
	if files, err = t.takesEffect(ctx, p, files); err != nil {
		return err
	}
	plan.Changes = append(plan.Changes, files...)
	return nil
}

// written notes which files the changes write, before they become commits, and refuses
// what a confined proposal may not write.
func (t *Tuner) written(snap *evidence.Snapshot, p Proposal, plan *proposed, changes []change.Change) error {
	if p.Confined {
		if err := t.confined(snap, changes); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if c.Path != "" && onThisMachine(c.Host) {
			plan.writes = append(plan.writes, c.Path)
		}
	}
	return nil
}

// words name a proposal that has no title.
func (p *Proposal) words() string {
	words := append([]string{}, p.Set...)
	for _, w := range []string{p.Patch, p.Rev, p.Apply} {
		if w != "" {
			words = append(words, w)
		}
	}
	if len(p.Diff) > 0 {
		words = append(words, "a patch")
	}
	return strings.Join(words, " ")
}

func (t *Tuner) activations(p Proposal) ([]change.Change, error) {
	var out []change.Change
	add := func(names []string, act change.Activation) error {
		for _, n := range names {
			svc := t.Stack.Service(n)
			if svc == nil {
				return fmt.Errorf("try: no service %q in %s", n, t.Stack.Path)
			}
			out = append(out, change.Change{Kind: change.KindRestart, Host: svc.HostName(), Service: n, Activate: act})
		}
		return nil
	}
	return out, errors.Join(add(p.Reload, change.Reload), add(p.Restart, change.Restart))
}
