package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

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
}

// resources of a diagnosis, fullest first, the binding one marked.
func resources(d *diagnose.Diagnosis) []resource {
	if d == nil {
		return nil
	}
	var out []resource
	for _, x := range d.Demands {
		r := resource{Name: x.Resource, Use: ui.Share(x.Utilization), W: percent(x.Utilization), Binds: x.Resource == d.Binds}
		if x.MaxThroughput > 0 {
			r.Full = ui.Count(x.MaxThroughput)
		}
		out = append(out, r)
	}
	for _, n := range d.Next {
		kind, _, _ := strings.Cut(n.Resource, ":")
		if kind == "thread" || kind == "workers" || kind == "locks" {
			out = append(out, resource{Name: n.Resource, Use: ui.Share(1 / n.Factor), W: percent(1 / n.Factor), Full: ui.Count(n.MaxThroughput), Binds: n.Resource == d.Binds})
		}
	}
	return out
}

// chart is one quantity of one host over the window.
type chart struct {
	Name, Points       string
	Now, Low, High     string // mean, least and most, in words
	Top, Bottom, Until string // labels of the axes
	Binds              bool
}

// hostCharts are the charts of one host.
type hostCharts struct {
	Host   string
	Charts []chart
}

// overTime draws each host's samples.
func overTime(ev *evidence.Evidence, binds string) []hostCharts {
	if ev == nil {
		return nil
	}
	var out []hostCharts
	for _, name := range ev.HostNames() {
		sys := ev.On(name)
		if sys == nil || len(sys.Samples) < 2 {
			continue
		}
		var at []time.Duration
		var busy, runnable, memory []float64
		for _, x := range sys.Samples {
			at = append(at, x.At)
			busy, runnable, memory = append(busy, x.Busy), append(runnable, float64(x.Runnable)), append(memory, float64(x.MemoryAvailable))
		}
		front := len(out) == 0
		bytes := func(v float64) string { return ui.Bytes(int64(v)) }
		h := hostCharts{Host: name}
		h.Charts = append(h.Charts, line("CPU in use", at, busy, 1, ui.Share, strings.HasPrefix(binds, "cpu") && (front || strings.HasSuffix(binds, name))),
			line("Tasks that want a CPU", at, runnable, 0, ui.Number, false))
		if sys.MemoryTotal > 0 {
			h.Charts = append(h.Charts, line("Memory available", at, memory, float64(sys.MemoryTotal), bytes, false))
		}
		out = append(out, h)
	}
	return out
}

// line is a chart of values at times, on a scale from 0 to top; top 0: the
// largest value. The coordinates are those of a box of 100 × 100.
func line(name string, at []time.Duration, values []float64, top float64, say func(float64) string, binds bool) chart {
	c := chart{Name: name, Binds: binds, Bottom: say(0)}
	low, high, sum := values[0], values[0], 0.0
	for _, v := range values {
		low, high, sum = min(low, v), max(high, v), sum+v
	}
	if top <= 0 {
		top = max(high, 1)
	}
	var b strings.Builder
	end := at[len(at)-1]
	for i, v := range values {
		x := 0.0
		if end > 0 {
			x = 100 * at[i].Seconds() / end.Seconds()
		}
		fmt.Fprintf(&b, "%.2f,%.2f ", x, 100-100*max(0, min(1, v/top)))
	}
	c.Points = strings.TrimSpace(b.String())
	c.Now, c.Low, c.High = say(sum/float64(len(values))), say(low), say(high)
	c.Top, c.Until = say(top), ui.Duration(end.Round(time.Second))
	return c
}
