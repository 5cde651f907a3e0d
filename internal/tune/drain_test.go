package tune

import (
	"context"
	"strings"
	"testing"

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
