package peer

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"
)

// Bombardier uses fasthttp, its default. Its HTTP/2 is left out: net/http would
// send everything on one connection.
func Bombardier() *Tool {
	return &Tool{Name: "bombardier", Open: true, Closed: true, parse: parseBombardier, args: func(j Job) []string {
		args := []string{"-c", strconv.Itoa(j.Users), "-d", j.Duration.String(), "-l", "-o", "json", "-p", "r"}
		if j.Rate > 0 {
			args = append(args, "-r", strconv.Itoa(j.Rate))
		}
		if j.Post != "" {
			args = append(args, "-m", "POST", "-b", j.Post, "-H", "Content-Type: "+postType)
		}
		if secure(j.URL) {
			args = append(args, "-k")
		}
		return append(args, j.URL)
	}}
}

// parseBombardier reads its JSON; latency is in microseconds.
func parseBombardier(b []byte) (Report, error) {
	var v struct {
		Result *struct {
			Seconds float64 `json:"timeTakenSeconds"`
			Others  int64   `json:"others"`
			Req1xx  int64   `json:"req1xx"`
			Req2xx  int64   `json:"req2xx"`
			Req3xx  int64   `json:"req3xx"`
			Req4xx  int64   `json:"req4xx"`
			Req5xx  int64   `json:"req5xx"`
			Latency struct {
				Max         float64            `json:"max"`
				Percentiles map[string]float64 `json:"percentiles"`
			} `json:"latency"`
		} `json:"result"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return Report{}, err
	}
	if v.Result == nil {
		return Report{}, errors.New(`no "result" in it`)
	}
	r := v.Result
	wrong := r.Req1xx + r.Req3xx + r.Req4xx + r.Req5xx
	return Report{Requests: r.Req2xx + wrong, Failed: wrong + r.Others, Elapsed: time.Duration(r.Seconds * float64(time.Second)),
		P99: micro(r.Latency.Percentiles["99"]), Max: micro(r.Latency.Max)}, nil
}

func micro(us float64) time.Duration { return time.Duration(us * float64(time.Microsecond)) }
