package report

import (
	"fmt"
	"html/template"
	"strings"

	"kasoku/internal/ui"
)

// segmentColours is the number of colours for services in the style sheet;
// further services share the last one.
const segmentColours = 6

// segment is the class of the i-th part of CPU.
func segment(i int, p CPUShare) string {
	switch p.Part {
	case "generator":
		return "seg-generator"
	case "foreign":
		return "seg-foreign"
	}
	return fmt.Sprintf("seg-%d", min(i, segmentColours-1))
}

// cpuBars draws where a right answer's CPU time goes, before and after, on one
// scale.
func cpuBars(m *Model) template.HTML {
	if len(m.CPU) == 0 || m.Before == nil {
		return ""
	}
	return pictures(func(l layout) string { return drawCPU(m, l) })
}

func drawCPU(m *Model, l layout) string {
	type bar struct {
		label string
		of    func(CPUShare) float64
	}
	bars := []bar{{"As found", func(p CPUShare) float64 { return p.Before }}}
	if m.After != nil {
		bars = append(bars, bar{"At the end", func(p CPUShare) float64 { return p.After }})
	}
	total := func(b bar) (sum float64) {
		for _, p := range m.CPU {
			sum += b.of(p)
		}
		return sum
	}
	most := 0.0
	for _, b := range bars {
		most = max(most, total(b))
	}
	if most == 0 {
		return ""
	}
	label := 90.0
	if l.label == 0 {
		label = 0
	}
	s := scale{0, most, label, l.width - 80, false}
	height := 24.0
	row := height + 12
	if l.label == 0 {
		row += 18
	}
	c := &canvas{w: l.width, h: row * float64(len(bars))}
	for i, b := range bars {
		y := row * float64(i)
		if l.label > 0 {
			c.text(0, y+height/2+4.5, "label", "start", b.label)
		} else {
			c.text(0, y+14, "label", "start", b.label)
			y += 20
		}
		drawBar(c, s, m.CPU, b.of, b.label, y, height)
		c.text(s.x(total(b))+8, y+height/2+4.5, "value", "start", ui.Seconds(total(b)))
	}
	return c.svg(l.class, "CPU time of one right answer by service, before and after")
}

func drawBar(c *canvas, s scale, parts []CPUShare, of func(CPUShare) float64, label string, y, height float64) {
	at := 0.0
	for i, p := range parts {
		v := of(p)
		if v <= 0 {
			continue
		}
		x0, x1 := s.x(at), s.x(at+v)
		at += v
		c.group(fmt.Sprintf("%s, %s: %s per right answer", label, p.Name, ui.Seconds(v)), func() {
			c.rect(x0, y, x1-x0, height, "seg "+segment(i, p))
			if x1-x0 > textWidth(p.Name)+12 {
				c.text((x0+x1)/2, y+height/2+4.5, strings.TrimSpace("in-"+segment(i, p)+" inseg"), "middle", p.Name)
			}
		})
	}
}
