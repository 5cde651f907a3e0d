package foreign

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"kasoku/internal/lazyregexp"
)

// autocannonJSON is autocannon --json (its README, "result"). Times are in
// milliseconds. Versions before 4 have no percentiles named p97_5.
type autocannonJSON struct {
	Connections int                `json:"connections"`
	Duration    float64            `json:"duration"` // s
	Errors      int64              `json:"errors"`   // with timeouts
	Timeouts    int64              `json:"timeouts"`
	Mismatches  int64              `json:"mismatches"`
	Non2xx      *int64             `json:"non2xx"`
	Status1xx   int64              `json:"1xx"`
	Status2xx   int64              `json:"2xx"`
	Status3xx   int64              `json:"3xx"`
	Status4xx   int64              `json:"4xx"`
	Status5xx   int64              `json:"5xx"`
	Latency     map[string]float64 `json:"latency"`
	Requests    map[string]float64 `json:"requests"`
	Throughput  map[string]float64 `json:"throughput"`
}

// The tables of the text (lib/printResult.js). Large numbers in it are rounded
// ("48k requests"); the rate of each second is not.
var (
	autocannonBegin   = lazyregexp.New(`(?m)^Running (?:\S+ test|\d+k? requests) @ \S+\n(\d+) connections?`)
	autocannonRow     = lazyregexp.New(`(?m)^│ (Latency|Req/Sec) +│ (.*) │$`)
	autocannonHead    = lazyregexp.New(`(?m)^│ Stat +│ (.*) │$`)
	autocannonSamples = lazyregexp.New(`(?m)^# of samples: (\d+)`)
	autocannonEnd     = lazyregexp.New(`(?m)^([0-9.]+k?m?) requests in ([0-9.]+s), ([0-9.]+ \S+) read`)
	autocannonTook    = lazyregexp.New(`(?m)requests in ([0-9.]+s),`)
	autocannonNon2xx  = lazyregexp.New(`(?m)^(\d+) 2xx responses, (\d+) non 2xx responses`)
	autocannonErrors  = lazyregexp.New(`(?m)^([0-9.]+[km]?) errors \(([0-9.]+[km]?) timeouts\)`)
	// Before version 3.
	autocannonOldLatency = lazyregexp.New(`(?m)^Latency \(ms\) +(\S+) +\S+ +(\S+) *$`)
	autocannonOldRate    = lazyregexp.New(`(?m)^Req/Sec +([0-9.]+) +\S+ +\S+ *$`)
	autocannonTable      = lazyregexp.New(`(?m)^│ ([0-9.]+) +│ ([0-9.]+) +│$`)
)

func (o *output) autocannon() *autocannonJSON {
	return decode(o, func(j *autocannonJSON) bool { return j.Non2xx != nil && j.Latency != nil && j.Requests != nil })
}

func isAutocannon(o *output) bool {
	return o.autocannon() != nil || autocannonBegin.MatchString(o.text)
}

func readAutocannon(o *output) (*report, error) {
	r := &report{counted: true}
	if j := o.autocannon(); j != nil {
		r.autocannonData(j)
	} else if err := r.autocannonText(o.text); err != nil {
		return nil, err
	}
	if r.mismatches > 0 {
		r.complain("mismatch", fmt.Sprintf("%d answers with a wrong status or body", r.mismatches))
	}
	if r.errors+r.timeouts > 0 {
		r.complain("error", fmt.Sprintf("%d errors and %d time-outs", r.errors, r.timeouts))
	}
	r.rate()
	return r, nil
}

func (r *report) autocannonData(j *autocannonJSON) {
	r.workload, r.duration, r.timeouts = j.Connections, seconds(j.Duration), max(j.Timeouts, 0)
	r.errors = max(j.Errors-j.Timeouts, 0)
	r.classes([]int64{max(j.Status1xx, 0), max(j.Status2xx, 0), max(j.Status3xx, 0), max(j.Status4xx, 0), max(j.Status5xx, 0)})
	wrong := min(max(j.Mismatches, 0), r.succeeded)
	r.succeeded, r.mismatches = r.succeeded-wrong, r.mismatches+wrong
	r.bytes = count(j.Throughput["total"])
	for _, name := range slices.Sorted(maps.Keys(j.Latency)) {
		r.named(name, scale(j.Latency[name], time.Millisecond))
	}
	if r.duration > 0 {
		r.perSecond = float64(r.requests) / r.duration.Seconds()
	}
}

func (r *report) autocannonText(text string) error {
	end := last(autocannonEnd, text)
	if end != nil && autocannonOldRate.MatchString(text) {
		r.autocannonOld(text)
		return nil
	}
	rows := autocannonRow.FindAllStringSubmatch(text, -1)
	heads := autocannonHead.FindAllStringSubmatch(text, -1)
	if end == nil || len(rows) == 0 || len(rows) != len(heads) {
		return errNoSummary
	}
	r.workload, r.duration = int(lastCount(autocannonBegin, text)), lastDuration(autocannonTook, text)
	rate := 0.0
	for i, row := range rows {
		names, values := cells(heads[i][1]), cells(row[2])
		for j := range min(len(names), len(values)) {
			if row[1] == "Latency" {
				d, _ := parseDuration(values[j])
				r.autocannonColumn(names[j], d)
			} else if names[j] == "Avg" {
				rate, _ = parseNumber(values[j])
			}
		}
	}
	for _, m := range autocannonTable.FindAllStringSubmatch(text, -1) { // --latency
		p, _ := parseNumber(m[1])
		ms, _ := parseNumber(m[2])
		if p < 100 {
			setPercentile(&r.latency, p, scale(ms, time.Millisecond))
		}
	}
	r.autocannonCounts(text, rate)
	return nil
}

// autocannonOld reads the table of versions before 3, which has no lines. A latency that
// no answer with 2xx gave is NaN.
func (r *report) autocannonOld(text string) {
	r.workload, r.duration = int(lastCount(autocannonBegin, text)), lastDuration(autocannonTook, text)
	if m := last(autocannonOldLatency, text); m != nil {
		mean, merr := parseNumber(m[1])
		most, xerr := parseNumber(m[2])
		if merr == nil && xerr == nil && mean > 0 {
			r.latency.Mean, r.latency.Max = scale(mean, time.Millisecond), scale(most, time.Millisecond)
		}
	}
	rate, _ := lastNumber(autocannonOldRate, text)
	r.autocannonCounts(text, rate)
}

// autocannonCounts sets the counts; rate is the mean of one sample a second, of which
// versions before 7 do not tell how many there were.
func (r *report) autocannonCounts(text string, rate float64) {
	samples := float64(lastCount(autocannonSamples, text))
	if samples == 0 {
		samples = math.Floor(r.duration.Seconds())
	}
	r.requests = count(rate * samples)
	r.succeeded, r.perSecond = r.requests, rate
	if m := last(autocannonNon2xx, text); m != nil {
		good, _ := parseNumber(m[1])
		bad, _ := parseNumber(m[2])
		r.succeeded, r.mismatches = count(good), count(bad)
		r.requests = r.succeeded + r.mismatches
	}
	if m := last(autocannonErrors, text); m != nil {
		r.timeouts = rounded(m[2])
		r.errors = max(rounded(m[1])-r.timeouts, 0)
	}
}

func (r *report) autocannonColumn(name string, d time.Duration) {
	switch name {
	case "50%":
		r.latency.P50 = d
	case "99%":
		r.latency.P99 = d
	case "Avg":
		r.latency.Mean = d
	case "Max":
		r.latency.Max = d
	}
}

// cells of a table's row.
func cells(row string) []string {
	var out []string
	for _, c := range strings.Split(row, "│") {
		out = append(out, strings.TrimSpace(c))
	}
	return out
}

// rounded reads 48k as 48000.
func rounded(s string) int64 {
	unit := 1.0
	switch {
	case strings.HasSuffix(s, "k"):
		unit = 1e3
	case strings.HasSuffix(s, "m"):
		unit = 1e6
	}
	n, _ := parseNumber(strings.TrimRight(s, "km"))
	return count(n * unit)
}
