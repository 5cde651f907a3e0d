package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// reloadWait bounds how long new workers may take to appear. nginx needs a few
// milliseconds; PHP-FPM first ends its workers, which may finish a request.
const reloadWait = 20 * time.Second

// Reload makes the service read its configuration again without losing
// connections (PHP-FPM: requests under way end when process_control_timeout is
// 0, its default), and returns when the new configuration serves. Databases,
// memcached, Redis and apps (but HAProxy) have no such thing unless
// control.reload names it.
func (c *Controller) Reload(ctx context.Context) error { return c.chosen(ctx, "reload", c.reload) }

func (c *Controller) reload(ctx context.Context) error {
	family, err := c.family(ctx)
	if err == nil && len(family) == 1 && c.svc.IsHAProxy() {
		family, err = c.withHAProxyWorker(ctx)
	}
	if err != nil {
		return err
	}
	// PHP-FPM and Apache end when the configuration they re-read is broken.
	if err := c.check(ctx); err != nil {
		return err
	}
	c.markLogs(ctx)
	if err := c.askReload(ctx, family[0]); err != nil {
		return fmt.Errorf("%w%s", err, c.logTail(ctx))
	}
	switch c.svc.Kind {
	case Nginx:
		err = c.awaitNginxWorkers(ctx, family)
	case PHPFPM:
		err = c.awaitFPMWorkers(ctx, family)
	case App:
		if c.svc.IsHAProxy() {
			err = c.awaitHAProxyWorkers(ctx, family)
		}
	default: // the others take the configuration on before they answer
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, c.logTail(ctx))
	}
	return c.waitHealthy(ctx)
}

// reloadSignals by kind: what the manuals of nginx, php-fpm and Apache name for
// a graceful change of configuration.
var reloadSignals = map[Kind]string{Nginx: "HUP", PHPFPM: "USR2", Apache: "USR1"}

func (c *Controller) askReload(ctx context.Context, master identity) error {
	ctl := c.svc.Control
	switch {
	case len(ctl.Reload) > 0:
		_, err := run(ctx, c.h, c.dir(), c.patience(), ctl.Reload...)
		return err
	case c.svc.ControlMethod() == MethodSystemd:
		return c.reloadUnit(ctx, master)
	}
	signal, err := c.reloadSignal(ctx)
	if err != nil {
		return err
	}
	return master.signal(ctx, c.h, signal)
}

// awaitNginxWorkers waits until the master has workers that were not there
// before and every old one is gone or shutting down. nginx that cannot use the
// new configuration keeps the old workers.
func (c *Controller) awaitNginxWorkers(ctx context.Context, family []identity) error {
	master := family[0].pid
	ok, err := poll(ctx, reloadWait, func() (bool, error) {
		t, err := readProcesses(ctx, c.h)
		if err != nil {
			return false, err
		}
		if t.byPID[master] == nil {
			return false, fmt.Errorf("its main process %d ended", master)
		}
		fresh, stale := 0, 0
		for _, p := range t.byPID {
			if p.ppid != master || !strings.Contains(p.title(), "worker process") {
				continue
			}
			switch {
			case !slices.Contains(family, identity{p.pid, p.started}):
				fresh++
			case !strings.Contains(p.title(), "shutting down"):
				stale++
			}
		}
		return fresh > 0 && stale == 0, nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("its old workers still serve after %s, so it did not take the new configuration", reloadWait)
	}
	if err != nil {
		return err
	}
	// The old workers finish what they began. One that holds a connection open
	// (a WebSocket, a long download) may take hours: that is no failure.
	_, err = waitGone(ctx, c.h, family[1:], c.drained())
	return err
}

// awaitFPMWorkers waits until the workers from before the reload ended and the
// new master has started its own. The master executes itself anew; one that
// runs as a daemon gets another PID by that.
func (c *Controller) awaitFPMWorkers(ctx context.Context, family []identity) error {
	now := readSettings(ctx, c.h, c.svc)
	wait := reloadWait + now.finish // which the old configuration may have had longer
	left, err := waitGone(ctx, c.h, family[1:], wait)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("worker %d still runs %s after the signal", left[0].pid, wait)
	}
	if now.onDemand {
		return nil // it has no workers before the first request
	}
	ok, err := poll(ctx, c.svc.Health.Wait(), func() (bool, error) {
		now, err := c.family(ctx)
		if errors.Is(err, ErrNotRunning) {
			return false, ctx.Err()
		}
		return len(now) > 1 && !slices.Contains(family, now[1]), err
	})
	if err == nil && !ok {
		err = fmt.Errorf("it has no new worker after %s", c.svc.Health.Wait())
	}
	return err
}
