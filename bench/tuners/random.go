package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"kasoku/internal/change"
	"kasoku/internal/evidence"
	"kasoku/internal/remedy"
)

// columnIndexed is the chance that a trial has an index on a given column.
const columnIndexed = 0.25

// trial is one random configuration.
type trial struct {
	sets     []string
	indexes  []change.Index
	switches []remedy.Plan
}

func drawTrial(r *rand.Rand, in remedy.Input, all []remedy.Plan) trial {
	t := trial{sets: drawSets(r, in.Stack, in.Snapshot)}
	for _, db := range in.Snapshot.Databases {
		for _, table := range db.Tables {
			for _, c := range table.Columns {
				if indexed(table, c.Name) || strings.Contains(c.Type, "text") || strings.Contains(c.Type, "blob") || r.Float64() >= columnIndexed {
					continue
				}
				t.indexes = append(t.indexes, change.Index{Schema: table.Schema, Table: table.Name, Name: "random_" + c.Name, Columns: []string{c.Name}})
			}
		}
	}
	t.switches = drawSwitches(r, all)
	return t
}

// indexed: an index begins with the column.
func indexed(t evidence.Table, column string) bool {
	for _, i := range t.Indexes {
		if len(i.Columns) > 0 && i.Columns[0] == column {
			return true
		}
	}
	return false
}

// errLeft: the target is not as it was found, so no other trial may follow.
var errLeft = errors.New("the service could not be put back as it was found")

// randomSearch looks at the service once, then draws configurations until the
// time is over, which the look is part of, and keeps the one that scored best
// in its single run, as such searches do.
func randomSearch(ctx context.Context, dir string, limit, window time.Duration, users int, seed uint64) error {
	end := time.Now().Add(limit)
	p, err := open(ctx, dir, window, true)
	if err != nil {
		return err
	}
	defer p.close()
	in, err := p.look(ctx, users)
	if err != nil {
		return fmt.Errorf("look at the service: %w", err)
	}
	coin := rand.New(rand.NewPCG(seed, 0))
	sets := drawSets(coin, in.Stack, in.Snapshot)
	all := switches(in, sets)
	fmt.Printf("%d settings; on or off: %s\n", len(sets), trial{switches: all}.names())
	found, err := p.score(ctx, "as found", users)
	if err != nil {
		return err
	}
	var best *remedy.Plan
	top, tried, failed := found, 0, 0
	for time.Now().Before(end) {
		t := drawTrial(coin, in, all)
		tried++
		plan, err := t.plan(in)
		var got float64
		if err == nil {
			got, err = p.measure(ctx, plan, users)
		}
		if ctx.Err() != nil || errors.Is(err, errLeft) {
			return err
		}
		if err != nil {
			failed++
			fmt.Printf("trial %d: %v\n", tried, err)
			continue
		}
		fmt.Printf("trial %d: %.0f points/s, %d indexes, %s\n", tried, got, len(t.indexes), t.names())
		if got > top {
			best, top = &plan, got
		}
	}
	fmt.Printf("random search: %d trials, %d did not come up; best %.0f points/s against %.0f as found\n", tried, failed, top, found)
	if best == nil {
		return nil
	}
	txs, err := p.apply(ctx, "best of a random search", *best)
	for i := 0; i < len(txs) && err == nil; i++ {
		err = p.exec.Keep(ctx, txs[i].ID)
	}
	return err
}

// measure applies a trial, scores it, and takes it back.
func (p *place) measure(ctx context.Context, plan remedy.Plan, users int) (float64, error) {
	txs, err := p.apply(ctx, "a random configuration", plan)
	if err != nil {
		return 0, err
	}
	got, err := p.score(ctx, "random", users)
	return got, errors.Join(err, p.revert(ctx, txs))
}

// apply puts a plan in place, after what it needs prepared. After an error the
// target is as before, or it is errLeft.
func (p *place) apply(ctx context.Context, title string, plan remedy.Plan) (txs []change.Tx, err error) {
	for i, changes := range slices.Concat(plan.Prepare, [][]change.Change{plan.Changes}) {
		intent := change.Intent{Title: title, Plan: plan.ID, Changes: changes}
		if i < len(plan.Prepare) {
			intent.Title, intent.Plan = "Prepare: "+title, change.Prepares(plan.ID)
		}
		tx, err := p.exec.Apply(ctx, intent)
		if err != nil {
			if tx.ID != 0 && tx.Pending() {
				err = errors.Join(errLeft, err)
			}
			return nil, errors.Join(err, p.revert(ctx, txs))
		}
		txs = append(txs, tx)
	}
	return txs, nil
}

// revert takes transactions back, the last first.
func (p *place) revert(ctx context.Context, txs []change.Tx) error {
	for _, tx := range slices.Backward(txs) {
		if err := p.exec.Revert(context.WithoutCancel(ctx), tx.ID); err != nil {
			return errors.Join(errLeft, err)
		}
	}
	return nil
}
