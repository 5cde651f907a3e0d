package tune

import (
	"context"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// A service that gives wrong answers as found has no score with the usual penalties, and
// nothing could be told from it: they are left out then, unless somebody wrote them.
func TestWrongAnswersAsFoundAreForgiven(t *testing.T) {
	for _, c := range []struct {
		name         string
		said         string
		right, wrong int64
		side         string
		runs         int
		score        float64 // of the last run, with 10 s
		forgiving    bool
	}{
		{name: "2 %", right: 1000, wrong: 20, runs: 2, score: 100, forgiving: true},
		{name: "a little", right: 1000, wrong: 2, runs: 1, score: 90},
		{name: "broken", right: 100, wrong: 200, runs: 1, score: -990},
		{name: "penalties are said", said: "score: {default_weight: 1, penalty: {mismatch: 50}}\n", right: 1000, wrong: 30, runs: 1, score: -50},
		{name: "a candidate", right: 1000, wrong: 30, side: "candidate", runs: 1, score: -50},
	} {
		sc, err := load.Parse("s.yaml", []byte("version: 1\nname: s\nduration: 10s\n"+c.said+"sessions:\n  - {name: visit, steps: [{request: GET /}]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		runs := 0
		b := &Bench{Stack: &stack.Stack{}, Scenario: sc, Listeners: Listeners{Note: func(text string) { told = append(told, text) }}}
		b.instead = func(_ context.Context, o RunOptions) (*store.Run, error) {
			runs++
			l := &load.Result{Requests: c.right + c.wrong, Succeeded: c.right, Mismatches: c.wrong, Window: 10 * time.Second, Workload: 8}
			score := float64(c.right)/10 - b.Scenario.Penalties(l)
			return &store.Run{ID: int64(runs), Kind: o.Kind, Side: o.Side, Score: score, Evidence: &evidence.Evidence{Load: l}}, nil
		}
		o := RunOptions{Kind: store.Scored}
		if c.side != "" {
			o.Side = "candidate"
		}
		run, err := b.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if runs != c.runs || run.Score != c.score || b.scored.forgiving != c.forgiving || c.forgiving != strings.Contains(strings.Join(told, "\n"), "no change may bring more of them") {
			t.Errorf("%s: %d runs, score %g, forgiving %v, told %q; want %d, %g, %v", c.name, runs, run.Score, b.scored.forgiving, told, c.runs, c.score, c.forgiving)
		}
	}
}

// A session that is taken up again has its runs made as before.
func TestSessionGoesOnAsItBegan(t *testing.T) {
	sc, err := load.Parse("s.yaml", []byte("version: 1\nname: s\nsessions:\n  - {name: visit, steps: [{request: GET /}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := &Bench{Stack: &stack.Stack{}, Scenario: sc}
	tuner := &Tuner{Bench: b}
	tuner.course.workload = b.Users()
	tuner.goOn(&store.Session{AsFoundWorkload: 4, Forgiving: true})
	if !b.scored.settled || b.Users() != 4 || tuner.course.workload != 4 || !b.scored.forgiving || b.Scenario.Penalties(&load.Result{Mismatches: 1, Window: time.Second}) != 0 {
		t.Errorf("%d users, %d in runs, forgiving %v", b.Users(), tuner.course.workload, b.scored.forgiving)
	}
	if sc.Penalties(&load.Result{Mismatches: 1, Window: time.Second}) != 50 {
		t.Error("the scenario itself was changed")
	}
}
