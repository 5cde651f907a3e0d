package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// quietLimit is how long a run waits for other processes to end before it is
// made all the same (and then most likely repeated).
const quietLimit = 45 * time.Second

// awaitQuiet waits, before load is put on, until other processes leave the
// machines to the stack. It says so once.
func (b *Bench) awaitQuiet(ctx context.Context) error {
	for start, said := time.Now(), false; ; {
		name, busy, err := b.busiest(ctx)
		if err != nil {
			return err
		}
		if busy <= max(b.Stack.Tune.Foreign(), b.disturbance.others.rule) || time.Since(start) > quietLimit {
			return nil
		}
		if !said && b.Listeners.Note != nil {
			where := ""
			if name != stack.LocalHost {
				where = " of " + name
			}
			b.Listeners.Note(fmt.Sprintf("other processes use %.0f %% of the CPU%s: waiting up to %s for them to end", 100*busy, where, quietLimit))
			said = true
		}
	}
}

// busiest looks at all hosts of the stack and the machine that makes the load
// at once, and returns the one whose CPU others use most.
func (b *Bench) busiest(ctx context.Context) (name string, busy float64, err error) {
	names := b.Stack.HostNames()
	if !slices.Contains(names, stack.LocalHost) && b.Hosts[stack.LocalHost] != nil {
		names = append(names, stack.LocalHost)
	}
	use, errs := make([]float64, len(names)), make([]error, len(names))
	var wg sync.WaitGroup
	for i, n := range names {
		wg.Go(func() {
			if h := b.Hosts[n]; h == nil {
				errs[i] = fmt.Errorf("host %s is not connected", n)
			} else {
				use[i], errs[i] = evidence.Busy(ctx, h)
			}
		})
	}
	wg.Wait()
	for i, n := range names {
		if use[i] > busy || name == "" {
			name, busy = n, use[i]
		}
	}
	return name, busy, errors.Join(errs...)
}
