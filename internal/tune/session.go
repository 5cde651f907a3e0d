package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/prove"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/stat"
	"kasoku/internal/store"
	"kasoku/internal/ui"
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
	// Watch is told what is to be seen of the session, as Bench.Watch says; may
	// be nil. Where UI is a Drawer, what an experiment shows goes there only.
	Watch func(Live)
	// Budget of wall-clock time for the whole session; 0 = until nothing pays.
	Budget time.Duration
	// Target is how many times as fast as found the service is to become; no
	// step is begun once it is, and what was kept is not looked at again. 0 = none.
	Target float64
	// Fresh starts a new session even if an interrupted one could go on.
	Fresh bool
	// NoRestart leaves out the restart of every service at the end.
	NoRestart bool
	// Rights of the user who runs Kasoku; plans that need others are left out.
	// nil: nobody asked.
	Rights *stack.Rights

	// putBack: an improved candidate is put back all the same (kasoku try).
	putBack   bool
	judge     *judge // of a proposal
	session   *store.Session
	seq       int
	workload  int
	deadline  time.Time
	tried     map[string]attempt // by plan ID
	weak      int                // steps that were kept with less than weakEffect
	behind    int                // parts that were kept behind one that may have brought all
	looks     int                // second looks that are left, with the one that is made
	waiting   bool               // others wait for the plan that is tried
	open      bool               // and some that made way for others are open
	walked    bool               // single requests were followed
	changed   bool               // a step was kept that changes the target
	narrowed  int                // caches of pages that are tried again without some
	lookAgain bool               // what may be kept is less now: look again
	orderTold bool               // tellOrder has
	loud      map[string]bool    // by plan ID: its runs were no evidence
	learned   learned
	halves    halves                // of groups that were not kept
	proved    map[string]store.Step // by plan ID: judged, but what follows was cut off
	diag      *diagnose.Diagnosis
	evidence  *evidence.Evidence
	snapshot  *evidence.Snapshot
	// proves replaces the regulation checks; tests set it.
	proves func(ctx context.Context) ([]prove.Result, error)
	// colds replaces what is planned against cold caches; tests set it.
	colds func(*diagnose.Reboot) []remedy.Plan
	// shares replaces share and lookShare; tests set it.
	shares func(now, end time.Time) time.Time
	// observes replaces Observe, and leaves out the last look; tests set it.
	observes func(ctx context.Context, label string) (*store.Run, *evidence.Snapshot, error)
}

// attempt is what came of a plan that was not kept.
type attempt struct {
	binding string // what bound then
	final   bool   // not to be tried again: it failed or broke answers
	// small: no effect was seen. faster is by how much the service became faster
	// since then, as a factor.
	small  bool
	faster float64
	// cut: its share of the time was not enough.
	cut bool
}

// Run is the whole session. On an error, also when ctx ends, the target is as
// it was or as proved better, and the session can be taken up again.
func (t *Tuner) Run(ctx context.Context) (*store.Session, error) {
	defer t.watch(ctx)()
	t.Bench.restarts = t.restartable
	started := time.Now()
	if t.Budget > 0 {
		t.deadline = started.Add(t.Budget)
	}
	err := t.begin(ctx)
	if t.session == nil { // it was not to be had
		return nil, err
	}
	if err == nil {
		err = t.loop(ctx)
	}
	if err == nil && t.session.StopReason != store.StopTarget {
		err = t.leaveOut(ctx)
	}
	if err == nil {
		err = t.conclude(ctx)
	}
	t.session.Worked, t.session.Ended = t.session.Worked+time.Since(started), time.Now()
	switch {
	case err == nil:
		t.session.State = "done"
	case errors.Is(err, ErrNoisy):
		t.session.State = "interrupted"
		t.stopped(store.StopNoisy, err.Error())
	case ctx.Err() != nil:
		t.session.State = "interrupted"
		t.stopped(store.StopInterrupted, t.interrupted("`kasoku tune` goes on from here"))
	default:
		t.session.State = "failed"
		t.stopped(store.StopFailed, err.Error())
	}
	if serr := t.Store.SaveSession(t.session); serr != nil {
		err = errors.Join(err, serr)
	}
	return t.session, err
}

// stopped notes why the session ends, for people and for programs.
func (t *Tuner) stopped(reason, text string) {
	t.session.StopReason, t.session.Stopped = reason, text
}

// begin takes up an interrupted session or measures the service as found.
func (t *Tuner) begin(ctx context.Context) error {
	t.tried, t.proved, t.halves = map[string]attempt{}, map[string]store.Step{}, nil
	t.learned, t.loud = learned{}, map[string]bool{}
	t.workload = t.Bench.Users()
	if last, err := t.resumable(); err != nil {
		return err
	} else if last != nil {
		if err := t.resume(last); err != nil {
			return err
		}
		return t.recordAgain(ctx)
	}
	t.session = &store.Session{Command: "tune", Stack: t.Stack.Name, Started: time.Now(), Budget: t.Budget,
		State: "running", AsFoundWorkload: t.workload, Scenario: t.Bench.scenarioHash()}
	for _, trade := range t.Stack.Regulation.Allow {
		t.session.Allowed = append(t.session.Allowed, string(trade))
	}
	if err := t.Store.SaveSession(t.session); err != nil {
		return err
	}
	t.Bench.Session = t.session.ID
	t.tellSession(nil)
	t.UI.Step("Measure the service as found")
	scores, err := t.measure(ctx, "as found", 2)
	if err != nil {
		return err
	}
	t.session.AsFound = level(scores)
	t.learned.spread.Add(logsOf(scores))
	if t.workload == 0 {
		t.workload = t.Bench.Users() // now somebody else's benchmark has told
		t.session.AsFoundWorkload = t.workload
	}
	t.session.UsersAssumed, t.session.PerRun = t.Bench.assumed, t.Bench.perRun
	t.tellScore()
	t.UI.Info(fmt.Sprintf("as found: %s %s%s", score(t.session.AsFound), t.session.Unit(), t.session.WithUsers(t.workload)))
	t.tellRuns()
	if err := t.Store.SaveSession(t.session); err != nil {
		return err
	}
	return t.recordAnswers(ctx, t.Bench.before)
}

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
		if run.Unfit != "" {
			t.UI.Warn(fmt.Sprintf("the score %s counts run %d, which is no evidence: %s", label, run.ID, run.Unfit), "stop other work on this machine, and measure again: kasoku run")
			t.session.Doubts = append(t.session.Doubts, fmt.Sprintf("%s, run %d: %s", label, run.ID, run.Unfit))
		}
		scores = append(scores, run.Score)
	}
	return scores, nil
}

// level is the geometric mean of scores. Where one of them is not above 0, which has
// none, it is the arithmetic one, at least store.NoScore.
func level(scores []float64) float64 {
	if slices.Min(scores) > 0 {
		return stat.GeoMean(scores)
	}
	mean, _ := stat.MeanSD(scores)
	return max(mean, store.NoScore)
}

// loop takes step after step until nothing pays.
func (t *Tuner) loop(ctx context.Context) error {
	fresh := true
	var doubts doubts
	for {
		if done, err := t.reached(); done || err != nil {
			return err
		}
		if fresh {
			if stop, err := t.freshLook(ctx); stop || err != nil {
				return err
			}
		}
		plan, finding, err := t.next()
		if err != nil {
			return err
		}
		if plan == nil {
			if t.over() {
				return nil
			}
			fresh = true // what single requests do may call for more
			continue
		}
		var stop bool
		if fresh, stop, err = t.take(ctx, *plan, finding, &doubts); stop || err != nil {
			return err
		}
	}
}

// over: there is nothing more to plan, or no time for it.
func (t *Tuner) over() bool { return t.walked || t.session.StopReason == store.StopBudget }

// take tries a plan. fresh says that something may be found now that was not there
// before, stop that the time is used up.
func (t *Tuner) take(ctx context.Context, plan remedy.Plan, finding *diagnose.Finding, doubts *doubts) (fresh, stop bool, err error) {
	step, err := t.try(ctx, plan, finding, t.diag.Binds)
	if err != nil {
		return false, false, err
	}
	t.remember(step)
	if t.lookAgain { // what is planned now is another cache, whatever its name
		delete(t.tried, key(step.Plan))
	}
	if step.Verdict.OutOfTime && !step.Verdict.Shared {
		t.stopped(store.StopBudget, fmt.Sprintf("the budget of %s was used up while %q was tried, which could not be judged in that time", t.Budget, step.Plan.Title))
		return false, true, nil
	}
	if doubts.after(t, step); *doubts >= maxDoubts {
		return false, false, ErrNoisy
	}
	if step.Verdict.Shared {
		return !t.walked, false, nil
	}
	fresh = step.Kept || !t.walked || t.lookAgain
	t.lookAgain = false
	return fresh, false, nil
}

// freshLook takes a diagnostic run and takes out what nothing uses. stop says that the
// budget leaves no time for it.
func (t *Tuner) freshLook(ctx context.Context) (stop bool, err error) {
	if t.diag != nil && t.noTimeForAnother() {
		t.stopped(store.StopBudget, fmt.Sprintf("the budget of %s leaves no time to look again and try another step: a run takes %s", t.Budget, ui.Duration(t.Bench.runTime())))
		return true, nil
	}
	if err := t.observe(ctx, t.label()); err != nil {
		return false, err
	}
	return false, t.takeOutUnused(ctx)
}

func (t *Tuner) label() string {
	if t.session.AsFoundRun == 0 {
		return "as found, with statements recorded"
	}
	return "with statements recorded"
}

// observe makes a diagnostic run and diagnoses it. Single requests are followed
// in the session's second one, whose service is faster by then, and in lastLook:
// the first experiment need not wait for that. Profiles and what logs and status
// pages lack are taken in the first two. They take as long as an experiment.
func (t *Tuner) observe(ctx context.Context, label string) error {
	first := t.session.AsFoundRun == 0
	later := first && !t.Bench.Foreign() // whose requests cannot be followed at all
	t.Bench.Plain, t.Bench.Unwalked = !first && t.walked, later
	t.Bench.Walk = t.walkTime()
	err := t.look(ctx, label)
	t.walked = t.walked || err == nil && !later
	return err
}

// walkTime is the most for following single requests, which only tells about
// the source: a tenth of the budget.
func (t *Tuner) walkTime() time.Duration {
	if t.Budget == 0 {
		return longestWalk
	}
	return min(t.Budget/10, longestWalk)
}

func (t *Tuner) look(ctx context.Context, label string) error {
	observe := t.observes
	if observe == nil {
		observe = func(ctx context.Context, label string) (*store.Run, *evidence.Snapshot, error) {
			return Observe(ctx, t.Exec, t.Bench, t.workload, label, t.UI)
		}
	}
	run, snap, err := observe(ctx, label)
	if err != nil {
		return err
	}
	if t.session.AsFoundRun == 0 {
		t.session.AsFoundRun = run.ID
	}
	t.evidence, t.snapshot, t.diag = run.Evidence, snap, run.Diagnosis
	t.session.FinalRun = run.ID
	t.session.Binds, t.session.BindsText, t.session.BindsBefore = t.diag.Binds, t.diag.BindsText, false
	t.UI.Info("bottleneck: " + t.diag.BindsText)
	return t.Store.SaveSession(t.session)
}
