package load

import (
	"testing"
	"time"
)

// TestLeft: what is left of a run, if it is known.
func TestLeft(t *testing.T) {
	const s = time.Second
	for _, x := range []struct {
		p    Progress
		want time.Duration
	}{
		{Progress{Phase: PhaseSetup, Window: 10 * s}, 0},
		{Progress{Phase: PhaseWarmup, Elapsed: 2 * s, Length: 30 * s, Window: 10 * s}, 38 * s},
		{Progress{Phase: PhaseWarmup, Elapsed: 31 * s, Length: 30 * s, Window: 10 * s}, 10 * s},
		{Progress{Phase: PhaseWarmup, Elapsed: 2 * s, Length: 30 * s}, 0}, // somebody else's benchmark
		{Progress{Phase: PhaseMeasure, Elapsed: 3 * s, Length: 10 * s, Window: 10 * s}, 7 * s},
		{Progress{Phase: PhaseMeasure, Elapsed: 11 * s, Length: 10 * s}, 0},
		{Progress{Phase: PhaseTeardown, Elapsed: s, Window: 10 * s}, 0},
	} {
		if got := x.p.Left(); got != x.want {
			t.Errorf("%+v: %s, want %s", x.p, got, x.want)
		}
	}
}
