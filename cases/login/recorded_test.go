package login_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/record"
)

// forgetLog leaves only what comes now: a replay keeps the pause since the health
// checks of the start, however long the restart took.
func (b *bench) forgetLog() {
	b.t.Helper()
	if err := os.Truncate(filepath.Join(b.dir, "log", "access.log"), 0); err != nil {
		b.t.Fatal(err)
	}
}

// checkRecorded: a scenario made of the case's own access log, as a mix and as a
// replay, runs on the case and gets the answers that were recorded.
func checkRecorded(t *testing.T, b *bench) {
	t.Helper()
	for _, replay := range []bool{false, true} {
		log, err := os.Open(filepath.Join(b.dir, "log", "access.log"))
		if err != nil {
			t.Fatal(err)
		}
		draft, err := record.FromLog(log, record.LogOptions{Replay: replay})
		log.Close()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if _, err := draft.Write(dir, false); err != nil {
			t.Fatal(err)
		}
		scenario, err := load.LoadScenario(filepath.Join(dir, "scenario.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		scenario.Timeout = time.Minute // a replay keeps its times however busy the machine is
		res, err := load.Run(context.Background(), load.Options{Scenario: scenario, URL: b.stack.Load.URL, Warmup: -1, Window: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if res.Succeeded == 0 || res.Mismatches+res.Errors+res.Timeouts > 0 {
			t.Errorf("replay %v: %d right, %d mismatches, %d errors, %d time-outs", replay, res.Succeeded, res.Mismatches, res.Errors, res.Timeouts)
			for _, s := range res.Samples {
				t.Logf("%s %s: want %s, got %s", s.Kind, s.Request, s.Expected, s.Got)
			}
		}
		if replay && res.Open == nil {
			t.Error("a replay has no planned arrivals")
		}
	}
}
