package stack

import (
	"context"
	"errors"
	"fmt"
)

// State of a service, for putting it back.
type State string

const (
	Running State = "running"
	Stopped State = "stopped"
	Failed  State = "failed" // stopped, and its manager says that it failed
)

// State tells whether the service runs.
func (c *Controller) State(ctx context.Context) (State, error) {
	var s State
	err := c.chosen(ctx, "look at", func(ctx context.Context) (err error) {
		s, err = c.state(ctx)
		return err
	})
	return s, err
}

func (c *Controller) state(ctx context.Context) (State, error) {
	switch c.svc.ControlMethod() {
	case MethodSystemd:
		u, err := c.unit(ctx)
		switch {
		case err != nil:
			return "", err
		case u.active == "failed":
			return Failed, nil
		case u.active == "inactive" || u.active == "deactivating":
			return Stopped, nil
		}
		return Running, nil
	case MethodSupervisor:
		return c.supervisorState(ctx)
	case MethodCommand:
		if c.svc.Control.PIDFile == "" {
			return Running, nil // there is no way to know; it was measured, so it runs
		}
	}
	_, err := c.master(ctx)
	switch {
	case err == nil:
		return Running, nil
	case errors.Is(err, ErrNotRunning):
		return Stopped, nil
	}
	return "", err
}

// PutBack brings the service to a state that State told before: what did not
// run is stopped again. A service that had failed ends stopped or failed: it
// is not made to fail a second time. Running is Start.
func (c *Controller) PutBack(ctx context.Context, was State) error {
	if was == Running {
		return c.Start(ctx)
	}
	if err := c.Stop(ctx); err != nil {
		return err
	}
	now, err := c.State(ctx)
	if err == nil && now == Running {
		err = c.fail("stop", fmt.Errorf("it runs again; something else starts it"))
	}
	return err
}
