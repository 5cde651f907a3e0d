package tune

import (
	"context"
	"time"

	"kasoku/internal/evidence"
	"kasoku/internal/host"
)

// slowRead: a host whose /proc/stat takes this long to read is asked ten times
// more rarely. A local read takes some tens of microseconds, one over SSH a
// round trip.
const slowRead = 100 * time.Millisecond

// sample draws the curves until ctx ends. Every host is read by a goroutine of
// its own: one that does not answer keeps no other waiting, and nobody waits for
// them.
func (f *feed) sample(ctx context.Context, hosts map[string]host.Host) {
	go func() {
		tick := time.NewTicker(curveEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				f.tick()
			}
		}
	}()
	for name, h := range hosts {
		go f.sampleHost(ctx, name, h)
	}
}

// sampleHost reads the share of CPU time in use between two moments. What
// cannot be read is left out.
func (f *feed) sampleHost(ctx context.Context, name string, h host.Host) {
	var busy, all float64
	for pause := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		asked := time.Now()
		b, a, err := evidence.CPUTimes(ctx, h)
		pause = curveEvery
		if err != nil || time.Since(asked) > slowRead {
			pause = 10 * curveEvery
		}
		if err != nil {
			busy, all = 0, 0
			continue
		}
		if all > 0 && a > all && ctx.Err() == nil {
			f.cpu(name, min(1, max(0, (b-busy)/(a-all))))
		}
		busy, all = b, a
	}
}
