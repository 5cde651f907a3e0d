package planning

import (
	"math"
	"testing"
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
