package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

var shifted = experiment.Verdict{Outcome: experiment.Improved, Pairs: 3, Runs: 6, Took: 20 * time.Second, Switching: 3700 * time.Millisecond, Switches: 5, SwitchedBy: "restart",
	Warnings: []experiment.Warning{{Text: "1 of 6 runs were not steady"}},
	Shifts: []experiment.Shift{
		{Metric: "p50", Baseline: 0.0101, Candidate: 0.0100, Effect: -0.01, Low: -0.03, High: 0.01},
		{Metric: "p99", Baseline: 0.020, Candidate: 0.030, Effect: 0.5, Low: 0.4, High: 0.6},
		{Metric: "cpu_per_request", Baseline: 0.002, Candidate: 0.00196, Effect: -0.02, Low: -0.03, High: -0.01},
		{Metric: "memory_available", Baseline: 2 << 30, Candidate: 1.8e9, Effect: -0.16, Low: -0.4, High: 0.2},
		{Metric: "failures", Baseline: 0, Candidate: 0.02, Effect: 19, Low: 3, High: 90}}}

// Only what surely changed is told: the memory may be noise.
func TestShiftLines(t *testing.T) {
	got := Shifts(shifted)
	want := []string{"latency p99 20.0 ms → 30.0 ms, +50.0 % (+40.0 % … +60.0 %)", "CPU per request 2.00 ms → 1.96 ms, −2.0 %", "wrong or failed requests 0 % → 2.0 %, ×20"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
}

func TestStepTextTellsMore(t *testing.T) {
	var b bytes.Buffer
	if err := StepText(&b, &store.Step{Verdict: shifted}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"also changed: latency p99", "also changed: wrong or failed requests", "3.7s of it for 5 switches, by restart", "note: 1 of 6 runs"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "p50") {
		t.Errorf("what did not change is told:\n%s", b.String())
	}
}

func TestReportsTellShifts(t *testing.T) {
	m := sample(t)
	i := slices.IndexFunc(m.Steps, func(s Step) bool { return s.Kept })
	m.Steps[i].Verdict.Shifts = shifted.Shifts
	for name, write := range map[string]func(io.Writer, *Model) error{"html": HTML, "markdown": Markdown} {
		text := strings.ReplaceAll(render(t, write, m), "\u00a0", " ")
		if !strings.Contains(text, "p99 20.0 ms → 30.0 ms") || strings.Contains(text, "p50 10") {
			t.Errorf("%s does not tell what else changed", name)
		}
	}
}

func TestWarmupText(t *testing.T) {
	for want, l := range map[string]load.Result{
		"": {Warmup: time.Second},
		"warm-up 400 ms of at most 3.00 s, then steady":                                      {Warmup: 3 * time.Second, WarmupTook: 401 * time.Millisecond, Steady: true},
		"warm-up 3.00 s of at most 3.00 s, NOT steady: why":                                  {Warmup: 3 * time.Second, WarmupTook: 3 * time.Second, Unsteady: "why"},
		"warm-up 300 ms of at most 300 ms; not judged whether steady, or too uneven to tell": {Warmup: 300 * time.Millisecond, WarmupTook: 300 * time.Millisecond},
	} {
		if got := warmupText(&l); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
