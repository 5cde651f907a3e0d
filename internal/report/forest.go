package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"kasoku/internal/experiment"
	"kasoku/internal/ui"
)

// forest draws every step's effect with its 95 % interval, as ratios of scores
// on a logarithmic scale, so that ×2 and ×½ are equally far from no effect. Of Many
// steps it draws those that are Shown.
func forest(m *Model) template.HTML {
	var steps []Step
	for _, s := range m.Shown() {
		if s.Verdict.Pairs > 0 {
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return ""
	}
	return pictures(func(l layout) string { return drawForest(steps, m.Rule.SmallestEffect, l) })
}

// forestRange limits the axis: an interval that goes beyond ends in an arrow.
const forestRange = 200

// ratio of scores from an effect, kept within what the axis can show.
func ratio(effect float64) float64 {
	return math.Max(1.0/forestRange, math.Min(forestRange, 1+effect))
}

// forestTicks are the ratios that may be labelled, from the most to the least
// important.
var forestTicks = []float64{1, 2, 0.5, 10, 0.1, 5, 0.2, 100, 0.01, 20, 50, 1.5, 0.8, 1.2, 0.9, 1.1, 0.95, 1.05, 0.98, 1.02, 0.99, 1.01}

// ratioText labels a ratio: as a percentage if the whole axis is short enough
// for that, else as a factor beyond a doubling or halving.
func ratioText(r float64, short bool) string {
	switch {
	case r == 1 && short:
		return "0"
	case r == 1:
		return "×1"
	case r < 2 && r >= 0.5:
		return strings.Replace(fmt.Sprintf("%+.0f %%", 100*(r-1)), "-", "−", 1)
	}
	return "×" + strconv.FormatFloat(r, 'g', 3, 64)
}

func drawForest(steps []Step, smallest float64, l layout) string {
	const top = 24
	c := &canvas{w: l.width, h: top + l.row*float64(len(steps)) + 6}
	lo, hi := 0.97, 1.03
	widest := 0.0
	for _, s := range steps {
		v := s.Verdict
		widest = max(widest, textWidth(Effect(v)))
		// The axis follows the effects; a very wide interval may run out.
		lo, hi = math.Min(lo, ratio(v.Effect)), math.Max(hi, ratio(v.Effect))
		if hasInterval(v) {
			lo = math.Min(lo, math.Max(ratio(v.Low), ratio(v.Effect)/2))
			hi = math.Max(hi, math.Min(ratio(v.High), ratio(v.Effect)*2))
		}
	}
	room := math.Pow(hi/lo, 0.03)
	text := l.width - widest // x of the texts on the right
	s := scale{lo / room, hi * room, l.label + 10, text - 14, true}
	drawRatioAxis(c, s, top, c.h-4, l.tickGap)
	c.line(s.x(1), top, s.x(1), c.h-4, "zero")
	c.line(s.x(1+smallest), top, s.x(1+smallest), c.h-4, "smallest")
	for i, st := range steps {
		v := st.Verdict
		class := "label"
		if st.Kept {
			class = "label strong"
		}
		c.link(stepID(st), fmt.Sprintf("%d. %s\n%s %s\n%d pairs, %d runs\n%s", st.Seq, st.Plan.Title, v.Words(), Effect(v), v.Pairs, v.Runs, v.Reason), func() {
			at := top + l.row*float64(i)
			y := l.rowY(at)
			l.rowLabel(c, at, class, fmt.Sprintf("%d  %s", st.Seq, st.Plan.Title))
			drawInterval(c, s, v, y)
			c.text(l.width, y+4.5, "value", "end", Effect(v))
		})
	}
	return c.svg(l.class, "Effect of every step with its 95 percent interval")
}

// drawRatioAxis labels as many of forestTicks as there is room for.
func drawRatioAxis(c *canvas, s scale, top, bottom, gap float64) {
	var used []float64
	for _, r := range forestTicks {
		if r < s.lo || r > s.hi {
			continue
		}
		x, free := s.x(r), true
		for _, u := range used {
			free = free && math.Abs(u-x) >= gap
		}
		if !free {
			continue
		}
		used = append(used, x)
		c.line(x, top, x, bottom, "grid")
		c.text(x, top-5, "tick", "middle", ratioText(r, s.lo > 0.5 && s.hi < 2))
	}
}

func drawInterval(c *canvas, s scale, v experiment.Verdict, y float64) {
	class := map[experiment.Outcome]string{experiment.Improved: "good", experiment.Regressed: "bad", experiment.Broke: "bad"}[v.Outcome]
	if class == "" {
		class = "soft"
	}
	if hasInterval(v) {
		low, high := ratio(v.Low), ratio(v.High)
		a, b := s.x(low), s.x(high)
		c.line(a, y, b, y, "whisker "+class)
		end := func(x float64, beyond bool, way float64) {
			if beyond {
				c.line(x, y, x-5*way, y-4, "whisker "+class)
				c.line(x, y, x-5*way, y+4, "whisker "+class)
				return
			}
			c.line(x, y-4, x, y+4, "whisker "+class)
		}
		end(a, low < s.lo, -1)
		end(b, high > s.hi, 1)
	}
	if v.Outcome == experiment.Improved {
		c.circle(s.x(ratio(v.Effect)), y, 5, "dot "+class)
		return
	}
	c.circle(s.x(ratio(v.Effect)), y, 4.5, "ring "+class)
}

// effectOf is an effect alone, for tables: "+4.2 %".
func effectOf(before, after float64) string {
	if before <= 0 || after <= 0 {
		return ""
	}
	return ui.Percent(after/before - 1)
}
