package digest

import (
	"math/bits"
	"time"
)

const (
	// subBuckets per power of two: a bucket is at most 1/128 = 0.8 % wide.
	subBuckets = 128
	subBits    = 7
	// fewValues are kept one by one before they are counted: 64 bytes are what
	// a processor fetches at once, and most routes of a long tail have no more.
	fewValues = 32
)

// histogram counts durations in buckets, log-linear: page 0 holds 0–127 µs,
// page p the values from 128·2^(p-1) µs in steps of 2^(p-1) µs. Only the
// pages from the least value's to the greatest's are there. As most of the time
// goes into fetching counts from memory, they are of 16 bits, and values wait
// until there are some to count together.
type histogram struct {
	count  int64
	total  time.Duration
	max    time.Duration
	few    [fewValues]uint16 // buckets of values not yet in counts
	n      int               // of few that are used
	counts []uint16          // of the buckets from low on
	low    uint16
	carry  map[uint16]int64 // what does not fit 16 bits
}

// bucketOf a duration.
func bucketOf(d time.Duration) uint16 {
	v := uint64(max(d, 0)) / uint64(time.Microsecond)
	if v < subBuckets {
		return uint16(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return uint16((shift+1)*subBuckets) + uint16(v>>shift)&(subBuckets-1)
}

// bucketMiddle is the duration in a bucket's middle.
func bucketMiddle(b uint16) time.Duration {
	page, sub := int(b)/subBuckets, int64(b)%subBuckets
	if page == 0 {
		return time.Duration(sub) * time.Microsecond
	}
	low := (subBuckets + sub) << (page - 1)
	width := int64(1) << (page - 1)
	return time.Duration(low)*time.Microsecond + time.Duration(width-1)*time.Microsecond/2
}

func (h *histogram) add(d time.Duration) {
	h.count++
	h.total += d
	h.max = max(h.max, d)
	if h.n == fewValues {
		h.spread()
	}
	h.few[h.n] = bucketOf(d)
	h.n++
}

// spread moves the waiting values to counts.
func (h *histogram) spread() {
	for _, b := range h.few[:h.n] {
		h.put(b, 1)
	}
	h.n = 0
}

func (h *histogram) put(b, n uint16) {
	if int(b-h.low) >= len(h.counts) { // also where b < low
		h.cover(b)
	}
	at := &h.counts[b-h.low]
	if *at += n; *at < n {
		h.carried(b, 1<<16)
	}
}

func (h *histogram) carried(b uint16, n int64) {
	if h.carry == nil {
		h.carry = map[uint16]int64{}
	}
	h.carry[b] += n
}

// cover makes room for a bucket, in whole pages.
func (h *histogram) cover(b uint16) {
	low, end := b-b%subBuckets, b-b%subBuckets+subBuckets
	if h.counts != nil {
		low, end = min(low, h.low), max(end, h.low+uint16(len(h.counts)))
	}
	counts := make([]uint16, end-low)
	if h.counts != nil {
		copy(counts[h.low-low:], h.counts)
	}
	h.counts, h.low = counts, low
}

// merge adds o's values.
func (h *histogram) merge(o *histogram) {
	h.count += o.count
	h.total += o.total
	h.max = max(h.max, o.max)
	for _, b := range o.few[:o.n] {
		if h.n == fewValues {
			h.spread()
		}
		h.few[h.n] = b
		h.n++
	}
	for i, n := range o.counts {
		if n > 0 {
			h.put(o.low+uint16(i), n)
		}
	}
	for b, n := range o.carry {
		h.carried(b, n)
	}
}

// times summarizes; percentiles are those of the nearest rank.
func (h *histogram) times() Times {
	t := Times{Count: h.count, Total: h.total, Max: h.max}
	if h.count == 0 {
		return t
	}
	t.Mean = h.total / time.Duration(h.count)
	h.spread()
	wanted := []struct {
		share float64
		to    *time.Duration
	}{{0.50, &t.P50}, {0.90, &t.P90}, {0.95, &t.P95}, {0.99, &t.P99}}
	seen := int64(0)
	for i, n := range h.counts {
		b := h.low + uint16(i)
		seen += int64(n) + h.carry[b]
		for len(wanted) > 0 && seen > 0 && float64(seen) >= wanted[0].share*float64(h.count) {
			*wanted[0].to = min(bucketMiddle(b), h.max)
			wanted = wanted[1:]
		}
	}
	return t
}
