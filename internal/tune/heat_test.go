package tune

import (
	"testing"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/stack"
)

// Runs that come right after a switch are given time to warm the service up where a program
// that is compiled while it runs was restarted, and where they were seen to be dearer than
// those that follow; not after a reload, and not for one dear run.
func TestRunsAfterASwitchAreHeated(t *testing.T) {
	at := func(binary string, activate change.Activation) *switcher {
		return &switcher{bench: &Bench{Stack: &stack.Stack{Services: []stack.Service{{Name: "app", Kind: stack.App, Binary: binary}}}},
			intent: change.Intent{Changes: []change.Change{{Service: "db", Activate: activate}}}}
	}
	visit := func(s *switcher, first, second float64) {
		for i, cpu := range []float64{first, second} {
			s.turns.heat.note(i == 0, experiment.Sample{CPUPerRequest: cpu})
		}
	}
	for _, c := range []struct {
		what      string
		s         *switcher
		visits    [][2]float64
		cold, hot bool
	}{
		{"Node, restarted", at("/usr/bin/node", change.Restart), nil, true, true},
		{"Node, restarted, its second run", at("/usr/bin/node", change.Restart), nil, false, false},
		{"Node behind a reload", at("/usr/bin/node", change.Reload), nil, true, false},
		{"a compiled program, restarted", at("/opt/app/bin/shopd", change.Restart), nil, true, false},
		{"dear first runs", at("/opt/app/bin/shopd", change.Restart), [][2]float64{{0.041, 0.031}, {0.040, 0.030}}, true, true},
		{"dear first runs, the second run", at("/opt/app/bin/shopd", change.Restart), [][2]float64{{0.041, 0.031}, {0.040, 0.030}}, false, false},
		{"one dear first run", at("/opt/app/bin/shopd", change.Restart), [][2]float64{{0.041, 0.031}}, true, false},
		{"every other one", at("/opt/app/bin/shopd", change.Restart), [][2]float64{{0.041, 0.031}, {0.030, 0.030}, {0.041, 0.031}}, true, false},
		{"from the second on", at("/opt/app/bin/shopd", change.Restart), [][2]float64{{0.030, 0.030}, {0.041, 0.031}, {0.041, 0.031}, {0.031, 0.031}}, true, true},
		{"cheaper ones", at("/opt/app/bin/shopd", change.Restart), [][2]float64{{0.030, 0.031}, {0.029, 0.032}}, true, false},
	} {
		for _, v := range c.visits {
			visit(c.s, v[0], v[1])
		}
		c.s.turns.heat.cold = c.cold
		if got := c.s.heats(); got != c.hot {
			t.Errorf("%s: heated is %t, want %t", c.what, got, c.hot)
		}
	}
	// A third run of a visit, and what is no evidence, tell nothing.
	s := at("/opt/app/bin/shopd", change.Restart)
	visit(s, 0.04, 0.03)
	s.turns.heat.note(false, experiment.Sample{CPUPerRequest: 0.02})
	s.turns.heat.note(true, experiment.Sample{CPUPerRequest: 0.04, Unfit: "others"})
	s.turns.heat.note(false, experiment.Sample{CPUPerRequest: 0.03})
	if s.turns.heat.learned {
		t.Error("one visit of two runs is enough")
	}
}
