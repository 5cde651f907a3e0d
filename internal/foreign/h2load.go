package foreign

import (
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// h2load of nghttp2 (src/h2load.cc, main). The columns of its times are named
// in a line above them: newer versions have median, p95 and p99, too.
var (
	h2loadBegin    = lazyregexp.New(`(?m)^(?:starting benchmark\.\.\.|spawning thread #0:)`)
	h2loadFinished = lazyregexp.New(`(?m)^finished in ([0-9.]+[a-z]+), ([0-9.]+) req/s`)
	h2loadRequests = lazyregexp.New(`(?m)^requests: (\d+) total, (\d+) started, (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout`)
	h2loadStatus   = lazyregexp.New(`(?m)^status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx`)
	h2loadTraffic  = lazyregexp.New(`(?m)^traffic: \S+ \((\d+)\) total`)
	h2loadNames    = lazyregexp.New(`(?m)^ +min +max +(.*)$`)
	h2loadTimes    = lazyregexp.New(`(?m)^(?:time for request|request) *: +(.*)$`)
	h2loadClients  = lazyregexp.New(`(?m)^spawning thread #\d+: (\d+) total client`)
)

func isH2load(o *output) bool {
	return h2loadBegin.MatchString(o.text) && (h2loadRequests.MatchString(o.text) || h2loadClients.MatchString(o.text))
}

func readH2load(o *output) (*report, error) {
	finished, requests := last(h2loadFinished, o.text), last(h2loadRequests, o.text)
	if finished == nil || requests == nil {
		return nil, errNoSummary
	}
	r := &report{counted: true, bytes: lastCount(h2loadTraffic, o.text)}
	r.duration, _ = parseDuration(finished[1])
	r.perSecond, _ = parseNumber(finished[2])
	for _, m := range h2loadClients.FindAllStringSubmatch(o.text, -1) {
		n, _ := parseNumber(m[1])
		r.workload += int(count(n))
	}
	var n [8]int64
	for i := range requests[1:] {
		v, _ := parseNumber(requests[i+1])
		n[i] = count(v)
	}
	r.requests, r.succeeded, r.timeouts = n[2], n[3], n[6]
	if m := last(h2loadStatus, o.text); m != nil {
		for _, text := range m[3:] {
			v, _ := parseNumber(text)
			r.mismatches += count(v)
		}
		if r.mismatches > 0 {
			r.complain("mismatch", m[0])
		}
	}
	// Failed requests are those with a wrong status and those without an answer.
	r.errors = max(n[4]-r.mismatches-r.timeouts, 0)
	if r.errors+r.timeouts > 0 {
		r.complain("error", requests[0])
	}
	r.requests = max(r.requests-r.errors-r.timeouts, r.succeeded+r.mismatches)
	r.h2loadLatency(o.text)
	r.rate()
	return r, nil
}

func (r *report) h2loadLatency(text string) {
	names, values := last(h2loadNames, text), last(h2loadTimes, text)
	if names == nil || values == nil {
		return
	}
	columns := append([]string{"min", "max"}, strings.Fields(names[1])...)
	for i, v := range strings.Fields(values[1]) {
		d, ok := parseDuration(v)
		if !ok || i >= len(columns) {
			continue
		}
		r.named(columns[i], d)
	}
}

// named sets the latency that has this name in a tool's output.
func (r *report) named(name string, d time.Duration) {
	switch name {
	case "mean", "avg", "average":
		r.latency.Mean = d
	case "max":
		r.latency.Max = d
	case "median", "med", "p50":
		r.latency.P50 = d
	case "p90":
		r.latency.P90 = d
	case "p95":
		r.latency.P95 = d
	case "p99":
		r.latency.P99 = d
	}
}
