package index

import "maps"

// estimate of one execution.
type estimate struct {
	rows, cost float64 // examined; in units of cost.go
	out        float64 // rows that come out
	used       map[string]bool
}

// model estimates blocks with the existing indexes and a set of candidates.
type model struct {
	extra map[*table][]indexDef
}

func (m *model) indexes(a *access) []indexDef {
	if a.hinted || len(m.extra[a.table]) == 0 {
		return a.table.indexes
	}
	return append(append([]indexDef(nil), a.table.indexes...), m.extra[a.table]...)
}

// block estimates the cheapest plan of b and of all that it contains.
func (m *model) block(b *block) estimate {
	base := estimate{used: map[string]bool{}}
	derived := map[*access]estimate{}
	for _, a := range b.accesses {
		if a.derived == nil {
			continue
		}
		d := m.block(a.derived)
		derived[a] = d
		base.add(d, 1)
	}
	best := m.joins(b, derived)
	base.add(best, 1)
	base.out = best.out
	for _, s := range b.subs {
		e := m.block(s.block)
		times := 1.0
		if s.perRow {
			times = max(1, base.out)
		}
		if kept, ok := m.materialized(s); ok && kept.cost+times < e.cost*times {
			e, times = estimate{rows: kept.rows + times, cost: kept.cost + times, out: e.out, used: kept.used}, 1
		}
		base.add(e, times)
		if len(b.accesses) == 0 {
			base.out += e.out
		}
	}
	return base
}

// materialized estimates a correlated IN or EXISTS whose rows are read once and
// kept in a temporary table, as the server does where that is cheaper (MariaDB
// Knowledge Base, "Semi-join Materialization Strategy", "EXISTS-to-IN
// Optimization"). Each outer row then is one look into it. The conditions on outer
// columns play no part in reading it.
func (m *model) materialized(s subquery) (e estimate, ok bool) {
	if !s.perRow || !s.list || len(s.block.accesses) == 0 || len(s.block.subs) > 0 {
		return e, false
	}
	for _, a := range s.block.accesses {
		if a.table == nil {
			return e, false
		}
	}
	limit := s.block.limit
	s.block.limit = 0 // that of EXISTS
	for _, a := range s.block.accesses {
		defer func(all []*pred) { a.preds = all }(a.preds)
		var own []*pred
		for _, p := range a.preds {
			if !p.outer {
				own = append(own, p)
			}
		}
		a.preds = own
	}
	e = m.joins(s.block, nil)
	s.block.limit = limit
	return e, true
}

func (e *estimate) add(o estimate, times float64) {
	e.rows += o.rows * times
	e.cost += o.cost * times
	for k := range o.used {
		e.used[k] = true
	}
}

// joinState is a partial join: what has been read so far.
type joinState struct {
	bound            map[*access]bool
	rows, cost, out  float64
	ordered, grouped bool
	final            bool
	passed           bool // some rows that are read in order are passed over by conditions
	used             []string
	joined           int
	first            *access
}

// exhaustive joins up to this many accesses try all orders; larger ones take
// the cheapest next access.
const exhaustive = 4

func (m *model) joins(b *block, derived map[*access]estimate) estimate {
	if len(b.accesses) == 0 {
		out := 0.0
		if len(b.subs) == 0 {
			out = 1
		}
		return estimate{out: out}
	}
	plans := chain{}
	var grow func(s joinState)
	grow = func(s joinState) {
		if s.joined == len(b.accesses) {
			plans.add(b, s)
			return
		}
		var cheapest *joinState
		for _, a := range b.accesses {
			if s.bound[a] || !allBound(a.after, s.bound) {
				continue
			}
			for _, next := range m.extend(s, a, derived) {
				if s.joined == 0 || len(b.accesses) <= exhaustive {
					grow(next)
					continue
				}
				if cheapest == nil || next.cost < cheapest.cost {
					cheapest = &next
				}
			}
		}
		if cheapest != nil {
			grow(*cheapest)
		}
	}
	grow(joinState{out: 1, bound: map[*access]bool{}})
	return plans.estimate()
}

func allBound(list []*access, bound map[*access]bool) bool {
	for _, a := range list {
		if !bound[a] {
			return false
		}
	}
	return true
}

// extend joins a to s: every path for the first access, the cheapest after.
func (m *model) extend(s joinState, a *access, derived map[*access]estimate) []joinState {
	first := s.joined == 0
	var list []path
	if a.table == nil {
		list = derivedPaths(a, s.bound, max(1, derived[a].out), first)
	} else {
		list = a.paths(m.indexes(a), s.bound, first)
		if a.semi && !first {
			list = m.semi(a, s.bound, list)
		}
	}
	if !first {
		cheapest := list[0]
		cost := innerCost(s, list[0])
		for _, p := range list[1:] {
			if c := innerCost(s, p); c < cost {
				cheapest, cost = p, c
			}
		}
		list = []path{cheapest}
	}
	var out []joinState
	for _, p := range list {
		n := joinState{joined: s.joined + 1, bound: maps.Clone(s.bound)}
		n.bound[a] = true
		n.used = append(append(append(n.used, s.used...), p.index), p.also...)
		n.ordered, n.grouped, n.final = s.ordered, s.grouped, s.final
		n.passed = s.passed || p.passes && len(a.after) == 0
		n.first = s.first
		if first {
			n.first = a
			n.ordered, n.grouped, n.final = p.ordered, p.grouped, p.final
			n.rows, n.cost = p.rows, p.cost
		} else {
			n.rows = s.rows + innerRows(s, p)
			n.cost = s.cost + innerCost(s, p)
		}
		n.out = max(s.out*p.out, 0.01)
		if len(a.after) > 0 { // an outer join keeps unmatched rows
			n.out = max(n.out, s.out)
		}
		out = append(out, n)
	}
	return out
}

// semi are the ways to read the inner side of a semi-join: for each outer row up to the
// first that matches, or once, kept to be searched (MariaDB Knowledge Base, "FirstMatch
// Strategy", "Semi-join Materialization Strategy").
func (m *model) semi(a *access, bound map[*access]bool, list []path) []path {
	if a.pulledOut(bound) {
		return list
	}
	for i, p := range list {
		if p.out > 1 && p.index != "" {
			list[i].rows, list[i].cost = p.rows/p.out, costDive+max(0, p.cost-costDive)/p.out
		}
		list[i].out = min(1, p.out)
	}
	out := list[0].out
	for _, p := range a.paths(m.indexes(a), map[*access]bool{}, false) {
		p.kept, p.out = true, out
		list = append(list, p)
	}
	return list
}

// pulledOut says whether the inner side has at most one row for each outer one, by a unique
// key: the server joins it then like any table ("Table Pullout Optimization").
func (a *access) pulledOut(bound map[*access]bool) bool {
	for _, d := range a.table.indexes {
		if d.unique && a.match(d, bound).unique {
			return true
		}
	}
	return false
}

// innerRows and innerCost of a path for s.out outer rows. Without an index the
// inner side is scanned once per full join buffer.
func innerRows(s joinState, p path) float64 {
	if p.kept {
		return p.rows + s.out
	}
	if p.index == "" {
		return p.rows * scans(s)
	}
	return p.rows * max(1, s.out)
}

func innerCost(s joinState, p path) float64 {
	if p.kept {
		return p.cost + s.out
	}
	if p.index == "" {
		return p.cost*scans(s) + p.rows*s.out*costCompare
	}
	return p.cost * max(1, s.out)
}

func scans(s joinState) float64 { return max(1, s.out/joinBuffer) }

// derivedPaths reads a temporary table: whole, or through the key that the
// server puts on it for joins.
func derivedPaths(a *access, bound map[*access]bool, n float64, first bool) []path {
	out := n * a.outShare(bound)
	if !first {
		for _, p := range a.preds {
			if p.kind == predJoin && p.usable(bound) {
				return []path{{rows: 1, cost: costDive, out: min(out, 1), index: "derived"}}
			}
		}
	}
	return []path{{rows: n, cost: n, out: out}}
}

// late is how far into the rest of what is read in order a statement with a limit goes, on
// average, where conditions pass over rows. Those that are wanted need not lie evenly: the
// jobs that wait are the newest, and a queue may have none. In one of ten statements they
// are taken to lie together, anywhere.
const late = 0.05

// fewPassed rows of the rest are nothing beside what any statement takes.
const fewPassed = 50

// finish adds sorting, grouping and the limit.
func finish(b *block, s joinState) estimate {
	e := estimate{rows: s.rows, cost: s.cost, out: s.out, used: map[string]bool{}}
	for _, k := range s.used {
		if k != "" && k != "derived" {
			e.used[k] = true
		}
	}
	if s.final {
		return e
	}
	inOrder := !b.sorted || s.ordered
	if b.grouped {
		if !s.grouped {
			e.cost += s.out * costTemporary
			e.rows += s.out // each is looked up in the temporary table
			if b.sorted && !s.ordered {
				e.cost += s.out * costSort * log2(s.out)
			}
		}
		return e
	}
	if b.aggregate {
		e.out = 1
		return e
	}
	if !inOrder {
		e.cost += s.out * costSort * log2(s.out)
	}
	e.limit(b, s, inOrder)
	return e
}

// limit takes what a block's LIMIT saves, where rows come in order.
func (e *estimate) limit(b *block, s joinState, inOrder bool) {
	if b.limit <= 0 || b.limit >= e.out {
		return
	}
	if inOrder {
		share := b.limit / e.out
		if s.passed {
			share += late * max(0, 1-share-fewPassed/e.rows)
		}
		e.rows = max(1, e.rows*share)
		e.cost = max(costDive, e.cost*share)
	}
	e.out = b.limit
}
