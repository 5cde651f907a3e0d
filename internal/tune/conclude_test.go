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
