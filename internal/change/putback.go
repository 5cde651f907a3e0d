package change

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kasoku/internal/stack"
)

// putback is an undo of one or more transactions under way.
type putback struct {
	x     *Executor
	txs   []*txn // newest first
	why   string
	errs  map[int64][]error
	later []pending // of this stage, whose database did not answer yet
	// failed are the transactions of which something is not back; stuck are
	// those of which an earlier stage has failed.
	failed, stuck map[int64]bool
	// restarted are the services that this undo restarted.
	restarted map[string]bool
	// verified are objects that were looked at before what they stood on was taken
	// away (a package, a unit's file): after that they may be gone with it.
	verified map[string]bool
}

// pending is one change still to be restored.
type pending struct {
	t *txn
	i int
}

// putBack puts transactions back, newest first, activates the services
// concerned and verifies. It goes on after a failure, because every change that
// is back is worth having; a transaction with a failure stays pending. It
// ignores the end of ctx and has its own bound.
func (x *Executor) putBack(ctx context.Context, txs []*txn, why string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	u := &putback{x: x, why: why, errs: map[int64][]error{}, restarted: map[string]bool{}, verified: map[string]bool{}, failed: map[int64]bool{}, stuck: map[int64]bool{}}
	for _, t := range txs {
		if !t.Pending() && t.State != StateKept { // its host put it back meanwhile
			return x.stray(ctx, t)
		}
		if err := u.announce(t); err != nil {
			return err
		}
		u.txs = append(u.txs, t)
	}
	if err := x.ready(ctx, u.txs...); err != nil {
		x.warn("%v", err) // what can be put back is
	}
	for _, s := range stages(u.txs) {
		u.stage(ctx, s)
		for _, part := range s {
			u.stuck[part.t.ID] = u.failed[part.t.ID]
		}
	}
	u.verify(ctx)
	return u.finish()
}

func (u *putback) fail(t *txn, err error) {
	u.errs[t.ID] = append(u.errs[t.ID], err)
	if !errors.Is(err, errNotNoted) {
		u.failed[t.ID] = true
	}
}

// errNotNoted: what was to be done is done, only the journal does not say so.
var errNotNoted = errors.New("it could not be noted")

// announce journals that putting back begins. For a kept transaction that line
// must be there first, or a kill would leave it half undone and called kept.
// For the others a full disk must not stand in the way: they are pending.
func (u *putback) announce(t *txn) error {
	switch t.State {
	case StateKept:
		return u.x.note(t, record{Op: opUndoing})
	case StateReverting, StateUndoing:
		return nil
	}
	if err := u.x.note(t, record{Op: opReverting, Error: u.why}); err != nil {
		u.fail(t, fmt.Errorf("%w: %w", errNotNoted, err))
	}
	return nil
}

// stage restores the changes of one stage and activates their services.
func (u *putback) stage(ctx context.Context, s stage) {
	u.later = nil
	for _, part := range s {
		t := part.t
		if u.blocked(part) {
			u.x.say("undo: %s: phase %d stays, because a later one, which builds on it, is not back", t.Title, part.phase())
			if !u.failed[t.ID] { // another transaction's
				u.fail(t, errors.New("it stays, because what it prepared is not back"))
			}
			continue
		}
		for _, i := range slices.Backward(part.of) {
			err := u.restore(ctx, t, i)
			if errors.Is(err, errUnreachable) {
				u.later = append(u.later, pending{t, i})
			} else if err != nil {
				u.fail(t, err)
			}
		}
	}
	u.activate(ctx, s)
	for _, p := range u.later {
		if err := u.restore(ctx, p.t, p.i); err != nil {
			u.fail(p.t, err)
		}
	}
}

// restore puts one change back, whatever became of it.
func (u *putback) restore(ctx context.Context, t *txn, i int) error {
	p := t.progress[i]
	if !p.intent || p.skipped || p.restored || u.x.elsewhere(&t.Changes[i]) {
		return nil
	}
	if err := u.x.reach(&t.Changes[i]); err != nil {
		return fmt.Errorf("put back %s: %w", t.Changes[i].Title(), err)
	}
	a, err := u.x.act(t, i)
	if err != nil {
		return err
	}
	u.x.step(t, "undo.change%d.look", i)
	s, err := u.look(ctx, a)
	if err != nil {
		return fmt.Errorf("put back %s: %w", t.Changes[i].Title(), err)
	}
	if !s.before && !s.after && !s.blind {
		if back, err := u.furtherBack(ctx, t, i); err != nil {
			return err
		} else if !back {
			return u.x.explained(ctx, a, s, t.Changes[i].After)
		}
	} else if !s.before {
		u.verifyAbove(ctx, t, i)
		if err := u.takeBack(ctx, t, i, a); err != nil {
			return err
		}
	}
	if err := u.x.note(t, record{Op: opRestored, Change: &i}); err != nil {
		return fmt.Errorf("put back %s: %w: %w", t.Changes[i].Title(), errNotNoted, err)
	}
	return nil
}

// takeBack writes what was before, unless someone else was quicker.
func (u *putback) takeBack(ctx context.Context, t *txn, i int, a act) error {
	c := &t.Changes[i]
	u.x.say("undo: %s", c.Title())
	u.x.step(t, "undo.change%d.write", i)
	if c.Kind.looksTwice() {
		s, err := u.look(ctx, a)
		switch {
		case err != nil:
			return fmt.Errorf("put back %s: %w", c.Title(), err)
		case s.before:
			return nil
		case !s.after && !s.blind:
			return u.x.explained(ctx, a, s, c.After)
		}
	}
	if err := u.reverse(ctx, a); err != nil {
		return fmt.Errorf("put back %s: %w", c.Title(), err)
	}
	return nil
}

// furtherBack reports whether the object is as an older change of this undo
// found it: then an earlier attempt came that far, but could not say so in the
// journal (its disk was full).
func (u *putback) furtherBack(ctx context.Context, t *txn, i int) (bool, error) {
	object := t.Changes[i].object()
	for _, o := range u.txs {
		if o.ID > t.ID {
			continue
		}
		for j := range o.Changes {
			p := o.progress[j]
			if o == t && j >= i || o.Changes[j].object() != object || !p.intent || p.skipped {
				continue
			}
			a, err := u.x.act(o, j)
			if err != nil {
				return false, err
			}
			if s, err := a.look(ctx); err != nil || s.before {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// look removes debris of a kill and settles whose work is there.
func (u *putback) look(ctx context.Context, a act) (sight, error) {
	if d, ok := a.(sweeper); ok {
		if err := d.sweep(ctx); err != nil {
			return sight{}, err
		}
	}
	s, err := a.look(ctx)
	if c, ok := a.(claimer); ok && err == nil && !s.blind && !s.before && !s.after {
		return c.claim(ctx, s)
	}
	return s, err
}

// reverse restores and, if that failed, looks whether it happened all the same
// (the answer may have been lost).
func (u *putback) reverse(ctx context.Context, a act) error {
	err := a.restore(ctx)
	if err == nil {
		return nil
	}
	if s, e := a.look(ctx); e == nil && s.before {
		return nil
	}
	return err
}

// activate makes the services of a stage take the old configuration on.
func (u *putback) activate(ctx context.Context, s stage) {
	need, of := map[string]Activation{}, map[string][]*txn{}
	for _, part := range s {
		for service, how := range u.x.within(part.t, u.needs(part)) {
			need[service] = max(need[service], how)
			of[service] = append(of[service], part.t)
		}
	}
	for _, p := range u.later {
		// A database that does not answer: it may be starting, or dead.
		service := u.x.runner(p.t.Changes[p.i].Service)
		of[service] = append(of[service], p.t)
		if _, ok := need[service]; !ok && u.x.waitHealthy(ctx, service) != nil {
			need[service] = Restart
		}
	}
	for holder, store := range u.x.holders(ctx, need) {
		need[holder] = Restart
		of[holder] = append(of[holder], of[store]...)
	}
	for _, service := range u.x.inOrder(need) {
		u.x.step(of[service][0], "undo.activate.%s", service)
		if was := u.was(service); was == stack.Stopped || was == stack.Failed {
			if err := u.x.down(ctx, service, was); err != nil {
				for _, t := range of[service] {
					u.fail(t, err)
				}
			}
			continue
		}
		u.restarted[service] = u.restarted[service] || need[service] == Restart
		if err := u.x.revive(ctx, service, need[service]); err != nil {
			for _, t := range of[service] {
				u.fail(t, err)
			}
			continue
		}
		u.x.countedBack(ctx, service, of[service])
	}
}

// was is the service's state before the oldest of the transactions that
// activated it; "" if none knows.
func (u *putback) was(service string) stack.State {
	for i := len(u.txs) - 1; i >= 0; i-- { // newest first in txs
		if s, ok := u.txs[i].was[service]; ok {
			return s
		}
	}
	return ""
}

// needs is what must be activated to put a part back. If this process applied
// it, a service that was never told to take the changes on is left in peace;
// if a killed process did, anything may have made it read them since.
func (u *putback) needs(p part) map[string]Activation {
	if u.blocked(p) {
		return nil
	}
	told := p.t.inPhase[p.phase()]
	if u.x.mine[p.t.ID] {
		return told
	}
	need := u.x.needs(p.t, p.of)
	for service, how := range told {
		need[service] = max(need[service], how)
	}
	return need
}

// finish journals the outcome of every transaction.
func (u *putback) finish() error {
	var all []error
	for _, t := range u.txs {
		errs := u.errs[t.ID]
		done := record{Op: opReverted, Error: t.why}
		if t.State == StateUndoing {
			done = record{Op: opUndone}
		}
		if u.x.openElsewhere(t) {
			done = record{Op: opBackHere}
		}
		if len(errs) > 0 {
			done = record{Op: opProblem, Error: errors.Join(errs...).Error()}
		}
		if err := u.x.note(t, done); err != nil {
			errs = append(errs, err)
		}
		if len(errs) > 0 {
			all = append(all, fmt.Errorf("tx %d (%s): %w", t.ID, t.Title, errors.Join(errs...)))
		}
	}
	return errors.Join(all...)
}
