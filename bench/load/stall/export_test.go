package stall

import (
	"math"
	"slices"
	"time"
)

// Discrete is Quantile counted out: rate requests a second, evenly, for window
// from start, by nearest rank. It shows how much the finite number of requests
// matters: one interval at most.
func (p Plan) Discrete(q float64, rate int, start, window time.Duration) time.Duration {
	n := int(int64(window) * int64(rate) / int64(time.Second))
	if n == 0 {
		return 0
	}
	waits := make([]time.Duration, n)
	for i := range waits {
		waits[i] = p.Wait(start + time.Duration(int64(i)*int64(time.Second)/int64(rate)))
	}
	slices.Sort(waits)
	rank := int(math.Ceil(q * float64(n)))
	return waits[min(max(rank, 1), n)-1]
}

// Requests since Restart.
func (s *Server) Requests() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}
