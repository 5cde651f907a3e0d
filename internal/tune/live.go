package tune

import (
	"time"

	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/store"
)

// Live is a session, or a single run, at one moment, for those who watch it:
// the terminal and the dashboard. It is a value of its own: who receives one may
// keep it.
type Live struct {
	At time.Time `json:"at"`
	// Session's ID, 0 for a run without one; it began at Started and ends its
	// search at Deadline (zero: no budget).
	Session  int64     `json:"session,omitempty"`
	Started  time.Time `json:"started"`
	Deadline time.Time `json:"deadline,omitzero"`
	// Doing is the part of the work under way, as Reporter.Step tells it; Label
	// that of the run under way, "" between runs.
	Doing string `json:"doing"`
	Label string `json:"label,omitempty"`
	// Ending: it was interrupted, and what is under way is put back.
	Ending bool `json:"ending,omitempty"`
	Scores
	// Trying is the experiment under way; nil between experiments.
	Trying *Trying `json:"trying,omitempty"`
	// Load is that of the run under way; nil between runs.
	Load *load.Progress `json:"load,omitempty"`
	Curves
	// Last is the last run that the store holds, and Rates and CPU are those of its
	// window: only where a store is all that is known (Stored).
	Last *LastRun `json:"last,omitempty"`
	// Said is a message that was told at this moment; nil: none.
	Said *Said `json:"said,omitempty"`
	Counts
	// Ended: nothing more comes, and the store holds all of it.
	Ended bool `json:"ended,omitempty"`
}

// Scores of a session, in points per second; 0 until known.
type Scores struct {
	// AsFound is the score as found, Score that of what is in place, as the last
	// experiment that changed it measured it.
	AsFound float64 `json:"as_found,omitempty"`
	Score   float64 `json:"score,omitempty"`
	// PerRun: they are points of a whole run (load.Result).
	PerRun bool `json:"per_run,omitempty"`
}

// Curves over the latest runs, newest last, about one point a second.
type Curves struct {
	// CPU is the share of each host's CPUs in use, 0 to 1.
	CPU map[string][]float64 `json:"cpu,omitempty"`
	// Rates of right answers per second; 0 between runs.
	Rates []float64 `json:"rates,omitempty"`
}

// Counts are how much the store holds of the session: who shows it reads again when one
// of them grew.
type Counts struct {
	Runs  int `json:"runs"`
	Steps int `json:"steps"`
	// Judged grows when a step has ended and the store holds what came of it.
	Judged int `json:"judged"`
}

// Trying is an experiment under way.
type Trying struct {
	Seq   int    `json:"seq"` // of the step
	Plan  string `json:"plan"`
	Title string `json:"title"`
	Why   string `json:"why"` // the finding, in one sentence
	// Bound on the factor of the score that it could bring, 0 if unknown.
	Bound float64 `json:"bound,omitempty"`
	// Side of the run under way, "" between runs.
	Side experiment.Side `json:"side"`
	// So far: without samples.
	Verdict   experiment.Verdict `json:"verdict"`
	MostPairs int                `json:"most_pairs"`
	// Looks at the scores so far, and the number of pairs of the next one; 0:
	// there is none.
	Looks    int `json:"looks"`
	NextLook int `json:"next_look,omitempty"`
}

// Said is a message to a person.
type Said struct {
	Level string `json:"level"` // "step", "info" or "warning"
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// scoreAfter is the score of what is in place after a step, in points per
// second, if it was before; what the step did not change or measure stays.
func scoreAfter(st *store.Step, before float64) float64 {
	v := st.Verdict
	switch {
	case len(st.LeavesOut) > 0 && st.Tx != 0 && v.BaselineScore > 0: // the sides of a second look are swapped
		return v.BaselineScore
	case len(st.LeavesOut) == 0 && st.Kept && v.CandidateScore > 0:
		return v.CandidateScore
	}
	return before
}

// Unit of the scores.
func (s Scores) Unit() string { return (&load.Result{PerRun: s.PerRun}).Unit() }
