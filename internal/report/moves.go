package report

import (
	"fmt"
	"html/template"

	"kasoku/internal/ui"
)

// move is one row of a picture of times before and after; a range where low and
// high differ. Zero: not there.
type move struct {
	label, title string
	before       [2]float64 // seconds, low and high
	after        [2]float64
}

// mostMoves rows of a picture; the table below has the others.
const mostMoves = 10

// routeMoves draws the latencies of routes, median to 99th percentile.
func routeMoves(m *Model) template.HTML {
	var rows []move
	for _, r := range m.Routes {
		x := move{label: r.Route, title: r.Route}
		for _, s := range []struct {
			when string
			of   *RouteStats
			to   *[2]float64
		}{{"as found", r.Before, &x.before}, {"at the end", r.After, &x.after}} {
			if s.of != nil && s.of.P50 > 0 {
				*s.to = [2]float64{s.of.P50.Seconds(), max(s.of.P99, s.of.P50).Seconds()}
				x.title += fmt.Sprintf("\n%s: p50 %s, p99 %s", s.when, ui.Duration(s.of.P50), ui.Duration(s.of.P99))
			}
		}
		rows = append(rows, x)
	}
	return drawMoves(rows, "Latency of every route from the median to the 99th percentile, before and after")
}

// statementMoves draws the time that statements take of one right answer.
func statementMoves(m *Model) template.HTML {
	var rows []move
	for _, s := range m.Statements {
		x := move{label: oneLine(s.Fingerprint), title: oneLine(s.Fingerprint)}
		for _, side := range []struct {
			when string
			of   *StatementStats
			to   *[2]float64
		}{{"as found", s.Before, &x.before}, {"at the end", s.After, &x.after}} {
			if side.of != nil && side.of.TimePerRequest > 0 {
				*side.to = [2]float64{side.of.TimePerRequest, side.of.TimePerRequest}
				x.title += fmt.Sprintf("\n%s: %s per right answer", side.when, ui.Seconds(side.of.TimePerRequest))
			}
		}
		rows = append(rows, x)
	}
	return drawMoves(rows, "Time of every statement per right answer, before and after")
}

func drawMoves(rows []move, label string) template.HTML {
	var values []float64
	var shown []move
	for _, r := range rows {
		if r.before[1]+r.after[1] > 0 && len(shown) < mostMoves {
			shown = append(shown, r)
			values = append(values, r.before[0], r.before[1], r.after[0], r.after[1])
		}
	}
	if len(shown) == 0 {
		return ""
	}
	return pictures(func(l layout) string {
		const top = 24
		c := &canvas{w: l.width, h: top + l.row*float64(len(shown)) + 6}
		s := valueScale(values, l.label+10, l.width-76)
		c.axis(s, top, c.h-4, l.tickGap, ui.Seconds)
		for i, r := range shown {
			at := top + l.row*float64(i)
			c.group(r.title, func() {
				l.rowLabel(c, at, "label", r.label)
				y := l.rowY(at)
				apart := 4.0
				if r.point() {
					apart = 0
					c.line(s.x(r.before[1]), y, s.x(r.after[1]), y, "move")
				}
				drawRange(c, s, r.before, y-apart, "move-before")
				drawRange(c, s, r.after, y+apart, "move-after")
				if b, a := r.before[1], r.after[1]; b > 0 && a > 0 {
					c.text(l.width, y+4.5, "value", "end", ui.Factor(a/b))
				}
			})
		}
		return c.svg(l.class, label)
	})
}

// point: there is one value on each side.
func (r move) point() bool {
	return r.before[1] > 0 && r.after[1] > 0 && r.before[0] == r.before[1] && r.after[0] == r.after[1]
}

// drawRange draws a bar with dots at both ends, one dot if they are the same.
func drawRange(c *canvas, s scale, v [2]float64, y float64, class string) {
	if v[1] <= 0 {
		return
	}
	a, b := s.x(v[0]), s.x(v[1])
	if b > a {
		c.rect(a, y-1.25, b-a, 2.5, class)
		c.circle(a, y, 3, class)
	}
	c.circle(b, y, 3.5, class)
}
