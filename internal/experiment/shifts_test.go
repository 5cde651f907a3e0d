package experiment

import (
	"math"
	"testing"
	"time"
)

// pairedSamples are n pairs; edit changes the candidate of each.
func pairedSamples(n int, edit func(i int, c *Sample)) []Sample {
	var out []Sample
	for i := range n {
		wobble := 1 + 0.01*float64(i%2)
		b := Sample{Side: Baseline, Pair: i + 1, Score: 100, Requests: 1000, P50: time.Duration(10e6 * wobble), P99: time.Duration(20e6 * wobble),
			CPUPerRequest: 0.002 * wobble, MemoryAvailable: 1 << 30}
		c := b
		c.Side = Candidate
		edit(i, &c)
		out = append(out, c, b)
	}
	return out
}

func find(all []Shift, metric string) (Shift, bool) {
	for _, s := range all {
		if s.Metric == metric {
			return s, true
		}
	}
	return Shift{}, false
}

func TestShifts(t *testing.T) {
	same := func(int, *Sample) {}
	for _, c := range []struct {
		name    string
		edit    func(int, *Sample)
		metric  string
		effect  float64
		notable bool
	}{
		{"nothing changed", same, "p50", 0, false},
		{"half the latency", func(_ int, c *Sample) { c.P50 /= 2 }, "p50", -0.5, true},
		{"a tail three times as long", func(_ int, c *Sample) { c.P99 *= 3 }, "p99", 2, true},
		{"a certain 2 %", func(_ int, c *Sample) { c.CPUPerRequest *= 1.02 }, "cpu_per_request", 0.02, true},
		{"an uncertain 2 %", func(i int, c *Sample) { c.CPUPerRequest *= 1.02 * math.Exp(0.1*float64(i%2*2-1)) }, "cpu_per_request", 0.02, false},
		{"an uncertain 20 %", func(i int, c *Sample) { c.P99 = time.Duration(1.2 * math.Exp(0.5*float64(i%2*2-1)) * float64(c.P99)) }, "p99", 0.2, false},
		{"less memory", func(_ int, c *Sample) { c.MemoryAvailable /= 4 }, "memory_available", -0.75, true},
		{"failures where there were none", func(_ int, c *Sample) { c.Failures = 10 }, "failures", 20, true},
	} {
		s, ok := find(Shifts(pairedSamples(4, c.edit)), c.metric)
		if !ok || math.Abs(s.Effect-c.effect) > 1e-6 || s.Notable() != c.notable || s.Low > s.Effect || s.High < s.Effect {
			t.Errorf("%s: %+v %v", c.name, s, ok)
		}
	}
}

// What no run knows is not told, and one pair has no interval.
func TestShiftsLeaveOut(t *testing.T) {
	all := Shifts(pairedSamples(3, func(_ int, c *Sample) { c.MemoryAvailable = 0 }))
	if _, ok := find(all, "memory_available"); ok || len(all) != 3 {
		t.Errorf("%+v", all)
	}
	if all = Shifts(pairedSamples(1, func(_ int, c *Sample) { c.P50 *= 2 })); len(all) != 0 {
		t.Errorf("one pair: %+v", all)
	}
}

// An unfit run, and the half of a pair, count nowhere.
func TestPairsOf(t *testing.T) {
	samples := pairedSamples(2, func(int, *Sample) {})
	unfit := samples[0]
	unfit.Unfit, unfit.P50 = "foreign load", time.Hour
	alone := Sample{Side: Baseline, Pair: 3}
	all := PairsOf(append([]Sample{unfit}, append(samples, alone)...))
	if len(all) != 2 || all[0].Candidate.P50 == time.Hour || all[0].Baseline.Side != Baseline || all[1].Candidate.Pair != 2 {
		t.Errorf("%+v", all)
	}
}

// Metrics begin with the score and tell of one pair without an interval.
func TestMetrics(t *testing.T) {
	all := Metrics(pairedSamples(1, func(_ int, c *Sample) { c.Score, c.P99 = 200, 0 }))
	if len(all) != 4 || all[0].Metric != "score" || math.Abs(all[0].Baseline-100) > 1e-6 || math.Abs(all[0].Candidate-200) > 1e-6 || math.Abs(all[0].Effect-1) > 1e-9 || all[0].Low != all[0].Effect || all[0].High != all[0].Effect {
		t.Errorf("one pair: %+v", all)
	}
	all = Metrics(pairedSamples(4, func(i int, c *Sample) { c.Score, c.Failures = 200+float64(i), 10 }))
	score, failures := all[0], all[len(all)-1]
	if len(all) != 6 || score.Low <= 0.9 || score.High <= score.Low || failures.Metric != "failures" || failures.Baseline != 0 || math.Abs(failures.Candidate-0.01) > 1e-9 {
		t.Errorf("%+v", all)
	}
	if all = Metrics(nil); all == nil || len(all) != 0 {
		t.Errorf("of nothing: %v", all)
	}
	// Repeated and single runs do not count.
	s := func(side Side, pair int, score float64, unfit string) Sample {
		return Sample{Side: side, Pair: pair, Score: score, Requests: 100, Unfit: unfit}
	}
	all = Metrics([]Sample{s(Baseline, 1, 100, ""), s(Candidate, 1, 1, "noise"), s(Candidate, 1, 200, ""), s(Candidate, 2, 400, ""), s(Baseline, 2, 200, ""), s(Baseline, 3, 5, "")})
	if len(all) != 1 || math.Abs(all[0].Effect-1) > 1e-9 || math.Abs(all[0].Baseline-math.Sqrt(20000)) > 1e-6 {
		t.Errorf("%+v", all)
	}
}
