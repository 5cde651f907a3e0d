// Package ratio sums up a figure that was measured once a round.
//
// In: one value per round. Out: median, least and most.
package ratio

import (
	"fmt"
	"math"
	"slices"
)

// Summary of values of several rounds; N is 0 if there is none.
type Summary struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Of sums up values; what is not a number is left out.
func Of(values []float64) Summary {
	var v []float64
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return Summary{}
	}
	slices.Sort(v)
	mid := len(v) / 2
	m := v[mid]
	if len(v)%2 == 0 {
		m = (v[mid-1] + v[mid]) / 2
	}
	return Summary{N: len(v), Median: m, Min: v[0], Max: v[len(v)-1]}
}

// Pairs divides a by b round by round and sums up. NaN marks a round in which
// one of them did not take part; such a round is left out, as is a divisor 0.
func Pairs(a, b []float64) Summary {
	var r []float64
	for i := range min(len(a), len(b)) {
		if b[i] != 0 {
			r = append(r, a[i]/b[i])
		}
	}
	return Of(r)
}

// Lower is the series with the lower median. A series is one way to run a
// tool; taking the better run of each round instead would compare with a tool
// that knows beforehand which way will do better, and reward its noise.
func Lower(a, b []float64) []float64 { return pick(a, b, func(a, b float64) bool { return a <= b }) }

// Higher is the series with the higher median.
func Higher(a, b []float64) []float64 { return pick(a, b, func(a, b float64) bool { return a >= b }) }

func pick(a, b []float64, first func(a, b float64) bool) []float64 {
	x, y := Of(a), Of(b)
	if y.N == 0 || x.N > 0 && first(x.Median, y.Median) {
		return a
	}
	return b
}

// Text is median and range with the given number of decimals; "–" if empty.
func (s Summary) Text(decimals int) string {
	if s.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", decimals, s.Median, decimals, s.Min, decimals, s.Max)
}
