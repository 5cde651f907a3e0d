package remedy

import (
	"cmp"
	"slices"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/remedy/planning"
)

// advisedReach is the part of a finding's demand that is expected to go where no remedy
// of the table acts on it: somebody changes the source code, and mostly not all of it.
const advisedReach = 0.3

// Rank says what is expected of each finding, by the remedy that reaches farthest, and
// puts those first of which most is expected: a bound is no promise, and ranks nothing
// (planning.Worth.Expected). Of equals, the higher bound comes first.
func Rank(d *diagnose.Diagnosis) {
	for i := range d.Findings {
		f := &d.Findings[i]
		f.Expected = planning.Worth{Bound: f.Bound, Reach: reachOf(d, *f), Spares: f.Spares, Limit: f.Limit}.Expected()
	}
	slices.SortStableFunc(d.Findings, func(a, b diagnose.Finding) int {
		return cmp.Or(cmp.Compare(b.Expected, a.Expected), cmp.Compare(b.Bound, a.Bound))
	})
}

// reachOf is the reach (0–1) that the rule itself estimated, or that of the remedies that
// answer it.
func reachOf(d *diagnose.Diagnosis, f diagnose.Finding) float64 {
	if said := planning.SaidReach(f); said > 0 {
		return said
	}
	reach, some := 0.0, false
	for _, r := range Table {
		if !answers(r, f.Rule) {
			continue
		}
		if some = true; strings.HasSuffix(r.ID, ".workers") && d.WorkersBind(f.Service) {
			reach = max(reach, planning.BindingReach)
		}
		reach = max(reach, r.Reach)
	}
	if !some {
		return advisedReach
	}
	return reach
}
