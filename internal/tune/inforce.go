package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/experiment"
	"kasoku/internal/remedy"
)

// NotInForceError says that somebody else undid changes of the candidate while it
// was measured: a reset that makes tables anew, a deploy step that writes a file
// again, a script that sets a variable back. What was measured then says nothing
// about the candidate.
type NotInForceError struct {
	Drifts []change.Drift
	// When it was seen: "after load.reset", "after a run".
	When string
	// Writers are places that undo it, as far as they were found.
	Writers []writer
}

func (e *NotInForceError) Error() string {
	var objects []string
	for _, d := range e.Drifts {
		objects = append(objects, fmt.Sprintf("%s (wanted %s, found %s)", d.Object, d.Want, orNone(d.Got)))
	}
	text := fmt.Sprintf("not judged: %s it was not in force any more: %s", e.When, strings.Join(objects, "; "))
	if len(e.Writers) == 0 {
		return text + "; nothing in the reset, the benchmark's files or the applications' folders names it, so what undoes it is not known"
	}
	for i, w := range e.Writers {
		if i == 0 {
			text += "; undone by "
		} else {
			text += ", "
		}
		text += w.String()
	}
	return text + "; make the change there, where it lasts"
}

func orNone(got string) string {
	if got == "" {
		return "nothing"
	}
	return got
}

// inForce looks at everything that the candidate changed and that can be looked
// at: what is not as it was put in place any more ends the experiment. Where the
// baseline is in place there is nothing to look at.
func (s *switcher) inForce(ctx context.Context, when string) error {
	if s.tx == 0 {
		return nil
	}
	drifts, err := s.exec.VerifyTx(ctx, s.tx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(drifts) > 0:
		return errors.Join(experiment.ErrCandidate, &NotInForceError{Drifts: drifts, When: when})
	case err != nil:
		return errors.Join(experiment.ErrCandidate, fmt.Errorf("%s it cannot be seen whether it is in force: %w", when, err))
	}
	return nil
}

// lasting takes up an experiment that ended because its candidate was undone: it
// looks for who did it, and returns the changes that make it last, if there are
// any. The error then holds who did it.
func (t *Tuner) lasting(ctx context.Context, cs []change.Change, err error) ([]change.Change, error) {
	var undone *NotInForceError
	if !errors.As(err, &undone) {
		return nil, err
	}
	var more []change.Change
	found := 0
	for _, d := range undone.Drifts {
		if d.Change >= len(cs) {
			continue
		}
		c := cs[d.Change]
		writers := t.writersOf(ctx, c)
		undone.Writers = append(undone.Writers, writers...)
		if add, ok := t.placed(ctx, c, writers); ok && !edits(cs, add.Host, add.Path) {
			found++
			more = merged(more, add)
		}
	}
	if found < len(undone.Drifts) || found == 0 {
		return nil, err
	}
	return more, nil
}

// edits reports whether one of the changes is of this file.
func edits(cs []change.Change, hostName, path string) bool {
	return slices.ContainsFunc(cs, func(c change.Change) bool { return c.Kind == change.KindFile && c.Host == hostName && c.Path == path })
}

// foresee adds what makes a plan's indexes last, where the last look saw tables being
// made: a benchmark that sets its data back does so in each run, and the first run of
// the candidate would only show that.
func (t *Tuner) foresee(ctx context.Context, p *remedy.Plan) {
	if t.seen.evidence == nil {
		return
	}
	var more []change.Change
	for _, c := range p.Changes {
		made := t.seen.evidence.Counters[c.Service].Delta
		anew := t.Bench.benchmark.remade[c.Service] || made["Com_create_table"] > 0 && made["Com_drop_table"]+made["Com_drop_db"] > 0
		if c.Kind != change.KindIndex || !anew {
			continue
		}
		if add, ok := t.placed(ctx, c, t.writersOf(ctx, c)); ok {
			more = merged(more, add)
		}
	}
	for _, c := range more {
		t.UI.Info(fmt.Sprintf("tables are made anew in each run: %s makes the indexes, too", c.Path))
	}
	p.Changes = slices.Concat(p.Changes, more)
}

// markUndone notes at the parts of a group which of them somebody else took away.
func markUndone(parts []remedy.Part, err error) {
	var undone *NotInForceError
	if !errors.As(err, &undone) {
		return
	}
	for _, d := range undone.Drifts {
		for i := range parts {
			if p := &parts[i]; d.Change >= p.First && d.Change < p.First+p.Count {
				p.Undone = true
			}
		}
	}
}

// someUndone reports whether parts of a group are known to have been taken away by
// somebody else, and not all of them: the others were not judged and are not guilty.
func someUndone(parts []remedy.Part) bool {
	n := 0
	for _, p := range parts {
		if p.Undone {
			n++
		}
	}
	return n > 0 && n < len(parts)
}
