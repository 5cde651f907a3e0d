package main

import (
	"context"
	"errors"
	"io/fs"

	"kasoku/internal/change"
	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// targetError gives an error from work on the target its exit code and hint.
func targetError(err error) error {
	var coded *ui.CodedError
	var proposal *tune.ProposalError
	switch {
	case err == nil, errors.As(err, &coded), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &proposal) && !errors.Is(err, fs.ErrPermission):
		return ui.Coded(ui.BadInput, err, "correct the proposal (kasoku try --help), or allow it under regulation in kasoku.yaml")
	case errors.Is(err, fs.ErrPermission):
		return ui.Coded(ui.Target, err, "run as a user who may do it (root), or list the service under regulation.no_touch")
	case errors.Is(err, change.ErrPending):
		return ui.Coded(ui.NeedsRecovery, err, "kasoku recover")
	}
	return ui.Coded(ui.Target, err, "check that every service in kasoku.yaml runs and answers; the target is as it was")
}
