package report

import (
	"html/template"

	"kasoku/internal/change"
	"kasoku/internal/diagnose"
	"kasoku/internal/store"
)

// Timeline, Forest and CPUBars are the report's pictures for other pages; ""
// if there is nothing to draw. Their texts are escaped; colours come from the
// page's style sheet by class.
func Timeline(m *Model) template.HTML { return timeline(m) }

// Forest: see Timeline.
func Forest(m *Model) template.HTML { return forest(m) }

// CPUBars: see Timeline.
func CPUBars(m *Model) template.HTML { return cpuBars(m) }

// Times are the parts of the time that a right answer of one run takes, as a
// report tells them; nil without a load.
func Times(run *store.Run) []TimeShare {
	if run == nil || run.Evidence == nil {
		return nil
	}
	return compareTimes(run.Evidence, nil)
}

// IsStatement: the part is one class of statements; IsRest: all others of one
// database.
func (p TimeShare) IsStatement() bool { return p.Part == partStatement }

// IsRest: see IsStatement.
func (p TimeShare) IsRest() bool { return p.Part == partRest }

// WorkOn says of an item of the work list, a line for each route, how often it
// does it and what it takes.
func WorkOn(w diagnose.Work) []string { return onText(w) }

// WorkShare says what share of its service's time an item has; "" if unknown.
func WorkShare(w diagnose.Work) string { return shareText(w) }

// Pair compares any two runs as Build compares the ends of a session. Only what
// belongs to the comparison is filled in: nothing if one of them holds no
// evidence of a load.
func Pair(a, b *store.Run) *Model {
	m := &Model{Format: Format}
	if HasLoad(a) && HasLoad(b) {
		m.Before, m.After = side(a), side(b)
		m.CPU, m.Times, m.Resources = compareCPU(a.Evidence, b.Evidence), compareTimes(a.Evidence, b.Evidence), resources(m.Before, m.After)
		m.Routes, m.Statements = compareRoutes(a.Evidence, b.Evidence), compareStatements(a.Evidence, b.Evidence)
	}
	change.RedactAll(m)
	return m
}

// HasLoad: the run holds what a load saw.
func HasLoad(r *store.Run) bool { return r.Evidence != nil && r.Evidence.Load != nil }

// Flames are the profiles of a run with their pictures, and what could not be
// drawn.
func Flames(st *store.Store, run *store.Run) (out []Flame, problems []string) {
	if run.Evidence == nil {
		return nil, nil
	}
	for _, p := range run.Evidence.Profiles {
		f := Flame{Run: run.ID, Profile: p}
		if err := f.paint(st); err != nil {
			problems = append(problems, err.Error())
		}
		out = append(out, f)
	}
	return out, problems
}
