package index

import "slices"

const (
	// leftShare of the time that would be left is worth an index, too, where MinBenefit of
	// all is more: what remains is what is waited for then.
	leftShare = 0.05
	// leastShare of MinBenefit is worth none whatever is left.
	leastShare = 0.1
)

// least is what another index must save beside a set that saves value, seconds.
func (w *workload) least(value float64) float64 {
	most := w.opts.MinBenefit * w.total
	return min(most, max(leastShare*most, leftShare*(w.total-value)))
}

// coverShare of all statement time is what an index must save at least that is larger by
// more than coverGrowth for no row less that is read: all that space is written and kept in
// memory.
const (
	coverShare  = 0.05
	coverLeft   = 0.5 // of what is left without it, if that is less
	coverGrowth = 1.15
	fewerRows   = 0.99 // of those read before
	// grownShare of all time, or grownLeft of what is left, is what an index saves at least
	// that begins with the columns of one that is there: that one does a part of its work,
	// and stays.
	grownShare = 0.02
	grownLeft  = 0.1
)

// need is what c must save when it comes into a set that saves value, and next is the set
// with it.
func (w *workload) need(c *candidate, set, next []*candidate, value float64) float64 {
	least := w.leastOf(c, value)
	if len(next) <= len(set) && !c.covering {
		return 1e-9 * w.total // it replaces a shorter one
	}
	if w.rows(next) <= fewerRows*w.rows(set) {
		return least
	}
	if c.entry() <= coverGrowth*w.smaller(c, set, next) {
		return least
	}
	return max(least, min(coverShare*w.total, coverLeft*(w.total-value)))
}

// leastOf is what c must save beside a set that saves value, seconds.
func (w *workload) leastOf(c *candidate, value float64) float64 {
	least := w.least(value)
	if slices.ContainsFunc(c.table.indexes, func(d indexDef) bool { return d.prefixOf(c.indexDef) }) {
		return max(least, min(grownShare*w.total, grownLeft*(w.total-value)))
	}
	return least
}

// smaller is the bytes of an entry of what c does the work of: the indexes that go when it comes
// in, else its columns without those that are only read. 0 if such an index is there.
func (w *workload) smaller(c *candidate, set, next []*candidate) (bytes float64) {
	for _, have := range set {
		if !slices.Contains(next, have) {
			bytes += have.entry()
		}
	}
	if bytes > 0 || c.keys == len(c.columns) {
		return bytes
	}
	plain := indexDef{table: c.table, columns: c.columns[:c.keys], lengths: c.lengths[:c.keys]}
	if slices.ContainsFunc(c.table.indexes, plain.prefixOf) {
		return 0
	}
	return (&candidate{indexDef: plain}).entry()
}
