package prove

import (
	"cmp"
	"fmt"
	"time"
)

// Names of the checks.
const (
	Staleness  = "staleness"
	Equality   = "equality"
	Durability = "durability"
	Restart    = "reboot"
)

// Outcome of a check.
type Outcome string

const (
	Held      Outcome = "held"
	Failed    Outcome = "failed"
	NotJudged Outcome = "not judged" // Text says why
)

// Result is what came of one check.
type Result struct {
	Check   string        `json:"check"`
	Outcome Outcome       `json:"outcome"`
	Text    string        `json:"text"` // one sentence: what was seen
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took"`
	// Problems are what failed, at most mostProblems of Failures.
	Problems []Problem `json:"problems,omitempty"`
	Failures int       `json:"failures"`
	// Notes are what a reader must know: what was left out, and why.
	Notes []string `json:"notes,omitempty"`

	// Writes that were acknowledged, Reads that were judged.
	Writes int `json:"writes,omitempty"`
	Reads  int `json:"reads,omitempty"`
	// Worst is the longest time after a write's acknowledgement at which a
	// reader was still given the old state; 0: none was. Limit is what is
	// allowed. Staleness only.
	Worst time.Duration `json:"worst,omitempty"`
	Limit time.Duration `json:"limit,omitempty"`
	// BackAfter is how long the service did not answer rightly (Crash, Reboot).
	BackAfter time.Duration `json:"back_after,omitempty"`
	// Before and After are scores (Reboot).
	Before float64 `json:"before,omitempty"`
	After  float64 `json:"after,omitempty"`
}

// Problem is one thing that failed.
type Problem struct {
	What string `json:"what"`
	// By is the service, cache or host that it is attributed to, with how that
	// was told; "" if it could not be.
	By string `json:"by,omitempty"`
}

// mostProblems that a Result lists: enough to see what they have in common.
const mostProblems = 10

// problem adds one thing that failed.
func (r *Result) problem(p Problem) {
	r.Outcome = Failed
	r.Failures++
	if len(r.Problems) < mostProblems {
		r.Problems = append(r.Problems, p)
	}
}

func (r *Result) fail(by, format string, args ...any) {
	r.problem(Problem{What: fmt.Sprintf(format, args...), By: by})
}

func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// begin a check that holds until something fails.
func begin(check string) *Result {
	return &Result{Check: check, Outcome: Held, Started: time.Now()}
}

// notJudged ends a check that could not be made. What failed before stays
// failed.
func (r *Result) notJudged(format string, args ...any) *Result {
	if r.Outcome == Failed {
		r.note(format, args...)
		r.Text = cmp.Or(r.Text, "it could not be made to the end, and failed before")
		return r
	}
	r.Outcome, r.Text = NotJudged, fmt.Sprintf(format, args...)
	return r
}

// Ended is the result of a check that ended with an error; nil changes nothing.
// It is not judged, unless it failed before.
func (r Result) Ended(err error) Result {
	if err == nil {
		return r
	}
	if r.Started.IsZero() {
		r.Started = time.Now()
	}
	return *r.notJudged("it could not be made: %v", err).end()
}

// end notes how long it took.
func (r *Result) end() *Result {
	r.Took = time.Since(r.Started)
	return r
}

// Short reports whether a reboot failed by the score alone: all came back, but
// was slower than before.
func (r Result) Short() bool {
	return r.Check == Restart && r.Outcome == Failed && r.Failures == 1 && r.After > 0 && r.After < KeptScore*r.Before
}

// Skipped is a check that was not made, with the reason.
func Skipped(check, why string) Result {
	return Result{Check: check, Outcome: NotJudged, Text: why, Started: time.Now()}
}

// Broken are the checks that failed.
func Broken(all []Result) []string {
	var out []string
	for _, r := range all {
		if r.Outcome == Failed {
			out = append(out, r.Check)
		}
	}
	return out
}

// Join makes one result of the same check on several services: failed if one
// failed, held if all held.
func Join(all []Result) Result {
	if len(all) == 0 {
		return Result{}
	}
	out := all[0]
	for _, r := range all[1:] {
		out.Text += "; " + r.Text
		out.Took += r.Took
		out.Failures += r.Failures
		out.Problems = append(out.Problems, r.Problems...)
		out.Notes = append(out.Notes, r.Notes...)
		out.Writes, out.Reads = out.Writes+r.Writes, out.Reads+r.Reads
		out.Worst, out.BackAfter = max(out.Worst, r.Worst), max(out.BackAfter, r.BackAfter)
		if r.Outcome == Failed || out.Outcome == Held {
			out.Outcome = r.Outcome
		}
	}
	out.Problems = out.Problems[:min(len(out.Problems), mostProblems)]
	return out
}
