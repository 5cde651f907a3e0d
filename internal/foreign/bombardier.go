package foreign

import (
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// bombardierJSON is bombardier -o json (template.go of the project). Latencies
// are in microseconds.
type bombardierJSON struct {
	Spec *struct {
		Connections int `json:"numberOfConnections"`
	} `json:"spec"`
	Result *struct {
		Bytes   int64    `json:"bytesRead"`
		Took    *float64 `json:"timeTakenSeconds"`
		Req1xx  int64    `json:"req1xx"`
		Req2xx  int64    `json:"req2xx"`
		Req3xx  int64    `json:"req3xx"`
		Req4xx  int64    `json:"req4xx"`
		Req5xx  int64    `json:"req5xx"`
		Others  int64    `json:"others"`
		Latency struct {
			Mean        float64            `json:"mean"`
			Max         float64            `json:"max"`
			Percentiles map[string]float64 `json:"percentiles"`
		} `json:"latency"`
		Errors []struct {
			Description string `json:"description"`
			Count       int64  `json:"count"`
		} `json:"errors"`
	} `json:"result"`
}

var (
	bombardierBegin   = lazyregexp.New(`(?m)^Statistics +Avg +Stdev +Max`)
	bombardierRate    = lazyregexp.New(`(?m)^ *Reqs/sec +([0-9.]+)`)
	bombardierLatency = lazyregexp.New(`(?m)^ *Latency +([0-9.]+[a-zµμ]+) +\S+ +([0-9.]+[a-zµμ]+)`)
	bombardierPercent = lazyregexp.New(`(?m)^ *(\d+)% +([0-9.]+[a-zµμ]+)$`)
	bombardierCodes   = lazyregexp.New(`(?m)^ *1xx - (\d+), 2xx - (\d+), 3xx - (\d+), 4xx - (\d+), 5xx - (\d+)`)
	bombardierOthers  = lazyregexp.New(`(?m)^ *others - (\d+)`)
	bombardierErrors  = lazyregexp.New(`(?ms)^ *Errors:\n(.*)^ *Throughput:`)
	bombardierError   = lazyregexp.New(`(?m)^ *(.+) - (\d+)$`)
	bombardierConns   = lazyregexp.New(`(?m)^Bombarding .* using (\d+) connection`)
)

func (o *output) bombardier() *bombardierJSON {
	return decode(o, func(j *bombardierJSON) bool { return j.Spec != nil && j.Result != nil && j.Result.Took != nil })
}

func isBombardier(o *output) bool {
	return o.bombardier() != nil || bombardierBegin.MatchString(o.text)
}

func readBombardier(o *output) (*report, error) {
	r := &report{counted: true}
	if j := o.bombardier(); j != nil {
		res := j.Result
		r.workload, r.bytes, r.duration = j.Spec.Connections, res.Bytes, seconds(*res.Took)
		r.classes([]int64{res.Req1xx, res.Req2xx, res.Req3xx, res.Req4xx, res.Req5xx})
		r.latency.Mean, r.latency.Max = scale(res.Latency.Mean, time.Microsecond), scale(res.Latency.Max, time.Microsecond)
		for name, us := range res.Latency.Percentiles {
			p, _ := parseNumber(name)
			setPercentile(&r.latency, p, scale(us, time.Microsecond))
		}
		for _, e := range res.Errors {
			r.broken(e.Description, max(e.Count, 0))
		}
		r.errors = max(res.Others-r.timeouts, 0)
		if r.duration > 0 {
			r.perSecond = float64(r.requests) / r.duration.Seconds()
		}
		r.rate()
		return r, nil
	}
	codes := last(bombardierCodes, o.text)
	rate, ok := lastNumber(bombardierRate, o.text)
	if codes == nil || !ok {
		return nil, errNoSummary
	}
	var classes []int64
	for _, c := range codes[1:] {
		n, _ := parseNumber(c)
		classes = append(classes, count(n))
	}
	r.classes(classes)
	r.workload = int(lastCount(bombardierConns, o.text))
	if m := last(bombardierLatency, o.text); m != nil {
		r.latency.Mean, _ = parseDuration(m[1])
		r.latency.Max, _ = parseDuration(m[2])
	}
	seen := map[string]bool{} // a second table is of some of the answers only
	for _, p := range bombardierPercent.FindAllStringSubmatch(o.text, -1) {
		percent, _ := parseNumber(p[1])
		if d, ok := parseDuration(p[2]); ok && !seen[p[1]] {
			setPercentile(&r.latency, percent, d)
			seen[p[1]] = true
		}
	}
	if m := last(bombardierErrors, o.text); m != nil {
		for _, e := range bombardierError.FindAllStringSubmatch(strings.TrimRight(m[1], "\n"), -1) {
			n, _ := parseNumber(e[2])
			r.broken(e[1], count(n))
		}
	}
	others := lastCount(bombardierOthers, o.text)
	r.errors = max(others-r.timeouts, 0)
	// Its rate counts requests without an answer too.
	if all := r.requests + others; all > 0 {
		r.perSecond = rate * float64(r.requests) / float64(all)
	}
	r.rate()
	return r, nil
}

// classes counts answers by status class, 1xx first.
func (r *report) classes(n []int64) {
	for i, code := range []string{"1xx", "2xx", "3xx", "4xx", "5xx"} {
		if n[i] > 0 {
			r.status(code, n[i])
		}
	}
}
