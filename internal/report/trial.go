package report

import (
	"fmt"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
	"kasoku/internal/ui"
)

// TryFormat is the version of TryResult. It grows when a field changes its
// meaning or goes; new fields may come without.
const TryFormat = 2

// TryResult is what `kasoku try --json` prints and the MCP server's try
// answers; docs/reference/json.md describes each field.
type TryResult struct {
	Format int `json:"format"`
	// Outcome: improved, no difference, regressed, inconclusive, broke answers,
	// failed, refused.
	Outcome  string `json:"outcome"`
	ExitCode int    `json:"exit_code"`
	Title    string `json:"title"`
	// Effect is the ratio of scores minus one: 0.05 = 5 % faster. It is 0, and
	// Interval absent, if too few pairs were measured to tell.
	Effect   float64   `json:"effect"`
	Interval *Interval `json:"interval,omitempty"`
	Pairs    int       `json:"pairs"`
	Runs     int       `json:"runs"`
	Took     float64   `json:"took_seconds"`
	Reason   string    `json:"reason"`
	// Warnings had been plain texts in format 1.
	Warnings []experiment.Warning `json:"warnings"`
	Scores   Scores               `json:"scores"`
	// Shifts is what else changed: latency, CPU per request, memory, failures.
	Shifts []experiment.Shift `json:"shifts"`
	// Broken is the candidate's run with wrong answers or failures.
	Broken  *BrokenRun          `json:"broken,omitempty"`
	Samples []experiment.Sample `json:"samples"`
	Diffs   []store.Diff        `json:"diffs"`
	Kept    bool                `json:"kept"`
	// Transaction of the journal, for kasoku undo; 0 if nothing was kept.
	Transaction int64 `json:"transaction"`
	Session     int64 `json:"session"`
	Step        int64 `json:"step"`
	// Next is what to do now, in one sentence.
	Next string `json:"next"`
}

// Interval holds the effect with the probability Level.
type Interval struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Level float64 `json:"level"`
}

// Scores are geometric means over fit runs, points per second.
type Scores struct {
	Baseline  float64 `json:"baseline"`
	Candidate float64 `json:"candidate"`
}

// BrokenRun is a run whose answers were wrong or failed.
type BrokenRun struct {
	Run        int64  `json:"run"`
	Mismatches int64  `json:"mismatches"`
	Failures   int64  `json:"failures"`
	Requests   int64  `json:"requests"`
	Sample     string `json:"sample"` // one request, what was expected, what came
}

// Trial is the result of one proposal.
func Trial(st *store.Step) TryResult {
	v := st.Verdict
	r := TryResult{Format: TryFormat, Outcome: string(v.Outcome), ExitCode: VerdictCode(v), Title: st.Plan.Title, Effect: v.Effect,
		Pairs: v.Pairs, Runs: v.Runs, Took: v.Took.Seconds(), Reason: v.Reason, Warnings: []experiment.Warning{},
		Scores: Scores{v.BaselineScore, v.CandidateScore}, Shifts: append([]experiment.Shift{}, v.Shifts...),
		Samples: append([]experiment.Sample{}, v.Samples...), Diffs: append([]store.Diff{}, st.Diffs...),
		Kept: st.Kept, Transaction: st.Tx, Session: st.Session, Step: st.ID, Next: NextStep(st)}
	r.Warnings = append(r.Warnings, v.Warnings...)
	if v.Pairs > 1 {
		r.Interval = &Interval{v.Low, v.High, 0.95}
	}
	for i := range v.Samples {
		if s := &v.Samples[i]; s.Side == experiment.Candidate && s.Mismatches+s.Failures > 0 {
			r.Broken = &BrokenRun{s.RunID, s.Mismatches, s.Failures, s.Requests, s.Broken}
		}
	}
	change.RedactAll(&r)
	return r
}

// VerdictCode is the exit code of a verdict.
func VerdictCode(v experiment.Verdict) int {
	switch v.Outcome {
	case experiment.Improved:
		return ui.OK
	case experiment.NoDifference:
		return ui.NoDifference
	case experiment.Regressed:
		return ui.Regressed
	case experiment.Inconclusive:
		return ui.Inconclusive
	case experiment.Broke:
		return ui.WrongAnswers
	case experiment.Tampered:
		return ui.Refused
	case experiment.Failed:
		if v.Refused {
			return ui.BadInput
		}
		return ui.Target
	}
	return ui.Failure
}

// NextStep says what to do after a verdict.
func NextStep(st *store.Step) string {
	v := st.Verdict
	switch v.Outcome {
	case experiment.Improved:
		if st.Kept {
			return fmt.Sprintf("it is in effect; `kasoku export` writes it out, `kasoku undo %d` takes it away", st.Tx)
		}
		return "it was put back; try it again with keep to leave it in effect"
	case experiment.NoDifference:
		return "propose something else: `kasoku diagnose` names the bottleneck and what removing it could bring at most"
	case experiment.Regressed:
		return "do not make this change; `kasoku diagnose` names the bottleneck"
	case experiment.Inconclusive:
		if v.OutOfTime || v.TooFew && v.Fitted {
			return "give it more time, or shorter runs"
		}
		return "stop what else runs on the machine, or measure longer (--duration, tune.max_pairs), and try again"
	case experiment.Broke:
		return "correct the change until every answer is right; the reason shows one that was not"
	case experiment.Tampered:
		return "leave scenario, regulation, the load's commands, Kasoku's state and the clock alone, and propose a change of the service only"
	case experiment.Failed:
		if v.Refused {
			return "the service's own check says what is wrong with the value; nothing was activated"
		}
		return "correct what the reason names; the target is as it was"
	}
	return "`kasoku show step/N` tells more"
}
