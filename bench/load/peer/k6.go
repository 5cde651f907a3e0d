package peer

import (
	_ "embed" // the script
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

//go:embed k6.js
var k6Script string

// K6 runs a script that does one GET per iteration and checks nothing. Its
// latency counts from when the request was really sent.
func K6() *Tool {
	return &Tool{Name: "k6", Open: true, Closed: true, Far: true, from: file, parse: parseK6,
		stdin: func(Job) string { return k6Script },
		args: func(j Job) []string {
			return []string{"run", "--quiet", "--no-usage-report", "--summary-export=" + j.File,
				"-e", "URL=" + j.URL, "-e", "USERS=" + strconv.Itoa(j.Users), "-e", "RATE=" + strconv.Itoa(j.Rate),
				"-e", fmt.Sprintf("DURATION=%dms", j.Duration.Milliseconds()), "-"}
		}}
}

// parseK6 reads the file of --summary-export; latency is in milliseconds.
func parseK6(b []byte) (Report, error) {
	var v struct {
		Metrics map[string]struct {
			Count  float64 `json:"count"`
			Rate   float64 `json:"rate"` // Count a second
			Passes float64 `json:"passes"`
			P99    float64 `json:"p(99)"`
			Max    float64 `json:"max"`
		} `json:"metrics"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return Report{}, err
	}
	requests, ok := v.Metrics["http_reqs"]
	if !ok {
		return Report{}, errors.New(`no metric "http_reqs" in it`)
	}
	ms := func(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }
	var elapsed time.Duration
	if requests.Rate > 0 {
		elapsed = time.Duration(requests.Count / requests.Rate * float64(time.Second))
	}
	latency := v.Metrics["http_req_duration"]
	return Report{Requests: int64(requests.Count), Failed: int64(v.Metrics["http_req_failed"].Passes), // "passes" of the question "did it fail?"
		Elapsed: elapsed, Dropped: int64(v.Metrics["dropped_iterations"].Count), P99: ms(latency.P99), Max: ms(latency.Max)}, nil
}
