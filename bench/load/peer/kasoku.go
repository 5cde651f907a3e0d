package peer

import (
	"encoding/json"
	"errors"
	"strconv"

	"kasoku/internal/load"
)

// Kasoku checks status, length and content of every answer where the job says
// so, and records every latency in a histogram.
func Kasoku() *Tool {
	return &Tool{Name: "kasoku", Required: true, Open: true, Closed: true, HTTP2: true, parse: parseKasoku, args: func(j Job) []string {
		args := []string{"load", j.URL, "-c", strconv.Itoa(j.Users), "-d", j.Duration.String(), "--warmup", "0s", "--json", "--quiet"}
		if j.Rate > 0 {
			args = append(args, "--rate", strconv.Itoa(j.Rate))
		}
		if j.Post != "" {
			args = append(args, "--body", j.Post, "--type", postType)
		}
		if j.HTTP2 {
			args = append(args, "--engine", "http2")
		}
		if c := j.Check; c != nil {
			args = append(args, "--expect-status", strconv.Itoa(c.Status), "--expect-size", strconv.Itoa(c.Size), "--expect-contains", c.Contains)
		}
		return args
	}}
}

// parseKasoku reads a load.Result.
func parseKasoku(b []byte) (Report, error) {
	var v load.Result
	if err := json.Unmarshal(b, &v); err != nil {
		return Report{}, err
	}
	if v.Window <= 0 {
		return Report{}, errors.New("no measured window in it")
	}
	r := Report{Requests: v.Requests, Failed: v.Mismatches + v.Timeouts + v.Errors, Elapsed: v.Window, P99: v.Latency.P99, Max: v.Latency.Max,
		WindowCPU: v.GeneratorCPU, Saturated: v.Saturated}
	if o := v.Open; o != nil {
		r.Planned, r.Dropped = o.Planned, o.Dropped
		r.Uncorrected99, r.UncorrectedMax = o.Uncorrected.P99, o.Uncorrected.Max
		r.Lateness50, r.Lateness99, r.LatenessMax = o.Lateness.P50, o.Lateness.P99, o.Lateness.Max
	}
	return r, nil
}
