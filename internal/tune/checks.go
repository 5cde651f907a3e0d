package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/prove"
	"kasoku/internal/store"
)

// takeTime is the longest that one walk for the comparison of answers may take:
// there are five of them, three as found and two at the end, which together
// shall take at most a twentieth of the budget.
func (t *Tuner) takeTime() time.Duration {
	if t.Options.Budget == 0 {
		return longestWalk
	}
	return min(t.Options.Budget/100, longestWalk)
}

// checksTime is about what the checks at the end take.
func (t *Tuner) checksTime() time.Duration {
	const write, kill, reboot = 2 * time.Second, 20 * time.Second, time.Minute
	if t.Bench.instead != nil {
		return 0
	}
	all, c := time.Duration(0), t.Stack.Checks
	if t.prover().comparable() == "" {
		all += 2 * t.takeTime()
	}
	if c.Scenario != "" {
		all += time.Duration(max(c.Writes, 5)) * write
	}
	if len(c.Kill) > 0 {
		all += kill
	}
	if len(c.Reboot) > 0 {
		all += reboot + 2*t.Bench.runTime()
		// And once more for warmUp, which is rarely called for.
		if again := reboot + 4*t.Bench.runTime(); t.Options.Budget >= 20*again {
			all += again
		}
	}
	return all
}

func (t *Tuner) prover() *Prover {
	p := &Prover{Bench: t.Bench, StandDown: t.Exec.StandDown, UI: t.UI, Workload: t.course.workload, Limit: t.takeTime()}
	if t.Exec != nil {
		p.Exec = t.Exec
	}
	if t.session != nil {
		p.Session, p.Before, p.Restart = t.session.ID, t.session.Final, t.restartApps
	}
	return p
}

// recordAnswers keeps what the service answers as found.
func (t *Tuner) recordAnswers(ctx context.Context, run *store.Run) error {
	if t.Bench.instead != nil || run == nil {
		return nil
	}
	p := t.prover()
	if p.comparable() != "" {
		return nil // check says so at the end
	}
	t.UI.Step("Record answers as found")
	why, err := p.Record(ctx, run.ID)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		why = err.Error()
	}
	if why != "" {
		t.UI.Warn("answers as found could not be recorded: "+why, "at the end they are not compared")
	}
	return nil
}

// recordAgain records the answers of a session that was interrupted before it had
// them, if its service is still as found.
func (t *Tuner) recordAgain(ctx context.Context) error {
	steps, err := t.Store.Steps(t.session.ID)
	if err != nil || slices.ContainsFunc(steps, changesTarget) {
		return err
	}
	runs, err := t.Store.Runs(store.RunFilter{Session: t.session.ID, Kind: store.Scored})
	if err != nil || len(runs) == 0 {
		return err
	}
	_, of, err := t.Store.LastArtifact(AnswersArtifact)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err == nil && slices.ContainsFunc(runs, func(r store.Run) bool { return r.ID == of }) {
		return nil
	}
	return t.recordAnswers(ctx, &runs[len(runs)-1])
}

// check makes the regulation checks on what is in place at the end.
func (t *Tuner) check(ctx context.Context) error {
	proves := t.standIns.proves
	if proves == nil {
		if t.Bench.instead != nil {
			return nil
		}
		proves = t.prover().Run
	}
	if err := t.undecidedAtBoot(ctx); err != nil {
		return err
	}
	t.UI.Step("Check that the regulation holds")
	var err error
	if t.session.Checks, err = proves(ctx); err != nil {
		return err
	}
	if err := t.warmUp(ctx); err != nil {
		return err
	}
	if broken := prove.Broken(t.session.Checks); len(broken) > 0 {
		t.UI.Warn(fmt.Sprintf("the regulation does not hold: %s failed", strings.Join(broken, ", ")),
			"`kasoku report` tells what was seen; `kasoku undo` puts kept changes back, the last one first")
	}
	return nil
}
