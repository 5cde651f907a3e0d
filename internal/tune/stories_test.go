package tune

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// story is a recorded session as its schedule saw it: what was called for at each look,
// when, what was chosen and what came of it. Times are seconds.
type story struct {
	About  string    `json:"about"`
	Budget float64   `json:"budget"`
	Run    float64   `json:"run"` // what one run took
	End    float64   `json:"end"` // and what was kept for the end
	Scores []float64 `json:"scores"`
	Looks  []look    `json:"looks"`
}

type look struct {
	At      float64            `json:"at"`
	Binds   string             `json:"binds"`
	Called  []calledFor        `json:"called"`
	Chosen  string             `json:"chosen"` // ID; "": nothing, because of Stop
	Stop    string             `json:"stop"`
	Verdict experiment.Verdict `json:"verdict"`
}

// calledFor is a plan with its part in a choice.
type calledFor struct {
	remedy.Part
	Build   time.Duration `json:"build"`
	Changes []struct {
		Kind     change.Kind       `json:"kind"`
		Activate change.Activation `json:"activate"`
	} `json:"changes"`
}

func (c calledFor) plan() remedy.Plan {
	p := remedy.Plan{ID: c.ID, Remedy: c.Remedy, Title: c.ID, Rule: c.Rule, Bound: c.Bound, Reach: c.Reach, Spares: c.Spares, Service: c.Service, Spent: c.Spent, Limit: c.Limit, Build: c.Build}
	for i, x := range c.Changes {
		p.Changes = append(p.Changes, change.Change{Kind: x.Kind, Activate: x.Activate, Host: stack.LocalHost, Service: "db", After: &change.FileState{}, Index: &change.Index{Table: c.ID, Name: fmt.Sprint(i)},
			Path: fmt.Sprintf("%s.%d", c.ID, i), Variable: fmt.Sprintf("%s.%d", c.ID, i)})
	}
	return p
}

// tell asks a schedule at each look of a story, at the time of that look, with share of
// the budget, and tells it what came of each choice. It reads no clock.
func (st *story) tell(t *testing.T, share float64) (chosen []string, end stop) {
	t.Helper()
	old := remedy.Table
	t.Cleanup(func() { remedy.Table = old })
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	s := newSchedule()
	s.learned.spread.Add(logsOf(st.Scores))
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, l := range st.Looks {
		in := remedy.Input{Stack: &stack.Stack{}, Snapshot: &evidence.Snapshot{Files: map[string]map[string]evidence.File{stack.LocalHost: {}}}, Diagnosis: &diagnose.Diagnosis{Binds: l.Binds}}
		remedy.Table = nil
		var plans []remedy.Plan
		for _, c := range l.Called {
			p := c.plan()
			plans = append(plans, p)
			in.Diagnosis.Findings = append(in.Diagnosis.Findings, diagnose.Finding{Rule: c.Rule, Bound: c.Bound})
			remedy.Table = append(remedy.Table, remedy.Remedy{ID: c.Remedy, Rules: []string{c.Rule}, Small: c.Small, Plan: func(remedy.Input, diagnose.Finding) ([]remedy.Plan, error) {
				var same []remedy.Plan
				for _, q := range plans {
					if q.Remedy == c.Remedy {
						same = append(same, q)
					}
				}
				return same, nil
			}})
		}
		m := moment{rule: experiment.DefaultRule(), run: seconds(st.Run), bounded: true, budget: seconds(share * st.Budget), left: seconds(share*st.Budget - l.At - st.End)}
		c := s.next(m, in, plans)
		if c.plan == nil {
			return chosen, c.stop
		}
		chosen = append(chosen, c.plan.ID)
		s.remember(&store.Step{Seq: i + 1, Plan: *c.plan, Binding: l.Binds, Started: began.Add(seconds(l.At)), Ended: began.Add(seconds(l.At) + l.Verdict.Took),
			Verdict: l.Verdict, Kept: l.Verdict.Outcome == experiment.Improved, Tx: int64(i + 1)})
	}
	return chosen, stop{}
}

// On recorded sessions the schedule chooses what it chose then, in the time that they
// had; where there would have been less, it ends earlier and says that.
func TestStories(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "stories", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no story: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var st story
			if err := json.Unmarshal(data, &st); err != nil {
				t.Fatal(err)
			}
			chosen, end := st.tell(t, 1)
			for i, l := range st.Looks {
				switch {
				case l.Chosen == "" && (len(chosen) != i || end.reason != l.Stop):
					t.Errorf("look %d: chosen %v, ended %q; want the end %q", i+1, chosen, end.reason, l.Stop)
				case l.Chosen != "" && (i >= len(chosen) || chosen[i] != l.Chosen):
					t.Errorf("look %d: chosen\n%v, want\n%s", i+1, chosen, l.Chosen)
				}
			}
			again, _ := st.tell(t, 1)
			if fmt.Sprint(again) != fmt.Sprint(chosen) {
				t.Errorf("another time it chose\n%v, not\n%v", again, chosen)
			}
			if less, end := st.tell(t, 0.4); len(less) >= len(chosen) || end.reason != store.StopBudget {
				t.Errorf("in less than half of the time it chose %d of %d, and ended %q", len(less), len(chosen), end.reason)
			}
		})
	}
}
