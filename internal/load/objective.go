package load

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kasoku/internal/ui"
)

// Objective is what a run must keep, for example p99<50ms,errors<0.1%: every
// condition holds.
type Objective struct{ Conditions []Condition }

// Condition is one limit on one figure of a run.
type Condition struct {
	Metric string // a key of objectiveMetrics
	// Above: the figure must be above the limit; else below.
	Above bool
	// Equal: the limit itself is still right.
	Equal bool
	// Limit in nanoseconds for latencies, in percent for shares, else plain.
	Limit float64
}

// metricKind says how a limit is written.
type metricKind uint8

const (
	latencyMetric metricKind = iota // 50ms; must be below
	shareMetric                     // 0.1%; must be below
	indexMetric                     // 0.9, from 0 to 1; must be above
)

// objectiveMetrics are the figures that conditions name. value is in the unit
// of Condition.Limit; ok is false if the run did not measure it.
var objectiveMetrics = []struct {
	name  string
	kind  metricKind
	value func(*Result) (value float64, ok bool)
}{
	{"mean", latencyMetric, latencyOf(func(p *Percentiles) time.Duration { return p.Mean })},
	{"p50", latencyMetric, latencyOf(func(p *Percentiles) time.Duration { return p.P50 })},
	{"p90", latencyMetric, latencyOf(func(p *Percentiles) time.Duration { return p.P90 })},
	{"p95", latencyMetric, latencyOf(func(p *Percentiles) time.Duration { return p.P95 })},
	{"p99", latencyMetric, latencyOf(func(p *Percentiles) time.Duration { return p.P99 })},
	{"max", latencyMetric, latencyOf(func(p *Percentiles) time.Duration { return p.Max })},
	{"errors", shareMetric, func(r *Result) (float64, bool) {
		return percentOf(r.Mismatches+r.Timeouts+r.Errors, r.Requests+r.Timeouts+r.Errors), true
	}},
	{"dropped", shareMetric, func(r *Result) (float64, bool) {
		if r.Open == nil {
			return 0, true // the closed model plans nothing, so drops nothing
		}
		return percentOf(r.Open.Dropped, r.Open.Planned), true
	}},
	{"apdex", indexMetric, func(r *Result) (float64, bool) {
		if r.Apdex == nil {
			return 0, false // the scenario gives no T
		}
		return *r.Apdex, true
	}},
}

func latencyOf(pick func(*Percentiles) time.Duration) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) { return float64(pick(&r.Latency)), true }
}

func percentOf(part, all int64) float64 {
	if all <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

// defaultErrors is added to an objective that says nothing about errors: a
// service that refuses requests is fast.
var defaultErrors = Condition{Metric: "errors", Limit: 0.1}

// maxConditions in one objective; there are fewer metrics.
const maxConditions = 16

// ParseObjective reads conditions with commas between them. Each is a metric,
// one of < <= > >=, and a limit: a duration for mean, p50, p90, p95, p99 and
// max; a percentage for errors (wrong answers, errors and time-outs, of all
// requests) and dropped (of all planned sessions); a number from 0 to 1 for
// apdex. Without a condition on errors, errors<0.1% is added.
func ParseObjective(text string) (Objective, error) {
	var o Objective
	for _, part := range strings.Split(text, ",") {
		c, err := parseCondition(strings.TrimSpace(part))
		if err != nil {
			return Objective{}, fmt.Errorf("objective %q: %w", shorten(text, 100), err)
		}
		if slices.ContainsFunc(o.Conditions, func(other Condition) bool { return other.Metric == c.Metric }) {
			return Objective{}, fmt.Errorf("objective %q: %s stands twice; keep one", shorten(text, 100), c.Metric)
		}
		if o.Conditions = append(o.Conditions, c); len(o.Conditions) > maxConditions {
			return Objective{}, fmt.Errorf("objective has more than %d conditions", maxConditions)
		}
	}
	if !slices.ContainsFunc(o.Conditions, func(c Condition) bool { return c.Metric == "errors" }) {
		o.Conditions = append(o.Conditions, defaultErrors)
	}
	return o, nil
}

func parseCondition(text string) (c Condition, err error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return c, fmt.Errorf("%q is no condition; write for example p99<50ms or errors<0.1%%", shorten(text, 40))
	}
	c.Metric, c.Above = strings.ToLower(strings.TrimSpace(text[:at])), text[at] == '>'
	limit, equal := strings.CutPrefix(text[at+1:], "=")
	c.Equal, limit = equal, strings.TrimSpace(limit)
	kind, ok := metricKindOf(c.Metric)
	if !ok {
		var known []string
		for _, m := range objectiveMetrics {
			known = append(known, m.name)
		}
		return c, fmt.Errorf("%q is no figure of a run; %s", shorten(c.Metric, 40), suggest(c.Metric, known))
	}
	if c.Above != (kind == indexMetric) {
		return c, fmt.Errorf("%s must stay %s its limit; write %s%s%s", c.Metric, side(kind == indexMetric), c.Metric, sign(kind == indexMetric, c.Equal), shorten(limit, 40))
	}
	c.Limit, err = parseLimit(c.Metric, kind, limit)
	return c, err
}

// parseLimit reads what stands behind the sign.
func parseLimit(metric string, kind metricKind, text string) (float64, error) {
	switch kind {
	case latencyMetric:
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > maxTimeout {
			return 0, fmt.Errorf("the limit of %s is %q; write a duration up to %s, for example 50ms", metric, shorten(text, 40), maxTimeout)
		}
		return float64(d), nil
	case shareMetric:
		number, percent := strings.CutSuffix(text, "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v >= 0 && v <= 100) || !percent && v != 0 {
			return 0, fmt.Errorf("the limit of %s is %q; write a percentage, for example 0.1%%", metric, shorten(text, 40))
		}
		return math.Abs(v), nil // -0 is 0
	default:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return 0, fmt.Errorf("the limit of %s is %q; write a number from 0 to 1, for example 0.9", metric, shorten(text, 40))
		}
		return math.Abs(v), nil
	}
}

func metricKindOf(name string) (metricKind, bool) {
	for _, m := range objectiveMetrics {
		if m.name == name {
			return m.kind, true
		}
	}
	return 0, false
}

func side(above bool) string {
	if above {
		return "above"
	}
	return "below"
}

func sign(above, equal bool) string {
	s := "<"
	if above {
		s = ">"
	}
	if equal {
		s += "="
	}
	return s
}

// String is the objective as ParseObjective reads it.
func (o Objective) String() string {
	parts := make([]string, len(o.Conditions))
	for i, c := range o.Conditions {
		parts[i] = c.String()
	}
	return strings.Join(parts, ",")
}

// String is the condition as ParseObjective reads it.
func (c Condition) String() string {
	text := strconv.FormatFloat(c.Limit, 'g', -1, 64)
	switch kind, _ := metricKindOf(c.Metric); kind {
	case latencyMetric:
		text = time.Duration(c.Limit).String()
	case shareMetric:
		text += "%"
	}
	return c.Metric + sign(c.Above, c.Equal) + text
}

// Judgement says whether a run met an objective.
type Judgement struct {
	Met bool
	// Broke tells the conditions that did not hold: "p99 was 73.2 ms, not
	// below 50 ms".
	Broke string
	// Excess is the worst figure divided by its limit, above 1 if that broke;
	// of an index the distances from 1 are divided.
	Excess float64
	// Unmeasured names figures that the run did not measure.
	Unmeasured []string
}

// Judge compares a run with the objective. In the open model latency counts
// from the planned time. A run without an answer meets no objective.
func (o Objective) Judge(res *Result) Judgement {
	if res.Requests == 0 {
		return Judgement{Broke: "no request was answered" + firstReason(res), Excess: math.Inf(1)}
	}
	j := Judgement{Met: true}
	var broke []string
	for _, c := range o.Conditions {
		value, ok := c.value(res)
		if !ok {
			j.Met, j.Unmeasured = false, append(j.Unmeasured, c.Metric)
			continue
		}
		if !c.holds(value) {
			j.Met = false
			broke = append(broke, fmt.Sprintf("%s was %s, not %s%s", c.Metric, c.readable(value), map[bool]string{true: "at or "}[c.Equal], side(c.Above)+" "+c.readable(c.Limit)))
		}
		j.Excess = max(j.Excess, c.excess(value))
	}
	j.Broke = strings.Join(broke, "; ")
	return j
}

// firstReason is why the first sampled request failed.
func firstReason(res *Result) string {
	if len(res.Samples) == 0 {
		return ""
	}
	return ": " + res.Samples[0].Got
}

func (c Condition) value(res *Result) (float64, bool) {
	for _, m := range objectiveMetrics {
		if m.name == c.Metric {
			return m.value(res)
		}
	}
	return 0, false
}

func (c Condition) holds(value float64) bool {
	switch {
	case value == c.Limit:
		return c.Equal
	case c.Above:
		return value > c.Limit
	}
	return value < c.Limit
}

func (c Condition) excess(value float64) float64 {
	limit := c.Limit
	if c.Above {
		value, limit = 1-value, 1-limit
	}
	switch {
	case limit > 0:
		return value / limit
	case value > 0:
		return math.Inf(1)
	}
	return 1
}

// readable writes a figure of the condition's metric for people.
func (c Condition) readable(value float64) string {
	switch kind, _ := metricKindOf(c.Metric); kind {
	case latencyMetric:
		return ui.Duration(time.Duration(value))
	case shareMetric:
		return strconv.FormatFloat(value, 'g', 3, 64) + " %"
	}
	return strconv.FormatFloat(value, 'g', 3, 64)
}
