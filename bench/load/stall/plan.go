// Package stall is a server that answers at once, but stops altogether for a
// while at regular times, and the arithmetic of what an honest load generator
// must measure on it.
//
// A tool that waits for each answer before it sends the next request sends
// nothing during a stall and so hardly notices it (coordinated omission).
package stall

import (
	"math"
	"time"
)

// Plan says when the server stalls: for Length in every Every, first at First.
// Times count from the first request that the server gets.
type Plan struct {
	Every, Length, First time.Duration
}

// Default is the issue's: 500 ms every 5 s. The first stall comes late in its
// period, so that a window that begins up to 3 s after the first request (its
// warm-up) and is a multiple of Every long cuts no stall in two.
var Default = Plan{Every: 5 * time.Second, Length: 500 * time.Millisecond, First: 3500 * time.Millisecond}

// Wait is how long an answer takes that is due at t: what is left of the stall,
// 0 outside.
//
//	latency
//	  500 ms |\          |\
//	         | \         | \
//	       0 +--\--------+--\-----→ planned time
//	          stall       stall
func (p Plan) Wait(t time.Duration) time.Duration {
	if t < p.First {
		return 0
	}
	return max(0, p.Length-(t-p.First)%p.Every)
}

// Quantile is the latency that the share q of requests does not exceed, if the
// server's own time is nothing and the requests come evenly, in a window that
// is a multiple of Every long.
//
// A request planned at t within a stall that ends at e takes e − t. With even
// arrivals e − t is uniform on (0, Length], and a request falls into a stall
// with probability Length/Every, so for 0 ≤ x ≤ Length
//
//	P(latency > x) = Length/Every · (1 − x/Length) = (Length − x)/Every
//
// and the quantile is where that is 1 − q:
//
//	x = Length − (1 − q)·Every
//
// With 500 ms every 5 s: p99 = 500 ms − 0.01 · 5 s = 450 ms; max = 500 ms.
func (p Plan) Quantile(q float64) time.Duration {
	x := float64(p.Length) - (1-q)*float64(p.Every)
	return time.Duration(math.Round(max(0, x)))
}
