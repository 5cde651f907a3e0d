package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
)

// mostIndexed is how large a table may be, with its indexes, for an index to be taken away
// and made again for one comparison, in bytes.
const mostIndexed = 1 << 30

// keeper is what taking kept indexes away for a while needs of change.Executor.
type keeper interface {
	applier
	Kept() []change.Tx
	Load(change.Tx) (change.Tx, error)
}

// unindexed makes a take without load and without the indexes that were kept since the
// answers were recorded that are compared with, as prove.EqualOptions.Unindexed has it. They
// are made again at their place afterwards, also where the take fails; what ends Kasoku
// meanwhile leaves the same for kasoku recover.
func (p *Prover) unindexed(ctx context.Context, since time.Time, take func(context.Context) error) (indexes []string, err error) {
	snap, err := evidence.Take(ctx, p.stack(), p.Bench.Hosts, evidence.TakeOptions{})
	if err != nil {
		return nil, err
	}
	var made []change.Change
	for _, tx := range p.Exec.Kept() {
		if tx.Begun.Before(since) {
			continue
		}
		for _, c := range tx.Changes {
			if c.Kind == change.KindIndex && !c.Drop && small(snap, c) {
				c.Phase = 0
				made = append(made, c)
				indexes = append(indexes, fmt.Sprintf("%s.%s", c.Index.Table, c.Index.Name))
			}
		}
	}
	if len(made) == 0 {
		return nil, nil
	}
	p.UI.Info("answers differ from those as found: they are asked for once more without the indexes that were kept, as an order that a statement leaves open may be other with one")
	changes, err := remedy.Without(snap, made)
	if err != nil {
		return nil, err
	}
	tx, err := p.Exec.Apply(ctx, change.Intent{Title: "Take kept indexes away for one comparison", Session: p.Session, Changes: changes})
	if err != nil {
		if ctx.Err() != nil || len(p.Exec.Pending()) > 0 {
			return nil, err
		}
		p.UI.Info("they stay, so that this is not looked at: " + err.Error()) // as where a foreign key needs one
		return nil, nil
	}
	err = p.alone(ctx, take)
	return indexes, errors.Join(err, p.Exec.Revert(context.WithoutCancel(ctx), tx.ID))
}

// small reports whether the table of an index is known, and small enough to take the index
// away for a while.
func small(snap *evidence.Snapshot, c change.Change) bool {
	db := snap.Databases[c.Service]
	return db != nil && slices.ContainsFunc(db.Tables, func(t evidence.Table) bool {
		return t.Schema == c.Index.Schema && t.Name == c.Index.Table && t.DataBytes+t.IndexBytes <= mostIndexed
	})
}
