package login_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/await"
	"kasoku/internal/load"
)

// checkScale compares the rows that an answer takes as found and tuned by hand. The
// points are ×40 when run alone (make bench-tuners); this is where most of them come
// from.
func checkScale(t *testing.T, found, hand *load.Result, foundRows, handRows float64) {
	t.Helper()
	t.Logf("points per second: as found %.0f, by hand %.0f (×%.0f)", found.Score, hand.Score, hand.Score/found.Score)
	t.Logf("rows that the database reads for an answer: as found %.0f, by hand %.1f", foundRows, handRows)
	if handRows > foundRows/20 {
		t.Errorf("by hand %.1f rows for an answer, as found %.1f: want at most a twentieth", handRows, foundRows)
	}
}

// drive runs the scenario once and fails the test for any wrong answer. rows is how
// many the database read for one.
func (b *bench) drive() (result *load.Result, rows float64) {
	b.t.Helper()
	const read = "SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME LIKE 'HANDLER_READ_%'"
	before := b.number(read)
	scenario, err := load.LoadScenario(filepath.Join(b.dir, "scenario.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	scenario.Timeout = await.Limit // answers are told, not how soon they came
	result, err = load.Run(context.Background(), load.Options{
		Scenario: scenario, URL: b.stack.Load.URL, Workload: 4, Warmup: 300 * time.Millisecond, Window: 4 * time.Second,
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
	return result, float64(b.number(read)-before) / float64(max(1, result.Succeeded))
}
