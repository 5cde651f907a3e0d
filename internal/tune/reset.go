package tune

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/stack"
)

// ResetError says that the stack's own command to bring the data back failed.
type ResetError struct{ Err error }

func (e *ResetError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *ResetError) Unwrap() error { return e.Err }

// prepare brings the data back to the state from which every run starts. Where
// nothing does that, it looks up which rows of the scenario's pools earlier runs
// have used: the next one draws others, so that it does not meet the users that
// one of them locked out.
func (b *Bench) prepare(ctx context.Context) error {
	if len(b.Stack.Load.Reset) > 0 {
		return b.reset(ctx)
	}
	if b.drawn != nil || b.Foreign() {
		return nil
	}
	var err error
	b.drawn, err = b.Store.Drawn()
	return err
}

// noteDrawn stores which rows have been used so far.
func (b *Bench) noteDrawn() error {
	if b.drawn == nil {
		return nil
	}
	return b.Store.SaveDrawn(b.drawn)
}

// suspectData says once that wrong answers may come from what earlier runs did
// to the data.
func (b *Bench) suspectData(res *load.Result) {
	if b.drawn == nil || b.suspected || b.Note == nil || res.Mismatches == 0 {
		return
	}
	b.suspected = true
	b.Note(fmt.Sprintf("%d answers were wrong, and nothing brings the data back before a run: if the load changes data, set load.reset in kasoku.yaml, or give its pools more rows", res.Mismatches))
}

// reset runs the stack's own command that brings the data back to the state
// from which every run starts.
func (b *Bench) reset(ctx context.Context) error {
	argv := b.Stack.Load.Reset
	if len(argv) == 0 {
		return nil
	}
	res, err := b.Hosts[stack.LocalHost].Run(ctx, host.Command{Argv: argv, Dir: b.Stack.Dir, Timeout: 2 * time.Minute})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &ResetError{fmt.Errorf("load.reset (%s): %w", strings.Join(argv, " "), err)}
	}
	if res.ExitCode != 0 {
		return &ResetError{fmt.Errorf("load.reset (%s) ended with %d: %s", strings.Join(argv, " "), res.ExitCode, tail(res.Stderr))}
	}
	return nil
}
