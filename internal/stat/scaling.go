package stat

import (
	"errors"
	"fmt"
	"math"
)

// Scaling is the Universal Scalability Law,
//
//	X(N) = λN / (1 + σ(N−1) + κN(N−1))
//
// (Gunther 2007, Guerrilla Capacity Planning, ch. 4–6): what N hosts, workers
// or users bring.
//
//	X ^        λN
//	  |      .
//	  |    .     ______   σ: what is done one at a time bends it
//	  |  .  __---      ---___   κ: agreeing with each other turns it down
//	  | ._-
//	  +-----------------------> N
type Scaling struct {
	// Lambda is what one alone brings, per second.
	Lambda float64 `json:"lambda"`
	// Sigma, contention, is from 0 to 1: the part that is serial. Without Kappa
	// this is Amdahl's law.
	Sigma float64 `json:"sigma"`
	// Kappa, coherence, is at least 0: what each pair costs.
	Kappa float64 `json:"kappa"`
}

// At is X(n), n ≥ 1.
func (s Scaling) At(n float64) float64 { return s.Lambda * gain(n, s.Sigma, s.Kappa) }

// Peak is the n ≥ 1 above which more make it slower, √((1−σ)/κ); +Inf if there
// is none.
func (s Scaling) Peak() float64 {
	if s.Kappa <= 0 {
		return math.Inf(1)
	}
	return math.Max(1, math.Sqrt((1-s.Sigma)/s.Kappa))
}

// Limit is the most that any n brings; +Inf if there is no limit.
func (s Scaling) Limit() float64 {
	if n := s.Peak(); !math.IsInf(n, 1) {
		return s.At(n)
	}
	if s.Sigma > 0 {
		return s.Lambda / s.Sigma // X(n) for n → ∞
	}
	return math.Inf(1)
}

// Needed is the least n ≥ 1 that brings x; +Inf if none does.
func (s Scaling) Needed(x float64) float64 {
	switch {
	case s.At(1) >= x:
		return 1
	case x > s.Limit():
		return math.Inf(1)
	}
	// X(n) = x is xκn² + (x(σ−κ) − λ)n + x(1−σ) = 0; the lesser root is on the
	// rising side.
	a, b, c := x*s.Kappa, x*(s.Sigma-s.Kappa)-s.Lambda, x*(1-s.Sigma)
	if b >= 0 {
		return math.Inf(1) // x is the limit itself, which no n reaches
	}
	// This form keeps its digits when a is small, and is right when it is 0.
	return 2 * c / (-b + math.Sqrt(math.Max(b*b-4*a*c, 0)))
}

// gain is X(n)/λ.
func gain(n, sigma, kappa float64) float64 { return n / (1 + sigma*(n-1) + kappa*n*(n-1)) }

// Point is one measurement: n ≥ 1 of them brought X > 0 per second.
type Point struct{ N, X float64 }

// Parameters of the law. MinLevels is how many different N they need: with two
// only λ and σ can be told.
const (
	parameters = 3
	MinLevels  = 2
)

// ScalingFit is the law that fits points best.
type ScalingFit struct {
	Scaling
	// Levels is how many different N there are.
	Levels int `json:"levels"`
	// DF are the degrees of freedom: points less parameters; without any there
	// is no interval.
	DF int `json:"df"`
	// Residual is the relative standard deviation of the points from the
	// curve: 0.03 is 3 %. 0 without degrees of freedom.
	Residual float64 `json:"residual"`
	// WithoutKappa: there were too few levels to tell κ, which is taken as 0.
	WithoutKappa bool `json:"without_kappa,omitempty"`

	points []Point
	sum    float64 // squared residuals of the logarithm
	most   box     // what the parameters may be
}

// box bounds σ and κ.
type box struct{ lowS, highS, lowK, highK float64 }

// ErrTooFewLevels is in the error about points of fewer than MinLevels different N.
var ErrTooFewLevels = errors.New("too few levels")

// FitScaling fits the law by least squares of the logarithm, for noise of
// throughput is a share of it, within 0 ≤ σ ≤ 1 and 0 ≤ κ ≤ 1.
//
// λ is a factor, so for any σ and κ the best one is known; what remains are two
// numbers in a box (Golub & Pereyra 1973, SIAM J. Numer. Anal. 10:413, variable
// projection), which damped Gauss–Newton steps find (Marquardt 1963). It begins
// at several places, among them no loss at all. gonum/optimize has neither
// least squares nor bounds, github.com/codahale/usl gives no intervals, and the
// usual fit of a parabola to N/X (Gunther, ch. 5) gives the errors of the least X
// the most weight and negative parameters where they are 0.
func FitScaling(points []Point) (*ScalingFit, error) {
	levels := map[float64]bool{}
	for _, p := range points {
		if !(p.N >= 1 && p.X > 0) || math.IsInf(p.N, 0) || math.IsInf(p.X, 0) {
			return nil, fmt.Errorf("fit a scaling curve: point (%g, %g): N must be at least 1 and X above 0", p.N, p.X)
		}
		levels[p.N] = true
	}
	if len(levels) < MinLevels {
		return nil, fmt.Errorf("fit a scaling curve: %w: %d, and at least %d are needed", ErrTooFewLevels, len(levels), MinLevels)
	}
	f := &ScalingFit{Levels: len(levels), points: points, most: box{highS: 1, highK: 1}}
	free := parameters
	if len(levels) < parameters {
		f.WithoutKappa, f.most.highK, free = true, 0, parameters-1
	}
	f.DF = len(points) - free
	sigma, kappa, sum := f.least(f.most, nil, 0)
	f.Sigma, f.Kappa, f.sum = sigma, kappa, sum
	mean := 0.0
	for _, p := range points {
		mean += math.Log(p.X / gain(p.N, sigma, kappa))
	}
	f.Lambda = math.Exp(mean / float64(len(points)))
	if f.DF > 0 {
		f.Residual = math.Sqrt(sum / float64(f.DF))
	}
	return f, nil
}
