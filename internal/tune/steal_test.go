package tune

import (
	"math"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// What other virtual machines take: a burst is no evidence, what stays is how
// the machine is.
func TestStealing(t *testing.T) {
	for name, c := range map[string]struct {
		shares []float64
		fit    string // of each run: + counts, - does not
		rule   float64
	}{
		"quiet":                     {[]float64{0.02, 0.05, 0.1, 0.04}, "++++", 0},
		"a burst":                   {[]float64{0.02, 0.3, 0.25, 0.04, 0.03, 0.02, 0.02, 0.3}, "+--++++-", 0},
		"always":                    {[]float64{0.12, 0.2, 0.16, 0.19, 0.26}, "--++-", 0.25},
		"every other run":           {[]float64{0.12, 0.01, 0.12, 0.01, 0.14, 0.12}, "-+-+++", 0.175},
		"it grows later":            {[]float64{0.12, 0.12, 0.12, 0.2, 0.2, 0.2, 0.2}, "--+--++", 0.25},
		"it ends":                   {[]float64{0.12, 0.12, 0.12, 0.01, 0.02, 0.1, 0.01, 0.01, 0.02, 0.12}, "--+++++++-", 0},
		"more than half: never":     {[]float64{0.6, 0.6, 0.6, 0.6, 0.6, 0.6}, "------", 0},
		"the rule is half, no more": {[]float64{0.45, 0.45, 0.45, 0.49, 0.51}, "--++-", 0.5},
	} {
		var s stealing
		fit := ""
		for _, share := range c.shares {
			if allowed, _ := s.allowed(share, 0.1); share <= allowed {
				fit += "+"
			} else {
				fit += "-"
			}
		}
		if fit != c.fit || math.Abs(s.rule-c.rule) > 1e-9 {
			t.Errorf("%s: %s with a rule of %v, want %s and %v", name, fit, s.rule, c.fit, c.rule)
		}
	}
}

// TestStealIsTold: by a note, the run's health and the verdict; an operator's own
// limit holds.
func TestStealIsTold(t *testing.T) {
	run := func() *store.Run {
		return &store.Run{Kind: store.Scored, Side: experiment.Baseline, Evidence: &evidence.Evidence{
			Load:   &load.Result{Succeeded: 1000, Window: 5 * time.Second, Engine: "epoll"},
			System: evidence.System{CPUs: 2, User: 8, Steal: 2}}}
	}
	for _, c := range []struct {
		limit float64
		want  bool
	}{{0, true}, {0.1, false}} {
		var notes []string
		b := &Bench{Stack: &stack.Stack{Tune: stack.Tune{MaxForeignCPU: c.limit}}, Listeners: Listeners{Note: func(s string) { notes = append(notes, s) }}}
		sw := &switcher{bench: b}
		var last *store.Run
		for range 3 {
			last = run()
			last.Unfit = unfit(last.Evidence, b.Stack.Tune.Foreign(), b.allowSteal(last.Kind, last.Evidence))
			sw.turns.note(last)
			sw.turns.noteSteal(last, b.Stack.Tune.Foreign())
		}
		v := experiment.Verdict{}
		sw.tell(&v)
		told := []bool{last.Unfit == "", len(notes) == 1 && strings.Contains(notes[0], "up to 20 % of the CPU in 3 runs"),
			len(last.Evidence.Health) == 1 && strings.Contains(last.Evidence.Health[0].Text, "took 20 % of it"),
			len(v.Warnings) == 1 && strings.Contains(v.Warnings[0].Text, "up to 20 % of the CPU (steal) in 1 of 3 runs")}
		for i, got := range told {
			if got != c.want {
				t.Errorf("limit %v, %d: %v; %q %q %+v", c.limit, i, got, last.Unfit, notes, v.Warnings)
			}
		}
	}
}
