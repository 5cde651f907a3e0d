package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/ui"
)

// Resource is how much of something that can be full is in use, before and
// after. Parts of the CPU are in CPU.
type Resource struct {
	// Name as the diagnosis has it: "cpu", "disk: vda of db1", "workers: php".
	Name string `json:"name"`
	// Before and After are utilizations, 0–1; nil where it was not there. Of a
	// CPU they are the stack's own; Others is what other processes took.
	Before       *float64 `json:"before,omitempty"`
	After        *float64 `json:"after,omitempty"`
	OthersBefore float64  `json:"others_before,omitempty"`
	OthersAfter  float64  `json:"others_after,omitempty"`
	// Binds: it limits the throughput of the last diagnostic run, BoundBefore of
	// the first.
	Binds       bool `json:"binds"`
	BoundBefore bool `json:"bound_before"`
}

// othersOf is the CPU row that a demand of other processes belongs to.
func othersOf(resource string) (cpu string, ok bool) {
	rest, ok := strings.CutPrefix(resource, "cpu: other processes")
	return "cpu" + rest, ok
}

// resources of both sides, what binds first, then the fullest.
func resources(before, after *Side) []Resource {
	var out []Resource
	at := func(name string) *Resource {
		i := slices.IndexFunc(out, func(r Resource) bool { return r.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, Resource{Name: name})
		}
		return &out[i]
	}
	for _, s := range []*Side{before, after} {
		if s == nil {
			continue
		}
		for name, use := range s.use() {
			r := at(name)
			if s == after {
				r.After = &use
			} else {
				r.Before = &use
			}
		}
		for _, d := range s.Demands {
			if cpu, ok := othersOf(d.Resource); ok {
				if s == after {
					at(cpu).OthersAfter = d.Utilization
				} else {
					at(cpu).OthersBefore = d.Utilization
				}
			}
		}
	}
	if name := binding(before, out, false); name != "" {
		at(name).BoundBefore = true
	}
	last := after
	if last == nil {
		last = before
	}
	if name := binding(last, out, after != nil); name != "" {
		at(name).Binds = true
	}
	slices.SortFunc(out, func(a, b Resource) int {
		if a.Binds != b.Binds {
			if a.Binds {
				return -1
			}
			return 1
		}
		if x, y := a.most(after != nil), b.most(after != nil); x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// use is the utilization of everything that can be full on its own: demands
// without the parts of CPUs, and threads, workers and locks, which the outlook
// has.
func (s *Side) use() map[string]float64 {
	out := map[string]float64{}
	for _, d := range s.Demands {
		if !strings.HasPrefix(d.Resource, "cpu: ") {
			out[d.Resource] = d.Utilization
		}
	}
	for _, n := range s.Next {
		if _, known := out[n.Resource]; !known && n.Factor > 0 {
			out[n.Resource] = min(1, 1/n.Factor)
		}
	}
	return out
}

// most is the whole use, with others.
func (r Resource) most(after bool) float64 {
	v, others := r.Before, r.OthersBefore
	if after {
		v, others = r.After, r.OthersAfter
	}
	if v == nil {
		return others
	}
	return *v + others
}

// binding finds the row of what a diagnosis says binds: of a CPU the host whose
// CPU is fullest, as the diagnosis judged. "" for load and nothing.
func binding(s *Side, rows []Resource, after bool) string {
	if s == nil {
		return ""
	}
	if strings.HasPrefix(s.Binds, "cpu") {
		name, most := "", -1.0
		for _, r := range rows {
			if u := r.most(after); (r.Name == "cpu" || strings.HasPrefix(r.Name, "cpu of ")) && u > most {
				name, most = r.Name, u
			}
		}
		return name
	}
	for _, r := range rows {
		if r.Name == s.Binds || s.Binds == "disk" && strings.HasPrefix(r.Name, "disk: ") {
			return r.Name
		}
	}
	return ""
}

// resourceBars draws every resource's use before and after; what binds is
// marked by a word and by its weight, not by colour alone.
func resourceBars(m *Model) template.HTML {
	if len(m.Resources) == 0 {
		return ""
	}
	return pictures(func(l layout) string { return drawResources(m, l) })
}

func drawResources(m *Model, l layout) string {
	const top, thick = 24.0, 9.0
	row, label := 40.0, 250.0
	if l.label == 0 {
		row, label = 58, 0
	}
	c := &canvas{w: l.width, h: top + row*float64(len(m.Resources)) + 4}
	s := scale{0, 1, label, l.width - 56, false}
	c.axis(s, top, c.h-4, l.tickGap, func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) })
	for i, r := range m.Resources {
		y := top + row*float64(i)
		class, text := "label", r.Name
		if r.Binds {
			class, text = "label strong bold", r.Name+", bottleneck"
		}
		c.group(r.title(), func() {
			if l.label > 0 {
				c.text(0, y+row/2+4.5, class, "start", fit(text, label-12))
			} else {
				c.text(0, y+15, class, "start", fit(text, l.width))
			}
			at := y + 8
			if l.label == 0 {
				at = y + 23
			}
			drawUse(c, s, r.Before, r.OthersBefore, at, thick, "use-before")
			drawUse(c, s, r.After, r.OthersAfter, at+thick+3, thick, "use-after")
		})
	}
	c.line(s.x(1), top, s.x(1), c.h-4, "zero")
	return c.svg(l.class, "Use of every resource before and after; the bottleneck comes first")
}

// drawUse draws one bar with its value; what other processes take is paler.
func drawUse(c *canvas, s scale, v *float64, others, y, thick float64, class string) {
	if v == nil {
		return
	}
	end := min(1, *v)
	c.rect(s.x(0), y, s.x(end)-s.x(0), thick, class)
	if all := min(1, end+others); all > end {
		c.rect(s.x(end), y, s.x(all)-s.x(end), thick, "use-others")
		end = all
	}
	c.text(s.x(end)+5, y+thick-0.5, "tick", "start", ui.Share(*v))
}

func (r Resource) title() string {
	text := r.Name
	if r.Before != nil {
		text += fmt.Sprintf("\nas found: %s", ui.Share(*r.Before))
	}
	if r.After != nil {
		text += fmt.Sprintf("\nat the end: %s", ui.Share(*r.After))
	}
	if r.OthersBefore+r.OthersAfter > 0 {
		text += fmt.Sprintf("\nother processes: %s, %s", ui.Share(r.OthersBefore), ui.Share(r.OthersAfter))
	}
	if r.Binds {
		text += "\nbinds now"
	}
	return text
}

// nextShown resources of the outlook.
const nextShown = 4

// outlookOf is what would be full next, in words.
func outlookOf(next []diagnose.Next) []string {
	var out []string
	for _, n := range next[:min(len(next), nextShown)] {
		out = append(out, fmt.Sprintf("%s (%s this run’s throughput)", n.Text, ui.Factor(n.Factor)))
	}
	return out
}
