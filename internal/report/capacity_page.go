package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"kasoku/internal/capacity"
	"kasoku/internal/ui"
)

//go:embed capacity.html
var capacitySource string

var capacityPage = template.Must(template.New("capacity").Parse(capacitySource))

// CapacityHTML writes the plan as one file without scripts that loads nothing.
func CapacityHTML(w io.Writer, p *capacity.Plan) error {
	var text, page bytes.Buffer
	if err := CapacityText(&text, p); err != nil {
		return err
	}
	asked := ""
	if line := capacityLine(p); line > 0 {
		asked = fmt.Sprintf("The dashed line is what has to be carried with %s left free.", ui.Share(p.Question.Headroom))
	}
	err := capacityPage.Execute(&page, map[string]any{"Plan": p, "Headline": capacityHeadline(p), "Style": template.CSS(styleSource), //nolint:gosec // this package's own
		"Picture": capacityPicture(p), "Confidence": ui.Share(p.Question.Confidence), "Asked": asked, "Text": text.String()})
	if err == nil {
		_, err = io.WriteString(w, ui.Clean(page.String())) // control characters are no HTML
	}
	if err != nil {
		return fmt.Errorf("report: write the page of a capacity plan: %w", err)
	}
	return nil
}

func capacityHeadline(p *capacity.Plan) string {
	switch {
	case p.Need == nil:
		return fmt.Sprintf("What %s carry", p.Axis)
	case p.Need.N == 0:
		return fmt.Sprintf("No number of %s carries %s/s", p.Axis, ui.Count(p.Rate))
	}
	return fmt.Sprintf("%s for %s/s", needed(p, p.Need.N), ui.Count(p.Rate))
}

// capacityLine is the height of the line that must be reached; 0: there is none.
// Where users are varied, it is hosts that are counted, which are not drawn.
func capacityLine(p *capacity.Plan) float64 {
	if p.Axis == capacity.Users {
		return 0
	}
	return p.Rate / (1 - p.Question.Headroom)
}

// capacityPicture draws the law with what was measured; "" with a single level.
func capacityPicture(p *capacity.Plan) template.HTML {
	if p.Law == nil {
		return ""
	}
	return pictures(func(l layout) string { return drawCapacity(p, l) })
}

// Sizes of the picture in pixels: its height, and what the axes' labels take.
const (
	capacityHeight = 320
	capacityLeft   = 48
	capacityBottom = 40
	capacityTop    = 12
	// capacitySegments of the curve: more than can be told apart.
	capacitySegments = 120
)

func drawCapacity(p *capacity.Plan, l layout) string {
	c := &canvas{w: l.width, h: capacityHeight}
	most, top := 1.0, capacityLine(p)
	for _, x := range p.Curve {
		most, top = math.Max(most, float64(x.N)), math.Max(top, math.Max(x.PerSecond, x.Measured))
	}
	for _, x := range p.Levels {
		top = math.Max(top, x.PerSecond)
	}
	bottom := float64(capacityHeight - capacityBottom)
	across := scale{0, most * 1.04, capacityLeft, l.width - 4, false}
	up := scale{0, top * 1.06, 0, bottom - capacityTop, false}
	y := func(v float64) float64 { return bottom - up.x(v) }
	for _, v := range up.ticks(l.tickGap) {
		c.line(capacityLeft, y(v), l.width, y(v), "grid")
		c.text(capacityLeft-6, y(v)+4, "tick", "end", tickText(v))
	}
	for _, v := range across.ticks(l.tickGap) {
		if v == math.Trunc(v) {
			c.text(across.x(v), bottom+16, "tick", "middle", tickText(v))
		}
	}
	c.text(l.width, bottom+33, "label", "end", string(p.Axis))
	c.line(capacityLeft, bottom, l.width, bottom, "zero")
	if line := capacityLine(p); line > 0 {
		c.line(capacityLeft, y(line), l.width, y(line), "smallest")
	}
	step := (most*1.02 - 1) / capacitySegments
	for i := range capacitySegments {
		a, b := 1+float64(i)*step, 1+float64(i+1)*step
		c.line(across.x(a), y(p.Law.At(a)), across.x(b), y(p.Law.At(b)), "level")
	}
	for _, x := range p.Curve {
		if i := x.Interval; !i.Open {
			c.line(across.x(float64(x.N)), y(i.Low), across.x(float64(x.N)), y(i.High), "whisker soft")
		}
	}
	for _, x := range p.Levels {
		c.group(fmt.Sprintf("%s: %d carried %s/s", x.Source, x.N, ui.Count(x.PerSecond)), func() { c.circle(across.x(float64(x.N)), y(x.PerSecond), 4, "dot") })
	}
	if p.Need != nil && p.Need.N > 0 && p.Operating == nil {
		c.group(fmt.Sprintf("%s needed", needed(p, p.Need.N)), func() {
			c.circle(across.x(float64(p.Need.N)), y(p.Need.PerSecond), 6, "ring soft")
		})
	}
	return c.svg(l.class, capacityHeadline(p))
}
