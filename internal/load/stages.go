package load

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	// maxRate in sessions per second: above what one machine can send.
	maxRate = 1e7
	// maxStages of one run.
	maxStages = 1000
)

// ParseStages reads the stages of a rate, "100:10s,100..1000:30s": 100
// sessions per second for 10 s, then from 100 to 1000 within 30 s.
func ParseStages(text string) ([]Stage, error) {
	var out []Stage
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		rates, length, ok := strings.Cut(part, ":")
		d, err := time.ParseDuration(strings.TrimSpace(length))
		if !ok || err != nil || d <= 0 || d > maxWindow {
			return nil, fmt.Errorf("stage %q: write RATE:DURATION or FROM..TO:DURATION, for example 100..1000:30s", shorten(part, 40))
		}
		from, to, ramp := strings.Cut(rates, "..")
		if !ramp {
			to = from
		}
		s := Stage{For: d}
		for _, end := range []struct {
			text string
			rate *float64
		}{{from, &s.From}, {to, &s.To}} {
			*end.rate, err = strconv.ParseFloat(strings.TrimSpace(end.text), 64)
			if err != nil || !(*end.rate >= 0 && *end.rate <= maxRate) {
				return nil, fmt.Errorf("stage %q: %q is no rate; write sessions per second from 0 to %g", shorten(part, 40), shorten(end.text, 40), maxRate)
			}
		}
		if out = append(out, s); len(out) > maxStages {
			return nil, fmt.Errorf("more than %d stages", maxStages)
		}
	}
	return out, nil
}

// StagesLength is how long all stages last.
func StagesLength(stages []Stage) time.Duration {
	total := time.Duration(0)
	for _, s := range stages {
		total += s.For
	}
	return total
}

const (
	// concurrencyTime: by Little's law a rate needs rate × latency users at
	// once; a tenth of a second is long for an answer under load that is not
	// too much, and a session waits for a free user if there are fewer.
	concurrencyTime = 0.1
	leastUsers      = 32
	mostUsers       = 1000
)

// UsersFor is how many sessions may be under way at once where nobody says:
// rate (per second) × 0.1 s, from 32 to 1000.
func UsersFor(rate float64) int {
	return int(min(max(math.Ceil(rate*concurrencyTime), leastUsers), mostUsers))
}

// HighestRate of the stages, per second.
func HighestRate(stages []Stage) float64 {
	top := 0.0
	for _, s := range stages {
		top = max(top, s.From, s.To)
	}
	return top
}
