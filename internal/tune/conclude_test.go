package tune

import (
	"context"
	"strings"
	"testing"
	"time"

	"kasoku/internal/store"
)

// The runs and restarts of the end are for what was kept: where nothing was, they tell
// nothing, and on somebody's system they take minutes.
func TestNothingKeptNothingClosed(t *testing.T) {
	for name, c := range map[string]struct {
		knob knob
		want bool // there is a final score of its own
	}{
		"nothing pays":      {knob{name: "a", factor: 1, bound: 1.4, reach: 0.5}, false},
		"something is kept": {good("a", 40), true},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVirtual(t, c.knob)
			tu := v.tuner()
			finals, run := 0, tu.Bench.instead
			tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
				if strings.HasPrefix(o.Label, "final") || strings.HasPrefix(o.Label, "as left") {
					finals++
				}
				return run(ctx, o)
			}
			s, err := tu.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			// Of one kept change its own experiment is the comparison.
			if finals > 0 || (s.Final != s.AsFound) != c.want || s.FinalWorkload != s.AsFoundWorkload {
				t.Errorf("%d final runs; as found %.1f, final %.1f", finals, s.AsFound, s.Final)
			}
		})
	}
}

// What compares as found with as left has time of its own: more pairs than one where they take a
// small part of the budget.
func TestTimeForTheComparison(t *testing.T) {
	for _, c := range []struct {
		budget, window time.Duration
		want           int
	}{{12 * time.Minute, 18 * time.Second, 2}, {25 * time.Minute, 18 * time.Second, 3}, {3 * time.Minute, 18 * time.Second, 1}, {40 * time.Minute, 90 * time.Second, 1}} {
		tu := newVirtual(t).tuner()
		tu.session, tu.schedule = &store.Session{}, newSchedule()
		tu.Options.Budget, tu.Bench.Window, tu.Bench.Warmup = c.budget, c.window, 0
		tu.schedule.changed = true
		if got := tu.reservedPairs(); got != c.want {
			t.Errorf("%s, runs of %s: %d pairs, want %d", c.budget, tu.Bench.runTime(), got, c.want)
		}
		if got, want := tu.reserve()-tu.afterwards(), time.Duration(2*c.want)*tu.Bench.runTime(); got != want {
			t.Errorf("%s: %s are kept for it, want %s", c.budget, got, want)
		}
	}
}

// Before anything is tried a session says how long a run is and how many fit; where not
// even one experiment does, which budget would do.
func TestRunsAreTold(t *testing.T) {
	for budget, want := range map[time.Duration]string{
		25 * time.Minute: "a run takes 1m18s: about 18 fit into the time left",
		10 * time.Minute: "a run takes 1m18s: about 6 fit into the time left, beside the 1m28s that the end takes",
		6 * time.Minute:  "so nothing can be shown: a budget of ",
	} {
		v := newVirtual(t)
		tu, told := v.tuner(), &drawing{}
		tu.UI, tu.Options.Budget, tu.course.deadline = told, budget, time.Now().Add(budget)
		tu.Bench.Window, tu.Bench.Warmup, tu.session = 77*time.Second, 0, &store.Session{}
		tu.tellRuns()
		if text := strings.Join(told.lines, "\n"); !strings.Contains(text, want) {
			t.Errorf("%s: %q does not contain %q", budget, text, want)
		}
	}
}
