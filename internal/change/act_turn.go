package change

import (
	"context"
	"errors"
	"fmt"

	"kasoku/internal/stack"
)

// Turn says which of two databases, one of which follows the other, is written to
// from now on. Nobody may write to both: the one that is left is read-only before
// the other is writable, and has all that was acknowledged.
//
//	behind    the other has what there is now, while writes go on
//	hold      the one that is left takes no writes any more
//	catch up  the other has all of them, and stops following
//	follow    the one that is left follows the other
//	release   the other takes writes
//
// Each of them looks whether it is done already, so that the whole can be killed
// anywhere and gone on with in either direction. Whether the one that Service
// names follows is what the hosts' guards decide by (see guardsHalf).
type Turn struct {
	To string `json:"to"` // service that is written to then
	// Where each is reached from the other's host.
	FromAddress string `json:"from_address"`
	ToAddress   string `json:"to_address"`
	// Half is the part of the other host, with Service and To exchanged: it does
	// nothing when it is applied, and the same when it is put back, but gives that
	// host's guard something to put back. It stands before the other part.
	Half bool `json:"half,omitempty"`
	// Settle does nothing when it is applied either. It stands before the file that
	// says that Service is read-only, so that it is put back after that: a server
	// that was restarted in between has read what the file said, and nothing else
	// would let it be written to.
	Settle bool `json:"settle,omitempty"`
}

func (t *Turn) title(service string) string {
	switch {
	case t == nil:
		return "write to another database (none given)"
	case t.Settle:
		return "let " + service + " be written to as long as " + t.To + " is not"
	case t.Half:
		return "let " + service + " be written to instead of " + t.To
	}
	return "hold writes to " + service + " back, wait until " + t.To + " has them all, and write to that"
}

type turnAct struct{ work }

func (a *turnAct) prepare(ctx context.Context) ([][]byte, error) {
	t := a.c.Turn
	if t == nil || t.To == "" || a.c.Service == "" || t.To == a.c.Service {
		return nil, fmt.Errorf("%s: it needs two databases", a.c.Title())
	}
	if t.Half || t.Settle {
		return nil, nil
	}
	from, to, err := a.ends(ctx)
	if err != nil {
		return nil, err
	}
	defer from.close()
	defer to.close()
	if on, err := to.follows(ctx, from); err != nil || !on {
		return nil, errors.Join(err, fmt.Errorf("%s: %w: %s does not follow %s", a.c.Title(), ErrChanged, t.To, a.c.Service))
	}
	return nil, nil
}

// ends opens both.
func (a *turnAct) ends(ctx context.Context) (from, to *dbEnd, err error) {
	t := a.c.Turn
	if from, err = a.end(ctx, a.c.Service, t.FromAddress); err != nil {
		return nil, nil, err
	}
	if to, err = a.end(ctx, t.To, t.ToAddress); err != nil {
		from.close()
		return nil, nil, err
	}
	return from, to, nil
}

func (a *turnAct) look(ctx context.Context) (sight, error) {
	if a.c.Turn.Settle {
		return sight{blind: true}, nil
	}
	if a.x.options.Here != "" {
		return a.lookHere(ctx)
	}
	if a.c.Turn.Half {
		return sight{blind: true}, nil
	}
	from, to, err := a.ends(ctx)
	if err != nil {
		return sight{}, err
	}
	defer from.close()
	defer to.close()
	heldFrom, err := from.readOnly(ctx)
	if err != nil {
		return sight{}, err
	}
	heldTo, err := to.readOnly(ctx)
	if err != nil {
		return sight{}, err
	}
	back, err := from.follows(ctx, to)
	if err != nil {
		return sight{}, err
	}
	on, err := to.follows(ctx, from)
	if err != nil {
		return sight{}, err
	}
	gone := false // what was copied, as when all is put back: then there is nothing to turn
	if !heldFrom && !on && !back {
		if gone, err = noPair(ctx, from, to); err != nil {
			return sight{}, err
		}
	}
	s := sight{before: gone || !heldFrom && heldTo && on && !back, after: heldFrom && !heldTo && back && !on,
		got: fmt.Sprintf("%s is %s%s, %s is %s%s", from.service, writable(heldFrom), following(back), to.service, writable(heldTo), following(on))}
	if s.after { // it could not be turned back
		s.attrs, err = from.halted(ctx, to)
	}
	return s, err
}

// noPair reports whether none of two databases has the account by which one would
// follow it.
func noPair(ctx context.Context, ends ...*dbEnd) (bool, error) {
	for _, e := range ends {
		n, err := e.value(ctx, "(SELECT COUNT(*) FROM mysql.user WHERE User = '"+stack.ReplicaUser+"')")
		if err != nil || n != "0" {
			return false, err
		}
	}
	return true, nil
}

func writable(held bool) string {
	if held {
		return "read-only"
	}
	return "written to"
}

func following(does bool) string {
	if does {
		return " and follows the other"
	}
	return ""
}

// claim: both are read-only only while they are being turned round.
func (a *turnAct) claim(ctx context.Context, s sight) (sight, error) {
	from, to, err := a.ends(ctx)
	if err != nil {
		return s, err
	}
	defer from.close()
	defer to.close()
	for _, e := range []*dbEnd{from, to} {
		held, err := e.readOnly(ctx)
		if err != nil {
			return s, err
		}
		if s.after = held; !held {
			// Turned round to the end except for that: the other one follows, or
			// it was held back and released.
			other := to
			if e == to {
				other = from
			}
			s.after, err = other.readOnly(ctx)
			return s, err
		}
	}
	return s, nil
}

func (a *turnAct) write(ctx context.Context) (string, error) {
	if a.c.Turn.Half || a.c.Turn.Settle {
		return "", nil
	}
	from, to, err := a.ends(ctx)
	if err != nil {
		return "", err
	}
	defer from.close()
	defer to.close()
	return "", a.turn(ctx, from, to, "turn")
}

func (a *turnAct) restore(ctx context.Context) error {
	if a.c.Turn.Settle {
		return a.settle(ctx)
	}
	if a.x.options.Here != "" {
		return a.restoreHere(ctx)
	}
	from, to, err := a.ends(ctx)
	if err != nil {
		return err
	}
	defer from.close()
	defer to.close()
	if !a.c.Turn.Half { // whose To is the one that was left
		from, to = to, from
	}
	if err = a.turn(ctx, from, to, "undo.turn"); err != nil {
		err = errors.Join(err, a.stay(ctx, from, to))
	}
	return err
}

// turn makes to the one that is written to instead of from, from wherever an
// earlier attempt in either direction ended.
func (a *turnAct) turn(ctx context.Context, from, to *dbEnd, name string) error {
	step := func(what string) { a.x.step(a.t, "change%d.%s.%s", a.i, name, what) }
	heldTo, err := to.readOnly(ctx)
	if err != nil {
		return err
	}
	if !heldTo {
		if heldFrom, err := from.readOnly(ctx); err != nil || !heldFrom {
			return errors.Join(err, fmt.Errorf("%s and %s are both written to; look which of them has what counts, make the other read-only, and try again", from.service, to.service))
		}
	}
	follows, err := to.follows(ctx, from)
	if err != nil {
		return err
	}
	if follows { // what it lacks now need not be waited for with writes held back
		step("behind")
		if err := to.catchUp(ctx, from); err != nil {
			return err
		}
	}
	step("hold")
	if err := from.hold(ctx); err != nil {
		return err
	}
	if follows {
		step("catchup")
		if err := to.catchUp(ctx, from); err != nil {
			return err
		}
		step("unfollow")
		if err := to.unfollow(ctx); err != nil {
			return err
		}
	}
	back, err := from.follows(ctx, to)
	if err != nil {
		return err
	}
	if !back { // else there is nothing in from that is not from to
		check := same
		switch {
		case !heldTo: // a guard has released it, and from has at most what it has
			check = nil
		case !follows: // an earlier attempt ended here, and to may have been written to since
			check = within
		}
		if err := a.turnRound(ctx, from, to, check, step); err != nil {
			return err
		}
	}
	step("release")
	for _, e := range []*dbEnd{from, to} { // neither host may have begun to put itself back
		if err := a.x.heard(ctx, &Change{Service: e.service}); err != nil {
			return err
		}
	}
	return to.release(ctx)
}

// turnRound lets from follow to, of which neither follows the other. check, if any,
// makes sure that from has nothing which to has not; after that both have the same.
func (a *turnAct) turnRound(ctx context.Context, from, to *dbEnd, check func(ctx context.Context, from, to *dbEnd) error, step func(string)) error {
	if check != nil {
		if err := check(ctx, from, to); err != nil {
			return err
		}
	}
	step("follow")
	if err := from.follow(ctx, to); err != nil || check == nil {
		return err
	}
	if err := from.catchUp(ctx, to); err != nil {
		return err
	}
	return same(ctx, from, to)
}

// stay lets from be written to after a turn to the other one failed: else nothing
// would be until somebody comes.
func (a *turnAct) stay(ctx context.Context, from, to *dbEnd) error {
	for _, e := range []*dbEnd{from, to} {
		if held, err := e.readOnly(ctx); err != nil || !held {
			return err // it failed before from was held, or after all was done
		}
	}
	for _, e := range []*dbEnd{from, to} { // it is the guards' to decide once they have begun
		if err := a.x.heard(ctx, &Change{Service: e.service}); err != nil {
			return err
		}
	}
	follows, err := to.follows(ctx, from)
	if err != nil {
		return err
	}
	if follows { // to, which is released last, is read-only, and nothing was turned yet
		return from.release(ctx)
	}
	return a.turn(ctx, to, from, "undo.stay")
}

// same fails if one of two databases that are held back has a write that the
// other has not.
func same(ctx context.Context, from, to *dbEnd) error {
	p, err := from.position(ctx)
	if err != nil {
		return err
	}
	q, err := to.position(ctx)
	if err == nil && p != q {
		err = parted(from, to, p, q)
	}
	return err
}

// within fails if from has a write that to has not. What to has more than from, by
// somebody who may write although it is held back, from gets as it follows.
func within(ctx context.Context, from, to *dbEnd) error {
	p, err := from.position(ctx)
	if err != nil {
		return err
	}
	q, err := to.value(ctx, "CONCAT(@@GLOBAL.gtid_binlog_state, ',', @@GLOBAL.gtid_current_pos)")
	if err == nil && !covers(q, p) {
		err = parted(from, to, p, q)
	}
	return err
}

func parted(from, to *dbEnd, p, q string) error {
	return fmt.Errorf("%s has the writes up to %s, %s up to %s, although both are read-only: somebody wrote who may do so all the same; look what it was, and bring it to both", from.service, p, to.service, q)
}

func (a *turnAct) conflict(s sight) *ConflictError {
	if a.c.Turn.Half || a.c.Turn.Settle {
		return a.differs("", "", s.got)
	}
	return a.differs(a.c.Service+" is written to and "+a.c.Turn.To+" follows", a.c.Turn.To+" is written to and "+a.c.Service+" follows", s.got)
}

// moves reports whether a change turns databases round, and o changes one of them:
// undone on the other side of the turn, o would part them.
func (c *Change) moves(o *Change) bool {
	if c.Kind != KindTurn || c.Turn == nil || c.Turn.Half || c.Turn.Settle {
		return false
	}
	return o.Kind != KindReplica && o.Kind != KindTurn && o.Kind != KindRestart && o.Service != "" && (o.Service == c.Service || o.Service == c.Turn.To)
}
