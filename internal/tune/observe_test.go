package tune

import (
	"strings"
	"testing"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

// A diagnosis of a run that is no evidence says so wherever a number of it is shown.
func TestDoubtTravels(t *testing.T) {
	for _, c := range []struct {
		unfit     string
		reference int64
		want      bool
	}{{"processes outside the stack used 66 % of the CPU", 0, true}, {"processes outside the stack used 66 % of the CPU", 7, false}, {"", 0, false}} {
		d := &diagnose.Diagnosis{BindsText: "CPU is full", Findings: []diagnose.Finding{{Formula: "2 CPUs / 1 ms"}}, Reference: c.reference}
		doubted(&store.Run{Unfit: c.unfit, Diagnosis: d})
		for _, text := range []string{d.BindsText, d.Findings[0].Formula} {
			if strings.Contains(text, "no evidence") != c.want || c.want && !strings.Contains(d.BindsText, c.unfit) {
				t.Errorf("%+v: %q", c, text)
			}
		}
	}
}

// TestPagesAreOfTheirRun: counts of pages and files are parts of the requests of
// the diagnostic run, whatever run the throughput is of.
func TestPagesAreOfTheirRun(t *testing.T) {
	run := &store.Run{ID: 2, Evidence: &evidence.Evidence{Load: &load.Result{Requests: 500, Workload: 4, Pages: []load.PageSample{{URL: "/", Count: 100}}}}}
	b := &Bench{scored: scored{reference: &store.Run{ID: 1, Evidence: &evidence.Evidence{Load: &load.Result{Requests: 100, Workload: 4}}}}}
	ev, reference := b.seen(run)
	if reference != 1 || ev.Load.Requests != 100 || len(ev.Load.Pages) != 1 || ev.Asked != run.Evidence.Load {
		t.Errorf("reference %d, %+v, asked %+v", reference, ev.Load, ev.Asked)
	}
	b.scored.reference = nil
	if ev, reference := b.seen(run); reference != 0 || ev.Load != run.Evidence.Load || ev.Asked != nil {
		t.Errorf("reference %d, %+v, asked %+v", reference, ev.Load, ev.Asked)
	}
}

// What a collector takes is read in the diagnostic run only; the diagnosis has it as
// the same part of the CPU that the service used in the reference.
func TestCollectorIsLent(t *testing.T) {
	evidenceOf := func(uses map[string]evidence.ServiceUse) *evidence.Evidence {
		return &evidence.Evidence{Load: &load.Result{Workload: 4, Requests: 100}, Services: uses}
	}
	own := &store.Run{Evidence: evidenceOf(map[string]evidence.ServiceUse{"app": {CPU: 10, GC: 2}, "db": {CPU: 4}})}
	b := &Bench{scored: scored{reference: &store.Run{ID: 7, Evidence: evidenceOf(map[string]evidence.ServiceUse{"app": {CPU: 5}, "db": {CPU: 3}, "web": {CPU: 1}})}}}
	ev, _ := b.seen(own)
	for service, want := range map[string]evidence.ServiceUse{"app": {CPU: 5, GC: 1}, "db": {CPU: 3}, "web": {CPU: 1}} {
		if got := ev.Services[service]; got.CPU != want.CPU || got.GC != want.GC {
			t.Errorf("%s: %g s, %g of them collecting; want %g, %g", service, got.CPU, got.GC, want.CPU, want.GC)
		}
	}
	if b.scored.reference.Evidence.Services["app"].GC != 0 {
		t.Error("the stored run was changed")
	}
}
