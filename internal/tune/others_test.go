package tune

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// Processes outside the stack that stay are how the machine is: after three runs these
// count, which is told, and runs wait for no less; a burst is repeated, more than half
// of the machine never counts, and an operator's own limit holds.
func TestOthersThatStay(t *testing.T) {
	for name, c := range map[string]struct {
		limit  float64
		shares []float64
		fit    string // of each run: f fit, u unfit
	}{
		"they stay":               {0, []float64{0.3, 0.25, 0.3, 0.3, 0.2}, "uufff"},
		"one burst":               {0, []float64{0.05, 0.4, 0.05, 0.05}, "fuff"},
		"more than half":          {0, []float64{0.6, 0.6, 0.6, 0.6}, "uuuu"},
		"the operator's own":      {0.1, []float64{0.3, 0.3, 0.3, 0.3}, "uuuu"},
		"gone, and another burst": {0, []float64{0.3, 0.3, 0.3, 0, 0, 0, 0, 0, 0, 0.3}, "uuffffffff"[:9] + "u"},
	} {
		t.Run(name, func(t *testing.T) {
			var notes []string
			b := &Bench{Stack: &stack.Stack{Tune: stack.Tune{MaxForeignCPU: c.limit}}, Listeners: Listeners{Note: func(s string) { notes = append(notes, s) }}}
			fit := ""
			for _, share := range c.shares {
				ev := &evidence.Evidence{Load: &load.Result{Succeeded: 1000, Window: 5 * time.Second, Engine: "epoll"}, System: evidence.System{CPUs: 2, User: 10, ForeignCPU: 10 * share}}
				run := &store.Run{Kind: store.Scored, Side: experiment.Baseline, Evidence: ev}
				run.Unfit = unfit(ev, b.allowOthers(run.Kind, ev), b.allowSteal(run.Kind, ev))
				if run.Unfit == "" {
					fit += "f"
				} else {
					fit += "u"
				}
				if told := len(ev.Health) == 1 && strings.Contains(ev.Health[0].Text, "as they do most of the time here"); told != (run.Unfit == "" && share > 0.1) {
					t.Errorf("a run with %.2f: health %+v", share, ev.Health)
				}
			}
			if fit != c.fit || (len(notes) > 0) != strings.Contains(c.fit[1:], "uf") && name != "one burst" {
				t.Errorf("%s, want %s; notes %q", fit, c.fit, notes)
			}
		})
	}
}
