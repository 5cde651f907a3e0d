package capacity

import (
	"math"
	"slices"

	"kasoku/internal/stat"
)

// curve is the law, or with a single level a straight line.
type curve struct {
	fit        *stat.ScalingFit // nil: a line
	one        float64          // what one brings, of a line
	confidence float64
}

func (c curve) at(n float64) float64 {
	if c.fit == nil {
		return c.one * n
	}
	return c.fit.At(n)
}

func (c curve) peak() float64 {
	if c.fit == nil {
		return math.Inf(1)
	}
	return c.fit.Peak()
}

func (c curve) needed(x float64) float64 {
	if c.fit == nil {
		return math.Max(1, x/c.one)
	}
	return c.fit.Needed(x)
}

// between is the interval of what n bring.
func (c curve) between(n float64) Interval {
	if c.fit == nil {
		return Interval{Open: true}
	}
	return interval(c.fit.ThroughputRange(n, c.confidence))
}

// neededRange is the interval of how many bring x, looked for up to most.
func (c curve) neededRange(x float64, most int) Interval {
	if c.fit == nil || c.fit.DF < 1 {
		return Interval{Open: true}
	}
	return interval(c.fit.NeededRange(x, c.confidence, most))
}

const (
	// leastToPredict levels: three parameters and one to see whether they are right.
	leastToPredict = 4
	// nearEnough: a prediction that is off by less than a twentieth is right for
	// all who count whole hosts, however narrow its interval is.
	nearEnough = 0.05
)

// predictLargest leaves the largest level out and predicts it from the others.
func (p *Plan) predictLargest() {
	ns := numbers(p.Levels)
	if len(ns) < leastToPredict {
		return
	}
	n := ns[len(ns)-1]
	rest := slices.DeleteFunc(slices.Clone(p.Levels), func(l Level) bool { return l.N == n })
	f, err := stat.FitScaling(points(rest))
	if err != nil || f.DF < 1 {
		return // nothing to say how far off it may be
	}
	r := f.NewRange(float64(n), p.Question.Confidence)
	c := &Check{N: n, Predicted: f.At(float64(n)), Interval: interval(r), Measured: meanRate(at(p.Levels, n))}
	c.Held = r.Holds(c.Measured) || math.Abs(c.Measured/c.Predicted-1) < nearEnough
	p.Check = c
}

// mostDrawn points of the curve that was not measured.
const mostDrawn = 8

// draw makes the points that are told: what was measured, how many are needed
// and those next to it.
func (p *Plan) draw() {
	ns := numbers(p.Levels)
	if p.Axis != Users && p.Need != nil && p.Need.N > 0 {
		ns = append(ns, p.Need.N, p.Need.N+1, max(1, p.Need.N-1))
		if r := p.Need.Interval; !r.Open {
			ns = append(ns, int(r.Low), int(r.High))
		}
	}
	if p.Operating != nil {
		ns = append(ns, p.Operating.Users)
	}
	top := slices.Max(ns)
	for n := 1; n < top && p.Axis != Users && top <= mostDrawn; n++ {
		ns = append(ns, n)
	}
	slices.Sort(ns)
	for _, n := range slices.Compact(ns) {
		if n < 1 {
			continue
		}
		p.Curve = append(p.Curve, Point{N: n, PerSecond: p.curve.at(float64(n)), Interval: p.curve.between(float64(n)), Measured: meanRate(at(p.Levels, n))})
	}
}
