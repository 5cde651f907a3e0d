package change

import (
	"context"
	"errors"
	"fmt"

	"kasoku/internal/stack"
)

// putback is an undo of one or more transactions under way.
type putback struct {
	x     *Executor
	txs   []*txn // newest first
	why   string
	errs  map[int64][]error
	later []pending // whose database did not answer yet
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
	u := &putback{x: x, why: why, errs: map[int64][]error{}}
	for _, t := range txs {
		if err := u.announce(t); err != nil {
			return err
		}
		u.txs = append(u.txs, t)
	}
	u.restoreAll(ctx)
	restarted := u.activate(ctx)
	for _, p := range u.later {
		if err := u.restore(ctx, p.t, p.i); err != nil {
			u.fail(p.t, err)
		}
	}
	u.verify(ctx, restarted)
	return u.finish()
}

func (u *putback) fail(t *txn, err error) { u.errs[t.ID] = append(u.errs[t.ID], err) }

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
		u.fail(t, err)
	}
	return nil
}

func (u *putback) restoreAll(ctx context.Context) {
	for _, t := range u.txs {
		for i := len(t.Changes) - 1; i >= 0; i-- {
			err := u.restore(ctx, t, i)
			if errors.Is(err, errUnreachable) {
				u.later = append(u.later, pending{t, i})
			} else if err != nil {
				u.fail(t, err)
			}
		}
	}
}

// restore puts one change back, whatever became of it.
func (u *putback) restore(ctx context.Context, t *txn, i int) error {
	p := t.progress[i]
	if !p.intent || p.skipped || p.restored {
		return nil
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
			return a.conflict(s)
		}
	} else if !s.before {
		u.x.say("undo: %s", t.Changes[i].Title())
		u.x.step(t, "undo.change%d.write", i)
		if err := u.reverse(ctx, a); err != nil {
			return fmt.Errorf("put back %s: %w", t.Changes[i].Title(), err)
		}
	}
	return u.x.note(t, record{Op: opRestored, Change: &i})
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
	if f, ok := a.(*fileAct); ok {
		if err := f.sweep(ctx); err != nil {
			return sight{}, err
		}
	}
	s, err := a.look(ctx)
	if v, ok := a.(*variableAct); ok && err == nil && !s.before && !s.after {
		return v.claim(ctx, s)
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

// activate makes the services concerned take the old configuration on, and
// returns those that were restarted.
func (u *putback) activate(ctx context.Context) map[string]bool {
	need, of := map[string]Activation{}, map[string][]*txn{}
	for _, t := range u.txs {
		for service, how := range u.needs(t) {
			need[service] = max(need[service], how)
			of[service] = append(of[service], t)
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
	restarted := map[string]bool{}
	for _, service := range u.x.inOrder(need) {
		u.x.step(of[service][0], "undo.activate.%s", service)
		restarted[service] = need[service] == Restart
		if was := u.was(service); was == stack.Stopped || was == stack.Failed {
			restarted[service] = false
			if err := u.x.down(ctx, service, was); err != nil {
				for _, t := range of[service] {
					u.fail(t, err)
				}
			}
			continue
		}
		if err := u.x.revive(ctx, service, need[service]); err != nil {
			for _, t := range of[service] {
				u.fail(t, err)
			}
		}
	}
	return restarted
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

// needs is what must be activated to put t back. If this process applied t, a
// service that was never told to take the changes on is left in peace; if a
// killed process did, anything may have made it read them since.
func (u *putback) needs(t *txn) map[string]Activation {
	if u.x.mine[t.ID] {
		return t.activating
	}
	need := u.x.needs(t)
	for service, how := range t.activating {
		need[service] = max(need[service], how)
	}
	return need
}

// verify looks at every object once more: it must be as the oldest of the
// changes found it, with mode and owner.
func (u *putback) verify(ctx context.Context, restarted map[string]bool) {
	oldest := map[string]pending{}
	for _, t := range u.txs { // newest first, so that the oldest wins
		for i := len(t.Changes) - 1; i >= 0; i-- {
			p := t.progress[i]
			if o := t.Changes[i].object(); o != "" && p.intent && !p.skipped {
				oldest[o] = pending{t, i}
			}
		}
	}
	for _, p := range oldest {
		if len(u.errs[p.t.ID]) > 0 && !p.t.progress[p.i].restored {
			continue // it is known not to be back
		}
		u.x.step(p.t, "undo.verify%d", p.i)
		if err := u.verifyOne(ctx, p.t, p.i, restarted); err != nil {
			u.fail(p.t, err)
		}
	}
}

func (u *putback) verifyOne(ctx context.Context, t *txn, i int, restarted map[string]bool) error {
	a, err := u.x.act(t, i)
	if err != nil {
		return err
	}
	s, err := a.look(ctx)
	c := &t.Changes[i]
	if err == nil && !s.before && c.Kind == KindVariable && restarted[u.x.runner(c.Service)] {
		// The restart took the value from the files; before, it had been set
		// at run time.
		if err = a.restore(ctx); err == nil {
			s, err = a.look(ctx)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("verify %s: %w", c.Title(), err)
	case !s.before && !s.blind:
		return a.conflict(s)
	case s.attrs != "":
		return fmt.Errorf("%s is back, but someone else changed its %s; set that back, or abandon the transaction", c.Path, s.attrs)
	}
	return nil
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
