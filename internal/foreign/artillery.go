package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// artilleryJSON is what artillery run --output writes: the aggregate of
// version 2, and that of version 1. Times are in milliseconds.
type artilleryJSON struct {
	Aggregate *struct {
		Counters  map[string]int64   `json:"counters"`
		Rates     map[string]float64 `json:"rates"`
		Summaries map[string]any     `json:"summaries"`
		First     float64            `json:"firstMetricAt"` // ms since 1970
		Last      float64            `json:"lastMetricAt"`

		Codes     map[string]int64 `json:"codes"`
		Errors    map[string]int64 `json:"errors"`
		Completed int64            `json:"requestsCompleted"`
		Latency   map[string]any   `json:"latency"`
		RPS       struct {
			Mean float64 `json:"mean"`
		} `json:"rps"`
	} `json:"aggregate"`
}

// The text's summary: names with dots before the number in version 2, blocks
// in version 1. Reports of parts of the run stand before it.
var (
	artilleryBegin    = lazyregexp.New(`(?m)^(?:Summary report @|All virtual users finished|All VUs finished|Metrics for period to:|Report @)`)
	artillerySummary  = lazyregexp.New(`(?m)^Summary report @.*$`)
	artilleryCode     = lazyregexp.New(`(?m)^\s*(?:http\.codes\.)?(\d{3}):[ .]+(\d+)$`)
	artilleryError    = lazyregexp.New(`(?m)^\s*errors\.(.+?):[ .]+(\d+)$`)
	artilleryErrors1  = lazyregexp.New(`(?m)^  Errors:\n((?:    .+\n?)*)`)
	artilleryRate     = lazyregexp.New(`(?m)^\s*(?:http\.request_rate:[ .]+([0-9.]+)/sec|(?:Mean response/sec|RPS sent): ([0-9.]+))`)
	artilleryTimes    = lazyregexp.New(`(?m)^(?:http\.response_time:|  (?:Response time|Request latency) \(msec\):)[ .]*\n((?:\s+\w+:.*\n?)*)`)
	artilleryTime     = lazyregexp.New(`(?m)^\s+(\w+):[ .]+([0-9.]+)$`)
	artilleryTook     = lazyregexp.New(`(?m)Total time: (?:(\d+) minutes?(?:, )?)?(?:(\d+) seconds?)?`)
	artilleryErrLine1 = lazyregexp.New(`(?m)^    (.+): (\d+)$`)
)

func (o *output) artillery() *artilleryJSON {
	return decode(o, func(j *artilleryJSON) bool {
		return j.Aggregate != nil && (j.Aggregate.Counters["vusers.created"] > 0 || j.Aggregate.Codes != nil)
	})
}

func isArtillery(o *output) bool { return o.artillery() != nil || artilleryBegin.MatchString(o.text) }

func readArtillery(o *output) (*report, error) {
	r := &report{counted: true}
	if j := o.artillery(); j != nil {
		r.artilleryData(j)
		r.rate()
		return r, nil
	}
	at := artillerySummary.FindAllStringIndex(o.text, -1)
	if at == nil {
		return nil, fmt.Errorf("%w: \"Summary report @\" does not occur", errNoSummary)
	}
	text := o.text[at[len(at)-1][0]:]
	if m := artilleryTook.FindStringSubmatch(o.text); m != nil {
		minutes, _ := parseNumber(m[1])
		secs, _ := parseNumber(m[2])
		r.duration = seconds(60*minutes + secs)
	}
	if m := last(artilleryRate, text); m != nil {
		r.perSecond, _ = parseNumber(m[1] + m[2])
	}
	for _, m := range artilleryCode.FindAllStringSubmatch(text, -1) {
		n, _ := parseNumber(m[2])
		r.status(m[1], count(n))
	}
	for _, m := range artilleryError.FindAllStringSubmatch(text, -1) {
		n, _ := parseNumber(m[2])
		r.broken(m[1], count(n))
	}
	if m := artilleryErrors1.FindStringSubmatch(text); m != nil {
		for _, e := range artilleryErrLine1.FindAllStringSubmatch(m[1], -1) {
			n, _ := parseNumber(e[2])
			r.broken(e[1], count(n))
		}
	}
	if m := last(artilleryTimes, text); m != nil {
		for _, v := range artilleryTime.FindAllStringSubmatch(m[1], -1) {
			ms, _ := parseNumber(v[2])
			r.named(v[1], scale(ms, time.Millisecond))
		}
	}
	r.ownRate()
	r.rate()
	return r, nil
}

// ownRate prefers answers over the run's time to the rate that is printed,
// which is rounded to whole requests.
func (r *report) ownRate() {
	if r.duration > 0 {
		r.perSecond = float64(r.requests) / r.duration.Seconds()
	}
}

func (r *report) artilleryData(j *artilleryJSON) {
	a := j.Aggregate
	r.perSecond = max(a.Rates["http.request_rate"], a.RPS.Mean)
	r.duration = scale(a.Last-a.First, time.Millisecond)
	for _, name := range slices.Sorted(maps.Keys(a.Counters)) {
		n := max(a.Counters[name], 0)
		if code, ok := strings.CutPrefix(name, "http.codes."); ok {
			r.status(code, n)
		} else if text, ok := strings.CutPrefix(name, "errors."); ok {
			r.broken(text, n)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(a.Codes)) {
		r.status(code, max(a.Codes[code], 0))
	}
	for _, text := range slices.Sorted(maps.Keys(a.Errors)) {
		r.broken(text, max(a.Errors[text], 0))
	}
	times, _ := a.Summaries["http.response_time"].(map[string]any)
	if times == nil {
		times = a.Latency
	}
	for _, name := range slices.Sorted(maps.Keys(times)) {
		if ms, ok := times[name].(float64); ok {
			r.named(name, scale(ms, time.Millisecond))
		}
	}
	r.bytes = max(a.Counters["http.downloaded_bytes"], 0)
	r.ownRate()
}
