package index

// with is a with an arm's conditions beside its own.
func (a *access) with(x arm) *access {
	b := *a
	b.preds = append(append([]*pred(nil), a.preds...), x.preds...)
	return &b
}

// conditions are its own and those of its ORs' arms.
func (a *access) conditions() []*pred {
	list := a.preds
	for _, g := range a.ors {
		for _, x := range g.arms {
			list = append(list[:len(list):len(list)], x.preds...)
		}
	}
	return list
}

// armRead is the cheapest way to find one arm's entries.
type armRead struct {
	index       indexDef
	rows, dives float64
}

// armBy is how an index finds an arm's rows; ok is false if it does not.
func (a *access) armBy(g *orGroup, x arm, d indexDef, bound map[*access]bool) (armRead, bool) {
	m := a.with(x).match(d, bound)
	if m.used == 0 || !d.armed(x, m) {
		return armRead{}, false
	}
	share := combine(m.sel)
	if g.scale > 0 {
		share = min(1, share*g.scale)
	}
	rows := max(a.table.rows*share, 0.01)
	if m.unique {
		rows = min(rows, m.dives)
	}
	return armRead{d, rows, m.dives}, true
}

// armed says whether the matched columns have one of the arm's conditions.
func (d indexDef) armed(x arm, m match) bool {
	columns, _ := d.withPrimary()
	for _, c := range columns[:min(len(m.sel), len(columns))] {
		for _, p := range x.preds {
			if p.column == c {
				return true
			}
		}
	}
	return false
}

// union is the path that reads each arm of a group by an index, ok is false if one has
// none. Where one index serves them all its ranges are read one after the other; else each
// entry's row is fetched once more after the sets were put together.
func (a *access) union(g *orGroup, indexes []indexDef, bound map[*access]bool, out float64) (p path, ok bool) {
	best := func(reads []armRead, same bool) {
		q := path{out: out}
		keys := map[string]bool{}
		per := costFetched
		if same && a.coveredBy(reads[0].index) {
			per = costCovered
		}
		for _, r := range reads {
			q.rows += r.rows
			q.cost += r.dives*costDive + r.rows*per
			if !same {
				q.rows += r.rows
				q.cost += r.rows * costCovered
			}
			keys[r.index.table.key+":"+r.index.key] = true
		}
		list := sortedKeys(keys)
		q.index, q.also = list[0], list[1:]
		q.out = min(out, q.rows)
		if !ok || q.cost < p.cost {
			p, ok = q, true
		}
	}
	cheapest := make([]armRead, len(g.arms))
	found := 0
	for i, x := range g.arms {
		has := false
		for _, d := range indexes {
			if r, fits := a.armBy(g, x, d, bound); fits && (!has || r.rows < cheapest[i].rows) {
				cheapest[i], has = r, true
			}
		}
		if has {
			found++
		}
	}
	if found == len(g.arms) {
		best(cheapest, false)
	}
	for _, d := range indexes {
		var all []armRead
		for _, x := range g.arms {
			if r, fits := a.armBy(g, x, d, bound); fits {
				all = append(all, r)
			}
		}
		if len(all) == len(g.arms) {
			best(all, true)
		}
	}
	return p, ok
}
