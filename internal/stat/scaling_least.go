package stat

import "math"

const (
	// steps of Gauss–Newton at most, of each start; five are usual.
	steps = 100
	// settled: the sum of squares no longer falls by this share.
	settled = 1e-10
)

// least finds σ and κ within the box with the least sum of squared residuals
// of the logarithm. λ is free, or what makes the curve go through the point. It
// ends as soon as the sum is at most enough.
func (f *ScalingFit) least(b box, through *Point, enough float64) (sigma, kappa, sum float64) {
	sum = math.Inf(1)
	for _, start := range f.starts() {
		s, k := clamp(start[0], b.lowS, b.highS), clamp(start[1], b.lowK, b.highK)
		s, k, q := f.descend(b, through, s, k, enough)
		if q < sum {
			sigma, kappa, sum = s, k, q
		}
		if sum <= enough {
			break
		}
	}
	return sigma, kappa, sum
}

// starts are where least begins: at the fit once there is one, and at no loss;
// before that also where the curve bends within what was measured.
func (f *ScalingFit) starts() [][2]float64 {
	if f.Lambda > 0 {
		return [][2]float64{{f.Sigma, f.Kappa}, {0, 0}}
	}
	most := 1.0
	for _, p := range f.points {
		most = math.Max(most, p.N)
	}
	return [][2]float64{{0, 0}, {1 / most, 0}, {0.3, 0}, {0, 1 / (most * most)}, {0.1, 1 / (most * most)}}
}

func clamp(v, low, high float64) float64 { return math.Min(math.Max(v, low), high) }

// slope is the sum of squares at a place with what a Gauss–Newton step needs:
// JᵀJ and Jᵀr, J being the derivatives of the residuals by σ and κ.
type slope struct{ sum, ss, sk, kk, gs, gk float64 }

// slopeAt computes it. The residual is log X − log gain − log λ.
func (f *ScalingFit) slopeAt(through *Point, sigma, kappa float64) slope {
	at := func(p Point) (e, js, jk float64) {
		d := 1 + sigma*(p.N-1) + kappa*p.N*(p.N-1)
		return math.Log(p.X * d / p.N), (p.N - 1) / d, p.N * (p.N - 1) / d
	}
	var e0, s0, k0 float64 // log λ and its derivatives
	if through != nil {
		e0, s0, k0 = at(*through)
	} else {
		for _, p := range f.points {
			e, js, jk := at(p)
			e0, s0, k0 = e0+e, s0+js, k0+jk
		}
		n := float64(len(f.points))
		e0, s0, k0 = e0/n, s0/n, k0/n
	}
	var g slope
	for _, p := range f.points {
		r, js, jk := at(p)
		r, js, jk = r-e0, js-s0, jk-k0
		g.sum += r * r
		g.ss, g.sk, g.kk = g.ss+js*js, g.sk+js*jk, g.kk+jk*jk
		g.gs, g.gk = g.gs+js*r, g.gk+jk*r
	}
	return g
}

// descend goes down from one place. A parameter at a bound that the sum would
// push over it stays there for the step.
func (f *ScalingFit) descend(b box, through *Point, sigma, kappa, enough float64) (float64, float64, float64) {
	here, damping := f.slopeAt(through, sigma, kappa), 1e-3
	for range steps {
		ds, dk := here.step(damping, stays(sigma, b.lowS, b.highS, here.gs), stays(kappa, b.lowK, b.highK, here.gk))
		s, k := clamp(sigma+ds, b.lowS, b.highS), clamp(kappa+dk, b.lowK, b.highK)
		if s == sigma && k == kappa {
			break
		}
		next := f.slopeAt(through, s, k)
		if !(next.sum < here.sum) {
			if damping *= 10; damping > 1e12 {
				break
			}
			continue
		}
		fell := here.sum - next.sum
		sigma, kappa, here, damping = s, k, next, math.Max(damping/10, 1e-12)
		if fell <= settled*here.sum || here.sum <= enough {
			break
		}
	}
	return sigma, kappa, here.sum
}

// stays reports whether a parameter cannot move: down is where the sum falls.
func stays(v, low, high, gradient float64) bool {
	return low == high || v <= low && gradient >= 0 || v >= high && gradient <= 0
}

// step solves (JᵀJ + damping·diag JᵀJ)·step = −Jᵀr for what may move.
func (g slope) step(damping float64, holdS, holdK bool) (ds, dk float64) {
	ss, kk := g.ss*(1+damping), g.kk*(1+damping)
	switch {
	case holdS && holdK:
		return 0, 0
	case holdS:
		return 0, quotient(-g.gk, kk)
	case holdK:
		return quotient(-g.gs, ss), 0
	}
	det := ss*kk - g.sk*g.sk
	return quotient(g.sk*g.gk-kk*g.gs, det), quotient(g.sk*g.gs-ss*g.gk, det)
}

func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
