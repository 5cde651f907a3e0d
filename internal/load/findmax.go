package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// FindMaxOptions bound the search for the highest rate.
type FindMaxOptions struct {
	// Start is the first rate tried, sessions per second; 0: half of what a
	// short run of the closed model reaches.
	Start float64
	// Probe is each probe's window; 0: 2 s.
	Probe time.Duration
	// Warmup before each window; 0: a quarter of it, at least 200 ms.
	Warmup time.Duration
	// Confirm is the window of the last probe; 0: three times Probe, for the
	// highest percentiles of a short window rest on few requests.
	Confirm time.Duration
	// MaxProbes in all, the estimate and the confirmation among them; 0: 12.
	MaxProbes int
	// MaxTime of load in all, warm-ups and windows together; 0: 2 min.
	MaxTime time.Duration
	// Precision: the search ends when the lowest rate that failed is at most
	// this much above the highest that passed; 0: 0.02.
	Precision float64
	// Random arrivals (Poisson), not evenly spaced ones.
	Random bool
}

// ProbeKind is why a probe was made.
type ProbeKind string

// The kinds of probes.
const (
	ProbeEstimate ProbeKind = "estimate" // closed model: about what it can at most
	ProbeBracket  ProbeKind = "bracket"  // far steps, up or down
	ProbeNarrow   ProbeKind = "narrow"   // between a rate that passed and one that failed
	ProbeRepeat   ProbeKind = "repeat"   // the same rate again, because it failed by little
	ProbeConfirm  ProbeKind = "confirm"  // longer
)

// Probe is one run of the search.
type Probe struct {
	Kind   ProbeKind     `json:"kind"`
	Rate   float64       `json:"rate"` // planned sessions per second; 0 in the estimate
	Window time.Duration `json:"window"`
	Met    bool          `json:"met"`
	// Broke says why the objective was not met.
	Broke string `json:"broke,omitempty"`
	// Saturated: the generator was the limit, so it says nothing of the target.
	Saturated         string      `json:"saturated,omitempty"`
	RequestsPerSecond float64     `json:"requests_per_second"`
	Latency           Percentiles `json:"latency"`
	Failed            int64       `json:"failed"` // wrong answers, errors, time-outs
	Dropped           int64       `json:"dropped"`
	Excess            float64     `json:"-"` // Judgement.Excess
}

// MaxRate is what FindMax found.
type MaxRate struct {
	Objective string `json:"objective"`
	// PerSecond is the highest rate that met the objective, in sessions per
	// second; 0: none did.
	PerSecond float64 `json:"per_second"`
	// Confirmed: the longer probe at PerSecond met it, too.
	Confirmed bool `json:"confirmed"`
	// Above is the lowest rate that did not; 0: none was tried. Broke says why.
	Above float64 `json:"above,omitempty"`
	Broke string  `json:"broke,omitempty"`
	// Limited says why the target may do more than PerSecond: the generator
	// was the limit at Above, or the probes or the time ran out. "" otherwise.
	Limited string  `json:"limited,omitempty"`
	Probes  []Probe `json:"probes"`
}

// ErrUnmeasured is in the error about an objective that the scenario's runs
// have no figure for.
var ErrUnmeasured = errors.New("the objective needs a figure that this run does not measure")

const (
	// growth of the first far step; each further one doubles it, up to
	// maxGrowth, so that a start far off costs few probes.
	growth    = 2.0
	maxGrowth = 8.0
	// nearMiss: a figure up to this much times its limit may be noise, so the
	// probe is repeated. Latency near saturation doubles within a few percent
	// of rate, and single short windows differ by less.
	nearMiss = 2.0
	// leastKept is the least part of the planned load that must be handled, or
	// the service does not keep up, whatever the objective: with a queue that
	// grows, a longer run would break any limit.
	leastKept = 0.97
	// coarse is the precision of a bracket whose upper end is the generator's.
	coarse = 0.10
	// leastSessions in a window, going down; fewer have no percentiles.
	leastSessions = 10
	// leastRate tried, per second.
	leastRate = 0.01
)

// FindMax searches the highest arrival rate (sessions per second) at which the
// target meets the objective: from the start in far steps until one rate
// passed and one failed, then in halves (of the logarithm) until the two are
// close, then one longer probe at the best. A probe that fails by little is
// repeated once. A rate at which the generator was the limit counts as too
// high, and MaxRate.Limited says so.
//
// A rate also fails if the service does not keep up with it. opts.Workload
// bounds how many sessions are under way at once; 0: UsersFor each rate.
// opts.Reset is called before each probe; without it the probes take unused
// rows of unique pools. progress is called after each probe; it may be nil.
//
// On an error MaxRate holds the probes made so far.
func FindMax(ctx context.Context, opts Options, goal Objective, cfg FindMaxOptions, progress func(Probe)) (MaxRate, error) {
	var used []uint64
	return findMax(ctx, opts, goal, cfg, progress, func(ctx context.Context, o Options) (*Result, error) {
		if o.Reset == nil && used != nil {
			o.firstRow = used
		}
		res, rows, err := execute(ctx, o)
		if err == nil {
			used = rows
		}
		return res, err
	})
}

func findMax(ctx context.Context, opts Options, goal Objective, cfg FindMaxOptions, progress func(Probe), run func(context.Context, Options) (*Result, error)) (MaxRate, error) {
	cfg, err := cfg.complete()
	if err == nil && len(goal.Conditions) == 0 {
		err = errors.New("the objective has no condition; write for example p99<50ms")
	}
	if err == nil && opts.Scenario == nil {
		err = errors.New("no scenario given")
	}
	if err != nil {
		return MaxRate{}, fmt.Errorf("find the highest rate: %w", err)
	}
	if progress == nil {
		progress = func(Probe) {}
	}
	f := &finder{ctx: ctx, opts: opts, goal: goal, cfg: cfg, progress: progress, run: run}
	f.found.Objective = goal.String()
	if err := f.search(); err != nil {
		return f.found, fmt.Errorf("find the highest rate: %w", err)
	}
	return f.found, nil
}

// complete fills in defaults and checks the rest.
func (c FindMaxOptions) complete() (FindMaxOptions, error) {
	if c.Probe == 0 {
		c.Probe = 2 * time.Second
	}
	if c.Warmup == 0 {
		c.Warmup = max(c.Probe/4, minProbeWarmup)
	}
	if c.Confirm == 0 {
		c.Confirm = 3 * c.Probe
	}
	if c.MaxProbes == 0 {
		c.MaxProbes = 12
	}
	if c.MaxTime == 0 {
		c.MaxTime = 2 * time.Minute
	}
	if c.Precision == 0 {
		c.Precision = 0.02
	}
	switch {
	case c.Probe < 0 || c.Confirm < 0 || c.MaxTime < 0 || c.MaxProbes < 0 || c.Warmup < 0:
		return c, errors.New("a bound is below 0; give times and a number of probes above 0")
	case !(c.Start >= 0 && c.Start <= maxRate):
		return c, fmt.Errorf("the start is %g; write a rate up to %g per second", c.Start, maxRate)
	case !(c.Precision >= 0.001 && c.Precision <= 1):
		return c, fmt.Errorf("the precision is %g; write a number from 0.001 to 1", c.Precision)
	}
	return c, nil
}

// Highest is the probe with the highest rate that met the objective; ok is
// false if none did.
func (m MaxRate) Highest() (p Probe, ok bool) {
	for _, q := range slices.Backward(m.Probes) {
		if q.Met && q.Rate == m.PerSecond && m.PerSecond > 0 {
			return q, true
		}
	}
	return p, false
}
