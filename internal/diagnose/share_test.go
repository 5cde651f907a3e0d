package diagnose

import (
	"math"
	"testing"
	"time"

	"kasoku/internal/load"
)

// TestShareOf: requests have at most their part of all, by number or by latency,
// of the CPU, and never more than they had time for.
func TestShareOf(t *testing.T) {
	// 100 requests of 80 ms, 20 ms of CPU each.
	m := &model{asked: &load.Result{Requests: 100, Succeeded: 100, Routes: []load.RouteResult{{Requests: 100, Total: 8 * time.Second}}}}
	for name, c := range map[string]struct{ requests, took, cpu, want float64 }{
		"half of all":                     {50, 4, 0.02, 0.5},
		"few that are slow":               {10, 6, 0.02, 0.75},
		"many that are quick":             {90, 2, 0.02, 0.9},
		"files that take next to no time": {90, 0.02, 0.02, 0.01},
		"the CPU was not read":            {90, 0.02, 0, 0.9},
		"more than all":                   {200, 9, 0.02, 1},
	} {
		if got := m.shareOf(c.requests, c.took, c.cpu); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
