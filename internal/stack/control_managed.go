package stack

import (
	"context"
	"fmt"
)

// stopManaged ends what a service manager still tries: a unit or program
// without a process may be about to be started again.
func (c *Controller) stopManaged(ctx context.Context) error {
	switch c.svc.ControlMethod() {
	case MethodSystemd:
		u, err := c.unit(ctx)
		if err != nil || u.active == "inactive" || u.active == "failed" {
			return err
		}
		return c.order(ctx, c.patience(), "stop")
	case MethodSupervisor:
		return c.supervisorStop(ctx)
	}
	return nil
}

// restartManaged lets the service manager restart it. A service that does not
// run has no work to finish.
func (c *Controller) restartManaged(ctx context.Context, method string) error {
	if len(c.svc.Control.Drain) > 0 {
		if _, err := c.master(ctx); err == nil {
			if err := c.drain(ctx); err != nil {
				return err
			}
		}
	}
	c.markLogs(ctx)
	var err error
	if method == MethodSystemd {
		err = c.order(ctx, stopPlans[c.svc.Kind].total()+c.patience(), "restart")
	} else {
		err = c.supervisorRestart(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, c.logTail(ctx))
	}
	return c.waitHealthy(ctx)
}
