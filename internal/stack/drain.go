package stack

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kasoku/internal/host"
)

// drained is how long workers may take to finish what they do: control's
// drain_timeout, else 10 s for old workers of a web server, which is far more
// than a request should take, and a minute for control.drain.
func (c *Controller) drained() time.Duration {
	switch {
	case c.svc.Control.DrainTimeout > 0:
		return c.svc.Control.DrainTimeout
	case len(c.svc.Control.Drain) > 0:
		return time.Minute
	}
	return 10 * time.Second
}

// drain runs control.drain before a service is stopped: it takes no new work
// and returns when the work under way is done. A drain that fails stops the
// stop. It is asked once: the way back, after a failure, does not depend on it.
func (c *Controller) drain(ctx context.Context) error {
	argv := c.svc.Control.Drain
	if len(argv) == 0 || c.drainFailed {
		return nil
	}
	c.drainFailed = true
	res, err := c.h.Run(ctx, host.Command{Argv: argv, Dir: c.dir(), Timeout: c.drained()})
	switch {
	case err != nil && ctx.Err() == nil:
		return fmt.Errorf("drain by %s: not done within control.drain_timeout (%s), so it was not stopped: %w", strings.Join(argv, " "), c.drained(), err)
	case err != nil:
		return fmt.Errorf("drain by %s: %w", strings.Join(argv, " "), err)
	case res.ExitCode != 0:
		return fmt.Errorf("drain by %s: exit status %d, so it was not stopped%s", strings.Join(argv, " "), res.ExitCode, said(string(res.Stdout)+string(res.Stderr)))
	}
	c.drainFailed = false
	return nil
}
