package mcp

import (
	"context"

	"kasoku/internal/change"
)

// RunInput names a run.
type RunInput struct {
	Run int64 `json:"run,omitempty" jsonschema:"a diagnostic run's number; default: the latest"`
}

// Findings of a run, best bound first.
type Findings struct {
	Run       int64     `json:"run"`
	Binds     string    `json:"binds"`
	Findings  []Finding `json:"findings"`
	NotJudged []string  `json:"not_judged" jsonschema:"rules that could not be applied, and why"`
}

// Finding is a claim about what binds.
type Finding struct {
	Rule      string   `json:"rule"`
	Measures  []string `json:"measures" jsonschema:"entries of docs/reference/catalogue/measures.md"`
	Service   string   `json:"service,omitempty"`
	Title     string   `json:"title"`
	Text      string   `json:"text"`
	Bound     float64  `json:"bound" jsonschema:"the most that removing it could multiply throughput by"`
	Formula   string   `json:"formula"`
	Evidence  []string `json:"evidence"`
	Source    string   `json:"source,omitempty" jsonschema:"the line of code that it is about"`
	Unplanned string   `json:"unplanned,omitempty" jsonschema:"why none of the remedies for it can be planned here"`
}

func (s *Server) addFindings() {
	add(s, "findings", "Findings", "What limits throughput, the bottleneck first, ranked by the most that removing it could bring, each with its formula, numbers and, where known, the line of code.",
		func(_ context.Context, v *View, in RunInput) (Findings, error) {
			out := Findings{Findings: []Finding{}, NotJudged: []string{}}
			run, err := diagnosed(v, in.Run)
			if err != nil {
				return out, err
			}
			d := run.Diagnosis
			if d == nil {
				return out, hintf("leave run out for the latest diagnostic run", "run %d is a scored run without a diagnosis", run.ID)
			}
			out.Run, out.Binds = run.ID, change.Redact(d.BindsText)
			for _, f := range d.Findings {
				x := Finding{f.Rule, append([]string{}, f.Measures...), f.Service, change.Redact(f.Title), change.Redact(f.Text), f.Bound, f.Formula, []string{}, f.Source, change.Redact(f.Unplanned)}
				for _, e := range f.Evidence {
					x.Evidence = append(x.Evidence, change.Redact(e))
				}
				out.Findings = append(out.Findings, x)
			}
			for _, n := range d.NotJudged {
				out.NotJudged = append(out.NotJudged, n.Rule+": "+n.Why)
			}
			return out, nil
		})
}
