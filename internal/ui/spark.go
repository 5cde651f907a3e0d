package ui

import (
	"math"
	"strings"
)

// sparks from lowest to highest (Unicode block elements).
var sparks = []rune("▁▂▃▄▅▆▇█")

// Sparkline draws the last width values, each at least 0, as bars from 0 to
// the highest of them. A value that is no number is a space.
func Sparkline(values []float64, width int) string {
	values = values[max(0, len(values)-max(width, 0)):]
	top := 0.0
	for _, v := range values {
		if v > top && !math.IsInf(v, 0) { // false for NaN
			top = v
		}
	}
	return Bars(values, width, top)
}

// Bars draws the last width values as bars from 0 to top, which higher ones
// reach, too. A value that is no number is a space.
func Bars(values []float64, width int, top float64) string {
	values = values[max(0, len(values)-max(width, 0)):]
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b.WriteRune(' ')
		case top <= 0 || v <= 0:
			b.WriteRune(sparks[0])
		default:
			b.WriteRune(sparks[int(math.Round(min(v/top, 1)*float64(len(sparks)-1)))])
		}
	}
	return b.String()
}
