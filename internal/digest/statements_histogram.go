package digest

import (
	"math/bits"
	"time"
)

// A statement's time falls into a bucket: its highest bit and the seven bits
// after it, so a bucket is at most 1/128 of its values wide (0.8 %). Times
// below 256 ns have a bucket each. Unit: nanoseconds.
const (
	octaveBits = 7
	octaveSize = 1 << octaveBits
	octaves    = 64 - octaveBits
)

// timeBucket returns a time's bucket, below octaves × octaveSize.
func timeBucket(d time.Duration) uint16 {
	v := uint64(max(d, 0))
	if v < octaveSize {
		return uint16(v)
	}
	shift := bits.Len64(v) - octaveBits - 1
	return uint16((shift+1)<<octaveBits | int(v>>shift)&(octaveSize-1))
}

// bucketTime is the middle of a bucket.
func bucketTime(b uint16) time.Duration {
	octave, low := int(b)>>octaveBits, uint64(b)&(octaveSize-1)
	if octave == 0 {
		return time.Duration(low)
	}
	from := (low | octaveSize) << (octave - 1)
	return time.Duration(from + uint64(1)<<(octave-1)/2)
}

// timeHistogram counts times. Octaves that no time fell into take no memory: a
// class of statements touches five or so, 2.5 kB.
type timeHistogram struct {
	counts [octaves]*[octaveSize]uint32
	n      int64
}

func (h *timeHistogram) add(bucket uint16) {
	o := bucket >> octaveBits
	if h.counts[o] == nil {
		h.counts[o] = new([octaveSize]uint32)
	}
	h.counts[o][bucket&(octaveSize-1)]++
	h.n++
}

// merge adds another's times.
func (h *timeHistogram) merge(o *timeHistogram) {
	for i, counts := range o.counts {
		if counts == nil {
			continue
		}
		if h.counts[i] == nil {
			h.counts[i] = new([octaveSize]uint32)
		}
		for low, n := range counts {
			h.counts[i][low] += n
		}
	}
	h.n += o.n
}

// quantile returns the time that the part q (0–1) of all does not exceed.
func (h *timeHistogram) quantile(q float64) time.Duration {
	want := max(int64(q*float64(h.n)+0.999999), 1) // nearest rank
	for o, counts := range h.counts {
		if counts == nil {
			continue
		}
		for low, n := range counts {
			if want -= int64(n); n > 0 && want <= 0 {
				return bucketTime(uint16(o<<octaveBits | low))
			}
		}
	}
	return 0
}
