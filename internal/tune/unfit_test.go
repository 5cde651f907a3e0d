package tune

import (
	"strings"
	"testing"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

// Each thing that makes a run no evidence, and what looks like one but is not.
func TestUnfit(t *testing.T) {
	type run = store.Run
	spoilt := func(spoils bool) func(*run) {
		return func(r *run) {
			r.Evidence.Health = []evidence.Health{{Source: "error log of db", Text: "not readable"}, {Source: "counters of db", Text: "db was restarted during the run", Spoils: spoils}}
		}
	}
	few := func(r *run) { r.Evidence.Load.Succeeded, r.Evidence.Load.Requests = 9, 9 }
	for _, c := range []struct {
		name string
		edit func(*run)
		jump time.Duration
		want string
	}{
		{"all is well", func(*run) {}, 0, ""},
		{"the generator was the limit", func(r *run) { r.Evidence.Load.Saturated = "no CPU left" }, 0, "the load generator was the limit"},
		{"others used the machine", func(r *run) { r.Evidence.System.ForeignCPU = 2 }, 0, "processes outside the stack used 20 %"},
		{"other guests did", func(r *run) { r.Evidence.System.Steal = 2; r.Evidence.System.Idle -= 2 }, 0, "(steal)"},
		{"a service was restarted", spoilt(true), 0, "db was restarted during the run"},
		{"one source failed", spoilt(false), 0, ""},
		{"the clock was set", func(*run) {}, -2 * time.Second, "clock was set by -2s"},
		{"the clock was slewed", func(*run) {}, 20 * time.Millisecond, ""},
		{"few requests", few, 0, "only 9 requests were answered in 5s"},
		{"none", func(r *run) { few(r); r.Evidence.Load.Succeeded = 0 }, 0, "only 0 requests were answered in 5s"},
		{"none, of somebody's benchmark that scores", func(r *run) { few(r); r.Evidence.Load.Succeeded, r.Score = 0, 8 }, 0, ""},
		{"none, because they failed", func(r *run) { few(r); r.Evidence.Load.Succeeded, r.Evidence.Load.Timeouts = 0, 9 }, 0, ""},
		{"few, of the candidate: a verdict", func(r *run) { few(r); r.Side = experiment.Candidate }, 0, ""},
		{"few, because they failed", func(r *run) { few(r); r.Evidence.Load.Errors = 1 }, 0, ""},
		{"few lines of somebody's benchmark", func(r *run) { few(r); r.Evidence.Load.Engine = "" }, 0, ""},
		{"a diagnostic run's score is not used", func(r *run) { few(r); spoilt(true)(r); r.Kind = store.Diagnostic }, 0, ""},
	} {
		r := &run{Kind: store.Scored, Side: experiment.Baseline, Evidence: &evidence.Evidence{
			Load:   &load.Result{Requests: 1000, Succeeded: 1000, Window: 5 * time.Second, Engine: "epoll"},
			System: evidence.System{CPUs: 2, Idle: 10}}}
		c.edit(r)
		got := unfit(r.Evidence, 0.1, 0.1)
		if got == "" {
			got = poor(r, c.jump)
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestClockJump(t *testing.T) {
	now := time.Now()
	if j := clockJump(now, now.Add(5*time.Second)); j != 0 {
		t.Errorf("a clock that goes on: %s", j)
	}
	// Without a monotonic reading both differences are the day's clock.
	if j := clockJump(time.Time{}, now); j != 0 {
		t.Errorf("no reading: %s", j)
	}
}
