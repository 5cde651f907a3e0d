package index

// shorten cuts off last columns that save no rows and little time, unless a
// statement restricts or sorts by them: those guard against values that are
// far more frequent than the average. Where such a column makes the index much larger and
// hardly more rows are read without it, it goes, too; and so does an index beside whose
// entries another's, that reads hardly more, are small.
func (w *workload) shorten(set []*candidate) []*candidate {
	for again := true; again; {
		again = false
		value, rows := w.objective(set), w.rows(set)
		least := w.least(value)
		for i := 0; i < len(set) && !again; i++ {
			rest := append(append([]*candidate(nil), set[:i]...), set[i+1:]...)
			for _, c := range w.candidates {
				if c == set[i] || c.table != set[i].table {
					continue
				}
				begins := c.prefixOf(set[i].indexDef)
				smaller := set[i].entry() > coverGrowth*c.entry()
				if !begins && !smaller {
					continue
				}
				next, ok := with(rest, c)
				if !ok || len(next) != len(set) || value-w.objective(next) >= least {
					continue
				}
				idle := begins && !w.restricts(c.table, set[i].columns[len(c.columns):], false)
				smaller = smaller && (w.single(c, next) || !w.restricts(c.table, without(set[i].columns, c.columns), true))
				if idle && w.rows(next) <= 1.001*rows || smaller && (begins && c.decides() || w.nearly(set, next, set[i].entry()/c.entry())) {
					set, again = next, true
					break
				}
			}
		}
	}
	return set
}

// single says whether the statements that c serves in a set read hardly any row, so that
// there is nothing to sort.
func (w *workload) single(c *candidate, set []*candidate) bool {
	for _, s := range w.statements {
		if v := w.saves(s, set); v.used[c.table.key+":"+c.key] && v.rows > 2*fewRows {
			return false
		}
	}
	return true
}

const (
	// fewRows more for each execution is nothing beside what any statement takes.
	fewRows = 1
	// someRows more are little, where the index is but half as large (halfAsLarge).
	someRows    = 12
	halfAsLarge = 1.8
)

// decided times as many combinations of values as rows: one row has them then.
const decided = 2.5

// decides says whether the columns, if they are independent, tell one row from the others.
func (c *candidate) decides() bool {
	values := 1.0
	for _, col := range c.columns {
		values *= c.table.distinct(col)
	}
	return len(c.columns) > 1 && values >= decided*c.table.rows
}

// nearly says whether no statement reads more than a few rows more with next than with
// set, whose index is larger by ratio.
func (w *workload) nearly(set, next []*candidate, ratio float64) bool {
	few := float64(fewRows)
	if ratio >= halfAsLarge {
		few = someRows
	}
	for _, s := range w.statements {
		if w.saves(s, next).rows > w.saves(s, set).rows+few {
			return false
		}
	}
	return true
}

func without(list, gone []string) (out []string) {
	for _, x := range list {
		if !contains(gone, x) {
			out = append(out, x)
		}
	}
	return out
}

// restricts says whether a statement compares one of the columns with a
// constant, or sorts or groups by it; ranges: equalities do not count.
func (w *workload) restricts(t *table, columns []string, ranges bool) bool {
	found := false
	for _, s := range w.statements {
		s.root.walk(func(b *block) {
			for _, o := range append(append([]orderColumn(nil), b.order...), b.group...) {
				found = found || o.access.table == t && contains(columns, o.column)
			}
			for _, a := range b.accesses {
				for _, p := range a.conditions() {
					found = found || a.table == t && p.kind != predJoin && (p.kind == predRange || !ranges) && contains(columns, p.column)
				}
			}
		})
	}
	return found
}
