package report

import (
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// Of a group it is told what each part brings by itself, and what nobody has
// looked at.
func TestPartsLookedAt(t *testing.T) {
	parts := []remedy.Part{{ID: "a", Title: "Index"}, {ID: "b", Title: "Compress", LookedAgain: 2, LeftOut: true}, {ID: "c", Title: "Workers", LookedAgain: 3}, {ID: "group:d+e", Title: "2 small changes", Small: true, Of: []string{"d", "e"}}}
	group := Step{Step: store.Step{Seq: 1, Kept: true, Plan: remedy.Plan{ID: "group:a+b+c+group:d+e", Parts: parts}}}
	look := func(seq int, effect float64) Step {
		return Step{Step: store.Step{Seq: seq, LeavesOut: []int{1}, Verdict: experiment.Verdict{Effect: effect, Low: effect - 0.01, High: effect + 0.01, Pairs: 4}}}
	}
	m := &Model{Session: store.Session{Ended: time.Now()}, Steps: []Step{group, look(2, -0.05), look(3, 0.04)}}
	want := "Compress: with it against without −5.0 % (−6.0 % … −4.0 %), taken out. Workers: with it against without +4.0 % (+3.0 % … +5.0 %). Only together with the others: Index; 2 small changes"
	if got := m.secondLook(group); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for name, spoil := range map[string]func(*Step){
		"put back":     func(s *Step) { s.Kept = false },
		"taken out":    func(s *Step) { s.LeftOut = true },
		"of small":     func(s *Step) { s.Plan.Parts = parts[3:] },
		"not of parts": func(s *Step) { s.Plan.Parts = nil },
	} {
		s := group
		if spoil(&s); m.secondLook(s) != "" {
			t.Errorf("%s: %q", name, m.secondLook(s))
		}
	}
	m.Session.Ended = time.Time{}
	if got := m.secondLook(group); got != "" {
		t.Errorf("while the session runs: %q", got)
	}
}
