// Package experiment decides whether a candidate is faster than the baseline:
// schedule, gates, verdict.
//
// In: a Runner that can measure either side. Out: a Verdict with effect and
// interval. It knows nothing of hosts or changes.
package experiment

import (
	"context"
	"time"

	"kasoku/internal/stat"
)

// Side of an experiment.
type Side string

const (
	Baseline  Side = "baseline"
	Candidate Side = "candidate"
)

// Sample is one measured run of one side.
type Sample struct {
	RunID int64   `json:"run_id"`
	Side  Side    `json:"side"`
	Pair  int     `json:"pair"`
	Score float64 `json:"score"`
	// Guards: wrong answers and failures per request, 99th percentile.
	Mismatches int64         `json:"mismatches"`
	Failures   int64         `json:"failures"` // errors and time-outs
	Requests   int64         `json:"requests"`
	P50        time.Duration `json:"p50"`
	P99        time.Duration `json:"p99"`
	// CPUPerRequest of the services, in seconds.
	CPUPerRequest float64 `json:"cpu_per_request"`
	// Ended says which service ended, or was restarted, in a run that is unfit for
	// that; "" if none did.
	Ended string `json:"ended,omitempty"`
	// Memory of each host that services run on, by its name; none if there is one
	// host only, or nothing is known.
	Memory map[string]Memory `json:"memory,omitempty"`
	// MemoryAvailable on the host that has least of it in proportion, and what it
	// has in all, in bytes; 0: not known.
	MemoryAvailable int64 `json:"memory_available"`
	MemoryTotal     int64 `json:"memory_total,omitempty"`
	// Unfit says why the run is no evidence (foreign load, saturated
	// generator…); such a run is repeated. "" if fit.
	Unfit string `json:"unfit,omitempty"`
	// Broken describes a wrong answer of the candidate, with the response.
	Broken string `json:"broken,omitempty"`
}

// Memory of a host in bytes; 0: not known.
type Memory struct {
	Available int64 `json:"available"`
	Total     int64 `json:"total"`
}

// memory by host, of one host without its name.
func (s Sample) memory() map[string]Memory {
	if len(s.Memory) > 0 {
		return s.Memory
	}
	return map[string]Memory{"": {s.MemoryAvailable, s.MemoryTotal}}
}

// Runner measures one side: it switches the target to it and runs the load.
type Runner interface {
	Measure(ctx context.Context, side Side, pair int) (Sample, error)
}

// Outcome of an experiment.
type Outcome string

const (
	Improved     Outcome = "improved"
	Regressed    Outcome = "regressed"
	NoDifference Outcome = "no difference"
	Inconclusive Outcome = "inconclusive"
	Broke        Outcome = "broke answers" // a guard stopped it
	Failed       Outcome = "failed"        // could not be applied or did not come up
)

// Verdict is what an experiment found. Effect and its interval are ratios of
// scores minus one: 0.05 = 5 % faster.
type Verdict struct {
	Outcome Outcome       `json:"outcome"`
	Effect  float64       `json:"effect"`
	Low     float64       `json:"low"`
	High    float64       `json:"high"`
	Pairs   int           `json:"pairs"`
	Runs    int           `json:"runs"` // including repeated ones; without Earlier's
	Took    time.Duration `json:"took"`
	Reason  string        `json:"reason"` // why it ended, in one sentence
	// Refused: the service's own check did not accept the candidate's
	// configuration, so it was never in effect.
	Refused bool `json:"refused,omitempty"`
	// OutOfTime: Rule.Deadline ended it before it was sure. That is no sign of noise.
	OutOfTime bool `json:"out_of_time,omitempty"`
	// Shared: it made way for others that wait, as its share of the time was used
	// (Rule.Shared) or it did not lead (Rule.Patience), and it may go on.
	Shared bool `json:"shared,omitempty"`
	// Fitted: MaxPairs was what the time left allowed (Rule.Fitted), and TooFew: so many
	// can neither show an effect nor rule out that there is one. That is no sign of noise.
	Fitted bool `json:"fitted,omitempty"`
	TooFew bool `json:"too_few,omitempty"`
	// Earlier of Pairs are those of an experiment that was cut off (Rule.Earlier).
	Earlier  int       `json:"earlier,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	Samples  []Sample  `json:"samples"`
	// Shifts is what else changed: latency, CPU per request, memory, failures.
	Shifts []Shift `json:"shifts,omitempty"`
	// Switching is the time spent putting sides in place, part of Took.
	Switching time.Duration `json:"switching,omitempty"`
	// Switches is how often that was, and SwitchedBy what disturbed the services
	// most: "none" (a variable, a file that is read at each use), "reload" or
	// "restart"; "" if nothing on the hosts differs between the sides.
	Switches   int    `json:"switches,omitempty"`
	SwitchedBy string `json:"switched_by,omitempty"`
	// Level is the one-sided false-keep rate that this experiment had.
	Level float64 `json:"level,omitempty"`
	// MaxPairs that it could have; its looks were made for that many.
	MaxPairs int `json:"max_pairs,omitempty"`
	// BaselineScore and CandidateScore are geometric means of fit runs.
	BaselineScore  float64 `json:"baseline_score"`
	CandidateScore float64 `json:"candidate_score"`
}

// Looked reports whether the experiment came to a look at the scores: without
// one it could not end as improved.
func (v Verdict) Looked() bool { return v.Pairs >= stat.FirstLook }

// NoLongerPays judges the verdict of what is in place, as the candidate,
// against the service without it. It was proved once, so it goes only if it is
// now seen to bring less than the smallest effect worth keeping (a fraction); a
// doubt leaves it.
func (v Verdict) NoLongerPays(smallest float64) bool {
	switch v.Outcome {
	case Regressed, Broke:
		return true
	case NoDifference:
		return v.Effect < smallest
	case Tampered, Improved, Inconclusive, Failed: // say nothing against it
	}
	return false
}
