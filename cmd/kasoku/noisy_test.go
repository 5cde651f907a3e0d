package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kasoku/internal/tune"
	"kasoku/internal/ui"
)

// A session that noise ended is no failure of the services: its code and hint say so.
func TestNoiseIsNoFailureOfTheTarget(t *testing.T) {
	var coded *ui.CodedError
	if err := targetError(fmt.Errorf("session 3: %w", tune.ErrNoisy)); !errors.As(err, &coded) || coded.Code != ui.Inconclusive || strings.Contains(coded.Hint, "runs and answers") {
		t.Errorf("%+v", coded)
	}
}
