package foreign

import (
	"encoding/json"
	"maps"
	"slices"
)

// ohaJSON is oha --output-format json (schema.json of the project). Times are
// in seconds.
type ohaJSON struct {
	Summary *struct {
		Total          float64  `json:"total"`
		Slowest        float64  `json:"slowest"`
		Average        float64  `json:"average"`
		RequestsPerSec *float64 `json:"requestsPerSec"`
		TotalData      float64  `json:"totalData"`
	} `json:"summary"`
	Percentiles map[string]*float64 `json:"latencyPercentiles"`
	Status      map[string]int64    `json:"statusCodeDistribution"`
	Errors      map[string]int64    `json:"errorDistribution"`
}

// decode finds the last JSON document that ok accepts after decoding it into
// a new T.
func decode[T any](o *output, ok func(*T) bool) *T {
	for i := len(o.documents) - 1; i >= 0; i-- {
		v := new(T)
		if json.Unmarshal(o.documents[i], v) == nil && ok(v) {
			return v
		}
	}
	return nil
}

func (o *output) oha() *ohaJSON {
	return decode(o, func(j *ohaJSON) bool { return j.Summary != nil && j.Summary.RequestsPerSec != nil })
}

func isOha(o *output) bool { return o.oha() != nil || isOhaText(o) }

func readOha(o *output) (*report, error) {
	j := o.oha()
	if j == nil {
		return readHey(o)
	}
	r := &report{counted: true, duration: seconds(j.Summary.Total), bytes: count(j.Summary.TotalData)}
	r.latency.Mean, r.latency.Max = seconds(j.Summary.Average), seconds(j.Summary.Slowest)
	for name, p := range map[string]float64{"p50": 50, "p90": 90, "p95": 95, "p99": 99} {
		if v := j.Percentiles[name]; v != nil {
			setPercentile(&r.latency, p, seconds(*v))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(j.Status)) {
		r.status(code, max(j.Status[code], 0))
	}
	for _, text := range slices.Sorted(maps.Keys(j.Errors)) {
		r.broken(text, max(j.Errors[text], 0))
	}
	if r.duration > 0 {
		r.perSecond = float64(r.requests) / r.duration.Seconds()
	}
	r.rate()
	return r, nil
}
