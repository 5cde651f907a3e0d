package foreign

import (
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// vegetaJSON is vegeta report -type json (lib/metrics.go). Times are in
// nanoseconds.
type vegetaJSON struct {
	Latencies *struct {
		Mean float64 `json:"mean"`
		P50  float64 `json:"50th"`
		P90  float64 `json:"90th"`
		P95  float64 `json:"95th"`
		P99  float64 `json:"99th"`
		Max  float64 `json:"max"`
	} `json:"latencies"`
	BytesIn struct {
		Total int64 `json:"total"`
	} `json:"bytes_in"`
	Duration   float64          `json:"duration"`
	Wait       float64          `json:"wait"`
	Requests   int64            `json:"requests"`
	Rate       float64          `json:"rate"`
	Throughput *float64         `json:"throughput"`
	Status     map[string]int64 `json:"status_codes"`
	Errors     []string         `json:"errors"`
}

// The text report (lib/reporters.go, NewTextReporter).
var (
	vegetaRequests  = lazyregexp.New(`(?m)^Requests +\[total, rate(?:, throughput)?\] +(\d+), ([0-9.]+)(?:, ([0-9.]+))?`) // the throughput since 2018
	vegetaDuration  = lazyregexp.New(`(?m)^Duration +\[total, attack, wait\] +([^,\s]+),`)
	vegetaLatencies = lazyregexp.New(`(?m)^Latencies +\[([^\]]+)\] +(.*)$`)
	vegetaStatus    = lazyregexp.New(`(?m)^Status Codes +\[code:count\] +(.*)$`)
	vegetaErrors    = lazyregexp.New(`(?ms)^Error Set:\n(.*)`)
	vegetaBytes     = lazyregexp.New(`(?m)^Bytes In +\[total, mean\] +(\d+),`)
	vegetaCode      = lazyregexp.New(`(\d+):(\d+)`)
)

func (o *output) vegeta() *vegetaJSON {
	return decode(o, func(j *vegetaJSON) bool { return j.Latencies != nil && j.Throughput != nil && j.Status != nil })
}

func isVegeta(o *output) bool { return o.vegeta() != nil || vegetaRequests.MatchString(o.text) }

func readVegeta(o *output) (*report, error) {
	r := &report{counted: true}
	var complaints []string
	if j := o.vegeta(); j != nil {
		for _, code := range slices.Sorted(maps.Keys(j.Status)) {
			r.vegetaStatus(code, max(j.Status[code], 0))
		}
		r.duration, r.perSecond = scale(j.Duration+j.Wait, time.Nanosecond), j.Rate
		r.score, r.bytes, complaints = *j.Throughput, j.BytesIn.Total, j.Errors
		l := j.Latencies
		for p, ns := range map[float64]float64{50: l.P50, 90: l.P90, 95: l.P95, 99: l.P99, 100: l.Max} {
			setPercentile(&r.latency, p, scale(ns, time.Nanosecond))
		}
		r.latency.Mean = scale(l.Mean, time.Nanosecond)
	} else {
		m := last(vegetaRequests, o.text)
		if m == nil {
			return nil, errNoSummary
		}
		r.perSecond, _ = parseNumber(m[2])
		r.score, _ = parseNumber(m[3])
		r.duration, r.bytes = lastDuration(vegetaDuration, o.text), lastCount(vegetaBytes, o.text)
		r.vegetaLatencies(o.text)
		if m := last(vegetaStatus, o.text); m != nil {
			for _, c := range vegetaCode.FindAllStringSubmatch(m[1], -1) {
				n, _ := parseNumber(c[2])
				r.vegetaStatus(c[1], count(n))
			}
		}
		if m[3] == "" && r.duration > 0 {
			r.score = float64(r.succeeded) / r.duration.Seconds()
		}
		if m := vegetaErrors.FindStringSubmatch(o.text); m != nil {
			complaints = strings.Split(m[1], "\n")
		}
	}
	kind := "mismatch"
	if r.errors > 0 {
		kind = "error"
	}
	for _, text := range complaints {
		r.complain(kind, text)
	}
	r.scored, r.rated = true, true
	return r, nil
}

// vegetaStatus counts a status; vegeta has 0 for a request without an answer.
// A redirect is no success to vegeta, but it is an answer that was asked for.
func (r *report) vegetaStatus(code string, n int64) {
	switch {
	case code == "0":
		r.errors += n
	case code >= "400":
		r.requests, r.mismatches = r.requests+n, r.mismatches+n
	default:
		r.requests, r.succeeded = r.requests+n, r.succeeded+n
	}
}

// vegetaLatencies reads "[min, mean, 50, 90, 95, 99, max]  77µs, 204µs, …".
func (r *report) vegetaLatencies(text string) {
	m := last(vegetaLatencies, text)
	if m == nil {
		return
	}
	names, values := strings.Split(m[1], ", "), strings.Split(m[2], ", ")
	for i := range min(len(names), len(values)) {
		d, ok := parseDuration(values[i])
		if !ok {
			continue
		}
		switch names[i] {
		case "mean":
			r.latency.Mean = d
		case "max":
			r.latency.Max = d
		default:
			p, _ := parseNumber(names[i])
			setPercentile(&r.latency, p, d)
		}
	}
}
