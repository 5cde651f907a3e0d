package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Oha corrects its latency for the planned time if told so.
func Oha() *Tool {
	return &Tool{Name: "oha", Open: true, Closed: true, HTTP2: true, parse: parseOha, args: func(j Job) []string {
		args := []string{"--no-tui", "--output-format", "json", "-z", fmt.Sprintf("%dms", j.Duration.Milliseconds()), "-c", strconv.Itoa(j.Users)}
		if j.Rate > 0 {
			args = append(args, "-q", strconv.Itoa(j.Rate), "--latency-correction")
		}
		if j.Post != "" {
			args = append(args, "-m", "POST", "-d", j.Post, "-T", postType)
		}
		if secure(j.URL) {
			args = append(args, "--insecure")
		}
		if j.HTTP2 {
			args = append(args, "--http2")
		}
		return append(args, j.URL)
	}}
}

// ohaCut is oha's word for requests under way when the time is over. They are
// no failures: every tool has them.
const ohaCut = "aborted due to deadline"

// parseOha reads its JSON; latency is in seconds, or null.
func parseOha(b []byte) (Report, error) {
	var v struct {
		Summary struct {
			Total   *float64 `json:"total"`
			Slowest *float64 `json:"slowest"`
		} `json:"summary"`
		Percentiles struct {
			P99 *float64 `json:"p99"`
		} `json:"latencyPercentiles"`
		Codes  map[string]int64 `json:"statusCodeDistribution"`
		Errors map[string]int64 `json:"errorDistribution"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return Report{}, err
	}
	if v.Codes == nil {
		return Report{}, errors.New(`no "statusCodeDistribution" in it`)
	}
	var r Report
	for code, n := range v.Codes {
		r.Requests += n
		if code != "200" {
			r.Failed += n
		}
	}
	for what, n := range v.Errors {
		if what != ohaCut {
			r.Failed += n
		}
	}
	r.Elapsed = fromSeconds(v.Summary.Total)
	r.P99, r.Max = fromSeconds(v.Percentiles.P99), fromSeconds(v.Summary.Slowest)
	return r, nil
}

func fromSeconds(s *float64) time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(*s * float64(time.Second))
}
