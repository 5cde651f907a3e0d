package bed

import (
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// Idle looks at hosts for a second, in which a load of two users ran as one that
// these hosts know nothing of.
func Idle(t testing.TB, st *stack.Stack, hosts map[string]host.Host) (*evidence.Evidence, *evidence.Snapshot) {
	t.Helper()
	snap, err := evidence.Take(t.Context(), st, hosts, evidence.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := evidence.NewCollector(t.Context(), st, hosts, evidence.CollectorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	const window = time.Second
	time.Sleep(window)
	ev, err := c.Stop(t.Context(), &load.Result{Workload: 2, Window: window, Requests: 100, Succeeded: 100, Routes: []load.RouteResult{{Route: "GET /", Requests: 100, Total: 2 * window}}})
	if err != nil {
		t.Fatal(err)
	}
	return ev, snap
}
