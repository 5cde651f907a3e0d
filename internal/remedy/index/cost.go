package index

import (
	"math"
	"slices"
	"strings"
)

// Costs in units of one row read in a scan of the clustered index. The ratios
// are those that MariaDB 10.11 shows with all pages cached: an entry of a
// covering index is about half a row, a row fetched through a secondary index
// about three, a descent of a B-tree about four, and parsing, planning and
// answering a statement as much as about 200 rows.
const (
	costCovered   = 0.5
	costFetched   = 3.0
	costDive      = 4.0
	costStatement = 200.0
	costTemporary = 2.0    // per row put into a temporary table
	costSort      = 0.2    // per row and comparison level of a filesort
	costCompare   = 0.05   // per pair of rows compared in a join buffer
	costSent      = 1.0    // per row of the answer
	costSentByte  = 0.0026 // per byte of it
	// bytesOfRow: long values lie on pages of their own, and are fetched for each row
	// before the conditions are looked at. So many bytes of them take as long as a row:
	// 50 kB took 3.5 µs more, a narrow row takes 0.24 µs (go test -bench Reads).
	bytesOfRow = 3400.0
	joinBuffer = 2000 // rows of the outer side per scan of the inner side
)

// path is one way to read an access.
type path struct {
	rows, cost float64  // per execution (per outer row if it is an inner one)
	ordered    bool     // rows come in the block's ORDER BY
	grouped    bool     // rows come grouped
	final      bool     // it answers the block by itself: MIN, MAX, loose scan
	index      string   // key of the index, "" for a scan
	also       []string // keys of others that are read besides
	passes     bool     // conditions pass over rows that were read
	kept       bool     // of a semi-join's inner side: its rows are read once and kept to be searched
	out        float64  // rows that pass all conditions
}

// match says how far an index narrows an access.
type match struct {
	sel    []float64
	equal  int // leading columns with one value
	dives  float64
	used   int // conditions used
	unique bool
}

func (p *pred) usable(bound map[*access]bool) bool {
	return p.kind != predJoin || bound[p.other]
}

func (a *access) match(d indexDef, bound map[*access]bool) match {
	m := match{dives: 1}
	columns, _ := d.withPrimary()
	open := true    // all columns so far have one value
	joined := false // one of them is another table's column
	for i, c := range columns {
		equal, in, ranges := a.restricts(c, bound)
		switch {
		case equal == nil && joined:
			// What is looked up by another table's column (ref) takes equalities alone:
			// ranges and lists behind them are looked at entry by entry (pushed).
			return m
		case equal != nil:
			joined = joined || equal.kind == predJoin
			m.sel = append(m.sel, a.selectivity(equal))
			m.used++
			if open {
				m.equal++
			}
		case in != nil:
			m.sel = append(m.sel, a.selectivity(in))
			m.used++
			m.dives *= max(1, in.n)
			open = false
		case len(ranges) > 0:
			sel := 1.0
			for _, p := range ranges {
				sel *= a.selectivity(p)
				m.used++
			}
			m.sel = append(m.sel, sel)
			return m
		default:
			return m
		}
		if i+1 == len(d.columns) && d.unique {
			m.unique = true
			return m
		}
	}
	return m
}

// restricts are the conditions on a column: its value, a list of values, bounds.
func (a *access) restricts(column string, bound map[*access]bool) (equal, in *pred, ranges []*pred) {
	for _, p := range a.preds {
		if p.column != column || !p.usable(bound) {
			continue
		}
		switch p.kind {
		case predIn:
			in = p
		case predRange:
			ranges = append(ranges, p)
		default:
			equal = p
		}
	}
	return equal, in, ranges
}

// narrowed says whether conditions restrict it that no single index serves.
func (a *access) narrowed() bool { return a.residual != 1 || len(a.ors) > 0 }

// width is what reading one row's long values costs beside the row itself.
func (a *access) width() float64 {
	if a.block.writes {
		return 0
	}
	for name, c := range a.table.columns {
		base, _ := columnType(c)
		if long := strings.HasSuffix(base, "text") || strings.HasSuffix(base, "blob") || base == "json"; long && (a.all || a.needed[name]) {
			return a.table.bytes / bytesOfRow
		}
	}
	return 0
}

// out is the share of the table's rows that pass all conditions usable so far.
func (a *access) outShare(bound map[*access]bool) float64 {
	if a.actual > 0 {
		return a.actual
	}
	var sel []float64
	for _, p := range a.preds {
		if p.usable(bound) {
			sel = append(sel, a.selectivity(p))
		}
	}
	for _, g := range a.ors {
		sel = append(sel, a.groupShare(g))
	}
	return combine(sel) * a.residual
}

// paths lists the ways to read a: a scan, and each index that narrows it or
// gives an order. first is true for the outermost access.
func (a *access) paths(indexes []indexDef, bound map[*access]bool, first bool) []path {
	n := a.table.rows
	out := n * a.outShare(bound)
	list := []path{{rows: n, cost: n * (1 + a.width()), out: out, passes: a.passes(0, bound)}}
	if p, ok := a.intersection(bound, out); ok {
		list = append(list, p)
	}
	for _, d := range indexes {
		if len(a.merged) > 0 && d.name != "" {
			continue // the server does not read by one of them alone
		}
		if !first && a.taken(d, bound) {
			continue
		}
		if p, ok := a.through(d, bound, first, out); ok {
			if !p.ordered && !p.grouped && !d.clustered && a.ranged() {
				p.cost = varied(p.cost, list[0].cost)
			}
			list = append(list, p)
		}
	}
	for _, g := range a.ors {
		if p, ok := a.union(g, indexes, bound, out); ok {
			list = append(list, p)
		}
	}
	return list
}

// ranged says whether an inequality restricts it, whose bounds differ from run to run.
func (a *access) ranged() bool {
	return slices.ContainsFunc(a.preds, func(p *pred) bool { return p.kind == predRange })
}

// varied is the mean cost of a statement that meets few rows in one run and many in another:
// between none and twice the mean, each as often. The server reads by the index where that
// is cheaper than the scan, else it scans.
func varied(cost, scan float64) float64 {
	if 2*cost <= scan || cost > 2*scan {
		return cost
	}
	return scan - scan*scan/(4*cost)
}

// skew is how many times as many rows as the mean a value has that is asked for: values
// that many rows have are asked for more often. What is met in all is known from the
// server's counts; what an index meets that serves only a part of the conditions is not.
const skew = 2

func (a *access) through(d indexDef, bound map[*access]bool, first bool, out float64) (path, bool) {
	n := a.table.rows
	m := a.match(d, bound)
	rows := max(n*combine(m.sel), n*a.actual, 0.01)
	if a.actual > 0 && !a.narrowed() && m.used > 0 {
		rows = max(min(n, skew*n*combine(m.sel)), n*a.actual, 0.01)
		if m.used == len(a.preds) {
			rows = max(n*a.actual, 0.01)
		}
	}
	if m.unique {
		rows = min(rows, m.dives)
		out = min(out, m.dives)
	}
	p := path{rows: rows, index: d.table.key + ":" + d.key, out: min(out, rows), passes: a.passes(m.used, bound)}
	per := costFetched
	covered := a.coveredBy(d)
	switch {
	case d.clustered:
		per = 1 + a.width()
	case covered:
		per = costCovered
	default:
		per = costCovered + (costFetched-costCovered+a.width())*a.pushed(d, m, bound)
	}
	p.cost = m.dives*costDive + rows*per
	if first {
		b := a.block
		single := len(b.accesses) == 1
		p.ordered = b.sorted && follows(a, d, m, b.order, false)
		p.grouped = b.grouped && follows(a, d, m, b.group, true)
		if single && b.extreme != nil && a.answersExtreme(d, m) {
			p.rows, p.cost, p.out, p.final = 1, costDive, 1, true
		} else if single && b.grouped && b.minmax && covered && !a.narrowed() && a.groupsFirst(d) {
			a.loose(&p)
		}
		p.ordered = p.ordered && !(single && m.used == 0 && !covered && !d.clustered && a.sortsInstead())
	}
	narrows := m.used > 0 && (d.name != "" || covered || a.actual > 0 || a.ranged() || combine(m.sel) <= 1.0/minDistinct)
	useful := narrows || p.ordered || p.grouped || p.final || covered && (d.name != "" || a.worthCovering(d))
	return p, useful
}

// pushed is the share of the matched entries whose rows are fetched: conditions on the
// index's other columns are looked at before (index condition pushdown). The server counts
// the rest as Handler_icp_attempts, not as rows examined.
func (a *access) pushed(d indexDef, m match, bound map[*access]bool) float64 {
	columns, lengths := d.withPrimary()
	var sel []float64
	met := m.used
	for i := len(m.sel); i < len(columns) && m.used > 0; i++ {
		for _, p := range a.preds {
			if p.column == columns[i] && lengths[i] == 0 && p.usable(bound) {
				sel = append(sel, a.selectivity(p))
				met++
			}
		}
	}
	if all := combine(m.sel); a.actual > 0 && !a.narrowed() && met == len(a.preds) && met > m.used {
		return min(1, a.actual/max(all, a.actual))
	}
	return combine(sel)
}

// groupsFirst says whether an index allows to jump from group to group: it begins with the
// grouped columns, those that are compared for equality follow, and then what MIN or MAX is
// of (MariaDB Knowledge Base, "Loose Index Scan"; MySQL 8.0 Reference Manual, "GROUP BY
// Optimization").
func (a *access) groupsFirst(d indexDef) bool {
	group, equal := map[string]bool{}, map[string]bool{}
	for _, g := range a.block.group {
		if g.access != a {
			return false
		}
		group[g.column] = true
	}
	for _, p := range a.preds {
		if p.kind != predEqual || group[p.column] {
			return false
		}
		equal[p.column] = true
	}
	var sel []float64
	for _, p := range a.preds {
		sel = append(sel, a.selectivity(p))
	}
	if len(sel) > 0 && a.table.rows*combine(sel) <= costStatement {
		return false // so few are found by the equalities alone
	}
	if len(group) == 0 || len(d.columns) < len(group)+len(equal) {
		return false
	}
	for i, c := range d.columns[:len(group)+len(equal)] {
		if i < len(group) && !group[c] || i >= len(group) && !equal[c] {
			return false
		}
	}
	return true
}

// loose is a scan that jumps from group to group: two reads by key per group, counted as
// one descent, as such an index finds rows by the group, too, where another would have to
// be written beside it. The
// optimizer takes it where groups are large.
func (a *access) loose(p *path) {
	groups := 1.0
	for _, g := range a.block.group {
		groups *= a.table.distinct(g.column)
	}
	groups = min(groups, a.table.rows)
	if a.table.rows/groups >= 20 && 2*groups < p.rows {
		p.rows, p.cost, p.out, p.final = 2*groups, groups*costDive, groups, true
	}
}

// answersExtreme says whether MIN or MAX is at one end of the matched range.
func (a *access) answersExtreme(d indexDef, m match) bool {
	e := a.block.extreme
	if e.access != a || a.narrowed() || m.used != len(a.preds) || m.dives > 1 {
		return false
	}
	columns, lengths := d.withPrimary()
	return m.equal < len(columns) && columns[m.equal] == e.column && lengths[m.equal] == 0
}

// coveredBy says whether the index alone holds all columns that are read.
func (a *access) coveredBy(d indexDef) bool {
	if d.clustered {
		return true
	}
	if a.all || a.block.writes {
		return false
	}
	columns, lengths := d.withPrimary()
	for c := range a.needed {
		found := false
		for i, have := range columns {
			found = found || have == c && lengths[i] == 0
		}
		if !found {
			return false
		}
	}
	return true
}

// follows says whether reading the match in index order gives the wanted
// order, or with anyOrder, equal values side by side.
func follows(a *access, d indexDef, m match, want []orderColumn, anyOrder bool) bool {
	if len(want) == 0 || m.dives > 1 || a.writesNull(d, m) {
		return false
	}
	fixed := map[string]bool{}
	columns, lengths := d.withPrimary()
	for _, c := range columns[:m.equal] {
		fixed[c] = true
	}
	pending := map[string]bool{}
	var sequence []orderColumn
	for _, w := range want {
		if w.access != a {
			return false
		}
		if !fixed[w.column] && !pending[w.column] {
			pending[w.column] = true
			sequence = append(sequence, w)
		}
	}
	backwards := false // the index is read from its end
	for i := range sequence {
		at := m.equal + i
		if at >= len(columns) || lengths[at] != 0 {
			return false
		}
		if columns[at] != sequence[i].column && !anyOrder || !pending[columns[at]] {
			return false
		}
		if other := d.descends(at) != sequence[i].desc; i == 0 {
			backwards = other
		} else if other != backwards && !anyOrder {
			return false
		}
		delete(pending, columns[at])
		if d.unique && at+1 == len(d.columns) {
			return true // a unique key decides the order
		}
	}
	return true
}

func log2(x float64) float64 { return math.Log2(x + 2) }
