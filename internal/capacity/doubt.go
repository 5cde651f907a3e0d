package capacity

import (
	"fmt"
	"math"

	"kasoku/internal/ui"
)

const (
	// poorFit: single runs of one configuration lie a few percent apart, so a
	// tenth is a shape that the law does not have.
	poorFit = 0.10
	// superlinear: a level that brings more than this much above its share is
	// none of the law's.
	superlinear = 0.10
	// rising: throughput that still grows so much from the last level but one to
	// the last is not all that there is.
	rising = 0.10
	// farOff: up to twice what was measured a curve may be followed with an
	// interval; beyond, its shape is a matter of belief.
	farOff = 2
)

// doubt says every reason not to believe the answer, and what to do.
func (p *Plan) doubt() {
	ns := numbers(p.Levels)
	top := ns[len(ns)-1]
	switch {
	case len(ns) == 1 && p.Axis == Users:
		p.warn("only one number of users was measured, so neither what these hosts can do at most nor how latency grows is known; measure several (--measure)")
	case len(ns) == 1:
		p.warn("only one number of %s was measured: that each further one brings as much is taken for granted, which no service does; measure at least %d numbers", p.Axis, leastToPredict)
	case p.Law.WithoutKappa:
		p.warn("two numbers of %s cannot show whether more make it slower (κ); measure at least %d", p.Axis, leastToPredict)
	case len(ns) < leastToPredict:
		p.warn("three numbers of %s fit the law's three parameters whatever they are; measure at least %d", p.Axis, leastToPredict)
	}
	if p.Law != nil && p.Law.DF < 1 {
		p.warn("there are no intervals: as many parameters as measurements; measure each level twice")
	}
	p.doubtFit()
	if p.Axis == Users {
		p.doubtUsers(ns)
		return
	}
	p.doubtNeed(top)
}

func (p *Plan) doubtFit() {
	if p.Law == nil {
		return
	}
	if p.Law.Residual > poorFit {
		worst, off := p.worst()
		p.warn("the fit is poor: measurements lie %s off the curve, %s by %s; measure longer, or look for what else differs between the levels", ui.Share(p.Law.Residual), worst.Source, ui.Percent(off))
	}
	if c := p.Check; c != nil && !c.Held {
		p.warn("without the levels of %d, the others predict %s/s there and %s/s were measured: the curve is not to be followed beyond what was measured", c.N, ui.Count(c.Predicted), ui.Count(c.Measured))
	}
	ns := numbers(p.Levels)
	for i := 1; i < len(ns); i++ {
		a, b := ns[i-1], ns[i]
		if grown := meanRate(at(p.Levels, b)) / meanRate(at(p.Levels, a)) * float64(a) / float64(b); grown > 1+superlinear {
			p.warn("from %d to %d %s throughput grew by more than their number (%s): the lesser level was not at its limit, or they are not alike", a, b, p.Axis, ui.Factor(grown*float64(b)/float64(a)))
			return
		}
	}
}

// worst is the level that lies farthest off the curve.
func (p *Plan) worst() (l Level, off float64) {
	for _, x := range p.Levels {
		if e := x.PerSecond/p.curve.at(float64(x.N)) - 1; math.Abs(e) >= math.Abs(off) {
			l, off = x, e
		}
	}
	return l, off
}

func (p *Plan) doubtUsers(ns []int) {
	if n := len(ns); n > 1 && p.Operating.Users >= ns[n-2] {
		before, last := meanRate(at(p.Levels, ns[n-2])), meanRate(at(p.Levels, ns[n-1]))
		if last > before*(1+rising) {
			p.warn("throughput still grew by %s from %d to %d users: these hosts may do more; measure with more users", ui.Percent(last/before-1), ns[n-2], ns[n-1])
		}
	}
	if p.Need != nil && p.Need.N > p.Hosts {
		p.warn("that each further host brings as much as the first is taken for granted: only %s measured; measure with more hosts and give a table of hosts and rate", hostsText(p.Hosts))
	}
}

func hostsText(n int) string {
	if n == 1 {
		return "one host was"
	}
	return ui.Count(float64(n)) + " hosts were"
}

func (p *Plan) doubtNeed(top int) {
	if p.Need == nil {
		return
	}
	switch n := p.Need.N; {
	case n == 0:
		most := ""
		if p.Law != nil && p.Law.PeakN > 0 {
			most = " (its peak is " + ui.Count(p.Law.PeakPerSecond) + "/s with " + ui.Count(math.Round(p.Law.PeakN)) + ")"
		} else if p.Law != nil && p.Law.Sigma > 0 {
			most = " (its limit is " + ui.Count(p.Law.Limit()) + "/s)"
		}
		if i := p.Need.Interval; i.Low > 0 && p.Law != nil && p.Law.DF > 0 {
			most += fmt.Sprintf(", though the interval does not rule out that %g or more do", i.Low)
		}
		p.warn("no number of %s carries it by the curve%s: find what they share, for more of them do not help", p.Axis, most)
		return
	case n > farOff*top:
		p.warn("%d is more than twice the %d %s that were measured: take it as a direction only, and measure nearer to it", n, top, p.Axis)
	case n > top:
		p.warn("%d %s were not measured, only up to %d: prove it by measuring with %d before relying on it", n, p.Axis, top, n)
	}
	if p.Need.Interval.Open && p.Law != nil && p.Law.DF > 0 {
		p.warn("the interval has no upper end: it is not ruled out that no number of %s carries it; measure more levels, and nearer to %d", p.Axis, p.Need.N)
	}
}
