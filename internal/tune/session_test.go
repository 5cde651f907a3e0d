package tune

import (
	"context"
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/store"
)

// What was put back is tried again when something else binds; what failed or
// broke answers is not; what could not be judged may be tried at any time.
func TestRetryWhenTheBindingMoves(t *testing.T) {
	for _, c := range []struct {
		outcome      experiment.Outcome
		kept         bool
		same, moved  bool
		neverStarted bool
	}{
		{outcome: experiment.NoDifference, same: false, moved: true},
		{outcome: experiment.Regressed, same: false, moved: true},
		{outcome: experiment.Broke, same: false, moved: false},
		{outcome: experiment.Failed, same: false, moved: false},
		{outcome: experiment.Inconclusive, same: true, moved: true},
		{outcome: experiment.NoDifference, neverStarted: true, same: true, moved: true},
	} {
		tu := &Tuner{schedule: schedule{tried: map[string]attempt{}}}
		st := &store.Step{Plan: remedy.Plan{ID: "p"}, Binding: "cpu: db", Kept: c.kept, Ended: time.Now(),
			Verdict: experiment.Verdict{Outcome: c.outcome}}
		if c.neverStarted {
			st.Ended = time.Time{}
		}
		tu.schedule.remember(st)
		if got := tu.schedule.due("p", "cpu: db"); got != c.same {
			t.Errorf("%s, the same binds: due %v, want %v", c.outcome, got, c.same)
		}
		if got := tu.schedule.due("p", "cpu: php"); got != c.moved {
			t.Errorf("%s, something else binds: due %v, want %v", c.outcome, got, c.moved)
		}
	}
}

// What showed no effect is tried again when several steps together have made
// the service much faster, though the same binds; what made it slower is not.
func TestRetryWhenTheServiceIsMuchFaster(t *testing.T) {
	for _, c := range []struct {
		outcome experiment.Outcome
		gains   []float64
		want    bool
	}{
		{experiment.NoDifference, nil, false},
		{experiment.NoDifference, []float64{1.4}, false},
		{experiment.NoDifference, []float64{1.4, 1.1}, true},
		{experiment.NoDifference, []float64{2.75}, true},
		{experiment.NoDifference, []float64{2, 0.6}, false}, // an accepted trade made it slower
		{experiment.NoDifference, []float64{0.6, 2}, false},
		{experiment.Regressed, []float64{2.75}, false},
		{experiment.Broke, []float64{2.75}, false},
	} {
		tu := &Tuner{schedule: schedule{tried: map[string]attempt{}}}
		step := func(id string, v experiment.Verdict, kept bool) {
			tu.schedule.remember(&store.Step{Plan: remedy.Plan{ID: id}, Binding: "cpu: db", Kept: kept, Ended: time.Now(), Verdict: v})
		}
		step("before", experiment.Verdict{Outcome: experiment.Improved, BaselineScore: 1, CandidateScore: 9}, true)
		step("p", experiment.Verdict{Outcome: c.outcome}, false)
		for _, g := range c.gains {
			step("other", experiment.Verdict{Outcome: experiment.Improved, BaselineScore: 50, CandidateScore: 50 * g}, true)
		}
		if got := tu.schedule.due("p", "cpu: db"); got != c.want {
			t.Errorf("%s, then %v: due %v, want %v", c.outcome, c.gains, got, c.want)
		}
		step("p", experiment.Verdict{Outcome: experiment.NoDifference}, false)
		if tu.schedule.due("p", "cpu: db") {
			t.Errorf("%s, then %v: due again at once", c.outcome, c.gains)
		}
	}
}

// A number that was found is not looked for again while the same binds,
// although the plan now begins from it.
func TestASearchIsNotRepeatedAtOnce(t *testing.T) {
	tu := &Tuner{schedule: schedule{tried: map[string]attempt{}}}
	tu.schedule.remember(&store.Step{Plan: remedy.Plan{ID: "php.workers:php:www:dynamic-5", Search: &remedy.Search{}}, Kept: true,
		Binding: "cpu: db", Ended: time.Now(), Verdict: experiment.Verdict{Outcome: experiment.Improved}})
	again := key(remedy.Plan{ID: "php.workers:php:www:static-8", Search: &remedy.Search{}})
	if tu.schedule.due(again, "cpu: db") {
		t.Error("due while the same binds")
	}
	if !tu.schedule.due(again, "cpu: php") {
		t.Error("not due though something else binds")
	}
}

// The plan that leads back from what was kept is not tried at once.
func TestWhatLostIsNotTriedAtOnce(t *testing.T) {
	tu := &Tuner{schedule: schedule{tried: map[string]attempt{}}}
	tu.schedule.remember(&store.Step{Plan: remedy.Plan{ID: "app.variant:app:perl", Back: "app.variant:app:main"}, Kept: true,
		Binding: "cpu: app", Ended: time.Now(), Verdict: experiment.Verdict{Outcome: experiment.Improved}})
	if tu.schedule.due("app.variant:app:main", "cpu: app") || !tu.schedule.due("app.variant:app:main", "cpu: db") || !tu.schedule.due("app.variant:app:go", "cpu: app") {
		t.Error("what lost is tried again at once, or what did not is not")
	}
}

// After a step that made the service much faster, the workload found before is
// looked for again although the same binds (G08).
func TestTheWorkloadFollowsAMuchFasterService(t *testing.T) {
	for _, c := range []struct {
		score float64
		want  bool
	}{{149, false}, {150, true}} {
		tu := &Tuner{schedule: schedule{tried: map[string]attempt{"load.workload:8": {binding: "cpu: db"}, "load.workload:16": {final: true}}}}
		tu.schedule.remember(&store.Step{Plan: remedy.Plan{ID: "p"}, Kept: true, Binding: "cpu: db", Ended: time.Now(),
			Verdict: experiment.Verdict{Outcome: experiment.Improved, BaselineScore: 100, CandidateScore: c.score}})
		if got := tu.schedule.due("load.workload:8", "cpu: db"); got != c.want {
			t.Errorf("from 100 to %v: due %v, want %v", c.score, got, c.want)
		}
		if tu.schedule.due("load.workload:16", "cpu: db") {
			t.Error("a workload that broke answers is tried again")
		}
	}
}

func TestBestValueIsTheCheapestOnThePlateau(t *testing.T) {
	for _, c := range []struct {
		name   string
		scores map[int][]float64
		want   int
	}{
		{"a clear best", map[int][]float64{0: {100}, 4: {120}, 8: {150}}, 8},
		{"the smaller of two alike", map[int][]float64{0: {100}, 4: {149}, 8: {150}}, 4},
		{"what is set now if nothing is better", map[int][]float64{0: {149}, 4: {150}}, 0},
		{"nothing measured", map[int][]float64{}, 0},
	} {
		if got := bestValue(c.scores); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// The first experiment does not wait for single requests to be followed; that is
// done in the second look, also if nothing was to be tried or nothing was kept.
func TestSingleRequestsAreFollowedInTheSecondLook(t *testing.T) {
	for _, c := range []struct {
		name  string
		knobs []knob
		want  string
	}{
		{"one is kept", []knob{good("a", 20)}, "unwalked all"},
		{"one is put back", []knob{{name: "a", factor: 0.5, bound: 1.2, reach: 0.5}}, "unwalked all"},
		{"two are kept", []knob{{name: "a", factor: 1.3, bound: 1.9, reach: 0.3, small: true}, good("b", 20)}, "unwalked all plain"},
		{"none is planned", nil, "unwalked all"},
	} {
		v := newVirtual(t, c.knobs...)
		tu := v.tuner()
		look, seen := tu.standIns.observes, []string{}
		tu.standIns.observes = func(ctx context.Context, label string) (*store.Run, *evidence.Snapshot, error) {
			word := map[bool]string{true: "unwalked", false: "all"}[tu.Bench.Instruments.Unwalked]
			if tu.Bench.Instruments.Plain {
				word = "plain"
			}
			seen = append(seen, word)
			return look(ctx, label)
		}
		if err := tu.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := tu.loop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(seen, " "); got != c.want {
			t.Errorf("%s: looks %q, want %q", c.name, got, c.want)
		}
	}
}
