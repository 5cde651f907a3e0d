package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
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
	Class              string // seg-0 …: a colour of the style sheet
	X, W               string // percent
	seconds            float64
	Code               bool // Name is a statement
}

// colours of segments in the style sheet.
const colours = 8

// mostParts of a bar; the rest is one.
const mostParts = 7

// whereTime shows what one right answer costs: CPU time by service, then the
// time of each database's statements by class. One scale; nil if nothing is known.
func whereTime(run *store.Run) []bar {
	if run == nil || run.Evidence == nil || run.Evidence.Load == nil || run.Evidence.Load.Succeeded <= 0 {
		return nil
	}
	ev := run.Evidence
	answers := float64(ev.Load.Succeeded)
	var cpu []part
	for name, use := range ev.Services {
		cpu = append(cpu, part{Name: name, seconds: use.CPU / answers})
	}
	bars := []bar{{Label: "CPU by service", Parts: cpu}}
	for _, db := range databases(ev.Statements) {
		b := bar{Label: "Statements in " + db}
		for _, q := range ev.Statements {
			if q.Service == db {
				b.Parts = append(b.Parts, part{Name: q.Fingerprint, seconds: q.Total.Seconds() / answers, Code: true})
			}
		}
		bars = append(bars, b)
	}
	return scaled(bars)
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

// scaled sorts, joins the small parts and gives all their places.
func scaled(bars []bar) []bar {
	widest := 0.0
	totals := make([]float64, len(bars))
	for i := range bars {
		b := &bars[i]
		b.Parts = slices.DeleteFunc(b.Parts, func(p part) bool { return p.seconds <= 0 })
		slices.SortFunc(b.Parts, func(p, q part) int {
			return cmp.Or(cmp.Compare(q.seconds, p.seconds), cmp.Compare(p.Name, q.Name))
		})
		if n := len(b.Parts) - mostParts; n > 0 {
			rest := part{Name: plural(n, "other", "others")}
			for _, p := range b.Parts[mostParts:] {
				rest.seconds += p.seconds
			}
			b.Parts = append(b.Parts[:mostParts], rest)
		}
		for _, p := range b.Parts {
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
			p.Class = fmt.Sprintf("seg-%d", j%colours)
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
