package stack

import (
	"context"
	"errors"
	"time"
)

// family is PIDs with the start times that make them unmistakable.
func (c *Controller) family(ctx context.Context) ([]identity, error) {
	return c.familyOf(ctx, nil)
}

// familyOf is family where the main processes were just found, and are looked for again
// only if they are gone; nil: they were not.
func (c *Controller) familyOf(ctx context.Context, found []identity) ([]identity, error) {
	for n := 0; ; n++ {
		roots, err := found, error(nil)
		if n > 0 || len(found) == 0 {
			roots, err = c.roots(ctx)
		}
		// A master that executes itself anew (HAProxy's, right after its start) has no
		// command line for a moment.
		if errors.Is(err, ErrNotRunning) && n == 0 {
			roots, err = []identity{{}}, nil
		}
		if err != nil {
			return nil, err
		}
		t, err := readProcesses(ctx, c.h)
		if err != nil {
			return nil, err
		}
		if ids := t.under(roots); len(ids) > 0 {
			return ids, nil
		}
		if len(roots) == 0 || n == handOvers {
			return nil, ErrNotRunning
		}
		select {
		case <-time.After(handOverTime):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// mains are the main processes for a probe, of which there are many while a service
// starts: all of them where that costs nothing more, else the first alone. Those of known,
// which an earlier probe found, are taken as long as they live: supervisor is asked by a
// program that takes a third of a second of CPU.
func (c *Controller) mains(ctx context.Context, known []identity) ([]identity, error) {
	if c.svc.ControlMethod() != MethodSupervisor {
		m, err := c.master(ctx)
		return []identity{m}, err
	}
	for i, id := range known {
		if ok, err := id.alive(ctx, c.h); !ok || err != nil {
			break
		}
		if i == len(known)-1 {
			return known, nil
		}
	}
	return c.programMasters(ctx)
}

// roots are the main processes: one, but for a group of programs under supervisor,
// and for a unit that left some to init.
func (c *Controller) roots(ctx context.Context) ([]identity, error) {
	switch c.svc.ControlMethod() {
	case MethodSupervisor:
		return c.programMasters(ctx)
	case MethodSystemd:
		return c.unitRoots(ctx)
	}
	m, err := c.master(ctx)
	return []identity{m}, err
}
