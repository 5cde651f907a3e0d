package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// applier is what a switcher needs of a change.Executor.
type applier interface {
	Apply(ctx context.Context, in change.Intent) (change.Tx, error)
	Revert(ctx context.Context, id int64) error
	Pending() []change.Tx
	VerifyTx(ctx context.Context, ids ...int64) ([]change.Drift, error)
}

// turns is what an experiment's runner saw beside the scores.
type turns struct {
	switches int
	took     time.Duration
	runs     int
	window   time.Duration // of the last run
	mixed    bool          // runs had windows of different lengths
	// unsteady runs, and what the first of them said.
	unsteady int
	why      string
	// robbed are runs that count although other virtual machines took more than
	// the limit; most is the most that they took, a share.
	robbed int
	most   float64
	heat   heat
}

// turn puts a side in place, fills what it keeps, and measures how long that
// takes. Where it is in place already nothing is done and nothing counted.
func (s *switcher) turn(ctx context.Context, side experiment.Side) error {
	was, begun := s.tx, time.Now()
	err := s.to(ctx, side)
	filled := s.fill != nil && s.tx != was && side == s.filled() && err == nil
	if filled {
		err = s.fill(ctx)
	}
	s.turns.heat.cold = s.turns.heat.cold || s.tx != was && !filled
	if s.tx != was || err != nil {
		s.turns.switches++
		s.turns.took += time.Since(begun)
	}
	return err
}

// note what a run says about itself.
func (t *turns) note(run *store.Run) {
	t.mixed = t.mixed || t.runs > 0 && t.window != run.Evidence.Load.Window
	t.runs++
	t.window = run.Evidence.Load.Window
	if why := run.Evidence.Load.Unsteady; why != "" && run.Unfit == "" {
		if t.unsteady++; t.unsteady == 1 {
			t.why = why
		}
	}
}

// disturbs is the most disturbing activation of the changes.
func disturbs(cs []change.Change) change.Activation {
	most := change.None
	for _, c := range cs {
		most = max(most, c.Activate)
	}
	return most
}

// tell adds to a verdict what else the runs showed: what changed beside the
// score, how long switching took, and whether the service was warm. It does
// nothing if the switcher measured nothing.
func (s *switcher) tell(v *experiment.Verdict) {
	if s == nil || s.turns.runs == 0 {
		return
	}
	v.Shifts = experiment.Shifts(v.Samples)
	v.Switches, v.Switching, v.SwitchedBy = s.turns.switches, s.turns.took, ""
	if len(s.intent.Changes) > 0 {
		v.SwitchedBy = disturbs(s.intent.Changes).String()
	}
	if n := s.turns.unsteady; n > 0 {
		v.Warnings = append(v.Warnings, experiment.Warning{Kind: experiment.WarnUnsteady, Runs: n, Of: s.turns.runs, Why: s.turns.why,
			Text: fmt.Sprintf("%d of %d runs were not steady; the first: %s", n, s.turns.runs, s.turns.why)})
	}
	if n := s.turns.robbed; n > 0 {
		v.Warnings = append(v.Warnings, experiment.Warning{Kind: experiment.WarnSteal, Runs: n, Of: s.turns.runs, Share: s.turns.most,
			Text: fmt.Sprintf("other virtual machines took up to %.0f %% of the CPU (steal) in %d of %d runs, as they do most of the time here", 100*s.turns.most, n, s.turns.runs)})
	}
	if p := s.bench.pace; p != nil {
		// A spread is known by its window, and brief ones tell nothing of longer
		// ones: what varies from second to second looks like what varies from run
		// to run there.
		if !s.turns.mixed && s.turns.window >= s.bench.window() {
			// Those from before were noted when they were made.
			own := slices.DeleteFunc(slices.Clone(v.Samples), func(x experiment.Sample) bool { return x.Pair <= v.Earlier })
			p.NoteExperiment(own, s.turns.window)
		}
		p.NoteSwitching(s.turns.took)
	}
	s.turns = turns{}
}
