package store

import (
	"math"
	"testing"
)

// What cannot be taken out for a while is told by its experiments; what was taken
// out again counts as little as it brought.
func TestComparedBySteps(t *testing.T) {
	kept := func(seq int, effect float64) Step {
		s := Step{Seq: seq, Kept: true, Tx: int64(seq)}
		s.Verdict.Effect, s.Verdict.Pairs = effect, 3
		return s
	}
	look := Step{Seq: 4, Tx: 9, LeavesOut: []int{2}}
	look.Verdict.Effect, look.Verdict.Pairs = 0.25, 4
	c := ComparedBySteps([]Step{kept(1, 1), kept(2, 0.5), {Seq: 3}, look})
	if math.Abs(c.Factor-2*1.5/1.25) > 1e-9 || c.Pairs != 10 || c.By != BySteps {
		t.Errorf("%+v", c)
	}
	s := Session{AsFound: 100, Final: 500, Compared: c}
	if s.Gain() != c.Factor {
		t.Errorf("gain %.2f: two scores of two times are none", s.Gain())
	}
}
