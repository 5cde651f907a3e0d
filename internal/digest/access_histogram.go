package digest

import (
	"math/bits"
	"time"
)

const (
	// subBuckets per power of two: a bucket is at most 1/128 = 0.8 % wide.
	subBuckets = 128
	subBits    = 7
	// pages: values are microseconds up to 2⁶³ ns, that is below 2⁵⁴; the
	// first page holds what is below 128 exactly.
	pages = 54 - subBits + 1
	// fewValues are kept one by one: most routes of a long tail have no more.
	fewValues = 32
)

// histogram counts durations in buckets, log-linear: page 0 holds 0–127 µs,
// page p the values from 128·2^(p-1) µs in steps of 2^(p-1) µs.
type histogram struct {
	count int64
	total time.Duration
	max   time.Duration
	few   []uint16
	pages *[pages]*[subBuckets]uint16 // nil: few holds all
	carry map[uint16]int64            // what does not fit 16 bits, which halve the memory that is touched
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
	b := bucketOf(d)
	if h.pages == nil {
		if len(h.few) < fewValues {
			h.few = append(h.few, b)
			return
		}
		h.spread()
	}
	h.put(b, 1)
}

// spread moves the single values to pages.
func (h *histogram) spread() {
	h.pages = new([pages]*[subBuckets]uint16)
	for _, b := range h.few {
		h.put(b, 1)
	}
	h.few = nil
}

func (h *histogram) put(b, n uint16) {
	page := h.pages[b/subBuckets]
	if page == nil {
		page = new([subBuckets]uint16)
		h.pages[b/subBuckets] = page
	}
	at := &page[b%subBuckets]
	if *at += n; *at < n {
		if h.carry == nil {
			h.carry = map[uint16]int64{}
		}
		h.carry[b] += 1 << 16
	}
}

// merge adds o's values.
func (h *histogram) merge(o *histogram) {
	h.count += o.count
	h.total += o.total
	h.max = max(h.max, o.max)
	if h.pages == nil && o.pages == nil && len(h.few)+len(o.few) <= fewValues {
		h.few = append(h.few, o.few...)
		return
	}
	if h.pages == nil {
		h.spread()
	}
	for _, b := range o.few {
		h.put(b, 1)
	}
	if o.pages != nil {
		for p, page := range o.pages {
			if page == nil {
				continue
			}
			for i, n := range page {
				if n > 0 {
					h.put(uint16(p*subBuckets+i), n)
				}
			}
		}
	}
	for b, n := range o.carry {
		if h.carry == nil {
			h.carry = map[uint16]int64{}
		}
		h.carry[b] += n
	}
}

// times summarizes; percentiles are those of the nearest rank.
func (h *histogram) times() Times {
	t := Times{Count: h.count, Total: h.total, Max: h.max}
	if h.count == 0 {
		return t
	}
	t.Mean = h.total / time.Duration(h.count)
	if h.pages == nil {
		h.spread()
	}
	wanted := []struct {
		share float64
		to    *time.Duration
	}{{0.50, &t.P50}, {0.90, &t.P90}, {0.95, &t.P95}, {0.99, &t.P99}}
	seen := int64(0)
	for p, page := range h.pages {
		if page == nil {
			continue
		}
		for i, n := range page {
			b := uint16(p*subBuckets + i)
			seen += int64(n) + h.carry[b]
			for len(wanted) > 0 && seen > 0 && float64(seen) >= wanted[0].share*float64(h.count) {
				*wanted[0].to = min(bucketMiddle(b), h.max)
				wanted = wanted[1:]
			}
		}
	}
	return t
}
