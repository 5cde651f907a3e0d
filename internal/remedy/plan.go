package remedy

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
)

// Result of planning: what could be tried, best first, what the regulation
// forbids, and what could not be planned.
type Result struct {
	Plans    []Plan    `json:"plans"`
	Refusals []Refusal `json:"refusals"`
	Skipped  []string  `json:"skipped"` // "php.opcache: reason"
}

// PlanAll plans every remedy of the table for every finding.
func PlanAll(in Input) Result {
	var out Result
	seen := map[string]bool{}
	if in.Snapshot != nil {
		in.Stack = in.Snapshot.StackInUse(in.Stack)
	}
	for _, f := range in.Diagnosis.Findings {
		for _, r := range Table {
			if !answers(r, f.Rule) {
				continue
			}
			plans, err := r.Plan(in, f)
			if err != nil {
				out.Skipped = append(out.Skipped, fmt.Sprintf("%s: %v", r.ID, err))
				continue
			}
			for _, p := range plans {
				p = complete(p, r, f)
				if len(p.Changes) == 0 && p.Workload == 0 && p.Search == nil {
					out.Skipped = append(out.Skipped, r.ID+": its files say so already, but the service does not run with it")
					continue
				}
				if seen[p.ID] {
					continue
				}
				seen[p.ID] = true
				if why := Forbidden(in.Stack.Regulation, p); why != "" {
					out.Refusals = append(out.Refusals, Refusal{Plan: p, Why: why})
					continue
				}
				if err := change.Lacking(in.Stack, in.Rights, p.All()); err != nil {
					out.Refusals = append(out.Refusals, Refusal{Plan: p, Why: "not judged because " + err.Error()})
					continue
				}
				out.Plans = append(out.Plans, p)
			}
		}
	}
	byPromise(out.Plans)
	return out
}

// Explain notes with each finding that has remedies, of which none can be planned, why.
func Explain(in Input) {
	if in.Snapshot != nil {
		in.Stack = in.Snapshot.StackInUse(in.Stack)
	}
	for i := range in.Diagnosis.Findings {
		f := &in.Diagnosis.Findings[i]
		f.Unplanned = unplanned(in, *f)
	}
}

// unplanned is why no remedy of the table can be planned for a finding; "" if one can, or
// none says why.
func unplanned(in Input, f diagnose.Finding) string {
	var why []string
	for _, r := range Table {
		if !answers(r, f.Rule) {
			continue
		}
		plans, err := r.Plan(in, f)
		if len(plans) > 0 && err == nil {
			return ""
		}
		if err != nil && !slices.Contains(why, err.Error()) {
			why = append(why, err.Error())
		}
	}
	return strings.Join(why, "; ")
}

// Forbidden says why the regulation does not let a plan be applied; "" if it does.
func Forbidden(r regulation.Regulation, p Plan) string {
	touched, restarted := Services(p.All())
	if why := r.Refuses(p.Trades, touched, restarted); why != "" {
		return why
	}
	if p.EditsSettings && !r.ApplicationSettings {
		return "it changes an application's own settings, which the regulation does not permit (regulation: application_settings: true)"
	}
	if p.EditsSource && !r.Source {
		return "it changes source, which the regulation does not permit (regulation: source: true)"
	}
	for _, c := range p.All() {
		if c.Kind == change.KindPackage && !r.Install {
			return "it installs packages, which the regulation does not permit (regulation: install: true)"
		}
	}
	return ""
}

func byPromise(plans []Plan) {
	sort.SliceStable(plans, func(i, j int) bool { return plans[i].Promise() > plans[j].Promise() })
}

// complete fills what every plan of a remedy has in common.
func complete(p Plan, r Remedy, f diagnose.Finding) Plan {
	p.Remedy, p.Measures, p.Rule = r.ID, r.Measures, f.Rule
	if p.Bound == 0 {
		p.Bound, p.Spares = f.Bound, f.Spares
	}
	if p.Service, p.Spent, p.Limit = f.Service, f.Spent, f.Limit; p.Spares == 0 {
		p.Service, p.Spent, p.Limit = "", 0, 0
	}
	if p.Why == "" {
		p.Why = f.Text
	}
	trades := append(p.Trades[:0:0], r.Trades...)
	for _, t := range p.Trades {
		if !slices.Contains(trades, t) {
			trades = append(trades, t)
		}
	}
	p.Trades = trades
	if p.Reach == 0 {
		p.Reach = r.Reach
	}
	return p
}

func answers(r Remedy, rule string) bool {
	for _, id := range r.Rules {
		if id == rule {
			return true
		}
	}
	return false
}

// Services lists whom the changes touch and whom they restart. Kernel settings
// are no service's; they count as regulation.Kernel.
func Services(cs []change.Change) (touched, restarted []string) {
	for _, c := range cs {
		if c.Kind == change.KindSysctl {
			touched = append(touched, regulation.Kernel)
		}
		if c.Service == "" {
			continue
		}
		touched = append(touched, c.Service)
		if c.Restarts() {
			restarted = append(restarted, c.Service)
		}
	}
	return touched, restarted
}
