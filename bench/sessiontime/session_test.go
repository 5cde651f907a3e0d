package main

import (
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// The time counts until the first kept step that scores near the final score;
// a group stands for its parts, and second looks for nothing.
func TestSummarize(t *testing.T) {
	begun := time.Now()
	at := func(s int) time.Time { return begun.Add(time.Duration(s) * time.Second) }
	scored := func(v float64) experiment.Verdict { return experiment.Verdict{CandidateScore: v} }
	steps := []store.Step{
		{Plan: remedy.Plan{ID: "a:1"}, Kept: true, Ended: at(10), Verdict: scored(500)},
		{Plan: remedy.Plan{ID: "b:1"}, Ended: at(20), Verdict: scored(2000)}, // was put back
		{Plan: remedy.Plan{ID: "group", Parts: []remedy.Part{{ID: "c:1"}, {ID: "d:1"}}}, Kept: true, Ended: at(30), Verdict: scored(960)},
		{Plan: remedy.Plan{ID: "e:f:8"}, Chosen: 16, Kept: true, Ended: at(40), Verdict: scored(1000)},
		{LeavesOut: []int{1}, Plan: remedy.Plan{ID: "leave-out"}, Ended: at(50)},
	}
	got := summarize(&store.Session{Started: begun, Ended: at(60), AsFound: 100, Final: 1000}, steps)
	if got.reached != 30*time.Second || got.took != time.Minute || len(got.plans) != 5 || got.plans[4] != (wanted{"e:f:8", 16}) {
		t.Errorf("%+v", got)
	}
	if got = summarize(&store.Session{Started: begun, Ended: at(60), Final: 9000}, steps); got.reached != time.Minute {
		t.Errorf("never near: %s", got.reached)
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
