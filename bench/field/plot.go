package main

import (
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// point is one step of a play: what it was expected to bring and what it brought, as
// factors of the score. Low and High are its interval of 95 %.
type point struct {
	System, Commit, Step           string
	Predicted, Measured, Low, High float64
	Kept                           bool
}

var pointColumns = []string{"system", "commit", "step", "predicted", "measured", "low", "high", "kept"}

// readPoints reads field/steps.csv.
func readPoints(r io.Reader) ([]point, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 || !slices.Equal(rows[0], pointColumns) {
		return nil, fmt.Errorf("the first line has to be %s, and a step has to follow", strings.Join(pointColumns, ","))
	}
	var out []point
	for i, row := range rows[1:] {
		p := point{System: row[0], Commit: row[1], Step: row[2], Kept: row[7] == "yes"}
		for j, to := range []*float64{&p.Predicted, &p.Measured, &p.Low, &p.High} {
			v, err := strconv.ParseFloat(row[3+j], 64)
			if err != nil || v < plotLeast || v > plotMost {
				return nil, fmt.Errorf("line %d, %s: %q is no factor from %g to %g", i+2, pointColumns[3+j], row[3+j], plotLeast, plotMost)
			}
			*to = v
		}
		out = append(out, p)
	}
	return out, nil
}

const (
	plotLeast, plotMost = 0.7, 5.0 // both axes, logarithmic
	plotSize, plotEdge  = 460.0, 56.0
	// plotNear is how far a prediction may be from what was measured.
	plotNear = 1.5
)

// near counts the kept steps whose prediction was within plotNear, and all kept ones.
func near(points []point) (within, kept int) {
	for _, p := range points {
		if !p.Kept {
			continue
		}
		if kept++; p.Predicted <= plotNear*p.Measured && p.Measured <= plotNear*p.Predicted {
			within++
		}
	}
	return within, kept
}

// at is where a factor lies on an axis, from 0 to plotSize.
func at(factor float64) float64 {
	return plotSize * math.Log(factor/plotLeast) / math.Log(plotMost/plotLeast)
}

// drawPoints writes an SVG picture: predicted to the right, measured upwards; a dot is a
// step that was kept, a ring one that was put back; within the band a prediction is
// right within plotNear.
func drawPoints(w io.Writer, points []point) error {
	var b strings.Builder
	width, height := plotSize+plotEdge+190, plotSize+plotEdge+16
	x := func(v float64) float64 { return plotEdge + at(v) }
	y := func(v float64) float64 { return 8 + plotSize - at(v) }
	within, kept := near(points)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" font-family="sans-serif" font-size="12" role="img" aria-label="Predicted and measured gain of %d steps">`+"\n", width, height, width, len(points))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/><clipPath id="c"><rect x="%.1f" y="8" width="%.0f" height="%.0f"/></clipPath>`+"\n", plotEdge, plotSize, plotSize)
	fmt.Fprintf(&b, `<polygon clip-path="url(#c)" fill="#e6f0e6" points="%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f"/>`+"\n",
		x(plotLeast), y(plotLeast/plotNear), x(plotLeast), y(plotLeast*plotNear), x(plotMost), y(plotMost*plotNear), x(plotMost), y(plotMost/plotNear))
	fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#6a6"/>`+"\n", x(plotLeast), y(plotLeast), x(plotMost), y(plotMost))
	for _, v := range []float64{0.75, 1, 1.5, 2, 3, 4, 5} {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="8" x2="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="middle">×%g</text>`, x(v), x(v), 8+plotSize, x(v), 8+plotSize+17, v)
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">×%g</text>`+"\n", plotEdge, y(v), plotEdge+plotSize, y(v), plotEdge-6, y(v)+4, v)
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">predicted</text><text transform="translate(14 %.1f) rotate(-90)" text-anchor="middle">measured, 95 %%</text>`+"\n", plotEdge+plotSize/2, 8+plotSize+36, 8+plotSize/2)
	for i, p := range points {
		fill := "#fff"
		if p.Kept {
			fill = "#258"
		}
		fmt.Fprintf(&b, `<g><title>%s</title><line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#258"/><circle cx="%.1f" cy="%.1f" r="5" fill="%s" stroke="#258"/><text x="%.1f" y="%.1f">%d</text></g>`+"\n",
			html.EscapeString(p.System+": "+p.Step), x(p.Predicted), y(p.Low), x(p.Predicted), y(p.High), x(p.Predicted), y(p.Measured), fill, x(p.Predicted)+8, y(p.Measured)-6, i+1)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%d %s, %s</text>`+"\n", plotEdge+plotSize+14, 24+18*float64(i), i+1, html.EscapeString(p.System), html.EscapeString(p.Commit))
	}
	legend := 24 + 18*float64(len(points)) + 12
	for i, text := range []string{"dot: kept, ring: put back", fmt.Sprintf("band: within a factor of %g", plotNear), fmt.Sprintf("%d of %d kept steps are", within, kept)} {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="#555">%s</text>`+"\n", plotEdge+plotSize+14, legend+18*float64(i), text)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// plot draws the steps of one file into another.
func plot(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	points, err := readPoints(in)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	var picture strings.Builder
	if err := drawPoints(&picture, points); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(picture.String()), 0o644)
}
