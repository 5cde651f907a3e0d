package index

import "slices"

// taken says whether an index that is there is read instead of a new one: both find the rows
// of a join by the same columns, and of two that cost the same the server takes the older.
// What the new one's other columns turn down (pushed) is no part of what it costs for it.
// Where one that is there finds a few rows each time, others are no better in its eyes.
func (a *access) taken(d indexDef, bound map[*access]bool) bool {
	k := len(a.match(d, bound).sel)
	if d.name != "" || k == 0 {
		return false
	}
	covers := a.coveredBy(d)
	return slices.ContainsFunc(a.table.indexes, func(e indexDef) bool {
		m := a.match(e, bound)
		if m.unique && m.dives == 1 && e.clustered {
			return true // one row, where it lies
		}
		if covers {
			return false
		}
		sel := m.sel
		n := len(sel)
		return n > 0 && n <= min(k, len(e.columns)) && slices.Equal(e.columns[:n], d.columns[:n]) && slices.Equal(e.lengths[:n], d.lengths[:n]) &&
			(n == k || a.table.rows*combine(sel) <= fewFound)
	})
}

// fewFound rows by one lookup: with MariaDB 10.11 an index that finds one of them was taken
// in some runs and not in others, by how its sample of the index came out.
const fewFound = 5

// pageBytes of InnoDB.
const pageBytes = 16 << 10

// sortsInstead says whether the server sorts the whole table rather than read the first
// rows by an index that has not all columns: each of them counts as a page for it (up to
// MariaDB 10.11, and MySQL), and the limit is clearly more than the table's pages.
func (a *access) sortsInstead() bool {
	b := a.block
	return b.limit > 0 && len(a.preds) == 0 && a.table.innodb() && a.table.DataBytes > 0 && b.limit >= 1.1*float64(a.table.DataBytes)/pageBytes
}

// worthCovering says whether reading all of the index instead of all of the table is worth
// having it: no row less is read, so it must be far smaller.
func (a *access) worthCovering(d indexDef) bool {
	const smaller = 8 // as many pages less
	return a.table.bytes*a.table.rows >= smaller*(&candidate{indexDef: d}).size()
}

// passes says whether conditions pass over rows where an index serves so many of them. What
// joins it to a table that comes later is none.
func (a *access) passes(used int, bound map[*access]bool) bool {
	for _, p := range a.preds {
		if p.usable(bound) {
			used--
		}
	}
	return a.narrowed() || used < 0
}

// writesNull says whether one of the columns with one value is asked to be NULL by an UPDATE
// or DELETE, which do not see that this leaves one value: they sort.
func (a *access) writesNull(d indexDef, m match) bool {
	columns, _ := d.withPrimary()
	return a.block.writes && slices.ContainsFunc(columns[:m.equal], func(c string) bool {
		equal, _, _ := a.restricts(c, nil)
		return equal != nil && equal.null
	})
}
