package capacity

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kasoku/internal/load"
)

// Latency is a level's figure where a table says "latency" and not which: it
// is what the objective's only condition on latency is about.
const Latency = "latency"

// latencies are the metrics of objectives that are times.
var latencies = []string{"mean", "p50", "p90", "p95", "p99", "max"}

// of is a condition's figure of a level, in the unit of its limit.
func of(goal load.Objective, c load.Condition, f Figures) (float64, bool) {
	if v, ok := f[c.Metric]; ok {
		return v, true
	}
	only := 0
	for _, d := range goal.Conditions {
		if slices.Contains(latencies, d.Metric) {
			only++
		}
	}
	v, ok := f[Latency]
	return v, ok && only == 1 && slices.Contains(latencies, c.Metric)
}

// holds reports whether a figure keeps a condition.
func holds(c load.Condition, v float64) bool {
	switch {
	case v == c.Limit:
		return c.Equal
	case c.Above:
		return v > c.Limit
	}
	return v < c.Limit
}

// broke says which conditions a level breaks; "" if none.
func broke(goal load.Objective, l Level) string {
	var out []string
	for _, c := range goal.Conditions {
		if v, ok := of(goal, c, l.Figures); ok && !holds(c, v) {
			out = append(out, fmt.Sprintf("%s was %s", c, figureText(c.Metric, v)))
		}
	}
	return strings.Join(out, "; ")
}

// unmeasured are the metrics of an objective that no level has.
func unmeasured(goal load.Objective, levels []Level) []string {
	missing := map[string]bool{}
	for _, c := range goal.Conditions {
		if !slices.ContainsFunc(levels, func(l Level) bool { _, ok := of(goal, c, l.Figures); return ok }) {
			missing[c.Metric] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

// keep leaves out the levels that break the objective, and of several loads of
// the same hosts all but the one that carried most.
func keep(goal load.Objective, levels []Level) (kept []Level, dropped []Dropped) {
	best := map[int]Level{}
	for _, l := range levels {
		if why := broke(goal, l); why != "" {
			dropped = append(dropped, Dropped{l, "breaks the objective: " + why})
			continue
		}
		kept = append(kept, l)
		if b, ok := best[l.N]; !ok || l.PerSecond > b.PerSecond {
			best[l.N] = l
		}
	}
	levels, kept = kept, nil
	for _, l := range levels {
		if b := best[l.N]; l.Users != b.Users {
			dropped = append(dropped, Dropped{l, fmt.Sprintf("%d users carried more there", b.Users)})
			continue
		}
		kept = append(kept, l)
	}
	return kept, dropped
}

// carries is the largest number of users that keeps the objective, from the
// means of each number. Between the last that keeps it and the first that breaks
// it, latency is taken to grow in a straight line, as it does where something is
// full (R = N·D − Z; Lazowska et al. 1984, Quantitative System Performance, ch.
// 5). ok is false if the least number breaks it; sure is false if none does, so
// that more may be carried.
func carries(goal load.Objective, levels []Level) (users float64, sure, ok bool) {
	ns := numbers(levels)
	before := 0
	for _, n := range ns {
		end := math.Inf(1)
		for _, c := range goal.Conditions {
			v, measured := meanFigure(goal, c, at(levels, n))
			if !measured || holds(c, v) {
				continue
			}
			stop := float64(before)
			if w, had := meanFigure(goal, c, at(levels, before)); had && slices.Contains(latencies, c.Metric) && v > w {
				stop += float64(n-before) * (c.Limit - w) / (v - w)
			}
			end = math.Min(end, stop)
		}
		if !math.IsInf(end, 1) {
			return end, true, before > 0
		}
		before = n
	}
	return float64(before), false, before > 0
}

// meanFigure is the mean of a condition's figure over levels.
func meanFigure(goal load.Objective, c load.Condition, levels []Level) (float64, bool) {
	sum, n := 0.0, 0
	for _, l := range levels {
		if v, ok := of(goal, c, l.Figures); ok {
			sum, n = sum+v, n+1
		}
	}
	return sum / math.Max(float64(n), 1), n > 0
}

// numbers are the different N, least first.
func numbers(levels []Level) []int {
	seen := map[int]bool{}
	for _, l := range levels {
		seen[l.N] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
