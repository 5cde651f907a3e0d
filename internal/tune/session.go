package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
	"kasoku/internal/stat"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// Run is the whole session. On an error, also when ctx ends, the target is as
// it was or as proved better, and the session can be taken up again.
func (t *Tuner) Run(ctx context.Context) (*store.Session, error) {
	defer t.watch(ctx)()
	t.Bench.Instruments.restarts, t.Bench.Instruments.exec = t.restartable, t.Exec
	started := time.Now()
	if t.Options.Budget > 0 {
		t.course.deadline = started.Add(t.Options.Budget)
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
	t.schedule = newSchedule()
	t.course.workload = t.Bench.Users()
	if last, err := t.resumable(); err != nil {
		return err
	} else if last != nil {
		if err := t.resume(last); err != nil {
			return err
		}
		return t.recordAgain(ctx)
	}
	t.session = &store.Session{Command: "tune", Stack: t.Stack.Name, Started: time.Now(), Budget: t.Options.Budget,
		State: "running", AsFoundWorkload: t.course.workload, Scenario: t.Bench.scenarioHash()}
	for _, trade := range t.Stack.Regulation.Allow {
		t.session.Allowed = append(t.session.Allowed, string(trade))
	}
	if err := t.Store.SaveSession(t.session); err != nil {
		return err
	}
	t.Bench.Stamp.Session = t.session.ID
	t.tellSession(nil)
	t.UI.Step("Measure the service as found")
	scores, err := t.measure(ctx, "as found", 2)
	if err != nil {
		return err
	}
	t.session.AsFound, t.Bench.scored.settled = level(scores), true
	t.schedule.learned.spread.Add(logsOf(scores))
	if t.course.workload == 0 {
		t.course.workload = t.Bench.Users() // now somebody else's benchmark has told
		t.session.AsFoundWorkload = t.course.workload
	}
	t.session.UsersAssumed, t.session.PerRun = t.Bench.benchmark.assumed, t.Bench.benchmark.perRun
	t.tellScore()
	t.UI.Info(fmt.Sprintf("as found: %s %s%s", score(t.session.AsFound), t.session.Unit(), t.session.WithUsers(t.course.workload)))
	t.tellRuns()
	if err := t.Store.SaveSession(t.session); err != nil {
		return err
	}
	return t.recordAnswers(ctx, t.Bench.scored.before)
}

// measure makes n fit scored runs and returns their scores.
func (t *Tuner) measure(ctx context.Context, label string, n int) ([]float64, error) {
	var scores []float64
	for tries := 0; len(scores) < n; tries++ {
		run, err := t.Bench.Run(ctx, RunOptions{Kind: store.Scored, Label: label, Workload: t.course.workload})
		if err != nil {
			return nil, err
		}
		if err := t.Bench.Answered(run); err != nil {
			return nil, err
		}
		t.found()
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

// found notes what the runs as found have told of how runs are made.
func (t *Tuner) found() {
	if t.session.AsFound != 0 {
		return
	}
	if n := t.Bench.scored.users; n > 0 {
		t.course.workload, t.session.AsFoundWorkload = n, n
	}
	t.session.Forgiving = t.Bench.Scenario != nil && t.Bench.scored.forgiving
}

// goOn makes runs as those of an interrupted session were made.
func (t *Tuner) goOn(s *store.Session) {
	b := t.Bench
	b.scored.settled = true
	if b.Foreign() || b.Scenario == nil {
		return
	}
	if n := s.AsFoundWorkload; n > 0 && b.Scenario.WorkloadAssumed && b.Stack.Load.Workload == 0 && n < b.Users() {
		b.scored.users, t.course.workload = n, n
	}
	if forgiving := b.Scenario.Forgiving(); s.Forgiving && forgiving != nil {
		b.Scenario, b.scored.forgiving = forgiving, true
	}
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
		plan, finding := t.next()
		if plan == nil {
			if t.over() {
				return nil
			}
			fresh = true // what single requests do may call for more
			continue
		}
		var stop bool
		var err error
		if fresh, stop, err = t.take(ctx, *plan, finding, &doubts); stop || err != nil {
			return err
		}
	}
}

// over: there is nothing more to plan, or no time for it.
func (t *Tuner) over() bool { return t.seen.walked || t.session.StopReason == store.StopBudget }

// take tries a plan. fresh says that something may be found now that was not there
// before, stop that the time is used up.
func (t *Tuner) take(ctx context.Context, plan remedy.Plan, finding *diagnose.Finding, doubts *doubts) (fresh, stop bool, err error) {
	step, err := t.try(ctx, plan, finding, t.seen.diag.Binds)
	if err != nil {
		return false, false, err
	}
	t.schedule.remember(step)
	if t.course.lookAgain { // what is planned now is another cache, whatever its name
		delete(t.schedule.tried, key(step.Plan))
	}
	if step.Verdict.OutOfTime && !step.Verdict.Shared {
		t.stopped(store.StopBudget, fmt.Sprintf("the budget of %s was used up while %q was tried, which could not be judged in that time", t.Options.Budget, step.Plan.Title))
		return false, true, nil
	}
	if doubts.after(t, step); *doubts >= maxDoubts {
		return false, false, ErrNoisy
	}
	if step.Verdict.Shared {
		return !t.seen.walked, false, nil
	}
	fresh = step.Kept || !t.seen.walked || t.course.lookAgain
	t.course.lookAgain = false
	return fresh, false, nil
}

// freshLook takes a diagnostic run and takes out what nothing uses. stop says that the
// budget leaves no time for it.
func (t *Tuner) freshLook(ctx context.Context) (stop bool, err error) {
	if t.seen.diag != nil && t.noTimeForAnother() {
		t.stopped(store.StopBudget, fmt.Sprintf("the budget of %s leaves no time to look again and try another step: a run takes %s", t.Options.Budget, ui.Duration(t.Bench.runTime())))
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
	t.Bench.Instruments.Plain, t.Bench.Instruments.Unwalked = !first && t.seen.walked, later
	t.Bench.Instruments.Walk = t.walkTime()
	err := t.look(ctx, label)
	t.seen.walked = t.seen.walked || err == nil && !later
	return err
}

// walkTime is the most for following single requests, which only tells about
// the source: a tenth of the budget.
func (t *Tuner) walkTime() time.Duration {
	if t.Options.Budget == 0 {
		return longestWalk
	}
	return min(t.Options.Budget/10, longestWalk)
}

func (t *Tuner) look(ctx context.Context, label string) error {
	observe := t.standIns.observes
	if observe == nil {
		observe = func(ctx context.Context, label string) (*store.Run, *evidence.Snapshot, error) {
			return Observe(ctx, t.Exec, t.Bench, t.course.workload, label, t.UI)
		}
	}
	run, snap, err := observe(ctx, label)
	if err != nil {
		return err
	}
	if t.session.AsFoundRun == 0 {
		t.session.AsFoundRun = run.ID
	}
	t.seen.evidence, t.seen.snapshot, t.seen.diag = run.Evidence, snap, run.Diagnosis
	t.session.FinalRun = run.ID
	t.session.Binds, t.session.BindsText, t.session.BindsBefore = t.seen.diag.Binds, t.seen.diag.BindsText, false
	t.UI.Info("bottleneck: " + t.seen.diag.BindsText)
	return t.Store.SaveSession(t.session)
}
