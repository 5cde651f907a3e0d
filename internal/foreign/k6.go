package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// k6JSON is the data of handleSummary, or of --summary-export, which has the
// values of a metric beside each other. Times are in milliseconds.
type k6JSON struct {
	Metrics map[string]json.RawMessage `json:"metrics"`
	State   struct {
		Milliseconds float64 `json:"testRunDurationMs"`
	} `json:"state"`
}

// k6Metric is one metric in either form.
type k6Metric struct {
	Values     map[string]float64         `json:"values"`
	Thresholds map[string]json.RawMessage `json:"thresholds"`
}

// k6Crossed is the exit status of a run with crossed thresholds
// (errext/exitcodes of the project).
const k6Crossed = 99

// The text summary. Up to v0.5x and with --summary-mode=legacy a rate has
// "✓ passes ✗ fails"; since v1 "passes out of all".
var (
	k6Reqs       = lazyregexp.New(`(?m)^\s*[✓✗]?\s*http_reqs\.*: +(\d+) +([0-9.]+)/s`)
	k6Iterations = lazyregexp.New(`(?m)^\s*[✓✗]?\s*iterations\.*: +(\d+) +([0-9.]+)/s`)
	k6Failed     = lazyregexp.New(`(?m)^\s*[✓✗]?\s*http_req_failed\.*: +[0-9.]+% +(?:✓ (\d+) +✗ \d+|(\d+) out of \d+)`)
	k6Checks     = lazyregexp.New(`(?m)^\s*[✓✗]?\s*(?:checks\.*: +[0-9.]+% +✓ \d+ +✗ (\d+)|checks_failed\.*: +[0-9.]+% +(\d+) out of \d+)`)
	k6Duration   = lazyregexp.New(`(?m)^\s*[✓✗]?\s*http_req_duration\.*: (.*)$`)
	k6Trend      = lazyregexp.New(`([a-z0-9().]+)=([0-9.]+[a-zµμ]+(?:[0-9.]+[a-zµμ]+)*)`)
	k6VUs        = lazyregexp.New(`(?m)^\s*[✓✗]?\s*vus_max\.*: +(\d+)`)
	k6CheckLine  = lazyregexp.New(`(?m)^\s*✗ (.+)$`)
	k6Thresholds = lazyregexp.New(`thresholds on metrics '[^']*' have been crossed`)
)

// k6Part begins a part of --summary-mode=full; the parts of groups and
// scenarios have the same lines as the whole.
var (
	k6Whole = lazyregexp.New(`(?m)^\s*█ TOTAL RESULTS`)
	k6Part  = lazyregexp.New(`(?m)^\s*█ (?:GROUP|SCENARIO)`)
)

// k6Totals is the text without the parts of groups and scenarios.
func k6Totals(text string) string {
	if at := k6Whole.FindAllStringIndex(text, -1); at != nil {
		text = text[at[len(at)-1][0]:]
		if part := k6Part.FindStringIndex(text); part != nil {
			text = text[:part[0]]
		}
	}
	return text
}

func (o *output) k6() *k6JSON {
	return decode(o, func(j *k6JSON) bool { return j.Metrics["http_reqs"] != nil || j.Metrics["iterations"] != nil })
}

func isK6(o *output) bool {
	return o.k6() != nil || o.k6List() != nil || k6Reqs.MatchString(o.text) || k6Iterations.MatchString(o.text)
}

func readK6(o *output) (*report, error) {
	r := &report{counted: true}
	failed, checks := int64(0), int64(0)
	if j := o.k6(); j != nil {
		failed, checks = r.k6Data(j)
	} else if s := o.k6List(); s != nil {
		if failed, checks = r.k6Data(s.older()); s.Results.Passed != nil && !*s.Results.Passed {
			r.failed = "thresholds have been crossed"
		}
	} else {
		var err error
		if failed, checks, err = r.k6Text(k6Totals(o.text)); err != nil {
			return nil, err
		}
	}
	// A failed check and a failed request are most often the same answer. k6
	// does not tell a wrong status from no answer.
	r.mismatches = max(failed, checks)
	r.succeeded = max(r.requests-r.mismatches, 0)
	if r.mismatches > 0 && len(r.messages) == 0 {
		r.complain("mismatch", fmt.Sprintf("%d requests or checks failed", r.mismatches))
	}
	if m := k6Thresholds.FindString(o.text); m != "" {
		r.failed = m
	} else if o.exit == k6Crossed && r.failed == "" {
		r.failed = "thresholds have been crossed"
	}
	r.rate()
	return r, nil
}

// k6Text reads what k6 prints for people.
func (r *report) k6Text(text string) (failed, checks int64, err error) {
	m := last(k6Reqs, text)
	if m == nil {
		m = last(k6Iterations, text)
	}
	if m == nil {
		return 0, 0, errNoSummary
	}
	n, _ := parseNumber(m[1])
	r.requests = count(n)
	r.perSecond, _ = parseNumber(m[2])
	r.workload = int(lastCount(k6VUs, text))
	if m := last(k6Duration, text); m != nil {
		for _, t := range k6Trend.FindAllStringSubmatch(m[1], -1) {
			d, _ := parseDuration(t[2])
			r.k6Latency(t[1], d)
		}
	}
	for _, m := range k6CheckLine.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "..:") {
			r.complain("mismatch", "check failed: "+m[1])
		}
	}
	return groupCount(k6Failed, text), groupCount(k6Checks, text), nil
}

// groupCount is the count in whichever group of the last match is set.
func groupCount(re *lazyregexp.Regexp, text string) int64 {
	m := last(re, text)
	for i := 1; i < len(m); i++ {
		if m[i] != "" {
			n, _ := parseNumber(m[i])
			return count(n)
		}
	}
	return 0
}

// k6Data reads JSON and returns failed requests and failed checks.
func (r *report) k6Data(j *k6JSON) (failed, checks int64) {
	values := func(name string) map[string]float64 {
		m, _ := j.metric(name)
		return m.Values
	}
	reqs := values("http_reqs")
	if reqs == nil {
		reqs = values("iterations")
	}
	r.requests, r.perSecond = count(reqs["count"]), reqs["rate"]
	r.duration = scale(j.State.Milliseconds, time.Millisecond)
	for name, ms := range values("http_req_duration") {
		r.k6Latency(name, scale(ms, time.Millisecond))
	}
	r.workload = int(count(max(values("vus_max")["max"], values("vus_max")["value"])))
	r.bytes = count(values("data_received")["count"])
	var crossed []string
	for name := range j.Metrics {
		if m, flat := j.metric(name); m.crossed(flat) {
			crossed = append(crossed, name)
		}
	}
	if slices.Sort(crossed); len(crossed) > 0 {
		r.failed = fmt.Sprintf("thresholds on metrics '%s' have been crossed", strings.Join(crossed, ", "))
	}
	return count(values("http_req_failed")["passes"]), count(values("checks")["fails"])
}

// metric decodes a metric of either form; flat is that of --summary-export.
func (j *k6JSON) metric(name string) (m k6Metric, flat bool) {
	raw := j.Metrics[name]
	if raw == nil || json.Unmarshal(raw, &m) != nil || m.Values != nil {
		return m, false
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return m, false
	}
	m.Values = map[string]float64{}
	for k, v := range all {
		var n float64
		if json.Unmarshal(v, &n) == nil {
			m.Values[k] = n
		}
	}
	return m, true
}

// crossed reports whether a threshold failed: {"ok": false} in handleSummary's
// data, true ("last failed") in --summary-export.
func (m k6Metric) crossed(flat bool) bool {
	for _, raw := range m.Thresholds {
		var t struct {
			OK *bool `json:"ok"`
		}
		var lastFailed bool
		if flat && json.Unmarshal(raw, &lastFailed) == nil && lastFailed {
			return true
		}
		if !flat && json.Unmarshal(raw, &t) == nil && t.OK != nil && !*t.OK {
			return true
		}
	}
	return false
}

func (r *report) k6Latency(name string, d time.Duration) {
	switch name {
	case "avg":
		r.latency.Mean = d
	case "med", "p(50)":
		r.latency.P50 = d
	case "max":
		r.latency.Max = d
	case "p(90)":
		r.latency.P90 = d
	case "p(95)":
		r.latency.P95 = d
	case "p(99)":
		r.latency.P99 = d
	}
}
