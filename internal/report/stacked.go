package report

import (
	"fmt"
	"html/template"
	"strings"

	"kasoku/internal/ui"
)

// segmentColours is the number of colours for parts in the style sheet;
// further parts share the last one.
const segmentColours = 6

// stacked is a picture of parts, before and after, on one scale.
type stacked struct {
	label string // for those who cannot see it
	parts []segmentPart
	after bool
	end   string // name of the later one
}

// segmentPart is one part; class is its colour, text what is written in it.
type segmentPart struct {
	name, text, class string
	before, after     float64 // seconds
}

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

// timeSegment is the class of the i-th part of a request's time.
func timeSegment(i int, p TimeShare) string {
	switch p.Part {
	case partStatement:
		return fmt.Sprintf("seg-%d", min(i, segmentColours-1))
	case partRest:
		return "seg-rest"
	case partOutside:
		return "seg-foreign"
	case partWeb:
		return "seg-web"
	}
	return "seg-generator"
}

// cpuBars draws where a right answer's CPU time goes.
func cpuBars(m *Model) template.HTML {
	s := stacked{label: "CPU time of one right answer by service, before and after", after: m.After != nil, end: capital(m.end())}
	for i, p := range m.CPU {
		s.parts = append(s.parts, segmentPart{p.Name, p.Name, segment(i, p), p.Before, p.After})
	}
	if m.Before == nil {
		return ""
	}
	return s.pictures()
}

// timeBars draws where the time of a right answer goes.
func timeBars(m *Model) template.HTML {
	s := stacked{label: "Time of one right answer by service and statement, before and after", after: m.After != nil, end: capital(m.end())}
	for i, p := range m.Times {
		text := p.Name
		if p.Part == partStatement {
			text = fmt.Sprint(i + 1)
		}
		s.parts = append(s.parts, segmentPart{oneLine(p.Name), text, timeSegment(i, p), p.Before, p.After})
	}
	return s.pictures()
}

func (s stacked) pictures() template.HTML {
	if s.total(false) == 0 && s.total(true) == 0 {
		return ""
	}
	return pictures(s.draw)
}

func (s stacked) total(after bool) (sum float64) {
	for _, p := range s.parts {
		sum += p.of(after)
	}
	return sum
}

func (p segmentPart) of(after bool) float64 {
	if after {
		return p.after
	}
	return p.before
}

// enlargeBelow: a bar shorter than this part of the longest is drawn a second
// time at full length, so that its parts can be told.
const enlargeBelow = 0.5

// bar is one row of the picture.
type bar struct {
	label string
	after bool
	full  float64 // seconds that fill the width
	large bool    // drawn at a larger scale
}

func (s stacked) bars() []bar {
	b, a := s.total(false), s.total(true)
	most := max(b, a)
	out := []bar{{"As found", false, most, false}}
	if !s.after {
		return out
	}
	out = append(out, bar{s.end, true, most, false})
	for _, x := range []struct {
		total float64
		after bool
		label string
	}{{b, false, "As found"}, {a, true, s.end}} {
		if x.total > 0 && x.total < enlargeBelow*most {
			out = append(out, bar{x.label + ", enlarged " + ui.Factor(most/x.total), x.after, x.total, true})
		}
	}
	return out
}

func (s stacked) draw(l layout) string {
	bars := s.bars()
	const height = 26.0
	label, row := 196.0, height+12
	if l.label == 0 {
		label, row = 0, height+30
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
		x := scale{0, b.full, label, l.width - 72, false}
		s.drawBar(c, x, b, y, height)
		if !b.large {
			c.text(x.x(s.total(b.after))+8, y+height/2+4.5, "value", "start", ui.Seconds(s.total(b.after)))
		}
	}
	return c.svg(l.class, s.label)
}

func (s stacked) drawBar(c *canvas, x scale, b bar, y, height float64) {
	at := 0.0
	whole := s.total(b.after)
	for _, p := range s.parts {
		v := p.of(b.after)
		if v <= 0 {
			continue
		}
		x0, x1 := x.x(at), x.x(at+v)
		at += v
		c.group(fmt.Sprintf("%s, %s: %s per right answer, %s", b.label, p.name, ui.Seconds(v), ui.Share(v/whole)), func() {
			c.rect(x0, y, x1-x0, height, "seg "+p.class)
			if x1-x0 > textWidth(p.text)+8 {
				c.text((x0+x1)/2, y+height/2+4.5, strings.TrimSpace("in-"+p.class+" inseg"), "middle", p.text)
			}
		})
	}
}
