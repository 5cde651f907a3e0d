package index

// chain gathers the plans of a join by the table that is read first, and what the server
// makes of them. It chooses the order of the tables by what reading all of them costs,
// without regard to a limit; only then it looks whether an index of the first table gives
// the ORDER BY and lets it stop early (MariaDB 10.11, sql_select.cc,
// best_extension_by_limited_search and test_if_skip_sort_order; MySQL 8.0 alike).
type chain struct {
	firsts []*firstRead
}

// firstRead is the plans that begin with one table.
type firstRead struct {
	access *access
	all    float64   // what the cheapest costs without a limit
	best   *estimate // with it
}

const (
	// nearlyAsGood: the server's costs are others than ours.
	nearlyAsGood = 1.5
	// rangedAsGood: where an inequality narrows the first table, the server knows its
	// bounds, and we take them for a third of the rows (rangeSelectivity). The last day
	// or week is a twentieth at most.
	rangedAsGood = 8
)

// add a plan that is complete.
func (c *chain) add(b *block, s joinState) {
	at := -1
	for i, f := range c.firsts {
		if f.access == s.first {
			at = i
		}
	}
	if at < 0 {
		at = len(c.firsts)
		c.firsts = append(c.firsts, &firstRead{access: s.first, all: s.cost})
	}
	f := c.firsts[at]
	all := s.cost
	if b.sorted && (len(b.order) == 0 || b.order[0].access != s.first) {
		all += s.out // each row goes into a temporary table, to be sorted
	}
	if f.best == nil || all < f.all {
		f.all = all
	}
	if e := finish(b, s); f.best == nil || e.cost < f.best.cost {
		f.best = &e
	}
}

// estimate is the best of the plans that the server would take.
func (c *chain) estimate() estimate {
	var best *estimate
	for _, f := range c.firsts {
		if !c.taken(f) {
			continue
		}
		if best == nil || f.best.cost < best.cost {
			best = f.best
		}
	}
	if best == nil { // joins that depend on each other in a circle
		return estimate{out: 1}
	}
	return *best
}

// taken says whether the server may begin with that table.
func (c *chain) taken(f *firstRead) bool {
	if f.access == nil || f.access.block.limit == 0 || !f.access.block.sorted {
		return true
	}
	worse := nearlyAsGood
	if f.access.ranged() {
		worse = rangedAsGood
	}
	for _, o := range c.firsts {
		if f.all > worse*o.all {
			return false
		}
	}
	return true
}
