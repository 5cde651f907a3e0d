package capacity

import (
	"time"

	"kasoku/internal/load"
	"kasoku/internal/stat"
)

// Axis is what levels count.
type Axis string

// The axes. Users are requests under way at once, or virtual users, on hosts
// that stay the same.
const (
	Hosts   Axis = "hosts"
	Workers Axis = "workers"
	Users   Axis = "users"
)

// Figures of a level by the name that objectives give them: latencies in
// nanoseconds, errors in percent, apdex from 0 to 1.
type Figures map[string]float64

// Level is one measurement.
type Level struct {
	// N hosts, workers or users, at least 1, carried PerSecond right answers a
	// second.
	N         int     `json:"n"`
	PerSecond float64 `json:"per_second"`
	// Users of the load; 0: not known. With the axis Users it is N.
	Users   int     `json:"users,omitempty"`
	Figures Figures `json:"figures,omitempty"`
	Source  string  `json:"source"` // "run 17", "levels.csv, line 3"
}

// Dropped is a level that is not used, and why.
type Dropped struct {
	Level
	Why string `json:"why"`
}

// Measured is what is known before the question.
type Measured struct {
	Axis    Axis      `json:"axis"`
	Levels  []Level   `json:"levels"`
	Dropped []Dropped `json:"dropped,omitempty"`
	// Hosts that answered at each level where the axis is Users or Workers; 0:
	// not known, one is assumed.
	Hosts int `json:"hosts,omitempty"`
	// Costs of a right answer on each host; none if CPU was not watched.
	Costs []Cost `json:"-"`
	// Warnings about how it was measured.
	Warnings []string `json:"-"`
}

// LevelOf is the level that a run with planned users made.
func LevelOf(res *load.Result, source string) Level {
	l := Level{N: res.Workload, Users: res.Workload, Source: source, Figures: Figures{
		"errors": percent(res.Mismatches+res.Timeouts+res.Errors, res.Requests+res.Timeouts+res.Errors)}}
	if res.Window > 0 {
		l.PerSecond = float64(res.Succeeded) / res.Window.Seconds()
	}
	if res.Apdex != nil {
		l.Figures["apdex"] = *res.Apdex
	}
	for name, d := range map[string]time.Duration{"mean": res.Latency.Mean, "p50": res.Latency.P50, "p90": res.Latency.P90,
		"p95": res.Latency.P95, "p99": res.Latency.P99, "max": res.Latency.Max} {
		l.Figures[name] = float64(d)
	}
	return l
}

// mostErrors in percent: answers that fail are fast and say nothing.
const mostErrors = 0.1

// failing says that too many answers of a level failed; "" if not.
func failing(f Figures) string {
	if e := f["errors"]; e > mostErrors {
		return figureText("errors", e) + " of the requests failed or were answered wrongly"
	}
	return ""
}

// percent of all, at most 100: wrong answers are also those of the warm-up,
// which is not in all.
func percent(part, all int64) float64 {
	if all <= 0 {
		return 0
	}
	return min(100, 100*float64(part)/float64(all))
}

// points are the levels as the fit wants them.
func points(levels []Level) []stat.Point {
	out := make([]stat.Point, len(levels))
	for i, l := range levels {
		out[i] = stat.Point{N: float64(l.N), X: l.PerSecond}
	}
	return out
}

// at are the levels with n, in their order.
func at(levels []Level, n int) []Level {
	var out []Level
	for _, l := range levels {
		if l.N == n {
			out = append(out, l)
		}
	}
	return out
}

// meanRate is the geometric mean of what levels carried.
func meanRate(levels []Level) float64 {
	xs := make([]float64, len(levels))
	for i, l := range levels {
		xs[i] = l.PerSecond
	}
	return stat.GeoMean(xs)
}
