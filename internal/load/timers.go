package load

import "time"

// timers is a heap of pausing users, the earliest first. A user stands in it
// at most once and leaves it only when its time has come.
type timers []*slot

func (t *timers) push(s *slot) {
	*t = append(*t, s)
	h := *t
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].user.until <= h[i].user.until {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// first is when the earliest pause ends.
func (t timers) first() (time.Duration, bool) {
	if len(t) == 0 {
		return 0, false
	}
	return t[0].user.until, true
}

// pop takes the earliest.
func (t *timers) pop() *slot {
	h := *t
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h[last] = nil
	*t = h[:last]
	h = *t
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			return top
		}
		if down+1 < len(h) && h[down+1].user.until < h[down].user.until {
			down++
		}
		if h[i].user.until <= h[down].user.until {
			return top
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}
