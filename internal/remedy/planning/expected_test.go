package planning

import (
	"math"
	"testing"

	"kasoku/internal/diagnose"
)

func TestExpected(t *testing.T) {
	for _, c := range []struct{ bound, reach, want float64 }{
		{1, 0.9, 1}, {0.5, 0.9, 1}, {4, 0, 1}, {4, 1, 4}, {4, 2, 4}, {math.Inf(1), 0.5, 2},
		{50, 0.3, 1.4164}, {10, 0.9, 5.2632}, {12, 0.05, 1.0480}, {3, 0.5, 1.5},
	} {
		if got := Expected(c.bound, c.reach); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("bound %g, reach %g: %.4f, want %.4f", c.bound, c.reach, got, c.want)
		}
	}
}

// Parts of one demand add up, to no more than all of it.
func TestJoint(t *testing.T) {
	for _, c := range []struct {
		most        float64
		parts       []Part
		bound, gain float64
	}{
		{4, nil, 1, 1},
		{4, []Part{{Bound: 4, Reach: 0.3}}, 4, Expected(4, 0.3)},
		{4, []Part{{Bound: 1.25, Reach: 0.5}, {Bound: 1.25, Reach: 0}}, 1 / 0.6, 1 / 0.9},
		{2, []Part{{Bound: 2, Reach: 1}, {Bound: 2, Reach: 1}}, 2, 2},
		{1, []Part{{Bound: 2, Reach: 1}}, 1, 1},
	} {
		bound, reach := Joint(c.most, c.parts)
		if gain := Expected(bound, reach); math.Abs(bound-c.bound) > 1e-9 || math.Abs(gain-c.gain) > 1e-9 {
			t.Errorf("%v of %g: bound %.4f, gain %.4f, want %.4f, %.4f", c.parts, c.most, bound, gain, c.bound, c.gain)
		}
	}
}

// More workers bring most where they are what binds.
func TestWorkersReach(t *testing.T) {
	in := Input{Diagnosis: &diagnose.Diagnosis{Binds: "workers: api"}}
	if got, other := WorkersReach(in, "api", 0.3), WorkersReach(in, "php", 0.1); got != bindingReach || other != 0.1 {
		t.Errorf("%g, %g", got, other)
	}
}
