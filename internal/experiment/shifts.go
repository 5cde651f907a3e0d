package experiment

// Shift is something else than the score that differs between the sides.
type Shift struct {
	// Metric: "p50", "p99", "cpu_per_request", "memory_available", "failures".
	Metric string `json:"metric"`
	// Baseline and Candidate are geometric means over the pairs, in the
	// metric's unit: seconds, CPU seconds, bytes, share of requests.
	Baseline  float64 `json:"baseline"`
	Candidate float64 `json:"candidate"`
	// Effect and its 95 % interval are ratios minus one: 0.1 = 10 % more.
	Effect float64 `json:"effect"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}
