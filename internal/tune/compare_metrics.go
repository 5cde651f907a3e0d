package tune

import (
	"math"

	"kasoku/internal/experiment"
	"kasoku/internal/stat"
)

// Metric is one thing that was measured on both sides.
type Metric struct {
	// Name: "score" (points per second), "p50", "p99" (seconds),
	// "cpu_per_request" (CPU seconds of the services), "errors" (share of
	// requests that failed or were answered wrongly, 0 to 1).
	Name string `json:"name"`
	// Base and Head are geometric means over the pairs; of errors the share of
	// all requests.
	Base float64 `json:"base"`
	Head float64 `json:"head"`
	// Effect is Head / Base − 1, Low and High its 95 % interval; of errors the
	// difference. Low and High are equal to Effect if there was one pair only.
	Effect float64 `json:"effect"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// metrics of the fit runs, pair by pair. What no pair has on both sides is left
// out.
func metrics(samples []experiment.Sample) []Metric {
	whole := experiment.PairsOf(samples)
	out := []Metric{}
	for _, m := range []struct {
		name string
		of   func(experiment.Sample) float64
	}{
		{"score", func(s experiment.Sample) float64 { return s.Score }},
		{"p50", func(s experiment.Sample) float64 { return s.P50.Seconds() }},
		{"p99", func(s experiment.Sample) float64 { return s.P99.Seconds() }},
		{"cpu_per_request", func(s experiment.Sample) float64 { return s.CPUPerRequest }},
	} {
		if x, ok := ratio(whole, m.of); ok {
			x.Name = m.name
			out = append(out, x)
		}
	}
	if x, ok := failing(whole); ok {
		out = append(out, x)
	}
	return out
}

// ratio compares what is above 0 by logarithms.
func ratio(pairs []experiment.Pair, of func(experiment.Sample) float64) (Metric, bool) {
	var base, head, logs []float64
	for _, p := range pairs {
		if b, h := of(p.Baseline), of(p.Candidate); b > 0 && h > 0 {
			base, head, logs = append(base, b), append(head, h), append(logs, math.Log(h/b))
		}
	}
	if len(logs) == 0 {
		return Metric{}, false
	}
	low, mean, high := between(logs)
	return Metric{Base: stat.GeoMean(base), Head: stat.GeoMean(head), Effect: math.Expm1(mean), Low: math.Expm1(low), High: math.Expm1(high)}, true
}

// failing compares the shares of requests that went wrong by their difference.
func failing(pairs []experiment.Pair) (Metric, bool) {
	// Wrong answers of the warm-up count, its requests do not.
	share := func(wrong, of int64) float64 { return float64(wrong) / float64(max(of, wrong, 1)) }
	var wrong, all [2]int64
	var diffs []float64
	for _, p := range pairs {
		for i, s := range []experiment.Sample{p.Baseline, p.Candidate} {
			wrong[i], all[i] = wrong[i]+s.Mismatches+s.Failures, all[i]+s.Requests
		}
		diffs = append(diffs, share(p.Candidate.Mismatches+p.Candidate.Failures, p.Candidate.Requests)-share(p.Baseline.Mismatches+p.Baseline.Failures, p.Baseline.Requests))
	}
	if len(diffs) == 0 {
		return Metric{}, false
	}
	m := Metric{Name: "errors", Base: share(wrong[0], all[0]), Head: share(wrong[1], all[1])}
	if wrong[0]+wrong[1] > 0 {
		m.Low, m.Effect, m.High = between(diffs)
	}
	return m, true
}

// between is the trimmed mean of numbers with its 95 % interval, as the verdict
// has it.
func between(xs []float64) (low, mean, high float64) {
	t, err := stat.Trimmed(xs)
	if err != nil {
		return xs[0], xs[0], xs[0]
	}
	return t.Lower(0.975), t.Mean, t.Upper(0.975)
}
