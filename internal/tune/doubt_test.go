package tune

import (
	"context"
	"strings"
	"testing"

	"kasoku/internal/evidence"
	"kasoku/internal/experiment"
	"kasoku/internal/load"
	"kasoku/internal/stack"
	"kasoku/internal/store"
)

// TestScoresInDoubt: where no run is evidence, a score counts what there is, and
// says so.
func TestScoresInDoubt(t *testing.T) {
	b := &Bench{Stack: &stack.Stack{}, instead: func(context.Context, RunOptions) (*store.Run, error) {
		return &store.Run{ID: 7, Score: 3, Unfit: "foreign load", Evidence: &evidence.Evidence{Load: &load.Result{Succeeded: 100}}}, nil
	}}
	tu := &Tuner{Bench: b, UI: quietly{}, Rule: experiment.DefaultRule(), session: &store.Session{}}
	scores, err := tu.measure(t.Context(), "final", 2)
	if err != nil || len(scores) != 2 || len(tu.session.Doubts) != 2 || !strings.HasPrefix(tu.session.Doubts[0], "final, run 7: foreign load") {
		t.Errorf("%v %v %q", scores, err, tu.session.Doubts)
	}
}
