package load

import "time"

// Arrivals plan when sessions begin: the open model. Times count from the
// begin of the warm-up for stages, whose first rate holds in the warm-up.
type Arrivals struct {
	// Stages follow each other; the last one's final rate holds to the end.
	Stages []Stage
	// Random arrivals are a Poisson process (exponential gaps, from the seed);
	// else they are evenly spaced.
	Random bool
	// Recorded are offsets from the begin of the window, sorted; then Stages
	// is empty and nothing is sent in the warm-up.
	Recorded []Recorded
	// Slack is how long a planned time may be missed so that several sessions
	// begin with one wake-up; 0: 1 ms, negative: none. See docs/scenario.md.
	Slack time.Duration
}

// Stage of a rate: From to To sessions per second, linearly, over For.
type Stage struct {
	From, To float64
	For      time.Duration
}

// Recorded is one planned session.
type Recorded struct {
	At      time.Duration
	Session int // index in the scenario; -1: by weight
}

// ConstantRate plans perSecond sessions each second.
func ConstantRate(perSecond float64) *Arrivals {
	return &Arrivals{Stages: []Stage{{From: perSecond, To: perSecond}}}
}
