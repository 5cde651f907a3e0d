package change

import (
	"context"
	"fmt"
	"slices"
)

// Prospect is what recovery would do about one change.
type Prospect struct {
	Tx     int64  `json:"tx"`
	Title  string `json:"title"` // of the transaction
	Change string `json:"change"`
	Host   string `json:"host"`
	// Will is what would happen: "put back", "as before already", …
	Will string `json:"will"`
	// Conflict: it would be left alone, and needs a person.
	Conflict bool `json:"conflict,omitempty"`
	// Activate names the service that would take it on, and how; "" if none.
	Activate string `json:"activate,omitempty"`
}

// Outlook tells what Recover would do, in its order, and changes nothing.
func (x *Executor) Outlook(ctx context.Context) []Prospect {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []Prospect
	for _, t := range slices.Backward(x.journal.txs) {
		if !t.Pending() || x.notHere(t) {
			continue
		}
		for i := len(t.Changes) - 1; i >= 0; i-- {
			c, p := &t.Changes[i], t.progress[i]
			if !p.intent || p.skipped || x.elsewhere(c) {
				continue
			}
			pr := Prospect{Tx: t.ID, Title: t.Title, Change: c.Title(), Host: x.hostOf(c)}
			x.foresee(ctx, t, i, &pr)
			if c.Service != "" && c.Activate != None {
				pr.Activate = c.Activate.String() + " " + x.runner(c.Service)
			}
			out = append(out, pr)
		}
	}
	return out
}

func (x *Executor) foresee(ctx context.Context, t *txn, i int, pr *Prospect) {
	c, p := &t.Changes[i], t.progress[i]
	if p.restored {
		pr.Will = "is put back already"
		return
	}
	err := x.reach(c)
	var a act
	if err == nil {
		a, err = x.act(t, i)
	}
	var s sight
	if err == nil {
		s, err = a.look(ctx)
	}
	switch {
	case err != nil:
		pr.Will, pr.Conflict = fmt.Sprintf("cannot be put back now: %v", err), true
	case s.blind:
		pr.Will = "undo it"
	case s.before:
		pr.Will = "is as before already"
	case s.after, t.superseded(i, t.all()):
		pr.Will = "put it back"
	case c.Kind == KindVariable:
		pr.Will = "put it back, if its value is Kasoku's: " + s.got
	default:
		pr.Will, pr.Conflict = x.explained(ctx, a, s, c.After).Error(), true
	}
}
