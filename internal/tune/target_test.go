package tune

import (
	"strings"
	"testing"

	"kasoku/internal/store"
)

// A session that was given a target ends when it is reached, and says so; what
// else may pay is not tried. One that cannot be reached changes nothing.
func TestTargetEndsTheSession(t *testing.T) {
	knobs := []knob{good("a", 100), {name: "b", factor: 1.3, bound: 1.4, reach: 0.5, small: true}}
	for _, c := range []struct {
		target     float64
		on, reason string
	}{
		{1.5, "a", store.StopTarget},
		{50, "a b", store.StopNothingLeft},
		{0, "a b", store.StopNothingLeft},
	} {
		v := newVirtual(t, knobs...)
		tu := v.tuner()
		tu.Options.Target = c.target
		s, err := tu.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if v.on() != c.on || s.StopReason != c.reason || s.State != "done" || s.Final <= s.AsFound {
			t.Errorf("target %g: on: %s, %s, %s: %s; %.0f, then %.0f points/s", c.target, v.on(), s.State, s.StopReason, s.Stopped, s.AsFound, s.Final)
		}
		if c.reason == store.StopTarget && !strings.Contains(s.Stopped, "×1.50") {
			t.Errorf("it does not tell the target: %s", s.Stopped)
		}
	}
}
