package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/report"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// bar is one stacked bar. X and W are percent of the widest bar of the figure,
// so that the picture has no size of its own and its text none to scale.
type bar struct {
	Label string
	Total string
	Parts []part
}

type part struct {
	Name, Value, Share string
	Class              string // a colour of the style sheet, see colours
	X, W               string // percent
	seconds            float64
	Code               bool // Name is a statement
}

// colours of segments in the style sheet: seg-0 … are services, seg-q0 …
// statements, so that none means two things. Of statements the first
// namedStatements are those that the breakdown of a right answer's time names;
// then comes one colour for all others, and one for what was added up.
const (
	colours         = 8
	namedStatements = 6
)

const (
	furtherStatement = "seg-q6"
	addedStatements  = "seg-q7"
)

// mostParts of a bar; the rest is one.
const mostParts = 7

// statementClass is the colour of the i-th statement of the breakdown.
func statementClass(i int) string {
	if i < 0 || i >= namedStatements {
		return furtherStatement
	}
	return fmt.Sprintf("seg-q%d", i)
}

// timeBars show the report's parts of the time that a right answer takes, in its
// order: as found, and at the end if there is one.
func timeBars(times []report.TimeShare, labels ...string) []bar {
	var bars []bar
	for i, label := range labels {
		b := bar{Label: label}
		for j, p := range times {
			x := part{Name: p.Name, Code: p.IsStatement(), Class: "seg-" + p.Part, seconds: p.Before}
			if i > 0 {
				x.seconds = p.After
			}
			if p.IsStatement() {
				x.Class = statementClass(j)
			} else if p.IsRest() {
				x.Class = addedStatements
			}
			if x.seconds > 0 {
				b.Parts = append(b.Parts, x)
			}
		}
		bars = append(bars, b)
	}
	return placed(bars)
}

// whereTime shows what ran for one right answer: CPU time by service, then the
// time of each database's statements by class. One scale; nil if nothing is
// known. times are the breakdown on the same page, services the order of their
// colours there; others come after them.
func whereTime(run *store.Run, times []report.TimeShare, services []report.CPUShare) []bar {
	if run == nil || run.Evidence == nil || run.Evidence.Load == nil || run.Evidence.Load.Succeeded <= 0 {
		return nil
	}
	ev := run.Evidence
	answers := float64(ev.Load.Succeeded)
	var cpu []part
	for name, use := range ev.Services {
		cpu = append(cpu, part{Name: name, seconds: use.CPU / answers})
	}
	slices.SortFunc(cpu, bySize)
	more := len(services)
	for i := range cpu {
		j := slices.IndexFunc(services, func(s report.CPUShare) bool { return s.Part == "service" && s.Name == cpu[i].Name })
		if j < 0 {
			j, more = more, more+1
		}
		cpu[i].Class = fmt.Sprintf("seg-%d", j%(colours-1))
	}
	bars := []bar{{Label: "CPU by service", Parts: cpu}}
	for _, db := range databases(ev.Statements) {
		b := bar{Label: "Statements in " + db}
		for _, q := range ev.Statements {
			if q.Service == db {
				j := slices.IndexFunc(times, func(t report.TimeShare) bool {
					return t.IsStatement() && t.Service == db && t.Name == q.Fingerprint
				})
				b.Parts = append(b.Parts, part{Name: q.Fingerprint, Class: statementClass(j), seconds: q.Total.Seconds() / answers, Code: true})
			}
		}
		bars = append(bars, b)
	}
	for i := range bars {
		rest := addedStatements
		if i == 0 {
			rest = fmt.Sprintf("seg-%d", colours-1)
		}
		bars[i].thin(rest)
	}
	return placed(bars)
}

func bySize(p, q part) int {
	return cmp.Or(cmp.Compare(q.seconds, p.seconds), cmp.Compare(p.Name, q.Name))
}

// thin sorts the parts and joins the small ones, in colour rest.
func (b *bar) thin(rest string) {
	b.Parts = slices.DeleteFunc(b.Parts, func(p part) bool { return p.seconds <= 0 })
	slices.SortFunc(b.Parts, bySize)
	n := len(b.Parts) - mostParts
	if n <= 0 {
		return
	}
	others := part{Name: plural(n, "other", "others"), Class: rest}
	for _, p := range b.Parts[mostParts:] {
		others.seconds += p.seconds
	}
	b.Parts = append(b.Parts[:mostParts], others)
}

func databases(all []evidence.Statement) []string {
	var out []string
	for _, q := range all {
		if !slices.Contains(out, q.Service) {
			out = append(out, q.Service)
		}
	}
	return out
}

// placed gives all parts their places on one scale; bars of nothing are left out.
func placed(bars []bar) []bar {
	widest := 0.0
	totals := make([]float64, len(bars))
	for i := range bars {
		for _, p := range bars[i].Parts {
			totals[i] += p.seconds
		}
		widest = max(widest, totals[i])
	}
	var out []bar
	for i, b := range bars {
		if totals[i] <= 0 {
			continue
		}
		at := 0.0
		for j := range b.Parts {
			p := &b.Parts[j]
			p.X, p.W = percent(at/widest), percent(p.seconds/widest)
			p.Value, p.Share = ui.Seconds(p.seconds), ui.Share(p.seconds/totals[i])
			at += p.seconds
		}
		b.Total = ui.Seconds(totals[i])
		out = append(out, b)
	}
	return out
}

// percent of a width, as SVG takes it.
func percent(f float64) string { return fmt.Sprintf("%.3f%%", 100*max(0, min(1, f))) }

// resource is one row of the utilization picture.
type resource struct {
	Name, Use, W, Full string
	Binds              bool
	use                float64
}

// resources of a diagnosis, fullest first, the binding one marked.
func resources(d *diagnose.Diagnosis) []resource {
	if d == nil {
		return nil
	}
	var out []resource
	for _, x := range d.Demands {
		r := resource{Name: x.Resource, use: x.Utilization, Use: ui.Share(x.Utilization), W: percent(x.Utilization), Binds: x.Resource == d.Binds}
		if x.MaxThroughput > 0 {
			r.Full = ui.Count(x.MaxThroughput)
		}
		out = append(out, r)
	}
	for _, n := range d.Next {
		kind, _, _ := strings.Cut(n.Resource, ":")
		if kind == "thread" || kind == "workers" || kind == "locks" {
			out = append(out, resource{Name: n.Resource, use: 1 / n.Factor, Use: ui.Share(1 / n.Factor), W: percent(1 / n.Factor), Full: ui.Count(n.MaxThroughput), Binds: n.Resource == d.Binds})
		}
	}
	slices.SortStableFunc(out, func(a, b resource) int { return cmp.Compare(b.use, a.use) })
	return out
}
