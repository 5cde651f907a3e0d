package main

import (
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// The time counts until what was kept later brought little, whatever the scores
// were; a group stands for its parts, and second looks for nothing.
func TestSummarize(t *testing.T) {
	begun := time.Now()
	at := func(s int) time.Time { return begun.Add(time.Duration(s) * time.Second) }
	by := func(effect, score float64) experiment.Verdict {
		return experiment.Verdict{Effect: effect, CandidateScore: score}
	}
	steps := []store.Step{
		{Plan: remedy.Plan{ID: "a:1"}, Kept: true, Ended: at(10), Verdict: by(4, 980)},
		{Plan: remedy.Plan{ID: "b:1"}, Ended: at(20), Verdict: by(9, 2000)}, // was put back
		{Plan: remedy.Plan{ID: "group", Parts: []remedy.Part{{ID: "c:1"}, {ID: "d:1"}}}, Kept: true, Ended: at(30), Verdict: by(0.9, 900)},
		{Plan: remedy.Plan{ID: "e:f:8"}, Chosen: 16, Kept: true, Ended: at(40), Verdict: by(0.05, 1000)},
		{Plan: remedy.Plan{ID: "g:1"}, Kept: true, LeftOut: true, Ended: at(45), Verdict: by(0.5, 1400)},
		{LeavesOut: []int{1}, Plan: remedy.Plan{ID: "leave-out"}, Ended: at(50)},
	}
	got := summarize(&store.Session{Started: begun, Ended: at(60), AsFound: 100, Final: 1000}, steps)
	if got.reached != 30*time.Second || got.took != time.Minute || len(got.plans) != 6 || len(got.kept) != 3 || got.plans[4] != (wanted{"e:f:8", 16}) {
		t.Errorf("%+v", got)
	}
	if got = summarize(&store.Session{Started: begun, Ended: at(60), AsFound: 100, Final: 100}, steps[1:2]); got.reached != time.Minute || len(got.kept) > 0 {
		t.Errorf("nothing was kept: %+v", got)
	}
}

// A search is the same plan whatever number it begins from; what was tried is
// not tried again, and what the session did not try is not either.
func TestNext(t *testing.T) {
	plans := []remedy.Plan{{ID: "x.other:1"}, {ID: "php.workers:php:static-4"}, {ID: "a.b:c"}}
	want := map[string]int{"php.workers:php:dynamic-32": 8, "a.b:c": 0}
	done := map[string]bool{}
	for _, id := range []string{"php.workers:php:static-4", "a.b:c"} {
		p := next(plans, want, done)
		if p == nil || p.ID != id {
			t.Fatalf("got %v, want %s", p, id)
		}
		done[family(p.ID)] = true
	}
	if p := next(plans, want, done); p != nil {
		t.Errorf("%s is tried again", p.ID)
	}
}
