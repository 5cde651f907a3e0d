package tune

import (
	"context"
	"strings"
	"testing"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// deadlocks makes plans of a setting such that transactions may end in deadlocks with it.
func (v *virtual) deadlocks(name string) {
	for i, r := range remedy.Table {
		if r.ID != name+".on" {
			continue
		}
		remedy.Table[i].Plan = func(in remedy.Input, f diagnose.Finding) ([]remedy.Plan, error) {
			plans, err := r.Plan(in, f)
			for i := range plans {
				plans[i].Deadlocks = true
			}
			return plans, err
		}
	}
}

// What lets transactions deadlock is taken out where requests fail for it once all is kept, and
// what the session gained is not said of what was taken out.
func TestDeadlocksAfterARestart(t *testing.T) {
	for _, meets := range []bool{true, false} {
		v := newVirtual(t, good("a", 40), good("d", 30))
		v.deadlocks("d")
		v.stack.Services = append(v.stack.Services, stack.Service{Name: "web", Kind: stack.Nginx, Control: stack.Control{Unit: "nginx.service"}})
		tu := v.tuner()
		tu.Options.NoRestart = false
		tu.Bench.instead = func(ctx context.Context, o RunOptions) (*store.Run, error) {
			run, err := v.run(ctx, o)
			if err == nil && meets && o.Label == "after a restart" && v.isOn()["d"] {
				tu.Bench.scored.deadlocks = "db rolled 6 transactions back in deadlocks"
			}
			return run, err
		}
		s, err := tu.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v.tell(s.ID)
		steps := v.steps(s.ID)
		if !meets {
			if v.on() != "a d" || s.Compared.Factor < 1.7 {
				t.Errorf("where none meet: on %q, compared %+v", v.on(), s.Compared)
			}
			continue
		}
		look := steps[len(steps)-1]
		if v.on() != "a" || len(look.LeavesOut) != 1 || look.LeavesOutPart != "v.d:on" || look.Tx == 0 || look.Ended.IsZero() || look.Verdict.Outcome != experiment.Broke {
			t.Fatalf("on %q; the last step %+v", v.on(), look)
		}
		for _, p := range steps[0].Plan.Parts {
			if p.LeftOut != (p.ID == "v.d:on") {
				t.Errorf("%s: left out %v", p.ID, p.LeftOut)
			}
		}
		if c := s.Compared; c == nil || c.Factor < 1.3 || c.Factor > 1.5 || s.AfterRestart < 130 || s.AfterRestart > 150 || s.Final < 130 || s.Final > 150 {
			t.Errorf("compared %+v, final %.0f, %.0f after a restart", s.Compared, s.Final, s.AfterRestart)
		}
	}
}

// Errors of the server beside deadlocks are told as what they are.
func TestErrorsOfDeadlocksAreTold(t *testing.T) {
	b := foreignBench()
	b.scored.sides, b.scored.errors = map[experiment.Side]*store.Run{}, true
	run := erred("", 60)
	run.Evidence.Counters = map[string]evidence.CounterDelta{"db": {Delta: map[string]float64{"Innodb_deadlocks": 6}}}
	if b.judgeErrors(run); !strings.Contains(run.Unfit, "6 transactions back in deadlocks") || b.scored.deadlocks == "" {
		t.Errorf("unfit %q, deadlocks %q", run.Unfit, b.scored.deadlocks)
	}
	side := erred(experiment.Baseline, 60)
	side.Evidence.Counters = run.Evidence.Counters
	b.scored.deadlocks = ""
	if b.judgeErrors(side); side.Unfit == "" || b.scored.deadlocks != "" {
		t.Errorf("a baseline: unfit %q, deadlocks %q", side.Unfit, b.scored.deadlocks)
	}
}

// With Kasoku's own load wrong and failed answers tell.
func TestDeadlocksUnderOwnLoad(t *testing.T) {
	for _, c := range []struct {
		about        string
		side         experiment.Side
		wrong, found int64 // of 1,000
		deadlocks    float64
		noted        bool
	}{
		{"more wrong answers", "", 4, 0, 3, true},
		{"as many as found", "", 4, 4, 3, false},
		{"no deadlocks", "", 4, 0, 0, false},
		{"deadlocks that the application tries again", "", 0, 0, 3, false},
		{"a candidate is judged by the verdict", experiment.Candidate, 4, 0, 3, false},
	} {
		b := &Bench{Stack: &stack.Stack{}, scored: scored{sides: map[experiment.Side]*store.Run{}, wrong: c.found, asked: 1000}}
		b.judgeErrors(&store.Run{Kind: store.Scored, Side: c.side, Evidence: &evidence.Evidence{Load: &load.Result{Requests: 1000, Succeeded: 1000 - c.wrong, Mismatches: c.wrong},
			Counters: map[string]evidence.CounterDelta{"db": {Delta: map[string]float64{"Innodb_deadlocks": c.deadlocks}}}}})
		if noted := b.scored.deadlocks != ""; noted != c.noted {
			t.Errorf("%s: noted %v", c.about, noted)
		}
	}
}
