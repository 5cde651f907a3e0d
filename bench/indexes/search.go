package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// entryRows is what an index entry costs to write, in rows read: the advisor's 10 µs
// over 0.3 µs for each row.
const entryRows = 33.0

// searcher finds the best set of candidates by what the server reads.
type searcher struct {
	l *lab
	k *kept
}

// cost of the whole workload with a set: rows read and entries written, counts in.
func (f *searcher) cost(ctx context.Context, set []index) (float64, error) {
	sum := 0.0
	for i, st := range f.l.s.stmts {
		n, err := f.reads(ctx, i, set)
		if err != nil {
			return 0, err
		}
		sum += (n + entryRows*f.k.entries(i, st, set)) * float64(st.Count)
	}
	return sum, nil
}

// reads of one statement with those of a set that it could use.
func (f *searcher) reads(ctx context.Context, i int, set []index) (float64, error) {
	usable := f.l.s.stmts[i].usable(set)
	key := measureKey(i, usable)
	if n, ok := f.k.Reads[key]; ok {
		return n, nil
	}
	if err := f.l.show(ctx, usable); err != nil {
		return 0, err
	}
	n, err := f.l.reads(ctx, i)
	f.k.Reads[key] = n
	return n, err
}

// usable of a set: on the statement's tables, beginning with a column that it names.
func (st statement) usable(set []index) (out []index) {
	for _, x := range set {
		if slices.Contains(st.Names[x.Table], x.first()) || x.first() == "id" && len(st.Names[x.Table]) > 0 {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b index) int { return strings.Compare(a.key(), b.key()) })
	return out
}

func measureKey(i int, usable []index) string {
	key := fmt.Sprint(i)
	for _, x := range usable {
		key += ";" + x.key()
	}
	return key
}

// entries that one execution writes into the set: one for each row inserted or deleted, two
// for a changed one whose columns it has.
func (k *kept) entries(i int, st statement, set []index) (n float64) {
	if !st.Write {
		return 0
	}
	rows := float64(k.Statements[i].RowsAffected) / float64(st.Count)
	words := strings.Fields(st.Form)
	for _, x := range set {
		switch words[0] {
		case "INSERT":
			if words[2] == x.Table {
				n += rows
			}
		case "DELETE":
			if words[2] == x.Table {
				n += rows
			}
		case "UPDATE":
			if words[1] == x.Table && slices.ContainsFunc(x.Columns, func(c string) bool { return strings.TrimSuffix(c, " DESC") == words[3] }) {
				n += 2 * rows
			}
		}
	}
	return n
}

// worth is the least part of the cost that another index must save to be in the best set.
const worth = 0.01

// best set: from each of the best single ones and pairs, others are added while that pays;
// then each is dropped or made shorter where that costs nothing.
func (f *searcher) best(ctx context.Context, all []index) (set []index, err error) {
	none, err := f.cost(ctx, nil)
	if err != nil {
		return nil, err
	}
	starts, err := f.starts(ctx, all, none)
	if err != nil {
		return nil, err
	}
	least := none
	for _, s := range starts {
		grown, cost, err := f.grow(ctx, all, s)
		if err != nil {
			return nil, err
		}
		if cost < least*(1-worth) {
			set, least = grown, cost
		}
	}
	return f.improve(ctx, all, set)
}

// mostStarts single indexes and pairs from which sets are grown.
const mostStarts = 4

// starts are the best single index, and the best pairs: of an OR's arms, and of the best
// dozen.
func (f *searcher) starts(ctx context.Context, all []index, none float64) ([][]index, error) {
	type scored struct {
		set  []index
		cost float64
	}
	var list []scored
	try := func(set ...index) error {
		c, err := f.cost(ctx, set)
		if err == nil && c < none*(1-worth) {
			list = append(list, scored{set, c})
		}
		return err
	}
	byCost := func(a, b scored) int {
		if a.cost != b.cost {
			if a.cost < b.cost {
				return -1
			}
			return 1
		}
		return len(strings.Join(a.set[0].Columns, ",")) - len(strings.Join(b.set[0].Columns, ","))
	}
	for _, x := range all {
		if err := try(x); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, byCost)
	var good []index
	for _, s := range list[:min(len(list), 8)] {
		good = append(good, s.set[0])
	}
	singles := len(list)
	for i, x := range good {
		for _, y := range good[i+1:] {
			if err := try(x, y); err != nil {
				return nil, err
			}
		}
	}
	for _, st := range f.l.s.stmts {
		for i, a := range st.Arms {
			for _, b := range st.Arms[i+1:] {
				for _, x := range all {
					for _, y := range all {
						if x.first() == a && y.first() == b && x.Table == y.Table {
							if err := try(x, y); err != nil {
								return nil, err
							}
						}
					}
				}
			}
		}
	}
	slices.SortStableFunc(list[singles:], byCost)
	var out [][]index
	for _, s := range append(slices.Clone(list[:min(1, singles)]), list[singles:min(len(list), singles+mostStarts)]...) {
		out = append(out, s.set)
	}
	return out, nil
}

func (f *searcher) grow(ctx context.Context, all, set []index) ([]index, float64, error) {
	cost, err := f.cost(ctx, set)
	for again := true; again && err == nil && len(set) < 8; {
		again = false
		best, least := index{}, cost*(1-worth)
		for _, x := range all {
			if slices.ContainsFunc(set, func(y index) bool { return y.key() == x.key() }) {
				continue
			}
			c, err := f.cost(ctx, append(slices.Clone(set), x))
			if err != nil {
				return nil, 0, err
			}
			if c < least {
				best, least, again = x, c, true
			}
		}
		if again {
			set, cost = append(slices.Clone(set), best), least
		}
	}
	return set, cost, err
}

// improve drops what costs nothing to drop, and takes another index in place of one where
// the set then costs less, or as much with fewer bytes.
func (f *searcher) improve(ctx context.Context, all, set []index) ([]index, error) {
	cost, err := f.cost(ctx, set)
	for again := true; again && err == nil; {
		again = false
		for i := 0; i < len(set) && !again; i++ {
			rest := slices.Delete(slices.Clone(set), i, i+1)
			c, err := f.cost(ctx, rest)
			if err != nil {
				return nil, err
			}
			if c <= cost*(1+worth) {
				set, cost, again = rest, c, true
				break
			}
			for _, x := range all {
				next := append(slices.Clone(rest), x)
				if slices.ContainsFunc(set, func(y index) bool { return y.key() == x.key() }) {
					continue
				}
				c, err := f.cost(ctx, next)
				if err != nil {
					return nil, err
				}
				if c < cost*(1-worth) || c <= cost*(1+worth/10) && f.k.Bytes[x.key()] < f.k.Bytes[set[i].key()] {
					set, cost, again = next, min(c, cost), true
					break
				}
			}
		}
	}
	return set, err
}
