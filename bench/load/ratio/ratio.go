// Package ratio sums up a figure that was measured once a round.
//
// In: one value per round. Out: median, least and most, and the interval that
// the true median lies in.
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
	// Low and High are the ends of the interval of the median (see Coverage)
	// if Bounded; fewer than Least values have none.
	Low     float64 `json:"low,omitempty"`
	High    float64 `json:"high,omitempty"`
	Bounded bool    `json:"bounded"`
}

// Coverage is how sure the interval of the median is at least.
const Coverage = 0.95

// Least is how many values an interval takes: with five, all lie on one side
// of the true median in 2 · ½⁵ = 6 % of all cases.
const Least = 6

// interval is the sign test's interval of the median of n values: which of
// them, counted from 0 in ascending order, are its ends. It asks nothing of
// how the values are distributed but that the rounds do not depend on each
// other: k or fewer of n lie below the median with the chance
// Σ_{i≤k} C(n,i)/2ⁿ, so the (k+1)th value from each end bounds it where twice
// that chance of one less is at most 1 − Coverage (Conover, Practical
// Nonparametric Statistics, 3rd ed., 3.2).
func interval(n int) (low, high int, ok bool) {
	if n < Least {
		return 0, 0, false
	}
	chance := math.Ldexp(1, -n) // of i values below the median, i = 0
	tail := 0.0                 // of i or fewer
	for i := range n {
		if tail += chance; 2*tail > 1-Coverage {
			return i - 1, n - i, true
		}
		chance *= float64(n-i) / float64(i+1)
	}
	return 0, 0, false
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
	s := Summary{N: len(v), Median: m, Min: v[0], Max: v[len(v)-1]}
	if low, high, ok := interval(len(v)); ok {
		s.Low, s.High, s.Bounded = v[low], v[high], true
	}
	return s
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

// Text is the median with the given number of decimals, and in square brackets
// its interval or, where there is none, in round ones the least and the most;
// "–" if empty.
func (s Summary) Text(decimals int) string {
	switch {
	case s.N == 0:
		return "–"
	case s.Bounded:
		return fmt.Sprintf("%.*f [%.*f–%.*f]", decimals, s.Median, decimals, s.Low, decimals, s.High)
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", decimals, s.Median, decimals, s.Min, decimals, s.Max)
}
