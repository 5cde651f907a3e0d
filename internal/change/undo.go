package change

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Recover puts back everything that is pending, newest first, and activates
// the services concerned. It may be repeated, and killed anywhere. It returns
// the transactions that it dealt with; after an error, those whose State is
// still pending need a person (see ConflictError).
func (x *Executor) Recover(ctx context.Context) ([]Tx, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.recover(ctx)
}

func (x *Executor) recover(ctx context.Context) ([]Tx, error) {
	return x.recoverAll(ctx, "Kasoku ended before it was decided upon")
}

func (x *Executor) recoverAll(ctx context.Context, why string) ([]Tx, error) {
	var txs []*txn
	for _, t := range slices.Backward(x.journal.txs) {
		if t.Pending() && !x.notHere(t) {
			txs = append(txs, t)
		}
	}
	if len(txs) == 0 {
		return nil, nil
	}
	err := x.putBack(ctx, txs, why)
	if err != nil {
		err = fmt.Errorf("recover: %w", err)
	}
	return copies(txs), err
}

func copies(txs []*txn) []Tx {
	var out []Tx
	for _, t := range txs {
		out = append(out, t.copy())
	}
	return out
}

// Revert puts back a transaction that is applied and not kept. Like Apply's
// own undo it does not end with ctx.
func (x *Executor) Revert(ctx context.Context, id int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, err := x.inState(id, StateApplied, StateReverting)
	if err != nil {
		return fmt.Errorf("revert: %w", err)
	}
	if later := x.later(t); len(later) > 0 {
		return fmt.Errorf("revert: %w", &LaterError{Tx: id, Later: copies(later)})
	}
	if err := x.putBack(ctx, []*txn{t}, ""); err != nil {
		return fmt.Errorf("revert: %w", err)
	}
	return nil
}

// Keep makes an applied transaction stay.
//
// If someone else changed what the transaction changed, the error is a
// *ConflictError and it stays applied.
func (x *Executor) Keep(ctx context.Context, id int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, err := x.inState(id, StateApplied)
	if err == nil {
		err = x.decide(ctx, t)
	}
	if err == nil {
		err = x.note(t, record{Op: opKept})
	}
	if err != nil {
		return fmt.Errorf("keep: %w", err)
	}
	return nil
}

// Undo puts back a kept transaction. If later ones changed the same things, it
// returns a *LaterError, or with withLater undoes these too, newest first.
func (x *Executor) Undo(ctx context.Context, id int64, withLater bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, err := x.inState(id, StateKept, StateUndoing)
	if err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	txs := x.later(t)
	if len(txs) > 0 && !withLater {
		return fmt.Errorf("undo: %w", &LaterError{Tx: id, Later: copies(txs)})
	}
	if err := x.putBack(ctx, append(txs, t), ""); err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	return nil
}

// UndoAll puts back everything that is pending or kept: the target is then as
// Kasoku first found it. Close then removes Kasoku's own folder from hosts.
func (x *Executor) UndoAll(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var txs []*txn
	for _, t := range slices.Backward(x.journal.txs) {
		if t.Pending() || t.InForce() {
			txs = append(txs, t)
		}
	}
	if len(txs) > 0 {
		if err := x.putBack(ctx, txs, ""); err != nil {
			return fmt.Errorf("undo all: %w", err)
		}
	}
	x.left = true
	return nil
}

// Abandon ends a transaction that could not be put back wholly: what is back
// stays back, what conflicts is left as it is. A person decides that.
func (x *Executor) Abandon(_ context.Context, id int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, err := x.inState(id, StateReverting, StateUndoing)
	if err != nil {
		return fmt.Errorf("abandon: %w", err)
	}
	r := record{Op: opReverted, Error: "abandoned: " + t.Error}
	if t.State == StateUndoing {
		r.Op = opUndone
	}
	if err := x.note(t, r); err != nil {
		return fmt.Errorf("abandon: %w", err)
	}
	return nil
}

// inState finds a transaction that is in one of these states.
func (x *Executor) inState(id int64, states ...string) (*txn, error) {
	t := x.journal.tx(id)
	if t == nil {
		return nil, fmt.Errorf("tx %d: %w", id, ErrUnknown)
	}
	if !slices.Contains(states, t.State) {
		return nil, fmt.Errorf("tx %d (%s): %w that is %s: it is %s", id, t.Title, ErrUnknown, states[0], t.State)
	}
	return t, nil
}

// later finds the transactions in effect that build on t, newest first, also
// by way of each other.
func (x *Executor) later(t *txn) []*txn {
	group := []*txn{t}
	var out []*txn
	for _, o := range x.journal.txs {
		if o.ID <= t.ID || !o.Pending() && o.State != StateKept {
			continue
		}
		if slices.ContainsFunc(group, func(g *txn) bool { return overlap(g, o) || g.prepares(o) }) {
			group = append(group, o)
			out = append(out, o)
		}
	}
	slices.Reverse(out)
	return out
}

// overlap reports whether two transactions act on the same object, or one on
// a directory that holds the other's.
func overlap(a, b *txn) bool {
	for i := range a.Changes {
		for j := range b.Changes {
			p, q := a.Changes[i].object(), b.Changes[j].object()
			if a.Changes[i].moves(&b.Changes[j]) || b.Changes[j].moves(&a.Changes[i]) {
				return true
			}
			if p == "" || q == "" {
				continue
			}
			if p == q || a.Changes[i].Kind == KindDir && inside(q, p) || b.Changes[j].Kind == KindDir && inside(p, q) {
				return true
			}
		}
	}
	return false
}

func inside(object, dir string) bool {
	return strings.HasPrefix(object, dir+string(filepath.Separator))
}
