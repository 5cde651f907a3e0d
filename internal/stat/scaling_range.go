package stat

import (
	"math"
)

// Range is an interval; High may be +Inf.
type Range struct{ Low, High float64 }

// Holds reports whether v lies in it.
func (r Range) Holds(v float64) bool { return r.Low <= v && v <= r.High }

// The intervals are profile likelihood's (Bates & Watts 1988, Nonlinear
// Regression Analysis, ch. 6): a value is in the interval if some curve that
// has it leaves a sum of squares of at most
//
//	S(v) ≤ S·(1 + t²/ν)
//
// with S the least sum, ν the degrees of freedom and t Student's quantile. The
// delta method gives intervals that are symmetric and go below 0 where σ and κ
// are near 0, as they mostly are; bootstrap of four to eight points resamples
// hardly anything. Their coverage is tested (TestScalingCoverage).

// reach is the largest sum of squares in the interval of the level (0.95).
func (f *ScalingFit) reach(level float64) float64 {
	t := f.student(level)
	return f.sum + f.variance()*t*t
}

func (f *ScalingFit) student(level float64) float64 {
	return studentQuantile(f.DF, (1+level)/2)
}

// variance of one measurement's logarithm; points that lie on a curve by chance
// are no proof that measurements repeat so well (minSD).
func (f *ScalingFit) variance() float64 {
	return math.Max(f.sum/float64(f.DF), minSD*minSD)
}

// SigmaRange is the interval of σ at the level, 0 to 1 without degrees of
// freedom.
func (f *ScalingFit) SigmaRange(level float64) Range {
	return f.profile(level, f.Sigma, f.most.lowS, f.most.highS, func(b *box, v float64) { b.lowS, b.highS = v, v })
}

// KappaRange is the interval of κ; see SigmaRange.
func (f *ScalingFit) KappaRange(level float64) Range {
	return f.profile(level, f.Kappa, f.most.lowK, f.most.highK, func(b *box, v float64) { b.lowK, b.highK = v, v })
}

func (f *ScalingFit) profile(level, best, low, high float64, fix func(*box, float64)) Range {
	if f.DF < 1 {
		return Range{low, high}
	}
	limit := f.reach(level)
	within := func(v float64) bool {
		b := f.most
		fix(&b, v)
		_, _, sum := f.least(b, nil, limit)
		return sum <= limit
	}
	return Range{edge(best, low, within), edge(best, high, within)}
}

// edge is the last value within, going from one that is to the end.
func edge(from, end float64, within func(float64) bool) float64 {
	if within(end) {
		return end
	}
	for range 30 { // to a thousand-millionth
		middle := (from + end) / 2
		if within(middle) {
			from = middle
		} else {
			end = middle
		}
	}
	return from
}

// ThroughputRange is the interval of the mean that n bring; 0 to +Inf without
// degrees of freedom.
func (f *ScalingFit) ThroughputRange(n, level float64) Range {
	if f.DF < 1 {
		return Range{0, math.Inf(1)}
	}
	limit := f.reach(level)
	best := math.Log(f.At(n))
	within := func(log float64) bool {
		_, _, sum := f.least(f.most, &Point{N: n, X: math.Exp(log)}, limit)
		return sum <= limit
	}
	// A thousandfold is more than any extrapolation is used for.
	const far = 7
	r := Range{math.Exp(edge(best, best-far, within)), math.Exp(edge(best, best+far, within))}
	if r.Low <= math.Exp(best-far) {
		r.Low = 0
	}
	if r.High >= math.Exp(best+far) {
		r.High = math.Inf(1)
	}
	return r
}

// NewRange is the interval that one new measurement of n falls into: that of
// the mean with the noise of one measurement.
func (f *ScalingFit) NewRange(n, level float64) Range {
	mean := f.ThroughputRange(n, level)
	if f.DF < 1 || mean.Low == 0 || math.IsInf(mean.High, 1) {
		return mean
	}
	x := f.At(n)
	noise := f.student(level) * math.Sqrt(f.variance())
	return Range{x * math.Exp(-math.Hypot(math.Log(x/mean.Low), noise)), x * math.Exp(math.Hypot(math.Log(mean.High/x), noise))}
}

// NeededRange is the interval of the least whole n that brings x, looked for up
// to most: Low is the first that may, High the first that surely does, +Inf if
// none up to most does. Both are +Inf if none may.
func (f *ScalingFit) NeededRange(x, level float64, most int) Range {
	none := Range{math.Inf(1), math.Inf(1)}
	if f.DF < 1 {
		return Range{1, math.Inf(1)}
	}
	limit := f.reach(level)
	// reaches: some curve that is not ruled out goes through (n, x).
	reaches := func(n int) bool {
		_, _, sum := f.least(f.most, &Point{N: float64(n), X: x}, limit)
		return sum <= limit
	}
	may := func(n int) bool { return f.At(float64(n)) >= x || reaches(n) }
	surely := func(n int) bool { return f.At(float64(n)) >= x && !reaches(n) }
	low := first(1, most, may)
	if low == 0 {
		return none
	}
	r := Range{float64(low), math.Inf(1)}
	if high := first(low, most, surely); high != 0 {
		r.High = float64(high)
	}
	return r
}

// first is the first n from low to high for which ok holds; 0 if none. It looks
// in steps of a twentieth, for a curve that rises and falls holds only in
// between, and halves the step that it was found in.
func first(low, high int, ok func(int) bool) int {
	before := low - 1
	for n := low; ; {
		if ok(n) {
			for n-before > 1 {
				if middle := (n + before) / 2; ok(middle) {
					n = middle
				} else {
					before = middle
				}
			}
			return n
		}
		if n >= high {
			return 0
		}
		before, n = n, min(n+max(1, n/20), high)
	}
}
