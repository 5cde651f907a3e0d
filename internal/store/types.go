// Package store keeps sessions, runs, experiments and their evidence in
// .kasoku/kasoku.db (SQLite), so that everything said later can be traced to
// what was measured.
//
// In: what the loop produces. Out: the same, by ID, for history, show and
// report. It holds no secrets: statements are stored with literals masked.
package store

import (
	"fmt"
	"time"

	"kasoku/internal/diagnose"
	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/prove"
	"kasoku/internal/remedy"
)

// Session is one `kasoku tune` (or try) from first baseline to last verdict.
type Session struct {
	ID      int64     `json:"id"`
	Command string    `json:"command"` // "tune", "try", "run"
	Stack   string    `json:"stack"`   // its name
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	// Resumed is when it was last taken up again after an interruption, Worked how
	// long it was at work until its last end, without the time between.
	Resumed time.Time     `json:"resumed,omitzero"`
	Worked  time.Duration `json:"worked,omitempty"`
	Budget  time.Duration `json:"budget"`
	// State: "running", "done", "interrupted", "failed".
	State string `json:"state"`
	// Stopped says why it ended, in one sentence.
	Stopped string `json:"stopped,omitempty"`
	// StopReason is the same for programs: one of Stop….
	StopReason string `json:"stop_reason,omitempty"`
	// AsFound and Final scores are geometric means of fit runs, at AsFoundWorkload and FinalWorkload;
	// NoScore where nothing was scored, 0 where nothing was measured.
	AsFound      float64        `json:"as_found"`
	Final        float64        `json:"final"`
	AfterRestart float64        `json:"after_restart"` // re-measured after every service but NotRestarted was restarted; 0 = not done
	NotRestarted []NotRestarted `json:"not_restarted,omitempty"`
	// Compared is the service as left against the service as found; nil: it was not
	// done (a session that kept nothing, did not end, or is of an older version).
	Compared        *Compared `json:"compared,omitempty"`
	AsFoundWorkload int       `json:"as_found_workload"`
	// UsersAssumed: nobody told how many users somebody else's benchmark has (load.Result).
	UsersAssumed  bool `json:"users_assumed,omitempty"`
	FinalWorkload int  `json:"final_workload"`
	// Forgiving: wrong answers take no points, since they did so as found, too.
	Forgiving bool `json:"forgiving,omitempty"`
	// PerRun: scores are points of a whole run and not of a second (load.Result).
	PerRun bool `json:"per_run,omitempty"`
	// FinalAsFoundLoad is the final configuration's score with AsFoundWorkload
	// users; 0 = not measured, because the workload did not change or the budget did
	// not allow it. Only Compared.SameLoad has runs as found beside it.
	FinalAsFoundLoad float64 `json:"final_as_found_load,omitempty"`
	// AsFoundRun and FinalRun are the diagnostic runs before and after.
	AsFoundRun int64 `json:"as_found_run"`
	FinalRun   int64 `json:"final_run"`
	// Binds at the end, with the reason.
	Binds     string `json:"binds"`
	BindsText string `json:"binds_text"`
	// BindsBefore: it is what bound before the last change that was kept, as no time was
	// left to look again.
	BindsBefore bool `json:"binds_before,omitempty"`
	// Doubts are the scores above that count a run which was no evidence, because
	// no other could be had, with the reason.
	Doubts []string `json:"doubts,omitempty"`
	// Scenario is the hash of the scenario that its scores are of; "" for
	// somebody else's benchmark.
	Scenario string `json:"scenario,omitempty"`
	// Pace is how long the runs of its experiments are, and why.
	Pace experiment.Pace `json:"pace,omitzero"`
	// Checks are what proved at the end, or failed to, that the regulation holds.
	Checks []prove.Result `json:"checks,omitempty"`
	// Regulation as it was, in words, and what it refused.
	Allowed  []string         `json:"allowed"`
	Refusals []remedy.Refusal `json:"refusals,omitempty"`
}

// NoScore stands for a measured score of nothing or less, in points/s.
const NoScore = 1e-6

// Compared is the service as left against the service as found, by runs that
// alternate between them.
type Compared struct {
	// By: ByPairs, ByStep or BySteps.
	By string `json:"by"`
	// AsFound and Final are geometric means of scores (points/s) of these runs; 0
	// with BySteps, whose experiments have scores of many states.
	AsFound float64 `json:"as_found,omitempty"`
	Final   float64 `json:"final,omitempty"`
	// Factor is Final / AsFound; Low to High its 95 % interval, 0 where none can
	// be said. Step is the one of ByStep, Why the reason of BySteps.
	Factor float64 `json:"factor"`
	Low    float64 `json:"low,omitempty"`
	High   float64 `json:"high,omitempty"`
	Pairs  int     `json:"pairs"`
	Step   int     `json:"step,omitempty"`
	Why    string  `json:"why,omitempty"`
	// SameLoad is the service as left with as many users as found, in the same turns:
	// what the changes alone brought; nil where the load was not changed, or not with ByPairs.
	SameLoad *Compared `json:"same_load,omitempty"`
}

// How the ends of a session were compared.
const (
	ByPairs = "pairs" // as found was put in place again between runs at the end
	ByStep  = "step"  // by the experiment of the only step that was kept
	BySteps = "steps" // the experiments of all kept steps, multiplied
)

// ComparedBySteps multiplies what the experiments of kept steps showed, and divides
// by what those showed that were taken out.
func ComparedBySteps(steps []Step) *Compared {
	c := &Compared{By: BySteps, Factor: 1}
	for _, s := range steps {
		switch {
		case len(s.LeavesOut) > 0 && s.Tx != 0:
			c.Factor /= 1 + s.Verdict.Effect
		case s.Kept && len(s.LeavesOut) == 0:
			c.Factor *= 1 + s.Verdict.Effect
		default:
			continue
		}
		c.Pairs += s.Verdict.Pairs
	}
	return c
}

// Base is the score of the service as found that later ones compare with: that of
// runs between which as left was in place, if there are any.
func (s *Session) Base() float64 {
	if s.Compared != nil && s.Compared.AsFound > 0 {
		return s.Compared.AsFound
	}
	return s.AsFound
}

// Factor is how many times as much a score is as that of the service as found; 0 where
// that cannot be said.
func (s *Session) Factor(score float64) float64 {
	base := s.Base()
	if base <= NoScore || score <= NoScore {
		return 0
	}
	return score / base
}

// Gain is how many times as much the service as left scores; 0 where that cannot
// be said, also where as found and as left were not compared. It comes of runs that
// alternate, and of nothing else: two scores of two times are no gain.
func (s *Session) Gain() float64 {
	c := s.Compared
	if c == nil || c.AsFound > 0 && (c.AsFound <= NoScore || c.Final <= NoScore) {
		return 0
	}
	return c.Factor
}

// Began is when its present stretch of work did, or its last one.
func (s *Session) Began() time.Time {
	if s.Resumed.IsZero() {
		return s.Started
	}
	return s.Resumed
}

// NotRestarted is a service that was not restarted at the end, and why.
type NotRestarted struct {
	Service string `json:"service"`
	Why     string `json:"why"`
}

// Why a session of `kasoku tune` ended.
const (
	StopNothingLeft   = "nothing_left"   // every plan that is called for was tried
	StopBelowShown    = "below_shown"    // what is left is too little to be shown in the time left
	StopBelowSmallest = "below_smallest" // what is left has a bound below the smallest effect
	StopBudget        = "budget"         // the time is used
	StopTarget        = "target"         // as fast as was asked for
	StopNoisy         = "noisy"          // experiments could not be judged
	StopInterrupted   = "interrupted"    // Ctrl-C, or killed
	StopFailed        = "failed"         // an error
)

// Kinds of runs.
const (
	Scored     = "scored"     // its score counts
	Diagnostic = "diagnostic" // with dearer instruments; its score is not used
	Probe      = "probe"      // part of a search
)

// Run is one measured load.
type Run struct {
	ID         int64               `json:"id"`
	Session    int64               `json:"session"` // 0 = none
	Step       int64               `json:"step"`    // 0 = none
	Kind       string              `json:"kind"`
	Side       experiment.Side     `json:"side,omitempty"`
	Label      string              `json:"label"`
	Started    time.Time           `json:"started"`
	Score      float64             `json:"score"`
	Unfit      string              `json:"unfit,omitempty"`
	Evidence   *evidence.Evidence  `json:"evidence,omitempty"`
	Diagnosis  *diagnose.Diagnosis `json:"diagnosis,omitempty"`
	ConfigHash string              `json:"config_hash"` // of all configuration files, variables and schema
}

// Unit of its scores: load.PointsPerSecond, or load.PointsPerRun.
func (s *Session) Unit() string { return (&load.Result{PerRun: s.PerRun}).Unit() }

// Bottleneck names what Binds is of: "Bottleneck now", or before the last kept change.
func (s *Session) Bottleneck() string {
	if s.BindsBefore {
		return "Bottleneck before the last kept change"
	}
	return "Bottleneck now"
}

// WithUsers is " with 8 users", or "" where nobody knows how many there were.
func (s *Session) WithUsers(n int) string {
	if s.UsersAssumed {
		return ""
	}
	return fmt.Sprintf(" with %d users", n)
}

// Step is one experiment of a session and what came of it.
type Step struct {
	ID      int64              `json:"id"`
	Session int64              `json:"session"`
	Seq     int                `json:"seq"` // 1, 2, … within the session
	Started time.Time          `json:"started"`
	Ended   time.Time          `json:"ended"`
	Plan    remedy.Plan        `json:"plan"`
	Finding *diagnose.Finding  `json:"finding,omitempty"`
	Verdict experiment.Verdict `json:"verdict"`
	Kept    bool               `json:"kept"`
	// Tx is the journal's ID of the kept changes; 0 if not kept.
	Tx int64 `json:"tx"`
	// Chosen is the value that a search settled on, 0 if the plan had none.
	Chosen int `json:"chosen,omitempty"`
	// Binding resource when it was tried: a rejected plan may be tried again
	// when another resource binds.
	Binding string `json:"binding"`
	// Expected is the factor that the plan was expected to bring when it was chosen, from
	// 1; 0 for a proposal, and in stores from before it was kept.
	Expected float64 `json:"expected,omitempty"`
	// Diffs are unified diffs and statements of the changes, for people.
	Diffs []Diff `json:"diffs"`
	// LeavesOut are the Seq of kept steps that this experiment looked at again:
	// the service with them (candidate) against without (baseline). Tx is set
	// if they were taken out.
	LeavesOut []int `json:"leaves_out,omitempty"`
	// LeavesOutPart is the ID of the one part of such a step, a group, that it is
	// about; "" = the whole.
	LeavesOutPart string `json:"leaves_out_part,omitempty"`
	// LeavesOutLed: another part alone may account for what the group brought, so
	// this one stays only if it is not seen to bring too little.
	LeavesOutLed bool `json:"leaves_out_led,omitempty"`
	// LookedAgain is the Seq of such an experiment about this step, 0 if there
	// was none; LeftOut: it no longer paid and was taken out.
	LookedAgain int  `json:"looked_again,omitempty"`
	LeftOut     bool `json:"left_out,omitempty"`
}

// Diff is one change as people read it.
type Diff struct {
	Title string `json:"title"` // path or statement
	Text  string `json:"text"`  // unified diff, or the command
	Kind  string `json:"kind"`  // "file", "sql", "command"
}
