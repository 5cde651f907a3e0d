package tune

import (
	"context"
	"fmt"
	"sync"
	"time"

	"kasoku/internal/stack"
)

const (
	// leftOver of all CPUs that services use without load: they still answer requests whose
	// clients have gone.
	leftOver = 0.3
	// drainLooks, of a second each, are waited for that to end.
	drainLooks = 120
)

// drain waits until services have done what an earlier run of somebody else's benchmark left
// behind: its first request would wait for all of that, and the run would be judged by it.
// Services that never stop computing by themselves are waited for once.
func (b *Bench) drain(ctx context.Context) error {
	if b.Stack == nil || !b.Foreign() || b.disturbance.restless {
		return nil
	}
	working := b.disturbance.working
	if working == nil {
		working = b.servicesCPU
	}
	all := float64(b.cpus())
	for look := range drainLooks {
		used, err := working(ctx)
		if err != nil {
			return err
		}
		if used <= leftOver*all {
			if look > 1 {
				b.note(fmt.Sprintf("the services worked on for %d s without load, on what was asked before; the run waited for that", look))
			}
			return nil
		}
	}
	b.disturbance.restless = true
	b.note(fmt.Sprintf("the services use more than %.0f %% of the CPUs without load, and did not stop within %d s: runs do not wait for them any more", 100*leftOver, drainLooks))
	return nil
}

// cpus of all hosts of the stack, as the last run saw them; 1 for each host before.
func (b *Bench) cpus() int {
	if b.scored.before != nil {
		if n := serviceCPUs(b.scored.before.Evidence); n > 0 {
			return n
		}
	}
	return max(1, len(b.Stack.HostNames()))
}

// servicesCPU is how many CPUs all services use over a second. One whose processes are not
// known, or that is not there, counts as idle: whether it runs is not asked here.
func (b *Bench) servicesCPU(ctx context.Context) (float64, error) {
	used := make([]float64, len(b.Stack.Services))
	var wg sync.WaitGroup
	for i := range b.Stack.Services {
		svc := &b.Stack.Services[i]
		h := b.Hosts[svc.HostName()]
		if h == nil || svc.RunsIn != "" {
			continue
		}
		wg.Go(func() {
			if c, err := stack.NewController(h, b.Stack, svc); err == nil {
				used[i], _ = c.Working(ctx, time.Second)
			}
		})
	}
	wg.Wait()
	sum := 0.0
	for _, u := range used {
		sum += u
	}
	return sum, ctx.Err()
}
