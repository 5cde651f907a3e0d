package history

import (
	"math"
	"slices"
)

func logsOf(points []Point) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = math.Log(p.Score)
	}
	return out
}

const (
	// aside is how many neighbours on either side are asked.
	aside = 3
	// witnesses among them must have seen about the same for a point to count:
	// three points of a kind are a level, two may still be chance.
	witnesses = 2
	// far, in standard deviations, is no longer the same: of normal noise one
	// pair in 200 lies that far apart, and hardly any point from all its
	// neighbours.
	far = 4
	// fewest points in which outliers are told: of less the noise is not known
	// well enough to judge one of them by it.
	fewest = 15
	// leastNoise keeps noise from being nothing when scores happen to be equal:
	// no benchmark repeats to better than 0.1 % (internal/stat has the same).
	leastNoise = 0.001
)

// withoutOutliers replaces points that are far from nearly all of their
// neighbours by the neighbours' median, after Hampel's identifier (Davies &
// Gather 1993, JASA 88:782). Unlike that it asks for witnesses, so that the last
// point before a step is no outlier when the one before it was.
func withoutOutliers(logs []float64) (clean []float64, outlier []bool) {
	clean, outlier = slices.Clone(logs), make([]bool, len(logs))
	if len(logs) < fewest {
		return clean, outlier
	}
	limit := far * noise(logs)
	for i, x := range logs {
		from := min(max(0, i-aside), len(logs)-2*aside-1) // at an end, more on the other side
		around := logs[from : from+2*aside+1]
		alike := -1 // itself
		for _, y := range around {
			if math.Abs(x-y) <= limit {
				alike++
			}
		}
		if alike < witnesses {
			clean[i], outlier[i] = median(around), true
		}
	}
	return clean, outlier
}

// noise is the standard deviation of points around their level: from the
// differences of neighbours, of which few are steps, by their median, which a
// few do not move. For normal noise the median of |difference| is
// 0.6745 · √2 · σ.
func noise(logs []float64) float64 {
	var diffs []float64
	for i := 1; i < len(logs); i++ {
		diffs = append(diffs, math.Abs(logs[i]-logs[i-1]))
	}
	return math.Max(median(diffs)/(0.6745*math.Sqrt2), leastNoise)
}

func median(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	if len(s) == 0 {
		return 0
	}
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}
