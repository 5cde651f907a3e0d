package experiment

import (
	"fmt"
	"math"
	"slices"

	"kasoku/internal/ui"
)

const (
	// stalled is the part of the score, and of the CPU in use, below which a candidate is
	// not slower but waits.
	stalled = 0.5
	// A delayed acknowledgement of Linux comes after 40 ms (TCP_DELACK_MIN, HZ/25), and
	// the answer that waited for it a little later.
	delayedFrom, delayedTo = 0.038, 0.047
	// nearTimeout is how close to a time-out a latency is that comes of it.
	nearTimeout = 0.05
)

// timeouts are usual ones of servers, seconds: keep-alive of Apache and Node (5), of
// many applications (10, 15, 30), of nginx (60, 65, 75).
var timeouts = []float64{1, 5, 10, 15, 30, 60, 65, 75}

// Stall says, of a candidate that made the service much slower while the CPU is idle,
// that it waits, how long an answer takes, and what that usually is; "" for any other.
func Stall(v Verdict) string {
	of := func(metric string) (Shift, bool) {
		i := slices.IndexFunc(v.Shifts, func(s Shift) bool { return s.Metric == metric })
		if i < 0 || v.Shifts[i].Baseline <= 0 {
			return Shift{}, false
		}
		return v.Shifts[i], true
	}
	cpu, ok := of("cpu_per_request")
	if v.Pairs == 0 || v.BaselineScore <= 0 || v.CandidateScore >= stalled*v.BaselineScore || !ok {
		return ""
	}
	used := v.CandidateScore * cpu.Candidate / (v.BaselineScore * cpu.Baseline)
	if used >= stalled {
		return "" // it works harder, not less
	}
	text := fmt.Sprintf("it does not work but wait: CPU is %.0f %% less in use", 100*(1-used))
	p50, ok := of("p50")
	if !ok {
		return text
	}
	text += ", and half of the answers take " + ui.Seconds(p50.Candidate) + " and more"
	near := slices.IndexFunc(timeouts, func(t float64) bool { return math.Abs(p50.Candidate-t) < nearTimeout*t })
	switch {
	case p50.Candidate >= delayedFrom && p50.Candidate <= delayedTo && p50.Baseline < delayedFrom/2:
		text += ": as long as a receiver delays its acknowledgement while the sender holds back the end of an answer (tcp_nopush on loopback, no tcp_nodelay)"
	case near >= 0:
		text += fmt.Sprintf(": as long as a time-out of %.0f s, for instance of connections that are kept and hold all processes of a server that has one for each", timeouts[near])
	}
	return text
}
