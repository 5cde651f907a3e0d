package tune

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/host"
	"kasoku/internal/load"
	"kasoku/internal/rewind"
	"kasoku/internal/stack"
)

// ResetError says that the stack's own command to bring the data back failed.
type ResetError struct {
	Err      error
	Snapshot bool // load.reset is snapshot, not a command
}

func (e *ResetError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *ResetError) Unwrap() error { return e.Err }

// prepare brings the data back to the state from which every run starts. Where
// nothing does that, it looks up which rows of the scenario's pools earlier runs
// have used: the next one draws others, so that it does not meet the users that
// one of them locked out.
func (b *Bench) prepare(ctx context.Context) error {
	if b.Stack.Load.Reset.Set() {
		return b.reset(ctx)
	}
	if b.Data.drawn != nil || b.Foreign() {
		return nil
	}
	var err error
	b.Data.drawn, err = b.Store.Drawn()
	return err
}

// noteDrawn stores which rows have been used so far.
func (b *Bench) noteDrawn() error {
	if b.Data.drawn == nil {
		return nil
	}
	return b.Store.SaveDrawn(b.Data.drawn)
}

// suspectData says once that wrong answers may come from what earlier runs did
// to the data.
func (b *Bench) suspectData(res *load.Result) {
	if b.Data.drawn == nil || b.Data.suspected || b.Listeners.Note == nil || res.Mismatches == 0 {
		return
	}
	b.Data.suspected = true
	b.Listeners.Note(fmt.Sprintf("%d answers were wrong, and nothing brings the data back before a run: if the load changes data, write reset: snapshot under load in kasoku.yaml, or give its pools more rows", res.Mismatches))
}

// reset brings the data back to the state from which every run starts: by the stack's
// own command, or from the copy that was made before the first run.
func (b *Bench) reset(ctx context.Context) error {
	if b.Stack.Load.Reset.Snapshot() {
		return b.rewind(ctx)
	}
	argv := b.Stack.Load.Reset.Command()
	if len(argv) == 0 {
		return nil
	}
	res, err := b.Hosts[stack.LocalHost].Run(ctx, host.Command{Argv: argv, Dir: b.Stack.Dir, Timeout: 2 * time.Minute})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &ResetError{Err: fmt.Errorf("load.reset (%s): %w", strings.Join(argv, " "), err)}
	}
	if res.ExitCode != 0 {
		return &ResetError{Err: fmt.Errorf("load.reset (%s) ended with %d: %s", strings.Join(argv, " "), res.ExitCode, tail(res.Stderr))}
	}
	return nil
}

// rewind copies what a run may change, the first time, and puts it back from then on.
func (b *Bench) rewind(ctx context.Context) error {
	if b.Data.keeper == nil {
		k, err := rewind.Take(ctx, b.Stack, b.Hosts, rewind.Options{Snapshot: b.Stack.Load.Snapshot, Dir: b.Data.Dir})
		if err != nil {
			return snapshotError(ctx, err)
		}
		b.Data.keeper = k
		b.inform(fmt.Sprintf("load.reset: %s copied in %.1f s; put back before each run and at the end", k.What(), k.Took.Seconds()))
		for _, left := range k.Left() {
			b.inform("load.reset leaves " + left)
		}
		return nil
	}
	r, err := b.Data.keeper.Back(ctx)
	if err != nil {
		return snapshotError(ctx, err)
	}
	if !b.Data.rewound {
		b.Data.rewound = true
		b.inform(fmt.Sprintf("load.reset put back %s", r))
	}
	return nil
}

// snapshotError is a cancelled context's own error, or says what load.reset could not do.
func snapshotError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &ResetError{Err: fmt.Errorf("load.reset (snapshot): %w", err), Snapshot: true}
}

// inform tells what is no problem.
func (b *Bench) inform(text string) {
	if b.Listeners.Inform != nil {
		b.Listeners.Inform(text)
	}
}

// noteWritten notes what a run wrote, before anything is restarted.
func (b *Bench) noteWritten(ctx context.Context) error {
	if b.Data.keeper == nil {
		return nil
	}
	if err := b.Data.keeper.Seen(ctx); err != nil {
		return snapshotError(ctx, err)
	}
	return nil
}

// lastReset bounds putting the data back at the end, which a cancelled context does not
// stop.
const lastReset = 2 * time.Minute

// Leave puts the data back as they were before the first run, where Kasoku does that
// itself.
func (b *Bench) Leave() error {
	if b.Data.keeper == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastReset)
	defer cancel()
	_, err := b.Data.keeper.Back(ctx)
	b.Data.keeper.Close()
	b.Data.keeper = nil
	if err != nil {
		return snapshotError(context.Background(), err)
	}
	return nil
}
