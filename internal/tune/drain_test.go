package tune

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/foreign"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// What a benchmark left behind is waited for before the next run; services that always
// compute are waited for once.
func TestRunsWaitForWhatIsLeft(t *testing.T) {
	for _, c := range []struct {
		name  string
		left  []float64 // CPUs in use, second by second; the last one stays
		looks int       // in three runs
		says  string
	}{
		{"idle", []float64{0.01}, 3, ""},
		{"a backlog", []float64{0.9, 0.9, 0.8, 0.6, 0.05}, 7, "worked on for 4 s"},
		{"one busy second", []float64{0.9, 0.05}, 4, ""},
		{"never idle", []float64{0.7}, drainLooks, "do not wait for them any more"},
	} {
		var told []string
		looks := 0
		b := &Bench{Stack: &stack.Stack{}, Listeners: Listeners{Note: func(text string) { told = append(told, text) }}}
		b.Stack.Load.Command = &foreign.Command{Argv: []string{"bench"}}
		b.disturbance.working = func(context.Context) (float64, error) {
			used := c.left[min(looks, len(c.left)-1)]
			looks++
			return used, nil
		}
		for range 3 {
			if err := b.drain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		text := strings.Join(told, "\n")
		if looks != c.looks || c.says == "" && text != "" || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d looks, want %d; told %q, want %q", c.name, looks, c.looks, text, c.says)
		}
	}
	b := &Bench{Stack: &stack.Stack{}, Scenario: &load.Scenario{}}
	b.disturbance.working = func(context.Context) (float64, error) {
		t.Error("Kasoku's own load waits for its answers, and asks")
		return 0, nil
	}
	if err := b.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A change is put in place, and taken back, when the services have done what was left: what
// runs holds the tables that an index would be made on.
func TestChangesWaitForWhatIsLeft(t *testing.T) {
	looks := 0
	b := &Bench{Stack: &stack.Stack{}}
	b.Stack.Load.Command = &foreign.Command{Argv: []string{"bench"}}
	b.disturbance.working = func(context.Context) (float64, error) {
		looks++
		return map[bool]float64{true: 0.9, false: 0}[looks < 4], nil
	}
	sw := &switcher{bench: b, exec: &refusing{why: errors.New("full")}, intent: change.Intent{Changes: []change.Change{{}}}}
	if err := sw.to(t.Context(), experiment.Baseline); err != nil || looks != 0 {
		t.Errorf("what is in place is waited for: %d looks, %v", looks, err)
	}
	if err := sw.to(t.Context(), experiment.Candidate); !errors.Is(err, experiment.ErrCandidate) || looks != 4 {
		t.Errorf("%d looks before the change, want 4; %v", looks, err)
	}
}
