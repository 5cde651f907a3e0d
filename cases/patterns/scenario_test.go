package patterns

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// checkScenario: kasoku.yaml is read, and every answer that the scenario
// expects is given.
func (s *Service) checkScenario(t *testing.T) {
	t.Helper()
	st, err := stack.Load(s.Stack)
	if err != nil {
		t.Fatal(err)
	}
	if st.Load.URL != s.URL {
		t.Errorf("load.url is %s, the service answers on %s", st.Load.URL, s.URL)
	}
	scenario, err := load.LoadScenario(filepath.Join(s.Dir, "scenario.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	result, err := load.Run(context.Background(), load.Options{
		Scenario: scenario, URL: s.URL, Workload: 4, Warmup: 100 * time.Millisecond, Window: 600 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.Mismatches+result.Errors+result.Timeouts > 0 || result.Succeeded == 0 {
		t.Errorf("%d right, %d mismatches, %d errors, %d time-outs", result.Succeeded, result.Mismatches, result.Errors, result.Timeouts)
		for _, m := range result.Samples {
			t.Logf("%s %s/%s %s: want %s, got %s\n%.300s", m.Kind, m.Session, m.Step, m.Request, m.Expected, m.Got, m.Body)
		}
	}
}
