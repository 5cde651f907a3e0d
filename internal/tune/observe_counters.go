package tune

import (
	"maps"
	"strings"

	"kasoku/internal/evidence"
)

// lent adds to the reference's counters those that only the diagnostic run
// had, because an instrument let the service tell them. What counts up is
// taken per request of the diagnostic run, so that it fits the reference's
// window.
func lent(ref, own *evidence.Evidence) map[string]evidence.CounterDelta {
	scale := 1.0
	if ref.Load.Requests > 0 && own.Load.Requests > 0 {
		scale = float64(ref.Load.Requests) / float64(own.Load.Requests)
	}
	out := maps.Clone(ref.Counters)
	if out == nil {
		out = map[string]evidence.CounterDelta{}
	}
	for service, more := range own.Counters {
		have := out[service]
		sum := evidence.CounterDelta{Delta: map[string]float64{}, Value: map[string]string{}}
		for name, n := range more.Delta {
			if !madeByInstruments(name) {
				sum.Delta[name] = n * scale
			}
		}
		maps.Copy(sum.Value, more.Value)
		maps.Copy(sum.Delta, have.Delta)
		maps.Copy(sum.Value, have.Value)
		out[service] = sum
	}
	return out
}

// lentCollectors adds to what the reference's services used what only the
// diagnostic run tells, their garbage collectors' time: the part of the service's CPU
// that it was there.
func lentCollectors(ref, own map[string]evidence.ServiceUse) map[string]evidence.ServiceUse {
	out := maps.Clone(ref)
	for service, use := range out {
		if more := own[service]; use.GC == 0 && more.GC > 0 && more.CPU > 0 {
			use.GC = more.GC / more.CPU * use.CPU
			out[service] = use
		}
	}
	return out
}

// madeByInstruments: what an instrument itself makes a service count is no word
// about the service. A reload for an instrument empties OPcache, so that
// scripts are compiled anew; where PHP has no profiler, requests are slow from a
// second on.
func madeByInstruments(name string) bool {
	return name == "opcache.opcache_statistics.misses" || strings.HasSuffix(name, ".slow_requests")
}
