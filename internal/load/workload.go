package load

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// WorkloadPoint is one probe of FindWorkload.
type WorkloadPoint struct {
	Workload          int           `json:"workload"`
	Score             float64       `json:"score"`
	RequestsPerSecond float64       `json:"requests_per_second"`
	P50               time.Duration `json:"p50"`
	P99               time.Duration `json:"p99"`
	Mismatches        int64         `json:"mismatches"`
	Saturated         string        `json:"saturated,omitempty"`
}

const (
	// worthwhile is the least relative rise of the score that justifies more
	// load: single short runs on a small machine differ by a few percent.
	worthwhile = 0.03
	// probeWarmup is the part of a probe's window spent before it, at least
	// minProbeWarmup, so that all connections are open.
	probeWarmup    = 0.25
	minProbeWarmup = 200 * time.Millisecond
)

// FindWorkload makes short runs with more and more virtual users: values are
// tried from small to large, each for probe, until the score no longer rises
// by 3 %. best is the smallest workload within 3 % of the best score, so that
// the service is loaded but its queues are short. opts.Reset is called before
// each run if set; without it the runs take unused rows of unique pools, one
// after the other.
func FindWorkload(ctx context.Context, opts Options, values []int, probe time.Duration) (points []WorkloadPoint, best int, err error) {
	values = slices.Clone(values)
	slices.Sort(values)
	values = slices.Compact(values)
	if len(values) == 0 || values[0] < 1 || probe <= 0 {
		return nil, 0, fmt.Errorf("find workload: %d values and probes of %s; give workloads above 0 and a time above 0", len(values), probe)
	}
	opts.Window = probe
	opts.Warmup = max(time.Duration(probeWarmup*float64(probe)), minProbeWarmup)
	opts.FixedWarmup = true // probes are compared with each other
	for _, n := range values {
		opts.Workload = n
		if opts.Reset != nil {
			if err := opts.Reset(ctx); err != nil {
				return points, 0, fmt.Errorf("find workload: reset before %d users: %w", n, err)
			}
		}
		res, used, err := execute(ctx, opts)
		if err != nil {
			return points, 0, fmt.Errorf("find workload: %d users: %w", n, err)
		}
		if opts.Reset == nil {
			opts.firstRow = used
		}
		points = append(points, WorkloadPoint{Workload: n, Score: res.Score, RequestsPerSecond: res.RequestsPerSecond,
			P50: res.Latency.P50, P99: res.Latency.P99, Mismatches: res.Mismatches, Saturated: res.Saturated})
		if !stillRising(points) {
			break
		}
	}
	return points, smallestGood(points), nil
}

// stillRising: the last point is at least worthwhile above the best before.
func stillRising(points []WorkloadPoint) bool {
	last := len(points) - 1
	if last < 1 {
		return true
	}
	before := topScore(points[:last])
	return points[last].Score > before && points[last].Score >= rise(before)
}

func topScore(points []WorkloadPoint) float64 {
	top := points[0].Score
	for _, p := range points {
		top = max(top, p.Score)
	}
	return top
}

// rise is a score that is worthwhile above another; scores may be negative.
func rise(score float64) float64 { return score + worthwhile*max(score, -score) }

// smallestGood is the smallest workload whose score is within 3 % of the best.
func smallestGood(points []WorkloadPoint) int {
	top := topScore(points)
	for _, p := range points {
		if rise(p.Score) >= top {
			return p.Workload
		}
	}
	return points[0].Workload
}
