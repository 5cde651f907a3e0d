package foreign

import (
	"fmt"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// wrk 4 (src/wrk.c, print_stats) and wrk2, which adds calibration lines and
// percentiles with decimals ("50.000%"). A time is printed in the unit that
// suits it: us, ms, s, m or h (src/units.c), and a unit of one letter has a
// space behind it.
var (
	wrkBegin    = lazyregexp.New(`(?m)^Running \S+ test @ `)
	wrkRequests = lazyregexp.New(`(?m)^ *(\d+) requests in ([0-9.]+[a-zµμ]+),`)
	wrkRate     = lazyregexp.New(`(?m)^Requests/sec: *([0-9.]+)`)
	wrkLatency  = lazyregexp.New(`(?m)^ *Latency +(\S+) +\S+ +(\S+) +\S+ *$`)
	wrkPercent  = lazyregexp.New(`^ *([0-9.]+)% +([0-9.]+[a-zµμ]+) *$`)
	wrkPlanned  = lazyregexp.New(`^Running (\d+(?:\.\d+)?[smh]) test @ `)
	wrkEnd      = lazyregexp.New(`(?m)^Transfer/sec: .*$`)
	wrkConns    = lazyregexp.New(`(?m)^ *\d+ threads and (\d+) connections`)
	wrkStatus   = lazyregexp.New(`(?m)^ *Non-2xx or 3xx responses: (\d+)`)
	wrkSockets  = lazyregexp.New(`(?m)^ *Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
)

func isWrk(o *output) bool { return wrkBegin.MatchString(o.text) && wrkConns.MatchString(o.text) }

// wrkSummary is what wrk itself printed of the last run, without what a
// script's done() printed after it, which may look the same.
func wrkSummary(text string) string {
	if at := wrkBegin.FindAllStringIndex(text, -1); at != nil {
		text = text[at[len(at)-1][0]:]
	}
	if end := wrkEnd.FindStringIndex(text); end != nil {
		text = text[:end[1]]
	}
	return text
}

// wrkPercentiles sets those of the first distribution. With --u_latency, wrk2
// prints a second one, which leaves out the time that requests waited to be
// sent; the first is the one that counts it.
func (r *report) wrkPercentiles(text string) {
	_, list, _ := strings.Cut(text, "Latency Distribution")
	_, list, _ = strings.Cut(list, "\n")
	for line := range strings.Lines(list) {
		m := wrkPercent.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			return
		}
		percent, _ := parseNumber(m[1])
		if d, ok := parseDuration(m[2]); ok && percent < 100 {
			setPercentile(&r.latency, percent, d)
		}
	}
}

// wrkCut is the share of the planned time below which a run was ended from
// outside: wrk prints its summary then, too, and ends with 0.
const wrkCut = 0.8

// cutShort fails a run that ended before its time.
func (r *report) cutShort(planned time.Duration) {
	if planned > 0 && r.duration < time.Duration(wrkCut*float64(planned)) {
		r.failed = fmt.Sprintf("it was ended after %s of %s", r.duration, planned)
	}
}

func readWrk(o *output) (*report, error) {
	text := wrkSummary(o.text)
	m := last(wrkRequests, text)
	rate, ok := lastNumber(wrkRate, text)
	if m == nil || !ok {
		return nil, errNoSummary
	}
	r := &report{counted: true, perSecond: rate, workload: int(lastCount(wrkConns, text)), mismatches: lastCount(wrkStatus, text)}
	n, _ := parseNumber(m[1])
	r.requests = count(n)
	r.duration, _ = parseDuration(m[2])
	r.succeeded = max(r.requests-r.mismatches, 0)
	if l := last(wrkLatency, text); l != nil {
		r.latency.Mean, _ = parseDuration(l[1])
		r.latency.Max, _ = parseDuration(l[2])
	}
	r.wrkPercentiles(text)
	if s := last(wrkSockets, text); s != nil {
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
	if s := wrkStatus.FindString(text); s != "" {
		r.complain("mismatch", s)
	}
	r.rate()
	if m := wrkPlanned.FindStringSubmatch(text); m != nil {
		planned, _ := parseDuration(m[1])
		r.cutShort(planned)
	}
	return r, nil
}
