package change

import (
	"context"
	"errors"
	"fmt"
)

// ready brings the copies of the hosts that t touches up to its begin, with the
// bytes that putting back needs, and arms their guards. Nothing of t is written
// on a host before.
func (x *Executor) ready(ctx context.Context, txs ...*txn) error {
	if len(x.targets) == 0 {
		return nil
	}
	var errs []error
	for _, t := range txs {
		for _, name := range x.touchedHosts(t) {
			x.step(t, "ready.%s", name)
			if err := x.targets[name].ready(ctx, t); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func (g *target) ready(ctx context.Context, t *txn) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return fmt.Errorf("host %s is left out: %w", g.name, g.err)
	}
	if a := g.guard; a != nil && a.silent() >= a.After/2 {
		if err := g.beat(ctx, a); errors.Is(err, ErrTakenOver) {
			if _, err := g.comeBack(ctx); err != nil {
				return err
			}
		}
	}
	if err := g.sendBlobs(ctx, t); err != nil {
		return err
	}
	if err := g.catchUp(ctx, nil); err != nil {
		return err
	}
	return g.arm(ctx)
}

// errGrown: the copy had lines that change nothing, and has been brought here.
var errGrown = errors.New("the copy has grown")

// comeBack is for when the host's guard has acted: it ended whoever held the
// lease, and is gone. What it did is taken into the journal; putBack tells
// whether that was more than ending itself. g.mu is held.
func (g *target) comeBack(ctx context.Context) (putBack bool, err error) {
	if g.guard != nil {
		g.guard.stop()
		<-g.guard.done
		g.guard = nil
	}
	if g.unlock != nil {
		_ = g.unlock() // it is gone already
		g.unlock = nil
	}
	g.adopted = 0
	if err = g.lease(ctx); err == nil {
		err = g.reconcile(ctx)
	}
	if err != nil {
		g.err = err
	}
	return g.adopted > 0, err
}
