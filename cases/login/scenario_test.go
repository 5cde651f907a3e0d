package login_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/load"
)

// TestScenario: every answer that the scenario expects is given, as found and
// tuned by hand, by both variants.
func TestScenario(t *testing.T) {
	t.Parallel()
	for _, variant := range []string{"php", "go"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			b := up(t, variant)
			found := b.drive()
			b.must("hand", b.dir)
			b.reload()
			b.must("reset", b.dir)
			hand := b.drive()
			t.Logf("points per second: as found %.0f, by hand %.0f (×%.0f)", found.Score, hand.Score, hand.Score/found.Score)
			// ×40 when run alone; the other tests of the package run at the same time.
			if hand.Score < 3*found.Score {
				t.Errorf("by hand %.0f points per second, as found %.0f: want at least ×3", hand.Score, found.Score)
			}
		})
	}
}

// drive runs the scenario once and fails the test for any wrong answer.
func (b *bench) drive() *load.Result {
	b.t.Helper()
	scenario, err := load.LoadScenario(filepath.Join(b.dir, "scenario.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	result, err := load.Run(context.Background(), load.Options{
		Scenario: scenario, URL: b.stack.Load.URL, Workload: 4, Warmup: 300 * time.Millisecond, Window: 2 * time.Second,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if result.Mismatches+result.Errors+result.Timeouts > 0 || result.Succeeded == 0 {
		b.t.Errorf("%d right, %d mismatches, %d errors, %d time-outs", result.Succeeded, result.Mismatches, result.Errors, result.Timeouts)
		for _, s := range result.Samples {
			b.t.Logf("%s %s/%s %s: want %s, got %s\n%.300s", s.Kind, s.Session, s.Step, s.Request, s.Expected, s.Got, s.Body)
		}
	}
	return result
}
