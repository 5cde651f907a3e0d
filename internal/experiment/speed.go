package experiment

import (
	"math"

	"kasoku/internal/stat"
)

const (
	// slopeRidge is the prior of a slope of 0, in squared logarithms: as much as
	// two differences between runs of 7 % speed each say. On a machine whose speed
	// hardly changes the slope therefore stays near 0, where it belongs.
	slopeRidge = 0.01
	// mostSlope: a score cannot follow the machine's speed more than in
	// proportion; above that it is chance.
	mostSlope = 1
	// slopeMemory is what one difference leaves of those before it, so that the
	// slope follows a service whose work changes: some fifty count.
	slopeMemory = 0.98
	// shiftLevel is the two-sided p-value below which the machine's speed counts
	// as another on either side.
	shiftLevel = 0.1
	// surelyShifted is that of a warning: by chance it comes once in a hundred
	// experiments.
	surelyShifted = 0.01
)

// Slope is how a service's score follows the speed of the machine's caches:
// score ∝ speed^Value. It is learned from successive runs of the same side, whose
// difference no candidate makes. The zero Slope knows nothing.
type Slope struct {
	// Products and Squares are Σ of speed × score and of speed², of differences
	// of logarithms.
	Products float64 `json:"products"`
	Squares  float64 `json:"squares"`
}

// Note takes in two runs of the same, one after the other.
func (s *Slope) Note(was, is Sample) {
	if was.Speed <= 0 || is.Speed <= 0 || was.Score <= 0 || is.Score <= 0 {
		return
	}
	x, y := math.Log(is.Speed/was.Speed), math.Log(is.Score/was.Score)
	s.Products = slopeMemory*s.Products + x*y
	s.Squares = slopeMemory*s.Squares + x*x
}

// Value from 0 to 1.
func (s Slope) Value() float64 {
	return min(max(s.Products/(s.Squares+slopeRidge), 0), mostSlope)
}

// Correction is how a verdict was freed of the machine's speed.
type Correction struct {
	// Slope that the last pair was corrected with.
	Slope float64 `json:"slope"`
	// Raw effect, without the correction.
	Raw float64 `json:"raw"`
	// Shift of the machine's speed from baseline to candidate, as a fraction, and
	// the two-sided p-value of there being none.
	Shift float64 `json:"shift"`
	P     float64 `json:"p"`
}

// corrected pairs of an experiment, as logarithms of candidate / baseline: raw,
// of the machine's speed, and raw without what the speed explains. Each pair is
// corrected with the slope that was known before it. Given all before, the coin
// decides the sign of a pair without an effect, corrected or not; so the test
// keeps its level whatever the slope is. (A slope that the same pairs tell
// would not allow that. Deng et al. 2013, Improving the sensitivity of online
// controlled experiments by utilizing pre-experiment data, fit it outside, too.)
type corrected struct {
	slope            *Slope
	raw, speed, free []float64
	last             map[Side]Sample
}

func (c *corrected) add(b, cand Sample) {
	y, x := math.Log(cand.Score/b.Score), 0.0
	if b.Speed > 0 && cand.Speed > 0 {
		x = math.Log(cand.Speed / b.Speed)
	}
	c.raw, c.speed = append(c.raw, y), append(c.speed, x)
	c.free = append(c.free, y-c.slope.Value()*x)
	for _, s := range []Sample{b, cand} {
		if was, ok := c.last[s.Side]; ok {
			c.slope.Note(was, s)
		}
		c.last[s.Side] = s
	}
}

// told is nil as long as no pair was corrected.
func (c *corrected) told() *Correction {
	mean, _ := stat.MeanSD(c.raw)
	out := &Correction{Slope: c.slope.Value(), Raw: math.Expm1(mean), P: 1}
	changed := false
	for i := range c.raw {
		changed = changed || c.raw[i] != c.free[i]
	}
	if !changed {
		return nil
	}
	shift, _ := stat.MeanSD(c.speed)
	out.Shift = math.Expm1(shift)
	if t, err := stat.OneSample(c.speed); err == nil {
		out.P = 2 * min(t.PGreater, t.PLess)
	}
	return out
}

// look decides by the corrected pairs. The speed is measured without load, so a
// candidate has no part in it. If it was another on either side all the same
// (something that the candidate left running uses the caches), the correction
// would count that for or against it: then the raw pairs must say the same.
func (c *corrected) look(seq stat.Sequential, smallest float64) (stat.Decision, stat.TTest, error) {
	d, t, err := seq.Look(c.free, smallest)
	if err != nil || d == stat.Continue {
		return d, t, err
	}
	if told := c.told(); told == nil || told.P >= shiftLevel {
		return d, t, nil
	}
	plain, _, err := seq.Look(c.raw, smallest)
	switch {
	case err != nil || plain == d:
		return d, t, err
	case len(c.raw) >= seq.Max():
		return stat.Futile, t, nil
	}
	return stat.Continue, t, nil
}
