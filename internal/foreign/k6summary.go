package foreign

import (
	"encoding/json"
	"math"
)

// k6Summary is what k6 writes with --new-machine-readable-summary, version 1 of its
// schema (grafana/k6-summary): the metrics are a list. Durations are in seconds, times
// in milliseconds.
type k6Summary struct {
	Config struct {
		Duration float64 `json:"duration"`
	} `json:"config"`
	Results struct {
		Passed  *bool          `json:"passed"`
		Metrics []k6ListMetric `json:"metrics"`
		Checks  struct {
			Metrics json.RawMessage `json:"metrics"`
		} `json:"checks"`
	} `json:"results"`
}

type k6ListMetric struct {
	Name   string             `json:"name"`
	Values map[string]float64 `json:"values"`
}

func (s *k6Summary) metric(name string) map[string]float64 {
	for _, m := range s.Results.Metrics {
		if m.Name == name {
			return m.Values
		}
	}
	return nil
}

func (o *output) k6List() *k6Summary {
	return decode(o, func(s *k6Summary) bool { return s.metric("http_reqs") != nil || s.metric("iterations") != nil })
}

// older is the summary as handleSummary has it. Of a rate only the share is relied on:
// which of its two counts is which has changed.
func (s *k6Summary) older() *k6JSON {
	j := &k6JSON{Metrics: map[string]json.RawMessage{}}
	j.State.Milliseconds = s.Config.Duration * 1000
	set := func(name string, values map[string]float64) {
		if raw, err := json.Marshal(k6Metric{Values: values}); err == nil {
			j.Metrics[name] = raw
		}
	}
	for _, m := range s.Results.Metrics {
		set(m.Name, m.Values)
	}
	set("http_req_failed", map[string]float64{"passes": math.Round(s.metric("http_req_failed")["rate"] * s.metric("http_reqs")["count"])})
	total, failed := s.check("checks_total"), s.check("checks_failed")
	set("checks", map[string]float64{"fails": math.Round(failed["rate"] * total["count"])})
	return j
}

// check is one of the metrics of checks, which are an object of them, or a list.
func (s *k6Summary) check(name string) map[string]float64 {
	var list []k6ListMetric
	if json.Unmarshal(s.Results.Checks.Metrics, &list) != nil {
		var named map[string]k6ListMetric
		if json.Unmarshal(s.Results.Checks.Metrics, &named) != nil {
			return nil
		}
		for _, m := range named {
			list = append(list, m)
		}
	}
	for _, m := range list {
		if m.Name == name {
			return m.Values
		}
	}
	return nil
}
