package tune

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// Where a session takes longer than the window and scores in a small part of itself, a
// run is made again with a window that holds several, and so are all later ones, also
// the brief ones of experiments; once sessions are short, windows are, too.
func TestWindowsHoldSessions(t *testing.T) {
	sc, err := load.Parse("s.yaml", []byte("version: 1\nname: s\nduration: 5s\nsessions:\n  - {name: visit, steps: [{request: GET /}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	session, windows := 2*time.Second, []time.Duration{}
	b := &Bench{Stack: &stack.Stack{}, Scenario: sc, Listeners: Listeners{Note: func(text string) { told = append(told, text) }}}
	b.instead = func(_ context.Context, o RunOptions) (*store.Run, error) {
		w := b.whole(sc.Duration)
		if o.Window > 0 {
			w = o.Window
		}
		windows = append(windows, w)
		return &store.Run{Kind: o.Kind, Side: o.Side, Score: 1, Evidence: &evidence.Evidence{Load: &load.Result{Succeeded: 100, Window: w, SessionTime: session, Uneven: 0.8}}}, nil
	}
	run, err := b.Run(t.Context(), RunOptions{Kind: store.Scored})
	if err != nil {
		t.Fatal(err)
	}
	if len(windows) != 2 || windows[0] != 5*time.Second || run.Evidence.Load.Window != 12*time.Second {
		t.Fatalf("windows %v, the last run's %s; want 5 s and again 12 s, six sessions", windows, run.Evidence.Load.Window)
	}
	if len(told) != 1 || !strings.Contains(told[0], "a session takes 2s") {
		t.Errorf("told %q", told)
	}
	b.pace.Window = time.Second
	b.pace.Known.Rate = experiment.Mean{Sum: 1000, Weight: 1}
	if w := b.window(); w != 12*time.Second {
		t.Errorf("an experiment's runs have %s, want 12 s", w)
	}
	if w := b.brief(2); w != 12*time.Second {
		t.Errorf("a brief run has %s, want 12 s", w)
	}
	if b.Window = 3 * time.Second; b.window() != 3*time.Second {
		t.Errorf("the user says 3 s, and runs have %s", b.window())
	}
	b.Window, session = 0, 100*time.Millisecond
	if _, err := b.Run(t.Context(), RunOptions{Kind: store.Scored}); err != nil {
		t.Fatal(err)
	}
	if w := b.window(); w != time.Second {
		t.Errorf("sessions are short now, and runs have %s, want 1 s as chosen", w)
	}
}

// A session that no window of a run reaches the end of is said, and windows stay as they are;
// one that a longer window holds gets it.
func TestWindowsOfVisitsThatDoNotEnd(t *testing.T) {
	sc, err := load.Parse("s.yaml", []byte("version: 1\nname: s\nduration: 5s\nsessions:\n  - {name: visit, steps: [{request: GET /}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reached int
		windows []time.Duration
		says    string
	}{
		{5, []time.Duration{5 * time.Second, 16 * time.Second}, "nobody came to 5 of 10 steps"}, // 8 s for half of them
		{1, []time.Duration{5 * time.Second}, "a session may take 1m20s"},
	} {
		var told []string
		var windows []time.Duration
		b := &Bench{Stack: &stack.Stack{}, Scenario: sc, Listeners: Listeners{Note: func(text string) { told = append(told, text) }}}
		b.instead = func(_ context.Context, o RunOptions) (*store.Run, error) {
			l := &load.Result{Succeeded: 100, Window: max(o.Window, 5*time.Second), SessionTime: 8 * time.Second, Steps: 10, Unreached: 10 - c.reached}
			if windows = append(windows, l.Window); len(windows) > 1 {
				l.Steps, l.Unreached, l.SessionTime, l.Uneven = 0, 0, 3*time.Second, 0.6
			}
			return &store.Run{Kind: o.Kind, Side: o.Side, Score: 1, Evidence: &evidence.Evidence{Load: l}}, nil
		}
		if _, err := b.Run(t.Context(), RunOptions{Kind: store.Scored}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(windows, c.windows) {
			t.Errorf("%d of 10 steps reached: windows %v, want %v", c.reached, windows, c.windows)
		}
		if text := strings.Join(told, "\n"); !strings.Contains(text, c.says) || len(told) != 1 {
			t.Errorf("%d of 10 steps reached: told %q, want %q", c.reached, told, c.says)
		}
		before := b.pace.Least // a run that was slowed down shortens no window
		b.noteVisits(&store.Run{Kind: store.Scored, Evidence: &evidence.Evidence{Load: &load.Result{Succeeded: 9, Window: 16 * time.Second, SessionTime: 20 * time.Second, Steps: 10, Unreached: 9}}})
		if b.pace.Least != before {
			t.Errorf("windows last at least %s after a run that reached one step, want %s as before", b.pace.Least, before)
		}
	}
}
