package foreign

import (
	"maps"
	"math"
	"slices"
	"time"
)

// distribution sets percentiles from how often each time occurred: the lowest
// time that at least p percent of all do not exceed (nearest rank).
func (r *report) distribution(times map[float64]int64, unit time.Duration) {
	all := int64(0)
	for _, n := range times {
		all += n
	}
	if all == 0 {
		return
	}
	values := slices.Sorted(maps.Keys(times))
	for _, p := range []float64{50, 90, 95, 99} {
		rank, seen := int64(math.Ceil(p/100*float64(all))), int64(0)
		for _, v := range values {
			if seen += times[v]; seen >= rank {
				setPercentile(&r.latency, p, scale(v, unit))
				break
			}
		}
	}
}
