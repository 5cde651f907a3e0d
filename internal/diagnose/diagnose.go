package diagnose

import (
	"math"
	"sort"
)

// Rule is one entry of the rule table.
type Rule struct {
	ID       string
	Measures []string
	// Needs names the evidence it cannot do without, for people.
	Needs string
	// Judge returns findings, or why it could not judge.
	Judge func(m *model) (found []Finding, notJudged string)
}

// Judges is false for rules that only say what no run on one host can tell.
func (r Rule) Judges() bool { return r.Needs != needMore }

// needMore is what no run on one host has.
const needMore = "more than a run on one host"

// spent is the part (0–1) of a request's CPU that a service spends on the machine whose
// CPU allows least; 0 if it is on another.
func (m *model) spent(service string) float64 {
	k := m.machineOf(service)
	if k == nil || k != m.narrowest() || k.allCPU <= 0 {
		return 0
	}
	return math.Min(m.perReq[service]/k.allCPU, 1)
}

// Diagnose applies every rule to one run.
func Diagnose(in Input) (*Diagnosis, error) {
	if in.Snapshot != nil {
		in.Stack = in.Snapshot.StackInUse(in.Stack)
	}
	m, err := newModel(in)
	if err != nil {
		return nil, err
	}
	d := &Diagnosis{Demands: m.demands(), Knee: m.knee(), Next: m.next()}
	d.Binds, d.BindsText = m.binds()
	for _, r := range Rules {
		found, why := r.Judge(m)
		if why != "" {
			d.NotJudged = append(d.NotJudged, NotJudged{Rule: r.ID, Why: why})
		}
		for _, f := range found {
			if svc := in.Stack.Service(f.Service); svc != nil && m.unused(svc) {
				continue // nothing of it is part of any request
			}
			f.Rule, f.Spent, f.Limit = r.ID, m.spent(f.Service), m.limit(f.Service)
			if f.Measures == nil {
				f.Measures = r.Measures
			}
			d.Findings = append(d.Findings, f)
		}
	}
	sort.SliceStable(d.Findings, func(i, j int) bool { return d.Findings[i].Bound > d.Findings[j].Bound })
	d.Findings, d.NotJudged = m.reconcile(d.Findings, d.NotJudged)
	return d, nil
}
