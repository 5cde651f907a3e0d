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
		if got := (Worth{Bound: c.bound, Reach: c.reach}).Expected(); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("bound %g, reach %g: %.4f, want %.4f", c.bound, c.reach, got, c.want)
		}
	}
}

// Of CPU, what a request spends is what counts: not the CPU that is idle now, and not what
// others may do cheaper, which the bound holds as well.
func TestExpectedOfCPU(t *testing.T) {
	for _, c := range []struct {
		w    Worth
		want float64
	}{
		{Worth{Bound: 2.5, Reach: 0.7, Spares: 0.4}, 1 / (1 - 0.28)},
		{Worth{Bound: 2.5, Reach: 2, Spares: 0.4}, 1 / 0.6},
		{Worth{Bound: 1.2, Reach: 1, Spares: 0.4}, 1.2},
		{Worth{Bound: 1000, Reach: 1, Spares: 1}, 100},
		{Worth{Bound: 0, Reach: 1, Spares: 0.4}, 1},
	} {
		if got := c.w.Expected(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %.4f, want %.4f", c.w, got, c.want)
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
		{4, []Part{{Bound: 4, Reach: 0.3}}, 4, Worth{Bound: 4, Reach: 0.3}.Expected()},
		{4, []Part{{Bound: 1.25, Reach: 0.5}, {Bound: 1.25, Reach: 0}}, 1 / 0.6, 1 / 0.9},
		{2, []Part{{Bound: 2, Reach: 1}, {Bound: 2, Reach: 1}}, 2, 2},
		{1, []Part{{Bound: 2, Reach: 1}}, 1, 1},
	} {
		w := Joint(c.most, 0, c.parts)
		if gain := w.Expected(); math.Abs(w.Bound-c.bound) > 1e-9 || math.Abs(gain-c.gain) > 1e-9 {
			t.Errorf("%v of %g: bound %.4f, gain %.4f, want %.4f, %.4f", c.parts, c.most, w.Bound, gain, c.bound, c.gain)
		}
	}
}

// Parts of a service's CPU add up to no more than it spends.
func TestJointOfCPU(t *testing.T) {
	parts := []Part{{Bound: 1.5, Reach: 0.5, Spares: 0.2}, {Bound: 2, Reach: 0.25, Spares: 0.4}}
	if w := Joint(4, 0.5, parts); math.Abs(w.Spares-0.5) > 1e-9 || math.Abs(w.Reach-0.4) > 1e-9 {
		t.Errorf("%+v, want half of the CPU and two fifths of it", w)
	}
	if w := Joint(4, 0.7, parts); math.Abs(w.Spares-0.6) > 1e-9 || math.Abs(w.Reach*w.Spares-0.2) > 1e-9 {
		t.Errorf("%+v, want 0.6 of the CPU and 0.2 gone", w)
	}
}

// More workers bring most where they are what binds.
func TestWorkersReach(t *testing.T) {
	in := Input{Diagnosis: &diagnose.Diagnosis{Binds: "workers: api"}}
	if got, other := WorkersReach(in, "api", 0.3), WorkersReach(in, "php", 0.1); got != BindingReach || other != 0.1 {
		t.Errorf("%g, %g", got, other)
	}
}
