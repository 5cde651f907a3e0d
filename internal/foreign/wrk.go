package foreign

import "regexp"

// wrk 4 (src/wrk.c, print_stats) and wrk2, which adds calibration lines and
// percentiles with decimals ("50.000%").
var (
	wrkBegin    = regexp.MustCompile(`(?m)^Running \S+ test @ `)
	wrkRequests = regexp.MustCompile(`(?m)^ *(\d+) requests in ([0-9.]+[a-zµ]+),`)
	wrkRate     = regexp.MustCompile(`(?m)^Requests/sec: *([0-9.]+)`)
	wrkLatency  = regexp.MustCompile(`(?m)^ *Latency +(\S+) +\S+ +(\S+) +\S+$`)
	wrkPercent  = regexp.MustCompile(`(?m)^ *([0-9.]+)% +([0-9.]+[a-zµ]+)$`)
	wrkConns    = regexp.MustCompile(`(?m)^ *\d+ threads and (\d+) connections`)
	wrkStatus   = regexp.MustCompile(`(?m)^ *Non-2xx or 3xx responses: (\d+)`)
	wrkSockets  = regexp.MustCompile(`(?m)^ *Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
)

func isWrk(o *output) bool { return wrkBegin.MatchString(o.text) }

func readWrk(o *output) (*report, error) {
	m := last(wrkRequests, o.text)
	rate, ok := lastNumber(wrkRate, o.text)
	if m == nil || !ok {
		return nil, errNoSummary
	}
	r := &report{counted: true, perSecond: rate, workload: int(lastCount(wrkConns, o.text)), mismatches: lastCount(wrkStatus, o.text)}
	n, _ := parseNumber(m[1])
	r.requests = count(n)
	r.duration, _ = parseDuration(m[2])
	r.succeeded = max(r.requests-r.mismatches, 0)
	if l := last(wrkLatency, o.text); l != nil {
		r.latency.Mean, _ = parseDuration(l[1])
		r.latency.Max, _ = parseDuration(l[2])
	}
	for _, p := range wrkPercent.FindAllStringSubmatch(o.text, -1) {
		percent, _ := parseNumber(p[1])
		if d, ok := parseDuration(p[2]); ok && percent < 100 {
			setPercentile(&r.latency, percent, d)
		}
	}
	if s := last(wrkSockets, o.text); s != nil {
		for i, to := range []*int64{&r.errors, &r.errors, &r.errors, &r.timeouts} {
			n, _ := parseNumber(s[i+1])
			*to += count(n)
		}
		kind := "error"
		if r.errors == 0 {
			kind = "timeout"
		}
		r.complain(kind, s[0])
	}
	if s := wrkStatus.FindString(o.text); s != "" {
		r.complain("mismatch", s)
	}
	r.rate()
	return r, nil
}
