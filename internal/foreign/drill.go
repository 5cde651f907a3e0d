package foreign

import (
	"fmt"
	"strings"

	"kasoku/internal/lazyregexp"
)

// drill --stats (src/main.rs, show_stats): first each request's own values behind its
// name, then those of all. Failed requests are answers with another status than 2xx, and
// such without an answer. Times are in ms, with --nanosec in ns.
var (
	drillRequests  = lazyregexp.New(`(?m)^Total requests +(\d+)`)
	drillSucceeded = lazyregexp.New(`(?m)^Successful requests +(\d+)`)
	drillFailed    = lazyregexp.New(`(?m)^Failed requests +(\d+)`)
	drillRate      = lazyregexp.New(`(?m)^Requests per second +([0-9.]+) \[#/sec\]`)
	drillTook      = lazyregexp.New(`(?m)^Time taken for tests +([0-9.]+ seconds)`)
	drillWorkload  = lazyregexp.New(`(?m)^Concurrency(?: Level)? +(\d+)`)
	drillTime      = lazyregexp.New(`(?m)^(?:(Median|Average) time per request|([0-9.]+)'th percentile) +([0-9.]+ ?[a-zµμ]+)`)
)

func isDrill(o *output) bool {
	return drillRequests.MatchString(o.text) && drillSucceeded.MatchString(o.text) && strings.Contains(o.text, "Sample standard deviation")
}

func readDrill(o *output) (*report, error) {
	rate, ok := lastNumber(drillRate, o.text)
	if !ok || !isDrill(o) {
		return nil, errNoSummary
	}
	r := &report{counted: true, perSecond: rate, duration: lastDuration(drillTook, o.text), workload: int(lastCount(drillWorkload, o.text)),
		requests: lastCount(drillRequests, o.text), succeeded: lastCount(drillSucceeded, o.text), mismatches: lastCount(drillFailed, o.text)}
	if r.mismatches > 0 {
		// It does not tell a wrong status from no answer.
		r.complain("mismatch", fmt.Sprintf("%d failed requests", r.mismatches))
	}
	for _, m := range drillTime.FindAllStringSubmatch(o.text, -1) {
		d, fine := parseDuration(m[3])
		p, _ := parseNumber(m[2])
		switch {
		case !fine:
		case m[1] == "Average":
			r.latency.Mean = d
		case m[1] == "Median":
			setPercentile(&r.latency, 50, d)
		default:
			setPercentile(&r.latency, p, d)
		}
	}
	r.rate()
	return r, nil
}
