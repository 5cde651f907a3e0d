package foreign

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// gatlingValue is one number of all, of right and of wrong requests.
type gatlingValue struct {
	Total float64 `json:"total"`
	OK    float64 `json:"ok"`
	KO    float64 `json:"ko"`
}

// gatlingStats is js/global_stats.json, and the part "stats" of js/stats.json.
// Times are in milliseconds; percentiles1 to 4 are 50, 75, 95 and 99 by
// default (gatling.conf, charting.indicators).
type gatlingStats struct {
	Name     string        `json:"name"`
	Requests *gatlingValue `json:"numberOfRequests"`
	Max      gatlingValue  `json:"maxResponseTime"`
	Mean     gatlingValue  `json:"meanResponseTime"`
	P50      gatlingValue  `json:"percentiles1"`
	P95      gatlingValue  `json:"percentiles3"`
	P99      gatlingValue  `json:"percentiles4"`
	Rate     *gatlingValue `json:"meanNumberOfRequestsPerSecond"`
}

// Lines of the console: "> request count   20 (OK=18   KO=2)", and since 3.11
// "> request count | 20 | 18 | 2". A thousand is 1,000 there.
var (
	gatlingBegin = lazyregexp.New(`(?m)^Simulation \S+ started|^-+ Global Information -+`)
	gatlingLine  = lazyregexp.New(`(?m)^> ([a-z][^|(]*?)(?: \((?:ms|rps)\))? +\|? *([0-9][0-9.,]*|-) *(?:\(OK=([0-9.,]+|-) +KO=([0-9.,]+|-) *\)|\| +([0-9.,]+|-) +\| +([0-9.,]+|-))`)
	gatlingError = lazyregexp.New(`(?m)^> (\S.*?) +\|? *(\d[0-9,]*) +\(?\|? *[0-9. ]+%`)
	gatlingTimed = lazyregexp.New(`(\d+)th percentile`)
)

func (o *output) gatling() *gatlingStats {
	type document struct {
		Stats *gatlingStats `json:"stats"`
		gatlingStats
	}
	ok := func(s *gatlingStats) bool { return s != nil && s.Requests != nil && s.Rate != nil }
	d := decode(o, func(d *document) bool { return ok(d.Stats) || ok(&d.gatlingStats) })
	switch {
	case d == nil:
		return nil
	case ok(d.Stats):
		return d.Stats
	}
	return &d.gatlingStats
}

// errLongSimulation: of a longer output the middle is not kept.
var errLongSimulation = errors.New("its simulation.log is longer than what is kept of an output; print js/global_stats.json, or what Gatling prints at its end")

func isGatling(o *output) bool {
	return o.gatling() != nil || gatlingBegin.MatchString(o.text) || gatlingRow.MatchString(o.text)
}

func readGatling(o *output) (*report, error) {
	r := &report{counted: true}
	if j := o.gatling(); j != nil {
		r.requests, r.mismatches, r.perSecond = count(j.Requests.Total), count(j.Requests.KO), j.Rate.Total
		for name, v := range map[string]gatlingValue{"mean": j.Mean, "max": j.Max, "p50": j.P50, "p95": j.P95, "p99": j.P99} {
			r.named(name, scale(v.Total, time.Millisecond))
		}
	} else if !gatlingBegin.MatchString(o.text) {
		if err := r.gatlingLines(o.text); err != nil {
			return nil, err
		}
	} else if err := r.gatlingText(o.text); err != nil {
		return nil, err
	}
	r.succeeded = max(r.requests-r.mismatches, 0)
	if r.mismatches > 0 && len(r.messages) == 0 {
		r.complain("mismatch", fmt.Sprintf("%d requests failed (KO)", r.mismatches))
	}
	r.rate()
	return r, nil
}

func (r *report) gatlingText(text string) error {
	at := strings.LastIndex(text, "Global Information")
	if at < 0 {
		return errNoSummary
	}
	text = text[at:]
	found := false
	for _, m := range gatlingLine.FindAllStringSubmatch(text, -1) {
		n, _ := parseNumber(m[2])
		ms := scale(n, time.Millisecond)
		switch name := m[1]; {
		case name == "request count":
			found = true
			wrong, _ := parseNumber(m[4] + m[6])
			r.requests, r.mismatches = count(n), count(wrong)
		case strings.HasPrefix(name, "mean response time"):
			r.latency.Mean = ms
		case strings.HasPrefix(name, "max response time"):
			r.latency.Max = ms
		case name == "mean requests/sec" || strings.HasPrefix(name, "mean throughput"):
			r.perSecond = n
		default:
			if p := gatlingTimed.FindStringSubmatch(name); p != nil {
				percent, _ := parseNumber(p[1])
				setPercentile(&r.latency, percent, ms)
			}
		}
	}
	if !found {
		return errNoSummary
	}
	if at := strings.LastIndex(text, "---- Errors "); at >= 0 {
		for _, e := range gatlingError.FindAllStringSubmatch(text[at:], -1) {
			r.complain("mismatch", e[1])
		}
	}
	return nil
}
