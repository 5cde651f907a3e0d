package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/stat"
	"kasoku/internal/store"
)

// Reporter is where the loop tells what it does.
type Reporter interface {
	Step(title string)
	Info(text string)
	Warn(problem, hint string)
}

// Tuner runs one session.
type Tuner struct {
	Stack *stack.Stack
	Store *store.Store
	Exec  *change.Executor
	Bench *Bench
	Rule  experiment.Rule
	UI    Reporter
	// Budget of wall-clock time for the whole session; 0 = until nothing pays.
	Budget time.Duration
	// Fresh starts a new session even if an interrupted one could go on.
	Fresh bool
	// NoRestart leaves out the restart of every service at the end.
	NoRestart bool
	// Rights of the user who runs Kasoku; plans that need others are left out.
	// nil: nobody asked.
	Rights *stack.Rights

	// putBack: an improved candidate is put back all the same (kasoku try).
	putBack  bool
	judge    *judge // of a proposal
	session  *store.Session
	seq      int
	workload int
	deadline time.Time
	tried    map[string]attempt // by plan ID
	weak     int                // steps that were kept with less than weakEffect
	diag     *diagnose.Diagnosis
	evidence *evidence.Evidence
	snapshot *evidence.Snapshot
}

// attempt is what came of a plan that was not kept.
type attempt struct {
	binding string // what bound then
	final   bool   // not to be tried again: it failed or broke answers
}

// Run is the whole session. On an error, also when ctx ends, the target is as
// it was or as proved better, and the session can be taken up again.
func (t *Tuner) Run(ctx context.Context) (*store.Session, error) {
	started := time.Now()
	if t.Budget > 0 {
		t.deadline = started.Add(t.Budget)
		// A tenth of the time for what only tells about the source.
		t.Bench.Walk = t.Budget / 10
	}
	err := t.begin(ctx)
	if t.session == nil { // it was not to be had
		return nil, err
	}
	if err == nil {
		err = t.loop(ctx)
	}
	if err == nil {
		err = t.leaveOut(ctx)
	}
	if err == nil {
		err = t.conclude(ctx)
	}
	t.session.Ended = time.Now()
	switch {
	case err == nil:
		t.session.State = "done"
	case errors.Is(err, errNoisy):
		t.session.State, t.session.Stopped = "interrupted", err.Error()
	case ctx.Err() != nil:
		t.session.State, t.session.Stopped = "interrupted", "interrupted; `kasoku tune` goes on from here"
	default:
		t.session.State, t.session.Stopped = "failed", err.Error()
	}
	if serr := t.Store.SaveSession(t.session); serr != nil {
		err = errors.Join(err, serr)
	}
	return t.session, err
}

// begin takes up an interrupted session or measures the service as found.
func (t *Tuner) begin(ctx context.Context) error {
	t.tried = map[string]attempt{}
	t.workload = t.Bench.Users()
	if last, err := t.resumable(); err != nil {
		return err
	} else if last != nil {
		return t.resume(last)
	}
	t.session = &store.Session{Command: "tune", Stack: t.Stack.Name, Started: time.Now(), Budget: t.Budget,
		State: "running", AsFoundWorkload: t.workload}
	for _, trade := range t.Stack.Regulation.Allow {
		t.session.Allowed = append(t.session.Allowed, string(trade))
	}
	if err := t.Store.SaveSession(t.session); err != nil {
		return err
	}
	t.Bench.Session = t.session.ID
	t.UI.Step("Measure the service as found")
	scores, err := t.measure(ctx, "as found", 2)
	if err != nil {
		return err
	}
	t.session.AsFound = stat.GeoMean(scores)
	if t.workload == 0 {
		t.workload = t.Bench.Users() // now somebody else's benchmark has told
		t.session.AsFoundWorkload = t.workload
	}
	t.UI.Info(fmt.Sprintf("as found: %s points/s with %d users", score(t.session.AsFound), t.workload))
	return t.Store.SaveSession(t.session)
}

// resumable returns the last session if it was interrupted.
func (t *Tuner) resumable() (*store.Session, error) {
	if t.Fresh {
		return nil, nil
	}
	sessions, err := t.Store.Sessions(1)
	if err != nil || len(sessions) == 0 {
		return nil, err
	}
	s := sessions[0]
	if s.Command != "tune" || s.Stack != t.Stack.Name || s.AsFound == 0 || (s.State != "interrupted" && s.State != "running") {
		return nil, nil
	}
	return &s, nil
}

// resume goes on with a session: kept steps are in place, tried ones are known.
func (t *Tuner) resume(s *store.Session) error {
	steps, err := t.Store.Steps(s.ID)
	if err != nil {
		return err
	}
	t.session, t.Bench.Session = s, s.ID
	if t.workload == 0 {
		t.workload = s.AsFoundWorkload
	}
	t.session.State = "running"
	for _, st := range steps {
		t.seq = max(t.seq, st.Seq)
		if len(st.LeavesOut) > 0 {
			continue
		}
		t.remember(&st)
		if st.Kept && st.Plan.Workload > 0 {
			t.workload = st.Plan.Workload
		}
	}
	t.UI.Step(fmt.Sprintf("Take up session %d after %d steps (--new begins a fresh one)", s.ID, len(steps)))
	return t.Store.SaveSession(t.session)
}

// remember notes a step's plan, so that it is not repeated in vain.
func (t *Tuner) remember(st *store.Step) {
	if st.LeftOut {
		t.tried[key(st.Plan)] = attempt{final: true} // or it would come and go
		return
	}
	if st.Kept && st.Plan.Search != nil && !st.Ended.IsZero() {
		// The number has been found; it is looked for again when something
		// else binds.
		t.tried[key(st.Plan)] = attempt{binding: st.Binding}
	}
	if st.Kept && st.Verdict.CandidateScore >= muchFaster*st.Verdict.BaselineScore {
		// What loaded the old service may not load this one: the workload is
		// looked for again where the machine is not full (G08).
		maps.DeleteFunc(t.tried, func(plan string, a attempt) bool { return !a.final && strings.HasPrefix(plan, "load.workload:") })
	}
	if st.Kept && st.Tx != 0 && st.Verdict.Effect < weakEffect {
		t.weak++
	}
	if st.Ended.IsZero() || st.Kept {
		return
	}
	switch st.Verdict.Outcome {
	case experiment.Inconclusive, "":
		return // may be tried again
	case experiment.Broke, experiment.Failed:
		t.tried[key(st.Plan)] = attempt{final: true}
	default:
		t.tried[key(st.Plan)] = attempt{binding: st.Binding}
	}
}

// muchFaster is the gain of one step after which the workload that was found
// before says nothing any more.
const muchFaster = 1.5

// measure makes n fit scored runs and returns their scores.
func (t *Tuner) measure(ctx context.Context, label string, n int) ([]float64, error) {
	var scores []float64
	for tries := 0; len(scores) < n; tries++ {
		run, err := t.Bench.Run(ctx, RunOptions{Kind: store.Scored, Label: label, Workload: t.workload})
		if err != nil {
			return nil, err
		}
		if err := t.Bench.Answered(run); err != nil {
			return nil, err
		}
		if run.Unfit != "" && tries < n+t.Rule.MaxRepeats {
			t.UI.Warn("a run was no evidence: "+run.Unfit, "stop other work on this machine, or wait; it is repeated")
			continue
		}
		scores = append(scores, max(run.Score, 1e-6))
	}
	return scores, nil
}

// loop takes step after step until nothing pays.
func (t *Tuner) loop(ctx context.Context) error {
	fresh, doubts := true, 0
	for {
		if fresh {
			if err := t.observe(ctx, t.label()); err != nil {
				return err
			}
		}
		plan, finding, err := t.next()
		if err != nil {
			return err
		}
		if plan == nil {
			return nil
		}
		step, err := t.try(ctx, *plan, finding, t.diag.Binds)
		if err != nil {
			return err
		}
		t.remember(step)
		if step.Verdict.Outcome == experiment.Inconclusive {
			t.tried[key(step.Plan)] = attempt{binding: t.diag.Binds}
			if doubts++; doubts >= maxDoubts {
				return errNoisy
			}
		} else {
			doubts = 0
		}
		fresh = step.Kept
	}
}

// maxDoubts inconclusive experiments in a row end the session: where nothing
// can be judged, going on only disturbs the service.
const maxDoubts = 2

// errNoisy ends a session that can be taken up again.
var errNoisy = errors.New("two experiments in a row could not be judged; stop what else runs on this machine, then `kasoku tune` goes on from here")

func (t *Tuner) label() string {
	if t.session.AsFoundRun == 0 {
		return "as found, with statements recorded"
	}
	return "with statements recorded"
}

// observe makes a diagnostic run and diagnoses it. Profiles are taken and
// single requests followed in the session's first one, and in lastLook: no
// remedy is planned by them, and they take as long as an experiment.
func (t *Tuner) observe(ctx context.Context, label string) error {
	t.Bench.Plain = t.session.AsFoundRun != 0
	return t.look(ctx, label)
}

func (t *Tuner) look(ctx context.Context, label string) error {
	run, snap, err := Observe(ctx, t.Exec, t.Bench, t.workload, label, t.UI)
	if err != nil {
		return err
	}
	if t.session.AsFoundRun == 0 {
		t.session.AsFoundRun = run.ID
	}
	t.evidence, t.snapshot, t.diag = run.Evidence, snap, run.Diagnosis
	t.session.FinalRun = run.ID
	t.session.Binds, t.session.BindsText = t.diag.Binds, t.diag.BindsText
	t.UI.Info("binds: " + t.diag.BindsText)
	return t.Store.SaveSession(t.session)
}

// next picks the plan with the best promise that is worth a try.
func (t *Tuner) next() (*remedy.Plan, *diagnose.Finding, error) {
	in := remedy.Input{Stack: t.Stack, Evidence: t.evidence, Snapshot: t.snapshot, Diagnosis: t.diag, Rights: t.Rights}
	res := remedy.PlanAll(in)
	t.refused(res.Refusals)
	best := 0.0
	for _, p := range remedy.Together(in, res.Plans) {
		if !t.due(key(p), t.diag.Binds) {
			continue
		}
		best = max(best, p.Bound)
		if p.Bound-1 < t.Rule.SmallestEffect {
			continue
		}
		if !t.deadline.IsZero() && time.Until(t.deadline) < t.stepTime()+t.secondLook()+t.reserve() {
			t.session.Stopped = fmt.Sprintf("the budget of %s is used; next would be: %s (at most %s)", t.Budget, p.Title, factor(p.Bound))
			return nil, nil, nil
		}
		return &p, t.finding(p), nil
	}
	t.session.Stopped = "nothing that is left could bring more than the smallest effect worth keeping"
	if best == 0 {
		t.session.Stopped = "every plan that the findings call for has been tried"
	}
	return nil, nil, nil
}

// key names a plan for what was tried. A search is the same whatever number it
// begins from, which is the last part of its ID.
func key(p remedy.Plan) string {
	if i := strings.LastIndexByte(p.ID, ':'); p.Search != nil && i > 0 {
		return p.ID[:i]
	}
	return p.ID
}

// due reports whether a plan is worth a try now: it was not tried yet, or it
// was put back while something else bound (I16). What failed or broke answers
// is not tried again.
func (t *Tuner) due(plan, binds string) bool {
	a, was := t.tried[plan]
	return !was || !a.final && a.binding != binds
}

func (t *Tuner) finding(p remedy.Plan) *diagnose.Finding {
	for i, f := range t.diag.Findings {
		if f.Rule == p.Rule {
			return &t.diag.Findings[i]
		}
	}
	return nil
}

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
