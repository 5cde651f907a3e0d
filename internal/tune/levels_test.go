package tune

import (
	"math"
	"testing"

	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// What a session has spent is read from its steps, so that interrupting it buys
// no second chance.
func TestLevelsComeFromTheStoredSteps(t *testing.T) {
	step := func(outcome experiment.Outcome, pairs int, level float64) store.Step {
		return store.Step{Verdict: experiment.Verdict{Outcome: outcome, Pairs: pairs, Level: level}}
	}
	wentOn := func(s store.Step, earlier int) store.Step {
		s.Verdict.Earlier = earlier
		return s
	}
	leaveOut := step(experiment.Regressed, 8, 0.01)
	leaveOut.LeavesOut = []int{1}
	for _, c := range []struct {
		name  string
		steps []store.Step
		spent float64
	}{
		{"nothing yet", nil, 0},
		{"what was kept is given back", []store.Step{step(experiment.Improved, 3, 0.002)}, 0},
		{"what was not is spent", []store.Step{step(experiment.NoDifference, 5, 0.002), step(experiment.Regressed, 3, 0.001)}, 0.003},
		{"broken before the first look costs nothing", []store.Step{step(experiment.Broke, 1, 0.002), step(experiment.Failed, 0, 0)}, 0},
		{"interrupted after a look is spent", []store.Step{step(experiment.Inconclusive, 4, 0.002)}, 0.002},
		{"one that went on is one test", []store.Step{step(experiment.Inconclusive, 4, 0.002), wentOn(step(experiment.NoDifference, 9, 0.002), 4)}, 0.002},
		{"and what it kept is given back", []store.Step{step(experiment.Inconclusive, 4, 0.002), wentOn(step(experiment.Improved, 9, 0.002), 4)}, 0},
		{"one that had no look yet is another", []store.Step{step(experiment.Inconclusive, 2, 0.002), wentOn(step(experiment.NoDifference, 9, 0.001), 2)}, 0.001},
		{"a second look costs nothing", []store.Step{leaveOut}, 0},
		{"a step without a level is taken to have had the next", []store.Step{step(experiment.NoDifference, 4, 0)}, 0.005},
	} {
		got := levelsAfter(c.steps, 0.01)
		want := experiment.Levels{Each: 0.01}
		want.Charge(c.spent, false, false)
		if math.Abs(got.Next()-want.Next()) > 1e-12 {
			t.Errorf("%s: next level %g, want %g", c.name, got.Next(), want.Next())
		}
	}
}
