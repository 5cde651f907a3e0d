package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kill ends the service's main process and all its descendants with SIGKILL, as
// a crash would, and waits until they are gone. Nothing is started again; a
// manager (systemd, supervisor, mysqld_safe) may do so. It refuses a service
// that kasoku.yaml does not name in checks.kill.
func (c *Controller) Kill(ctx context.Context) error { return c.chosen(ctx, "kill", c.kill) }

func (c *Controller) kill(ctx context.Context) error {
	if !slices.Contains(c.s.Checks.Kill, c.svc.Name) {
		return errors.New("checks.kill in kasoku.yaml does not name it; add it there if it may be killed with SIGKILL at any time")
	}
	family, err := c.family(ctx)
	if err != nil {
		return err
	}
	for _, id := range family { // the main process first, so that it starts no new ones
		if err := id.signal(ctx, c.h, "KILL"); err != nil {
			return err
		}
	}
	left, err := waitGone(ctx, c.h, family, killTime)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("process %d is still there %s after SIGKILL", left[0].pid, killTime)
	}
	return err
}

// killTime is how long the kernel may take to end killed processes: they may be
// waiting for a disk.
const killTime = 10 * time.Second

// Name is the service's in kasoku.yaml.
func (c *Controller) Name() string { return c.svc.Name }
