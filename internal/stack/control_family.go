package stack

import (
	"context"
	"errors"
	"time"
)

// family is PIDs with the start times that make them unmistakable.
func (c *Controller) family(ctx context.Context) ([]identity, error) {
	return c.familyOf(ctx, identity{})
}

// familyOf is family where the main process was just found, and is looked for again only
// if it is gone; the zero identity: it was not.
func (c *Controller) familyOf(ctx context.Context, main identity) ([]identity, error) {
	for n := 0; ; n++ {
		roots, err := []identity{main}, error(nil)
		if n > 0 || main.pid == 0 || c.hasRoots() {
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

// hasRoots: there may be more main processes than one.
func (c *Controller) hasRoots() bool {
	m := c.svc.ControlMethod()
	return m == MethodSupervisor || m == MethodSystemd
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
