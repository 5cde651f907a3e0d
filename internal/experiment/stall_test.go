package experiment

import (
	"strings"
	"testing"
)

// A candidate that waits is told from one that works harder, with what the time of its
// answers points to.
func TestStall(t *testing.T) {
	verdict := func(score, cpu, p50 float64) Verdict {
		return Verdict{Pairs: 2, BaselineScore: 1000, CandidateScore: score, Shifts: []Shift{
			{Metric: "cpu_per_request", Baseline: 0.002, Candidate: cpu}, {Metric: "p50", Baseline: 0.004, Candidate: p50}}}
	}
	for _, c := range []struct {
		about string
		v     Verdict
		want  string
	}{
		{"44 ms for each answer", verdict(20, 0.003, 0.044), "delays its acknowledgement"},
		{"connections hold all workers", verdict(30, 0.002, 5.02), "a time-out of 5 s"},
		{"it waits for something else", verdict(100, 0.002, 0.3), "CPU is 90 % less in use, and half of the answers take 300 ms and more"},
		{"it works harder", verdict(100, 0.02, 0.04), ""},
		{"a little slower", verdict(900, 0.002, 0.044), ""},
		{"faster", verdict(3000, 0.0007, 0.001), ""},
		{"nothing was measured", Verdict{BaselineScore: 10}, ""},
	} {
		got := Stall(c.v)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
		if c.about == "it waits for something else" && strings.Contains(got, ": as long") {
			t.Errorf("%s: a cause is named: %s", c.about, got)
		}
	}
}
