package history

import "strings"

// bars of eighths (Unicode block elements).
var bars = []rune("▁▂▃▄▅▆▇█")

// Spark draws scores in at most width characters, the lowest as the lowest
// bar; several points in one character are averaged. A change stands as |
// before its point. Without points it is "".
func (s *Series) Spark(width int) string {
	n := len(s.Points)
	if n == 0 || width < 1 {
		return ""
	}
	cells := min(n, width)
	heights := make([]float64, cells)
	for c := range cells {
		from, to := c*n/cells, (c+1)*n/cells
		for _, p := range s.Points[from:to] {
			heights[c] += p.Score / float64(to-from)
		}
	}
	low, high := heights[0], heights[0]
	for _, h := range heights {
		low, high = min(low, h), max(high, h)
	}
	cut := make([]bool, cells)
	for _, c := range s.Changes {
		// The first cell that begins at the change or behind it.
		cut[min((c.At*cells+n-1)/n, cells-1)] = true
	}
	var b strings.Builder
	for c, h := range heights {
		if cut[c] {
			b.WriteByte('|')
		}
		i := 0
		if high > low {
			i = int((h - low) / (high - low) * float64(len(bars)-1))
		}
		b.WriteRune(bars[i])
	}
	return b.String()
}
