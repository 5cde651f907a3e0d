package tune

import (
	"context"
	"errors"
	"fmt"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
)

// toPrepare is what a plan needs that is not there: a session that was killed
// while it kept a step may have kept some of it.
func (t *Tuner) toPrepare(p remedy.Plan) [][]change.Change {
	left := p.Prepare
	if len(left) == 0 {
		return nil
	}
	for _, tx := range t.Exec.Kept() {
		if tx.Session == t.session.ID && tx.Plan == change.Prepares(p.ID) && len(left) > 0 {
			left = left[1:]
		}
	}
	return left
}

// prepare puts in place what the switch needs; it then stays on both sides, so
// that they differ in the switch alone. A second call does nothing.
func (s *switcher) prepare(ctx context.Context) error {
	for len(s.prepared) < len(s.prep) {
		in := s.intent
		in.Title, in.Plan, in.Changes = "Prepare: "+s.intent.Title, change.Prepares(s.intent.Plan), s.prep[len(s.prepared)]
		tx, err := s.exec.Apply(ctx, in)
		if err != nil {
			if ctx.Err() != nil || s.open() {
				return err
			}
			return errors.Join(experiment.ErrCandidate, err)
		}
		s.prepared = append(s.prepared, tx.ID)
	}
	return nil
}

// unprepare takes it away again, the last first. The baseline must be in place.
func (s *switcher) unprepare(ctx context.Context) error {
	for n := len(s.prepared) - 1; n >= 0; n-- {
		if err := s.exec.Revert(ctx, s.prepared[n]); err != nil {
			return fmt.Errorf("put back what the switch needed: %w", err)
		}
		s.prepared = s.prepared[:n]
	}
	return nil
}

// keepPrepared keeps it, before the switch that needs it is kept: what is left
// of a kill between the two serves nobody, but harms nobody either.
func (s *switcher) keepPrepared(ctx context.Context, exec *change.Executor) error {
	for len(s.prepared) > 0 {
		if err := exec.Keep(ctx, s.prepared[0]); err != nil {
			return fmt.Errorf("keep what the switch needs: %w", err)
		}
		s.prepared, s.prep = s.prepared[1:], s.prep[1:]
	}
	return nil
}
