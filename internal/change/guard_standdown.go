package change

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// StandDown disarms the guards of all hosts, for a reboot that Kasoku orders
// itself: the guard that a host starts at boot would take the lease, see that
// nothing is pending, and leave this Kasoku without it. The leases stay; the
// next Apply arms the guards again. ErrPending if something is.
func (x *Executor) StandDown(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.ContainsFunc(x.journal.txs, (*txn).isPending) {
		return ErrPending
	}
	return x.disarmTargets(ctx)
}

// closeTargets disarms the guards if nothing is pending, and gives the leases
// back. A guard that stays goes off after its time.
func (x *Executor) closeTargets(ctx context.Context) error {
	err1 := x.disarmTargets(ctx)
	if err1 == nil {
		err1 = x.leave(ctx)
	}
	err2 := x.eachTarget(ctx, func(_ context.Context, g *target) error {
		if g.unlock == nil {
			return nil
		}
		defer func() { g.unlock = nil }()
		return g.unlock()
	})
	return errors.Join(err1, err2)
}

// disarmTargets ends the heartbeats, and disarms the guards if nothing is
// pending.
func (x *Executor) disarmTargets(ctx context.Context) error {
	pending := slices.ContainsFunc(x.journal.txs, (*txn).isPending)
	for _, g := range x.targets {
		if g.guard != nil {
			g.guard.stop()
			<-g.guard.done
		}
	}
	// All lines first, so that each copy gets them all.
	err1 := x.eachTarget(ctx, func(ctx context.Context, g *target) error {
		g.guard = nil // no heartbeat renews it any more
		if g.err != nil || pending {
			return nil
		}
		return g.disarm(ctx)
	})
	err2 := x.eachTarget(ctx, func(ctx context.Context, g *target) error {
		if g.err != nil {
			return nil
		}
		return g.catchUp(ctx, nil)
	})
	return errors.Join(err1, err2)
}

// eachTarget does something on each host in turn, also when ctx has ended.
func (x *Executor) eachTarget(ctx context.Context, act func(ctx context.Context, g *target) error) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(x.targets)) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mirrorTimeout)
		g := x.targets[name]
		g.mu.Lock()
		errs = append(errs, act(ctx, g))
		g.mu.Unlock()
		cancel()
	}
	return errors.Join(errs...)
}
