package tune

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"kasoku/internal/stack"
)

const (
	// leftOver of all CPUs that services use without load: they still answer requests whose
	// clients have gone.
	leftOver = 0.3
	// drainLooks, of a second each, are waited for that to end; after restartLooks of them the
	// applications are restarted, as nobody waits for those answers any more.
	drainLooks   = 120
	restartLooks = 6
	restartHelps = 6 // looks after a restart by which it has helped
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
	all, restarted := float64(b.cpus()), ""
	for look := range drainLooks {
		used, err := working(ctx)
		if err != nil {
			return err
		}
		if used <= leftOver*all {
			b.tellDrained(look, restarted)
			return nil
		}
		if look == restartLooks && !b.disturbance.unhelped {
			if restarted, err = b.unload(ctx); err != nil {
				return err
			}
		}
	}
	b.disturbance.restless = true
	b.note(fmt.Sprintf("the services use more than %.0f %% of the CPUs without load, and did not stop within %d s: runs do not wait for them any more", 100*leftOver, drainLooks))
	return nil
}

// tellDrained tells that the services worked on for some seconds without load, and
// remembers whether it was the restart of applications that ended it.
func (b *Bench) tellDrained(seconds int, restarted string) {
	switch {
	case restarted == "" && seconds > 1:
		b.note(fmt.Sprintf("the services worked on for %d s without load, on what was asked before; the run waited for that", seconds))
	case restarted != "" && seconds <= restartLooks+restartHelps:
		b.note(fmt.Sprintf("the services worked on for %d s without load, on what was asked before, until %s was restarted", seconds, restarted))
	case restarted != "":
		b.disturbance.unhelped = true
		b.note(fmt.Sprintf("the services worked on for %d s without load, on what was asked before, though %s was restarted; that is not done again", seconds, restarted))
	}
}

// unload restarts the applications that may be, so that they forget what they are still
// asked; whom, if any. A Java program is left, as it is slow for a while after its start.
func (b *Bench) unload(ctx context.Context) (whom string, err error) {
	b.disturbance.unhelped = true
	if b.Instruments.restarts == nil || b.Instruments.exec == nil {
		return "", nil
	}
	restarts, _ := b.restartsOf(slices.DeleteFunc(appServers(b.Stack), func(name string) bool {
		return filepath.Base(b.Stack.Service(name).Binary) == "java"
	}))
	if len(restarts) == 0 {
		return "", nil
	}
	whom = servicesOf(restarts)
	failed, err := b.restartNow(ctx, b.Instruments.exec, "Restart "+whom+", which answers what nobody waits for", restarts)
	switch {
	case err != nil:
		return "", err
	case failed != nil:
		b.note(fmt.Sprintf("%s could not be restarted, which would have ended what was left of an earlier run: %v", whom, failed))
		return "", nil
	}
	b.disturbance.unhelped = false
	return whom, nil
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
