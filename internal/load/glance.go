package load

import (
	"math/bits"
	"time"
)

// glance is a small histogram for progress: eight buckets for each doubling
// of the latency, so percentiles are exact to 13 %. The result's own come from
// an HDR histogram.
type glance struct {
	succeeded, failed int64
	buckets           [64 * 8]uint32
}

func (g *glance) add(o outcome, latency time.Duration) {
	if o == succeeded {
		g.succeeded++
	} else {
		g.failed++
	}
	if o != failed {
		g.buckets[glanceBucket(latency)]++
	}
}

func (g *glance) merge(o *glance) {
	g.succeeded += o.succeeded
	g.failed += o.failed
	for i, n := range o.buckets {
		g.buckets[i] += n
	}
}

// glanceBucket: the exponent and the three bits behind the first one.
func glanceBucket(latency time.Duration) int {
	v := uint64(max(latency, 8))
	e := bits.Len64(v) - 1
	return e<<3 | int(v>>(e-3)&7)
}

// percentile is the lower bound of the bucket that holds it; 0 if empty.
func (g *glance) percentile(p float64) time.Duration {
	total := uint64(0)
	for _, n := range g.buckets {
		total += uint64(n)
	}
	rank, seen := uint64(p*float64(total)), uint64(0)
	for i, n := range g.buckets {
		if seen += uint64(n); seen > rank {
			return time.Duration(8|i&7) << (i>>3 - 3)
		}
	}
	return 0
}

// less is what came since an earlier look.
func (g *glance) less(o *glance) glance {
	out := glance{succeeded: g.succeeded - o.succeeded, failed: g.failed - o.failed}
	for i, n := range g.buckets {
		out.buckets[i] = n - o.buckets[i]
	}
	return out
}

// median as if latencies lay evenly within their bucket, so that it does not
// jump from one to the next; 0 if empty.
func (g *glance) median() time.Duration {
	total := uint64(0)
	for _, n := range g.buckets {
		total += uint64(n)
	}
	half, seen := float64(total)/2, 0.0
	for i, n := range g.buckets {
		if n > 0 && seen+float64(n) >= half {
			low, width := time.Duration(8|i&7)<<(i>>3-3), time.Duration(1)<<(i>>3-3)
			return low + time.Duration((half-seen)/float64(n)*float64(width))
		}
		seen += float64(n)
	}
	return 0
}
