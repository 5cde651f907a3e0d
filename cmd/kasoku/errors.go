package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/load"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// failed gives an error from work on the target its exit code and hint. What could
// not be put back is told although the work was interrupted.
func (p *Project) failed(err error) error {
	return leftOr(targetError, err, len(p.Exec.Pending()) > 0)
}

// leftOr tells that something is left on the target, or else what code says.
func leftOr(code func(error) error, err error, left bool) error {
	if err == nil || !left {
		return code(err)
	}
	// Not wrapped: an interruption that left something is not told as one.
	return ui.Coded(ui.NeedsRecovery, errors.New(err.Error()), "kasoku recover")
}

// targetError gives an error from work on the target its exit code and hint.
func targetError(err error) error {
	var coded *ui.CodedError
	var proposal *tune.ProposalError
	var reset *tune.ResetError
	switch {
	case err == nil, errors.As(err, &coded), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &proposal) && !errors.Is(err, fs.ErrPermission):
		return ui.Coded(ui.BadInput, err, "correct it (kasoku try --help, kasoku compare --help), or allow it under regulation in kasoku.yaml")
	case errors.Is(err, tune.ErrNoisy):
		return ui.Coded(ui.Inconclusive, err, "what was kept is in place and all else is as found; `kasoku history` lists the runs, each with what disturbed it (kasoku show RUN)")
	case errors.Is(err, load.ErrNotAllowed):
		return ui.Coded(ui.BadInput, err, "is it yours? Then list its address or network under load.allow in kasoku.yaml")
	case errors.As(err, &reset) && reset.Snapshot:
		return ui.Coded(ui.Target, err, "docs/how-to/have-the-same-data-before-each-run.md says what snapshot looks at; or write reset: [./reset.sh], a command of your own")
	case errors.As(err, &reset):
		return ui.Coded(ui.Target, err, "run the command by hand in the folder of kasoku.yaml; it must end with 0 before every run")
	case errors.Is(err, fs.ErrPermission):
		return ui.Coded(ui.Target, err, "run as a user who may do it (root), or list the service under regulation.no_touch")
	case errors.Is(err, change.ErrPending):
		return ui.Coded(ui.NeedsRecovery, err, "kasoku recover")
	}
	return ui.Coded(ui.Target, err, "check that every service in kasoku.yaml runs and answers (where it is only slow, give the scenario a longer timeout); the target is as it was")
}

// budgetError refuses a time that has passed before it begins.
func budgetError(budget time.Duration) error {
	if budget < 0 {
		return fmt.Errorf("--budget: %s is below 0; give a time such as 10m, or 0 for none", budget)
	}
	return nil
}
