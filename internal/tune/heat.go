package tune

import (
	"fmt"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/kind"
	"kasoku/internal/stack"
)

// heat is what an experiment knows of runs that come right after a switch: a program that
// was restarted compiles what it runs, fills its caches and opens its connections while it
// answers, longer than the usual warm-up is (AutoWarmup in internal/load). Sides take turns
// in being measured first after a switch, so what that costs looks like noise. In 12 visits
// of a Node service the first run took 0.79 to 1.33 times the CPU of the second for each
// request, 1.15 in the mean and 1.12 to 1.33 in nine of them; with heat, in 16 visits, 0.83 to
// 1.15, 1.01 in the mean (docs/measured/field.md).
type heat struct {
	// cold: a switch came after the last run.
	cold bool
	// first is the CPU for each request in the first run after a switch, seconds; 0: the
	// next run is none that can be compared with it.
	first float64
	// dearer is by how many times the first run was dearer than the second, when a side was
	// last in place for two; 0: that was not so yet.
	dearer float64
	// learned: it was dearer twice running, by leastDearer.
	learned, told bool
}

// leastDearer: of the 16 visits above no two running had as much by chance.
const leastDearer = 1.08

// note a run that is evidence; cpu is what a request took, 0: not known.
func (h *heat) note(cold bool, s experiment.Sample) {
	switch {
	case s.Unfit != "" || s.CPUPerRequest <= 0:
		h.first = 0
	case cold:
		h.first = s.CPUPerRequest
	case h.first > 0:
		was := h.dearer
		h.dearer, h.first = h.first/s.CPUPerRequest, 0
		h.learned = h.learned || min(was, h.dearer) >= leastDearer
	}
}

// heats reports whether the next run's warm-up is to last as long as its window.
func (s *switcher) heats() bool {
	if !s.turns.heat.cold {
		return false
	}
	if disturbs(s.intent.Changes) >= change.Restart && compiles(s.bench.Stack) {
		return true
	}
	h := &s.turns.heat
	if h.learned && !h.told {
		h.told = true
		s.bench.note(fmt.Sprintf("the first run after a switch took %.2f times the CPU of the next one for each request: from here on such a run warms the service up for as long as it is measured", h.dearer))
	}
	return h.learned
}

// compiles reports whether a service of the stack is a program that is compiled while it runs.
func compiles(st *stack.Stack) bool {
	for i := range st.Services {
		if kind.JustInTime(st.Services[i].Binary) {
			return true
		}
	}
	return false
}
