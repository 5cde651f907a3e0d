package foreign

import (
	"time"

	"kasoku/internal/lazyregexp"
)

// ab 2.3 (support/ab.c, output_results).
var (
	abBegin    = lazyregexp.New(`(?m)^This is ApacheBench`)
	abComplete = lazyregexp.New(`(?m)^Complete requests: +(\d+)`)
	abFailed   = lazyregexp.New(`(?m)^Failed requests: +(\d+)`)
	abWhy      = lazyregexp.New(`(?m)^ +\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)`)
	abStatus   = lazyregexp.New(`(?m)^Non-2xx responses: +(\d+)`)
	abRate     = lazyregexp.New(`(?m)^Requests per second: +([0-9.]+)`)
	abTook     = lazyregexp.New(`(?m)^Time taken for tests: +([0-9.]+ seconds)`)
	abMean     = lazyregexp.New(`(?m)^Time per request: +([0-9.]+) \[ms\] \(mean\)$`)
	abPercent  = lazyregexp.New(`(?m)^ +(\d+)% +(\d+)(?: \(longest request\))?$`)
	abConns    = lazyregexp.New(`(?m)^Concurrency Level: +(\d+)`)
	abBytes    = lazyregexp.New(`(?m)^Total transferred: +(\d+) bytes`)
)

func isAB(o *output) bool { return abBegin.MatchString(o.text) && abComplete.MatchString(o.text) }

func readAB(o *output) (*report, error) {
	rate, ok := lastNumber(abRate, o.text)
	if !ok || !abComplete.MatchString(o.text) {
		return nil, errNoSummary
	}
	r := &report{counted: true, perSecond: rate, requests: lastCount(abComplete, o.text),
		workload: int(lastCount(abConns, o.text)), bytes: lastCount(abBytes, o.text)}
	if m := last(abTook, o.text); m != nil {
		n, _ := parseNumber(m[1][:len(m[1])-len(" seconds")])
		r.duration = scale(n, time.Second)
	}
	// An answer of another length than the first is a failure to ab, unless it
	// runs with -l; an answer with a wrong status may be both.
	r.mismatches = lastCount(abStatus, o.text)
	if m := last(abWhy, o.text); m != nil {
		for _, i := range []int{1, 2, 4} {
			n, _ := parseNumber(m[i])
			r.errors += count(n)
		}
		n, _ := parseNumber(m[3])
		r.mismatches = max(r.mismatches, count(n))
		r.complain("mismatch", abFailed.FindString(o.text)+" "+m[0])
	}
	if s := abStatus.FindString(o.text); s != "" {
		r.complain("mismatch", s)
	}
	r.succeeded = max(r.requests-r.mismatches-r.errors, 0)
	mean, _ := lastNumber(abMean, o.text)
	r.latency.Mean = scale(mean, time.Millisecond)
	for _, p := range abPercent.FindAllStringSubmatch(o.text, -1) {
		percent, _ := parseNumber(p[1])
		ms, _ := parseNumber(p[2])
		setPercentile(&r.latency, percent, scale(ms, time.Millisecond))
	}
	r.rate()
	return r, nil
}
