package capacity

import (
	"math"
	"slices"
	"strings"

	"kasoku/internal/diagnose"
	"kasoku/internal/stat"
)

// Cost is what a right answer costs one resource of one host: its service
// demand D = U·T/X (Denning & Buzen 1978, Operational analysis), and by the
// utilization law, U = X·D/C, what it can carry.
type Cost struct {
	Host     string   `json:"host,omitempty"`
	Services []string `json:"services,omitempty"` // that run there
	// Resource is "cpu", "disk: sda" or "network: eth0".
	Resource string `json:"resource"`
	// PerRequest in seconds of the resource, the mean of Runs runs; Interval is
	// that of the mean, open with one run.
	PerRequest float64  `json:"per_request"`
	Interval   Interval `json:"interval"`
	Runs       int      `json:"runs"`
	Capacity   float64  `json:"capacity"` // CPUs, or 1
	// Allows is C/D, right answers per second at most.
	Allows float64 `json:"allows"`
	// Needed such hosts for the load with the headroom; 0: not asked.
	Needed         int      `json:"needed,omitempty"`
	NeededInterval Interval `json:"needed_interval,omitzero"`

	values []float64
}

// nearTop: demands are taken from runs within a tenth of the most throughput.
// Idle hosts wake processes and find cold caches for each request, which costs
// up to a third more (diagnose's interference).
const nearTop = 0.9

// costs sums up what runs of one configuration say. rates and demands go
// together.
func costs(rates []float64, demands [][]diagnose.HostDemand, services map[string][]string) []Cost {
	if len(rates) == 0 {
		return nil
	}
	top := slices.Max(rates)
	var out []Cost
	for i, run := range demands {
		if rates[i] < nearTop*top {
			continue
		}
		for _, d := range run {
			if d.PerRequest <= 0 || d.Capacity <= 0 {
				continue
			}
			at := slices.IndexFunc(out, func(c Cost) bool { return c.Host == d.Host && c.Resource == d.Resource })
			if at < 0 {
				at = len(out)
				out = append(out, Cost{Host: d.Host, Resource: d.Resource, Capacity: d.Capacity, Services: services[d.Host]})
			}
			out[at].values = append(out[at].values, d.PerRequest)
		}
	}
	for i := range out {
		c := &out[i]
		c.Runs, c.PerRequest = len(c.values), stat.GeoMean(c.values)
		c.Allows = c.Capacity / c.PerRequest
	}
	slices.SortFunc(out, func(a, b Cost) int {
		if a.Allows != b.Allows {
			return map[bool]int{true: -1, false: 1}[a.Allows < b.Allows]
		}
		return strings.Compare(a.Host+a.Resource, b.Host+b.Resource)
	})
	return out
}

// asked fills in what depends on the question. The interval is Student's of the
// logarithm.
func (c *Cost) asked(rate float64, q Question) {
	c.Interval = Interval{Low: 0, Open: true}
	factor := math.Inf(1)
	if len(c.values) > 1 {
		logs := make([]float64, len(c.values))
		for i, v := range c.values {
			logs[i] = math.Log(v / c.PerRequest)
		}
		if t, err := stat.OneSample(logs); err == nil {
			factor = math.Exp(t.Upper((1 + q.Confidence) / 2))
			c.Interval = Interval{Low: c.PerRequest / factor, High: c.PerRequest * factor}
		}
	}
	if rate <= 0 {
		return
	}
	hosts := func(d float64) int { return int(math.Max(1, math.Ceil(rate*d/(q.usable()*c.Capacity)-rounding))) }
	c.Needed = hosts(c.PerRequest)
	c.NeededInterval = Interval{Low: 1, Open: true}
	if !math.IsInf(factor, 1) {
		c.NeededInterval = Interval{Low: float64(hosts(c.Interval.Low)), High: float64(hosts(c.Interval.High))}
	}
}

// rounding keeps 3.0000000001 hosts from becoming 4.
const rounding = 1e-9
