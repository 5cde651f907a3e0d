package stack

import (
	"context"
	"time"
)

// Working is how many CPUs the service's processes use over d: 1 is one CPU all the time.
// Processes that begin or end meanwhile do not count. The error is that they cannot be
// found, or that ctx ended.
func (c *Controller) Working(ctx context.Context, d time.Duration) (float64, error) {
	mains, err := c.roots(ctx)
	if err != nil {
		return 0, err
	}
	before := c.used(ctx, mains)
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(d):
	}
	return float64(c.used(ctx, mains).since(before)) / clockTicks / d.Seconds(), nil
}

// since are the clock ticks that processes which were there before have used since.
func (u cpuUsed) since(before cpuUsed) (ticks uint64) {
	for id, now := range u {
		if was, ok := before[id]; ok {
			ticks += now - was
		}
	}
	return ticks
}
