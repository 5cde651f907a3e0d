package peer

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Vegeta's "attack" is measured; its "report" afterwards is not. Without a rate
// it sends as fast as Users workers can.
func Vegeta() *Tool {
	return &Tool{Name: "vegeta", Open: true, Closed: true, Far: true, from: digest, parse: parseVegeta,
		stdin: func(j Job) string { return "GET " + j.URL + "\n" },
		args: func(j Job) []string {
			args := []string{"attack", "-duration=" + j.Duration.String(), "-output=" + j.File, "-rate=" + strconv.Itoa(j.Rate)}
			if j.Rate == 0 {
				n := strconv.Itoa(j.Users)
				args = append(args, "-workers="+n, "-max-workers="+n)
			}
			return args
		},
		digest: func(j Job) []string { return []string{"report", "-type=json", j.File} },
	}
}

// parseVegeta reads "vegeta report -type=json".
func parseVegeta(b []byte) (Report, error) {
	var v struct {
		Latencies struct {
			P99 time.Duration `json:"99th"`
			Max time.Duration `json:"max"`
		} `json:"latencies"`
		Duration time.Duration    `json:"duration"`
		Requests *int64           `json:"requests"`
		Codes    map[string]int64 `json:"status_codes"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return Report{}, err
	}
	if v.Requests == nil {
		return Report{}, fmt.Errorf(`no "requests" in it`)
	}
	return Report{Requests: *v.Requests, Failed: *v.Requests - v.Codes["200"], Elapsed: v.Duration, P99: v.Latencies.P99, Max: v.Latencies.Max}, nil
}
