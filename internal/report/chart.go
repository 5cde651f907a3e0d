package report

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"kasoku/internal/ui"
)

// canvas collects the elements of one SVG picture. Colours and strokes come
// from the page's style sheet by class, so that light, dark and print need one
// picture. Every text is escaped here.
type canvas struct {
	b     strings.Builder
	w, h  float64
	links bool // something in it can be followed
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.b, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, px(x1), px(y1), px(x2), px(y2))
}

func (c *canvas) circle(x, y, r float64, class string) {
	fmt.Fprintf(&c.b, `<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, px(x), px(y), px(r))
}

func (c *canvas) rect(x, y, w, h float64, class string) {
	fmt.Fprintf(&c.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, px(x), px(y), px(math.Max(w, 0)), px(h))
}

// cross marks something that has no place on the scale.
func (c *canvas) cross(x, y, r float64, class string) {
	c.line(x-r, y-r, x+r, y+r, class)
	c.line(x-r, y+r, x+r, y-r, class)
}

// text at a baseline; anchor is start, middle or end.
func (c *canvas) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, px(x), px(y), anchor, html.EscapeString(s))
}

// group gives everything that draw adds a hover title.
func (c *canvas) group(title string, draw func()) {
	c.b.WriteString(`<g><title>` + html.EscapeString(ui.Clean(title)) + `</title>`)
	draw()
	c.b.WriteString(`</g>`)
}

// link is a group that leads to a place of the page; target is an ID of this
// package's making, "" for none.
func (c *canvas) link(target, title string, draw func()) {
	if target == "" {
		c.group(title, draw)
		return
	}
	c.links = true
	c.b.WriteString(`<a href="#` + html.EscapeString(target) + `">`)
	c.group(title, draw)
	c.b.WriteString(`</a>`)
}

// svg is the whole picture. It scales down with the page, never up.
func (c *canvas) svg(class, label string) string {
	role := "img"
	if c.links {
		role = "group" // what is in an image cannot be followed
	}
	return fmt.Sprintf(`<svg class="%s" viewBox="0 0 %s %s" style="max-width:%spx" role="`+role+`" aria-label="%s" xmlns="http://www.w3.org/2000/svg">%s</svg>`,
		class, px(c.w), px(c.h), px(c.w), html.EscapeString(label), c.b.String())
}

// px prints a coordinate with one decimal; what is not finite becomes 0.
func px(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// charWidth is the mean width of a character at the pictures' 13 px sans
// serif, rounded up; figures and lower case are narrower, capitals wider.
const charWidth = 6.9

// textWidth is about how wide s is drawn.
func textWidth(s string) float64 { return charWidth * float64(ui.Width(s)) }

// fit cuts s so that it is drawn within width; labels are mostly lower case,
// hence narrower than textWidth's bound.
func fit(s string, width float64) string {
	return ui.Truncate(strings.ReplaceAll(ui.Clean(s), "\n", " "), int(width/(0.93*charWidth)))
}

// scale maps values to x coordinates.
type scale struct {
	lo, hi float64 // values at the ends
	x0, x1 float64 // coordinates of the ends
	log    bool
}

func (s scale) x(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		v, lo, hi = math.Log(math.Max(v, s.lo)), math.Log(s.lo), math.Log(s.hi)
	}
	if hi <= lo {
		return s.x0
	}
	f := (v - lo) / (hi - lo)
	return s.x0 + math.Max(0, math.Min(1, f))*(s.x1-s.x0)
}

// logFrom: a range of more than ten times is drawn on a logarithmic scale.
const logFrom = 10

// No score is outside of these; a scale that followed such a number would have
// no end.
const leastValue, mostValue = 1e-9, 1e15

// valueScale fits values ≥ 0: linear from zero, or logarithmic if the largest
// is more than ten times the smallest positive one.
func valueScale(values []float64, x0, x1 float64) scale {
	lo, hi := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 {
			v = math.Max(leastValue, math.Min(mostValue, v))
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	if hi == 0 {
		return scale{0, 1, x0, x1, false}
	}
	if hi > logFrom*lo {
		// A little room on both sides, so that no mark sits on the edge.
		room := math.Pow(hi/lo, 0.04)
		return scale{lo / room, hi * room, x0, x1, true}
	}
	return scale{0, hi * 1.04, x0, x1, false}
}

// ticks are round values of the scale, at least gap pixels apart.
func (s scale) ticks(gap float64) []float64 {
	var out []float64
	if s.log {
		for e := math.Floor(math.Log10(s.lo)); e <= math.Ceil(math.Log10(s.hi)); e++ {
			out = append(out, math.Pow(10, e), 2*math.Pow(10, e), 5*math.Pow(10, e))
		}
		return s.thin(out, gap)
	}
	most := math.Max(2, (s.x1-s.x0)/gap)
	step := math.Pow(10, math.Floor(math.Log10((s.hi-s.lo)/most)))
	for _, f := range []float64{1, 2, 5, 10} {
		if (s.hi-s.lo)/(step*f) <= most {
			step *= f
			break
		}
	}
	first := math.Ceil(s.lo / step)
	for i := 0.0; i <= most && (first+i)*step <= s.hi*(1+1e-9); i++ {
		out = append(out, (first+i)*step)
	}
	return out
}

// thin drops ticks outside the scale, then powers' multiples that are too
// close to each other: 1 2 5, else 1 5, else powers of ten alone.
func (s scale) thin(all []float64, gap float64) []float64 {
	for _, keep := range []string{"125", "15", "1"} {
		var out []float64
		for _, v := range all {
			first := strconv.FormatFloat(v, 'e', 0, 64)[:1]
			if v >= s.lo && v <= s.hi && strings.Contains(keep, first) {
				out = append(out, v)
			}
		}
		close := false
		for i := 1; i < len(out); i++ {
			close = close || s.x(out[i])-s.x(out[i-1]) < gap
		}
		if !close || keep == "1" {
			return out
		}
	}
	return nil
}

// tickText is short: 1k, 2.5k, 0.2.
func tickText(v float64) string {
	for _, u := range []struct {
		at   float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= u.at {
			return strconv.FormatFloat(v/u.at, 'g', 4, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// axis draws tick labels at the top and grid lines down to bottom.
func (c *canvas) axis(s scale, top, bottom, gap float64, label func(float64) string) {
	for _, v := range s.ticks(gap) {
		c.line(s.x(v), top, s.x(v), bottom, "grid")
		c.text(s.x(v), top-5, "tick", "middle", label(v))
	}
}
