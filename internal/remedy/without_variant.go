package remedy

import (
	"fmt"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/stack"
)

// withoutTurn fills r with the reverse of starting or stopping an
// implementation of a service. What another one has taken over from since, and
// units that are no implementations, can only be undone.
func withoutTurn(snap *evidence.Snapshot, c change.Change, r *change.Change) error {
	name, state := "", ""
	switch {
	case c.Process != nil:
		p := *c.Process
		name, state = p.Name, p.After
		p.Before, p.After = p.After, p.Before
		r.Process = &p
	case c.Unit != nil:
		u := *c.Unit
		name, state = u.Variant, u.After.Active
		u.Before, u.After, u.Links = u.After, u.Before, nil
		r.Unit = &u
	}
	if name == "" || state == "" {
		return fmt.Errorf("a change of kind %s can only be taken out when nothing came after it (kasoku undo)", c.Kind)
	}
	if runs := snap.Variants[c.Service][name].State == stack.Running; runs != (state == "active") {
		return fmt.Errorf("%s: another implementation has taken over since", c.Service)
	}
	return nil
}
