package tune

import (
	"context"
	"errors"
	"slices"

	"kasoku/internal/experiment"
	"kasoku/internal/store"
)

// tampered turns the judge's error into the verdict that it is.
func tampered(step *store.Step, err error) error {
	var t *TamperedError
	if !errors.As(err, &t) {
		return err
	}
	step.Verdict.Outcome, step.Verdict.Reason = experiment.Tampered, t.Why
	return nil
}

// handBack writes the judge's files back that a proposal has changed and not
// put back itself.
func (t *Tuner) handBack(ctx context.Context, step *store.Step) {
	if step.Verdict.Outcome != experiment.Tampered {
		return
	}
	for _, told := range t.judging.judge.putBack(ctx) {
		if w := (experiment.Warning{Kind: experiment.WarnRestored, Text: told}); !slices.Contains(step.Verdict.Warnings, w) {
			step.Verdict.Warnings = append(step.Verdict.Warnings, w)
		}
	}
}
