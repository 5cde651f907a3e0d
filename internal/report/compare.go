package report

import (
	"cmp"
	"errors"
	"slices"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/store"
)

// Rows beyond these are left to the JSON of the runs themselves.
const (
	mostRoutes     = 15
	mostStatements = 12
)

// addEvidence reads the diagnostic runs at both ends and compares them.
func (m *Model) addEvidence(st *store.Store) error {
	before, err := diagnostic(st, m.Session.AsFoundRun)
	if err != nil {
		return err
	}
	var after *store.Run
	if m.Session.FinalRun != m.Session.AsFoundRun {
		if after, err = diagnostic(st, m.Session.FinalRun); err != nil {
			return err
		}
	}
	if before == nil {
		before, after = after, nil
	}
	if before == nil {
		return nil
	}
	m.Before, m.After = side(before), side(after)
	last, run := before.Diagnosis, before
	if after != nil {
		last, run = after.Diagnosis, after
	}
	m.Seen = &Seen{Run: run.ID, Label: run.Label, Unfit: run.Unfit, Evidence: run.Evidence}
	if after != nil {
		m.Seen.before = before.Evidence
	}
	if last != nil {
		m.Findings, m.NotJudged = last.Findings, last.NotJudged
	}
	var ev *evidence.Evidence
	if after != nil {
		ev = after.Evidence
	}
	m.Setup = setupOf(before, after)
	m.CPU = compareCPU(before.Evidence, ev)
	m.Times = compareTimes(before.Evidence, ev)
	m.Resources = resources(m.Before, m.After)
	m.Routes = compareRoutes(before.Evidence, ev)
	m.Statements = compareStatements(before.Evidence, ev)
	return nil
}

// diagnostic returns the run, nil if there is none or it holds no evidence.
func diagnostic(st *store.Store, id int64) (*store.Run, error) {
	if id == 0 {
		return nil, nil
	}
	run, err := st.Run(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if run.Evidence == nil || run.Evidence.Load == nil {
		return nil, nil
	}
	return run, nil
}

func side(run *store.Run) *Side {
	if run == nil {
		return nil
	}
	l := run.Evidence.Load
	s := &Side{Run: run.ID, Label: run.Label, Workload: l.Workload, Window: l.Window,
		RequestsPerSecond: l.RequestsPerSecond, Latency: l.Latency, Goodput: l.Goodput, Apdex: l.Apdex}
	for _, p := range cpuParts(run.Evidence) {
		s.CPUPerRequest += p.Before
	}
	if d := run.Diagnosis; d != nil {
		s.Demands, s.Binds, s.BindsText, s.Next = d.Demands, d.Binds, d.BindsText, d.Next
	}
	for _, h := range run.Evidence.Health {
		if !h.OK {
			s.Unhealthy = append(s.Unhealthy, h.Source+": "+h.Text)
		} else {
			s.Healthy++
		}
	}
	return s
}

// cpuParts are the parts of a right answer's CPU time, in Before.
func cpuParts(ev *evidence.Evidence) []CPUShare {
	if ev == nil || ev.Load.Succeeded <= 0 {
		return nil
	}
	n := float64(ev.Load.Succeeded)
	var out []CPUShare
	for name, use := range ev.Services {
		out = append(out, CPUShare{Name: name, Part: "service", Before: max(0, use.CPU) / n})
	}
	slices.SortFunc(out, func(a, b CPUShare) int {
		return cmp.Or(cmp.Compare(b.Before, a.Before), cmp.Compare(a.Name, b.Name))
	})
	return append(out,
		CPUShare{Name: "load generator", Part: "generator", Before: max(0, ev.System.GeneratorCPU) / n},
		CPUShare{Name: "other processes", Part: "foreign", Before: max(0, ev.System.ForeignCPU) / n})
}

// compareCPU keeps the order of the first run: the largest service first, the
// generator and other processes last.
func compareCPU(before, after *evidence.Evidence) []CPUShare {
	out, services := cpuParts(before), 0
	for _, s := range out {
		if s.Part == "service" {
			services++
		}
	}
	for _, a := range cpuParts(after) {
		i := slices.IndexFunc(out, func(s CPUShare) bool { return s.Name == a.Name && s.Part == a.Part })
		if i < 0 {
			a.After, a.Before = a.Before, 0
			out = slices.Insert(out, services, a)
			services++
			continue
		}
		out[i].After = a.Before
	}
	return out
}

func compareRoutes(before, after *evidence.Evidence) []RouteChange {
	out := []RouteChange{}
	at := map[string]int{}
	each := func(ev *evidence.Evidence, set func(*RouteChange, *RouteStats)) {
		if ev == nil || ev.Load.Window <= 0 {
			return
		}
		total := 0.0
		for _, r := range ev.Load.Routes {
			total += r.Total.Seconds()
		}
		for _, r := range ev.Load.Routes {
			i, known := at[r.Route]
			if !known {
				i = len(out)
				at[r.Route] = i
				out = append(out, RouteChange{Route: r.Route})
			}
			s := &RouteStats{PerSecond: float64(r.Requests) / ev.Load.Window.Seconds(), P50: r.Latency.P50, P99: r.Latency.P99, Failed: r.Failed, Apdex: r.Apdex}
			if total > 0 {
				s.Share = r.Total.Seconds() / total
			}
			set(&out[i], s)
		}
	}
	each(before, func(c *RouteChange, s *RouteStats) { c.Before = s })
	each(after, func(c *RouteChange, s *RouteStats) { c.After = s })
	weight := func(c RouteChange) float64 {
		w := 0.0
		for _, s := range []*RouteStats{c.Before, c.After} {
			if s != nil {
				w = max(w, s.Share)
			}
		}
		return w
	}
	slices.SortStableFunc(out, func(a, b RouteChange) int { return cmp.Compare(weight(b), weight(a)) })
	return out[:min(len(out), mostRoutes)]
}

func compareStatements(before, after *evidence.Evidence) []StatementChange {
	type key struct{ service, schema, fingerprint string }
	out := []StatementChange{}
	at := map[key]int{}
	each := func(ev *evidence.Evidence, set func(*StatementChange, *StatementStats)) {
		if ev == nil || ev.Load.Succeeded <= 0 {
			return
		}
		for _, s := range ev.Statements {
			if s.Count <= 0 {
				continue
			}
			k := key{s.Service, s.Schema, s.Fingerprint}
			i, known := at[k]
			if !known {
				i = len(out)
				at[k] = i
				out = append(out, StatementChange{Service: s.Service, Fingerprint: s.Fingerprint})
			}
			n := float64(ev.Load.Succeeded)
			set(&out[i], &StatementStats{CallsPerRequest: float64(s.Count) / n, TimePerCall: s.Total.Seconds() / float64(s.Count),
				TimePerRequest: s.Total.Seconds() / n, RowsPerCall: float64(s.RowsExamined) / float64(s.Count)})
		}
	}
	each(before, func(c *StatementChange, s *StatementStats) { c.Before = s })
	each(after, func(c *StatementChange, s *StatementStats) { c.After = s })
	weight := func(c StatementChange) float64 {
		w := 0.0
		for _, s := range []*StatementStats{c.Before, c.After} {
			if s != nil {
				w = max(w, s.TimePerRequest)
			}
		}
		return w
	}
	slices.SortStableFunc(out, func(a, b StatementChange) int { return cmp.Compare(weight(b), weight(a)) })
	return out[:min(len(out), mostStatements)]
}

// demand finds a resource in a table, nil if it is not there.
func demand(ds []diagnose.Demand, resource string) *diagnose.Demand {
	for i := range ds {
		if ds[i].Resource == resource {
			return &ds[i]
		}
	}
	return nil
}
