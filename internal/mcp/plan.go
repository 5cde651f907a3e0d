package mcp

import (
	"context"

	"kasoku/internal/change"
	"kasoku/internal/remedy"
)

// Plans are what Kasoku would try, best promise first.
type Plans struct {
	Run     int64    `json:"run" jsonschema:"the diagnostic run that they are made from"`
	Plans   []Plan   `json:"plans"`
	Refused []Refuse `json:"refused" jsonschema:"what the regulation or the user's rights forbid"`
	Skipped []string `json:"not_planned"`
}

// Plan is one act with its diffs.
type Plan struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Why    string   `json:"why"`
	Bound  float64  `json:"bound" jsonschema:"at most this factor"`
	Trades []string `json:"trades,omitempty"`
	Acts   []Act    `json:"acts"`
	Search string   `json:"search,omitempty" jsonschema:"a number that would be looked for"`
	Users  int      `json:"workload,omitempty" jsonschema:"it would change the load, not the service"`
}

// Act is one change.
type Act struct {
	Title   string `json:"title"`
	Diff    string `json:"diff" jsonschema:"secrets are masked"`
	Command string `json:"command,omitempty"`
	Then    string `json:"then,omitempty"`
}

// Refuse is a plan that is not made, and why.
type Refuse struct {
	Title string  `json:"title"`
	Bound float64 `json:"bound"`
	Why   string  `json:"why"`
}

func (s *Server) addPlan() {
	add(s, "plan", "Plan", "What Kasoku would try now, as diffs, statements and commands, from a stored diagnostic run and the configuration as it is. It reads the hosts' configuration; no load is made and nothing is changed.",
		func(ctx context.Context, v *View, in RunInput) (Plans, error) {
			run, err := diagnosed(v, in.Run)
			if err != nil {
				return Plans{}, err
			}
			if run.Diagnosis == nil {
				return Plans{}, hintf("leave run out for the latest diagnostic run", "run %d is a scored run without a diagnosis", run.ID)
			}
			res, err := s.options.Plan(ctx, run)
			if err != nil {
				return Plans{}, err
			}
			return plans(run.ID, res), nil
		})
}

func plans(run int64, res remedy.Result) Plans {
	out := Plans{Run: run, Plans: []Plan{}, Refused: []Refuse{}, Skipped: append([]string{}, res.Skipped...)}
	for _, p := range res.Plans {
		x := Plan{ID: p.ID, Title: change.Redact(p.Title), Why: change.Redact(p.Why), Bound: p.Bound, Acts: []Act{}, Users: p.Workload}
		for _, t := range p.Trades {
			x.Trades = append(x.Trades, string(t))
		}
		for _, c := range p.All() {
			a := Act{Title: change.Redact(c.Title()), Diff: change.Diff(c), Command: change.Redact(c.Command)}
			if c.Service != "" && c.Activate != change.None {
				a.Then = c.Activate.String() + " " + c.Service
			}
			x.Acts = append(x.Acts, a)
		}
		if p.Search != nil {
			x.Search = p.Search.Name
		}
		out.Plans = append(out.Plans, x)
	}
	for _, r := range res.Refusals {
		out.Refused = append(out.Refused, Refuse{change.Redact(r.Plan.Title), r.Plan.Bound, change.Redact(r.Why)})
	}
	return out
}
