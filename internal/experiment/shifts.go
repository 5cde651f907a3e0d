package experiment

import (
	"math"
	"slices"

	"kasoku/internal/stat"
)

// Shift is one thing that was measured on both sides.
type Shift struct {
	// Metric: "score", "p50", "p99", "cpu_per_request", "memory_available",
	// "failures".
	Metric string `json:"metric"`
	// Baseline and Candidate are geometric means over the pairs, in the
	// metric's unit: points per second, seconds, CPU seconds of the services,
	// bytes; of "failures" they are the
	// share of all requests, 0–1.
	Baseline  float64 `json:"baseline"`
	Candidate float64 `json:"candidate"`
	// Effect and its 95 % interval are ratios minus one: 0.1 = 10 % more. Low and
	// High are equal to Effect if there was one pair only.
	Effect float64 `json:"effect"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`

	pairs int // that know the metric on both sides
}

// Notable: the interval excludes that nothing changed. What it does not exclude is noise,
// however large the figure is.
func (s Shift) Notable() bool { return s.Low > 0 || s.High < 0 }

// metrics that are compared, in the order in which they are told. value is not
// positive where a run does not know it.
var metrics = []struct {
	name  string
	value func(Sample) float64
}{
	{"score", func(s Sample) float64 { return s.Score }},
	{"p50", func(s Sample) float64 { return s.P50.Seconds() }},
	{"p99", func(s Sample) float64 { return s.P99.Seconds() }},
	{"cpu_per_request", func(s Sample) float64 { return s.CPUPerRequest }},
	{"memory_available", func(s Sample) float64 { return float64(s.MemoryAvailable) }},
}

// Shifts compares everything but the score over the complete pairs, of which
// there must be two. The interval is Student's, of the log ratios, as of the
// score itself, but not corrected for the number of looks or metrics: it tells,
// and decides nothing.
func Shifts(samples []Sample) []Shift {
	all := Metrics(samples)
	return slices.DeleteFunc(all, func(s Shift) bool { return s.Metric == "score" || s.pairs < 2 })
}

// Metrics are Shifts with the score, in the order in which they are told, from
// one pair on.
func Metrics(samples []Sample) []Shift {
	all := PairsOf(samples)
	out := []Shift{}
	for _, m := range metrics {
		var base, cand []float64
		for _, p := range all {
			if b, c := m.value(p.Baseline), m.value(p.Candidate); b > 0 && c > 0 {
				base, cand = append(base, b), append(cand, c)
			}
		}
		if s, ok := shift(base, cand); ok {
			s.Metric, s.Baseline, s.Candidate = m.name, stat.GeoMean(base), stat.GeoMean(cand)
			out = append(out, s)
		}
	}
	if s, ok := failures(all); ok {
		out = append(out, s)
	}
	return out
}

// shift is the ratio of pairs with its interval; ok is false if there are none.
func shift(base, cand []float64) (s Shift, ok bool) {
	logs := make([]float64, len(base))
	for i := range base {
		logs[i] = math.Log(cand[i] / base[i])
	}
	if len(logs) == 0 {
		return Shift{}, false
	}
	s.pairs = len(logs)
	s.Effect = math.Expm1(logs[0])
	s.Low, s.High = s.Effect, s.Effect
	if t, err := stat.Trimmed(logs); err == nil {
		s.Effect, s.Low, s.High = math.Expm1(t.Mean), math.Expm1(t.Lower(0.975)), math.Expm1(t.Upper(0.975))
	}
	return s, true
}

// failures compares the share of requests that were answered wrongly or not at
// all; ok is false if there were none. Half a failure is added on both sides,
// so that a ratio to none is known (Haldane 1956, Anscombe 1956).
func failures(all []Pair) (Shift, bool) {
	var base, cand []float64
	var failed, requests [2]int64
	for _, p := range all {
		for i, s := range []Sample{p.Baseline, p.Candidate} {
			failed[i] += s.Failures + s.Mismatches
			requests[i] += s.Requests
		}
		base, cand = append(base, smoothed(p.Baseline)), append(cand, smoothed(p.Candidate))
	}
	if failed[0]+failed[1] == 0 {
		return Shift{}, false
	}
	s, ok := shift(base, cand)
	s.Metric, s.Baseline, s.Candidate = "failures", share(failed[0], requests[0]), share(failed[1], requests[1])
	return s, ok
}

func smoothed(s Sample) float64 {
	return (float64(s.Failures+s.Mismatches) + 0.5) / (float64(s.Requests) + 1)
}
