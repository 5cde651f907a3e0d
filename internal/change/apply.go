package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kasoku/internal/host"
)

// undoTimeout bounds putting things back. It does not end with the caller's
// context, because Ctrl-C must not leave a target half changed.
const undoTimeout = 15 * time.Minute

// Apply puts changes into effect: it saves what was there, writes the intent
// to the journal, writes the changes, checks every touched service's
// configuration, activates each service once, reads everything back and waits
// for health. The transaction then is applied and waits for Keep or Revert.
//
// After an error, also of a cancelled ctx, everything is as it was before; if
// putting back failed too, the error says so, and the returned Tx is pending.
// ErrChanged: the target was not what the plan saw. ErrPending: an earlier
// transaction is neither in effect nor put back.
func (x *Executor) Apply(ctx context.Context, in Intent) (Tx, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if open := x.unfinished(); len(open) > 0 {
		return Tx{}, fmt.Errorf("apply %q: %w: %s", in.Title, ErrPending, names(open))
	}
	t, err := x.begin(ctx, in)
	if err != nil {
		return Tx{}, fmt.Errorf("apply %q: %w", in.Title, err)
	}
	if err = x.ready(ctx, t); err == nil {
		if err = x.carryOut(ctx, t); err == nil {
			return t.copy(), nil
		}
	}
	err = fmt.Errorf("apply %q: %w", in.Title, err)
	if undo := x.putBack(ctx, []*txn{t}, err.Error()); undo != nil {
		err = errors.Join(err, fmt.Errorf("and it could not be put back: %w", undo))
	}
	return t.copy(), err
}

// unfinished are the transactions about which it is not certain what is on the
// target.
func (x *Executor) unfinished() []*txn {
	var out []*txn
	for _, t := range x.journal.txs {
		if t.Pending() && t.State != StateApplied {
			out = append(out, t)
		}
	}
	return out
}

// begin checks the plan against the target and journals it. Nothing on the
// target is touched.
func (x *Executor) begin(ctx context.Context, in Intent) (*txn, error) {
	if len(in.Changes) == 0 {
		return nil, errors.New("there is nothing to change")
	}
	t := &txn{Tx: Tx{ID: x.journal.nextID(), Title: in.Title, Plan: in.Plan, Session: in.Session, Changes: slices.Clone(in.Changes)},
		progress: make([]progress, len(in.Changes)), activating: map[string]Activation{}, inPhase: map[int]map[string]Activation{}}
	blobs := map[host.Hash][]byte{}
	for i := range t.Changes {
		if err := t.once(i); err != nil {
			return nil, err
		}
		if i > 0 && t.Changes[i].Phase < t.Changes[i-1].Phase || t.Changes[i].Phase < 0 {
			return nil, fmt.Errorf("%s: it is of phase %d, behind a change of phase %d; the changes of a plan stand in the order of their phases, from 0", t.Changes[i].Title(), t.Changes[i].Phase, t.Changes[max(0, i-1)].Phase)
		}
		a, err := x.act(t, i)
		if err != nil {
			return nil, err
		}
		saved, err := a.prepare(ctx)
		if err != nil {
			return nil, err
		}
		for _, b := range saved {
			blobs[host.HashOf(b)] = b
		}
	}
	for _, service := range x.touched(t, t.all()) {
		if _, err := x.control(service); err != nil {
			return nil, err
		}
	}
	x.countable(ctx, t)
	for i := range t.Changes { // a copy on a host knows only its own services
		if h := x.hostOf(&t.Changes[i]); h != "local" {
			t.Changes[i].Host = h
		}
	}
	for _, b := range blobs {
		x.step(t, "blob")
		if err := x.journal.saveBlob(ctx, b); err != nil {
			return nil, err
		}
	}
	for i := range t.Changes {
		t.Changes[i].forgetBytes()
	}
	if err := x.note(t, record{Op: opBegin, Title: in.Title, Plan: in.Plan, Session: in.Session, Changes: t.Changes}); err != nil {
		return nil, err
	}
	x.mine[t.ID] = true
	return x.journal.tx(t.ID), nil
}

// once refuses two changes of one object in a transaction, except edits of a
// file, which follow each other.
func (t *txn) once(i int) error {
	c := &t.Changes[i]
	for j := range i {
		if o := &t.Changes[j]; c.object() != "" && o.object() == c.object() && (c.Kind != KindFile || o.Kind != KindFile) {
			return fmt.Errorf("%s: the plan changes it twice", c.Title())
		}
	}
	return nil
}

// forgetBytes drops the bytes, which are in the blob folder.
func (c *Change) forgetBytes() {
	for _, side := range []**FileState{&c.Before, &c.After} {
		if *side != nil {
			s := **side
			s.Content = nil
			*side = &s
		}
	}
}

// touched are the services whose configuration changes i of t touch, or which
// must be activated, in order.
func (x *Executor) touched(t *txn, of []int) []string {
	need := map[string]Activation{}
	for _, i := range of {
		if c := &t.Changes[i]; c.Service != "" {
			need[x.runner(c.Service)] = None
		}
	}
	return x.inOrder(need)
}

// configured reports whether changes i of t change what the service reads from
// disk.
func (x *Executor) configured(t *txn, of []int, service string) bool {
	return slices.ContainsFunc(of, func(i int) bool {
		c := &t.Changes[i]
		return c.Service != "" && x.runner(c.Service) == service && (c.Activate != None || !c.Kind.ofData())
	})
}

// needs is the strongest activation that each service needs, of those of the
// changes that may have been written.
func (x *Executor) needs(t *txn, of []int) map[string]Activation {
	need := map[string]Activation{}
	for _, i := range of {
		c, p := &t.Changes[i], t.progress[i]
		if c.Service != "" && c.Activate != None && p.intent && !p.skipped {
			s := x.runner(c.Service)
			need[s] = max(need[s], c.Activate)
		}
	}
	return need
}

// carryOut does what the journaled transaction says, phase by phase.
func (x *Executor) carryOut(ctx context.Context, t *txn) error {
	phases := t.phases()
	for n, of := range phases {
		if err := x.carryOutPhase(ctx, t, of); err != nil {
			if len(phases) > 1 {
				err = fmt.Errorf("phase %d: %w", t.Changes[of[0]].Phase, err)
			}
			return err
		}
		if n < len(phases)-1 {
			continue
		}
		// Once more all of them: a later phase may have broken an earlier one.
		if n > 0 {
			if err := x.readBack(ctx, t, t.all()); err != nil {
				return err
			}
		}
		for _, service := range x.touched(t, t.all()) {
			x.step(t, "healthy.%s", service)
			if err := x.waitHealthy(ctx, service); err != nil {
				return err
			}
		}
	}
	if err := x.counted(ctx, t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return x.note(t, record{Op: opActivated})
}

// carryOutPhase writes the changes of one phase, activates their services and
// reads everything back.
func (x *Executor) carryOutPhase(ctx context.Context, t *txn, of []int) error {
	for _, i := range of {
		if err := x.write(ctx, t, i); err != nil {
			return err
		}
	}
	for _, service := range x.touched(t, of) {
		if !x.configured(t, of, service) {
			continue
		}
		x.step(t, "check.%s", service)
		if err := x.check(ctx, service); err != nil {
			return err
		}
	}
	need := x.needs(t, of)
	for holder := range x.holders(ctx, need) {
		need[holder] = Restart
	}
	for _, service := range x.inOrder(need) {
		was, err := x.state(ctx, service)
		if err != nil {
			return err
		}
		if err := x.note(t, record{Op: opActivating, Service: service, How: need[service].String(), Value: was, Phase: t.Changes[of[0]].Phase}); err != nil {
			return err
		}
		x.step(t, "activate.%s", service)
		if err := x.activate(ctx, service, need[service]); err != nil {
			return err
		}
		x.step(t, "health.%s", service)
		if err := x.waitHealthy(ctx, service); err != nil {
			return err
		}
		if err := x.waitAccepts(ctx, t, of, service); err != nil {
			return err
		}
	}
	return x.readBack(ctx, t, of)
}

// waitAccepts waits until the sockets that a service is to listen on by a
// phase's changes take connections, at most health.timeout.
func (x *Executor) waitAccepts(ctx context.Context, t *txn, of []int, service string) error {
	svc := x.options.Stack.Service(service)
	if svc == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, svc.Health.Wait())
	defer cancel()
	for _, i := range of {
		c := &t.Changes[i]
		if c.Accepts == "" || x.runner(c.Service) != service {
			continue
		}
		for {
			conn, err := x.hosts[c.hostName()].DialContext(ctx, "unix", c.Accepts)
			if err == nil {
				conn.Close()
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s does not listen at %s: %w", service, c.Accepts, err)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

// write journals and writes one change.
func (x *Executor) write(ctx context.Context, t *txn, i int) error {
	a, err := x.act(t, i)
	if err != nil {
		return err
	}
	c := &t.Changes[i]
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := x.note(t, record{Op: opIntent, Change: &i}); err != nil {
		return err
	}
	x.step(t, "change%d.look", i)
	if err := x.asPlanned(ctx, c, a); err != nil { // nothing was written yet
		return errors.Join(err, x.note(t, record{Op: opSkipped, Change: &i}))
	}
	x.say("%s", c.Title())
	x.step(t, "change%d.write", i)
	err = x.heard(ctx, c)
	if err == nil && c.Kind.looksTwice() {
		err = x.asPlanned(ctx, c, a)
	}
	if err != nil {
		return errors.Join(err, x.note(t, record{Op: opSkipped, Change: &i}))
	}
	value, err := a.write(ctx)
	switch {
	case errors.Is(err, host.ErrChanged):
		err = fmt.Errorf("%w: %w", ErrChanged, err)
		fallthrough
	case errors.Is(err, ErrChanged):
		return errors.Join(err, x.note(t, record{Op: opSkipped, Change: &i}))
	case err != nil:
		return fmt.Errorf("%s: %w", c.Title(), err)
	}
	return x.note(t, record{Op: opApplied, Change: &i, Value: value})
}

// asPlanned fails with ErrChanged if the target is not what the plan saw.
func (x *Executor) asPlanned(ctx context.Context, c *Change, a act) error {
	s, err := a.look(ctx)
	if err != nil || s.blind || s.before {
		return err
	}
	e := x.explained(ctx, a, s, c.Before)
	return fmt.Errorf("%s: %w: it is now %s%s", c.Title(), ErrChanged, short(s.got), e.theirs())
}

// readBack checks that changes i of t now are as planned. A variable that a
// restart has reset is set again.
func (x *Executor) readBack(ctx context.Context, t *txn, of []int) error {
	for _, i := range of {
		a, err := x.act(t, i)
		if err != nil {
			return err
		}
		x.step(t, "readback%d", i)
		s, err := a.look(ctx)
		if err != nil {
			return err
		}
		c := &t.Changes[i]
		if s.blind || t.superseded(i, of) {
			continue
		}
		if !s.after && c.Kind == KindVariable && t.activating[x.runner(c.Service)] == Restart {
			if err := x.setAgain(ctx, t, i, a); err != nil {
				return err
			}
			if s, err = a.look(ctx); err != nil {
				return err
			}
		}
		if !s.after || s.attrs != "" {
			return fmt.Errorf("%s: read back after it was applied, it is %s%s", c.Title(), short(s.got), comma(s.attrs))
		}
	}
	return nil
}

func (x *Executor) setAgain(ctx context.Context, t *txn, i int, a act) error {
	x.step(t, "change%d.write", i)
	value, err := a.write(ctx)
	if err != nil {
		return err
	}
	return x.note(t, record{Op: opApplied, Change: &i, Value: value})
}

// superseded reports whether a later one of these changes edits the same file
// again.
func (t *txn) superseded(i int, of []int) bool {
	for _, j := range of {
		if o := t.Changes[i].object(); j > i && o != "" && t.Changes[j].object() == o {
			return true
		}
	}
	return false
}

func comma(s string) string {
	if s == "" {
		return ""
	}
	return ", " + s
}
