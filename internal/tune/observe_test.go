package tune

import (
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

// TestPagesAreOfTheirRun: counts of pages and files are parts of the requests of
// the diagnostic run, whatever run the throughput is of.
func TestPagesAreOfTheirRun(t *testing.T) {
	run := &store.Run{ID: 2, Evidence: &evidence.Evidence{Load: &load.Result{Requests: 500, Workload: 4, Pages: []load.PageSample{{URL: "/", Count: 100}}}}}
	b := &Bench{reference: &store.Run{ID: 1, Evidence: &evidence.Evidence{Load: &load.Result{Requests: 100, Workload: 4}}}}
	ev, reference := b.seen(run)
	if reference != 1 || ev.Load.Requests != 100 || len(ev.Load.Pages) != 1 || ev.Asked != run.Evidence.Load {
		t.Errorf("reference %d, %+v, asked %+v", reference, ev.Load, ev.Asked)
	}
	b.reference = nil
	if ev, reference := b.seen(run); reference != 0 || ev.Load != run.Evidence.Load || ev.Asked != nil {
		t.Errorf("reference %d, %+v, asked %+v", reference, ev.Load, ev.Asked)
	}
}
