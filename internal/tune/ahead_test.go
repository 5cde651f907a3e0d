package tune

import (
	"math"
	"strings"
	"testing"
	"time"

	"kasoku/internal/remedy"
)

// What Ahead says comes first is what a session tries first, whatever it is called for
// and however much time there is; where it says that nothing would be tried, and why, the
// session ends so. A session that goes on is foreseen by its steps.
func TestAheadIsWhatASessionTriesFirst(t *testing.T) {
	null := knob{name: "null", factor: 1, bound: 1.9, reach: 0.5}
	for _, c := range []struct {
		name   string
		knobs  []knob
		alone  []string
		budget time.Duration
		first  string // "": nothing
	}{
		{"a group", []knob{good("a", 20), good("b", 30), good("c", 25)}, nil, 0, "group"},
		{"the best promise, not the first finding", []knob{good("a", 20), good("b", 60)}, []string{"a", "b"}, 0, "v.b:on"},
		{"small ones as one", []knob{little("a", 2), little("b", 3)}, nil, time.Hour, "group"},
		{"what fits", []knob{good("a", 20), good("b", 60)}, []string{"a", "b"}, time.Minute, "v.b:on"},
		{"no time", []knob{good("a", 20), good("b", 60)}, nil, 12 * time.Second, ""},
		{"too little", []knob{{name: "a", factor: 1, bound: 1.0001, reach: 0.5}}, nil, time.Hour, ""},
		{"nothing called for", nil, nil, time.Hour, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVirtual(t, c.knobs...)
			v.alone(c.alone...)
			ahead := v.ahead(c.budget)
			tu := v.tuner()
			tu.Options.Budget = c.budget
			s, err := tu.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			steps := v.steps(s.ID)
			switch {
			case c.first == "":
				if ahead.First || len(steps) > 0 || ahead.Why == "" || ahead.Why != s.Stopped {
					t.Errorf("first %v because %q; %d steps, then %q", ahead.First, ahead.Why, len(steps), s.Stopped)
				}
			case !ahead.First || len(steps) == 0 || ahead.Plans[0].ID != steps[0].Plan.ID:
				t.Errorf("ahead %+v; the session's steps: %+v", ahead, steps)
			case !strings.HasPrefix(ahead.Plans[0].ID, c.first):
				t.Errorf("first is %s, want %s", ahead.Plans[0].ID, c.first)
			}
			if ahead.First && len(steps) > 0 && math.Abs(ahead.Expected(ahead.Plans[0])-steps[0].Expected) > 0.01*steps[0].Expected {
				t.Errorf("ahead expects ×%.3f of it, the session ×%.3f", ahead.Expected(ahead.Plans[0]), steps[0].Expected)
			}
			listed := map[string]bool{}
			for _, p := range ahead.Plans {
				if listed[p.ID] {
					t.Errorf("%s is listed twice", p.ID)
				}
				listed[p.ID] = true
			}
		})
	}
	t.Run("an interrupted session", func(t *testing.T) {
		v := newVirtual(t, good("a", 50), null)
		v.alone("null")
		s, err := v.tuner().Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if v.on() != "a" {
			t.Fatalf("on: %q", v.on())
		}
		if begun := v.ahead(0); !begun.First {
			t.Errorf("a new session would try nothing: %s", begun.Why)
		}
		s.State = "interrupted"
		if err := v.store.SaveSession(s); err != nil {
			t.Fatal(err)
		}
		on := v.ahead(0)
		if on.First || on.Why == "" || len(on.Plans) == 0 {
			t.Errorf("one that goes on: %+v", on)
		}
	})
}

// ahead looks at the target and asks what a session would do.
func (v *virtual) ahead(budget time.Duration) Ahead {
	v.t.Helper()
	tu := v.tuner()
	tu.course.workload = tu.Bench.Users()
	run, snap, err := tu.standIns.observes(v.t.Context(), "ahead")
	if err != nil {
		v.t.Fatal(err)
	}
	tu.Options.Budget = budget
	in := remedy.Input{Stack: tu.Stack, Evidence: run.Evidence, Snapshot: snap, Diagnosis: run.Diagnosis}
	a, err := tu.Ahead(in, remedy.PlanAll(in).Plans)
	if err != nil {
		v.t.Fatal(err)
	}
	return a
}

// A group's bound and the sum of what its parts reach say more than its parts together can
// bring, each within what limits it.
func TestAheadExpectsOfAGroupWhatItsPartsBring(t *testing.T) {
	part := func(rule string, limit float64) remedy.Part {
		return remedy.Part{ID: rule, Rule: rule, Service: rule, Bound: 1.6, Reach: 0.3, Spares: 0.3, Spent: 0.3, Limit: limit}
	}
	group := remedy.Plan{ID: "group:a+b", Bound: 3.4, Reach: 0.5, Parts: []remedy.Part{part("a", 1.01), part("b", 1.02)}}
	if x := (Ahead{}).Expected(group); x < 1.01 || x > 1.021 {
		t.Errorf("×%.3f, want what the greater limit allows; by bound and reach it is ×%.3f", x, group.Worth().Expected())
	}
}
