package change

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
)

// verify looks at every object once more: it must be as the oldest of the
// changes found it, with mode and owner.
func (u *putback) verify(ctx context.Context) {
	for _, p := range u.oldest() {
		if !u.verified[p.t.Changes[p.i].object()] && !u.stoodOn(p) {
			u.verifyAt(ctx, p)
		}
	}
}

func (u *putback) verifyAt(ctx context.Context, p pending) {
	if len(u.errs[p.t.ID]) > 0 && !p.t.progress[p.i].restored {
		return // it is known not to be back
	}
	u.x.step(p.t, "undo.verify%d", p.i)
	if err := u.verifyOne(ctx, p.t, p.i); err != nil {
		u.fail(p.t, err)
	}
}

// oldest change of each object that there is to verify, in one order always, so
// that what fails is told in one order.
func (u *putback) oldest() []pending {
	oldest := map[string]pending{}
	for _, t := range u.txs { // newest first, so that the oldest wins
		for i := len(t.Changes) - 1; i >= 0; i-- {
			p := t.progress[i]
			if o := t.Changes[i].object(); o != "" && p.intent && !p.skipped && !u.x.elsewhere(&t.Changes[i]) && u.x.reach(&t.Changes[i]) == nil {
				oldest[o] = pending{t, i}
			}
		}
	}
	return slices.SortedFunc(maps.Values(oldest), func(p, q pending) int { return cmp.Or(cmp.Compare(q.t.ID, p.t.ID), q.i-p.i) })
}

// verifyAbove looks at what came after a change that others stand on, before it is
// taken back: a purged package takes its files and units with it, and a downgraded
// one brings its own.
func (u *putback) verifyAbove(ctx context.Context, t *txn, i int) {
	for _, p := range u.oldest() {
		if below(pending{t, i}, p) && !u.verified[p.t.Changes[p.i].object()] && p.t.progress[p.i].restored && !u.stoodOn(p) {
			u.verified[p.t.Changes[p.i].object()] = true
			u.verifyAt(ctx, p)
		}
	}
}

// stoodOn reports whether a change is back beneath p that p may have stood on: p
// was verified before that (verifyAbove), if not now, by the process that was
// killed.
func (u *putback) stoodOn(p pending) bool {
	for _, t := range u.txs {
		for i := range t.Changes {
			if t.progress[i].restored && p.t.progress[p.i].restored && below(pending{t, i}, p) {
				return true
			}
		}
	}
	return false
}

// below reports whether above came after it and may stand on it: on a package of
// its host; a unit also on the file that it is described in.
func below(it, above pending) bool {
	if it.t.ID > above.t.ID || it.t == above.t && it.i >= above.i {
		return false
	}
	c, on := &it.t.Changes[it.i], &above.t.Changes[above.i]
	switch {
	case c.hostName() != on.hostName():
		return false
	case c.Kind == KindPackage:
		return on.Kind == KindUnit || on.Kind == KindFile || on.Kind == KindLink || on.Kind == KindDir
	case c.Kind == KindFile:
		return on.Kind == KindUnit && path.Base(c.Path) == on.Unit.Name
	}
	return false
}

func (u *putback) verifyOne(ctx context.Context, t *txn, i int) error {
	a, err := u.x.act(t, i)
	if err != nil {
		return err
	}
	s, err := a.look(ctx)
	c := &t.Changes[i]
	if err == nil && !s.before && c.Kind == KindVariable && u.restarted[u.x.runner(c.Service)] {
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
		return u.x.explained(ctx, a, s, c.After)
	case s.attrs != "":
		return fmt.Errorf("%s is back, but someone else changed its %s; set that back, or leave it as it is: kasoku recover --abandon %d", c.Path, s.attrs, t.ID)
	}
	return nil
}
