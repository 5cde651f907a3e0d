package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sqlc-dev/marino/ast"
)

// distinct notes what DISTINCT groups by, if it does: the server leaves out that of a single
// table whose rows a key among the columns tells apart (sql_select.cc,
// list_contains_unique_index; MySQL 8.0 alike).
func (b *builder) distinct(sc *scope, q *ast.SelectStmt) {
	if key := sc.keyOf(sc.outputOf(b)); key != nil {
		if len(sc.accesses) == 1 {
			return
		}
		if q.Limit != nil && key.decides(sc.accesses) {
			b.note(key.table, nil, fmt.Sprintf("DISTINCT takes nothing away: a key tells the rows of %s apart, and each other table has at most one row for each of them; but all rows go into a temporary table before the limit is looked at, and no index ends that: leave DISTINCT out", key.table.Name))
		}
	}
	sc.block.grouped = true
	var items []*ast.ByItem
	for _, f := range sc.fields {
		items = append(items, &ast.ByItem{Expr: f.Expr})
	}
	if list, ok := b.sortItems(sc, items); ok {
		sc.block.group, sc.block.minmax = list, true
	}
}

// groupBy notes what is grouped by. Where each group is one row of a single table and
// nothing is summed up, the server only sorts.
func (b *builder) groupBy(sc *scope, q *ast.SelectStmt) {
	items, ok := b.sortItems(sc, q.GroupBy.Items)
	if ok && len(sc.accesses) == 1 && !sc.sums() && q.Having == nil {
		columns := map[*access]map[string]bool{}
		for _, it := range items {
			mark(columns, it.access, it.column)
		}
		if sc.keyOf(columns) != nil {
			if q.OrderBy == nil {
				sc.block.sorted, sc.block.order = true, items
			}
			return
		}
	}
	sc.block.grouped = true
	if ok {
		sc.block.group = items
	}
}

// sums says whether the output has a function of several rows.
func (sc *scope) sums() bool {
	for _, f := range sc.fields {
		if f.Expr != nil && countAggregates(f.Expr) > 0 {
			return true
		}
	}
	return false
}

func mark(columns map[*access]map[string]bool, a *access, column string) {
	if columns[a] == nil {
		columns[a] = map[string]bool{}
	}
	columns[a][column] = true
}

// outputOf is which bare columns the SELECT list has.
func (sc *scope) outputOf(b *builder) map[*access]map[string]bool {
	out := map[*access]map[string]bool{}
	for _, f := range sc.fields {
		if f.WildCard != nil {
			for _, a := range sc.accesses {
				if f.WildCard.Table.L == "" || f.WildCard.Table.L == a.alias {
					for _, c := range sortedColumns(a.table) {
						mark(out, a, c)
					}
				}
			}
			continue
		}
		if a, c := b.columnOf(sc, strip(f.Expr)); a != nil {
			mark(out, a, c)
		}
	}
	return out
}

// keyOf is an access with a unique key, without NULLs, among these columns; nil if there is
// none.
func (sc *scope) keyOf(columns map[*access]map[string]bool) *access {
	for _, a := range sc.accesses {
		if a.table == nil {
			continue
		}
		for _, d := range a.table.indexes {
			if d.unique && a.table.holds(d, columns[a]) {
				return a
			}
		}
	}
	return nil
}

// holds says whether the columns have all of a key's, whole and never NULL.
func (t *table) holds(d indexDef, columns map[string]bool) bool {
	for i, c := range d.columns {
		if !columns[c] || d.lengths[i] != 0 || t.columns[c].Nullable {
			return false
		}
	}
	return len(d.columns) > 0
}

// told says whether several columns begin with a unique key and have all of it: what comes
// behind it in an index puts nothing in order. So does no column at all.
func (t *table) told(list []string) bool {
	if len(list) == 0 {
		return true
	}
	columns := map[string]bool{}
	for _, c := range list {
		columns[strings.TrimSuffix(c, descends)] = true
	}
	return len(columns) > 1 && slices.ContainsFunc(t.indexes, func(d indexDef) bool { return d.unique && list[0] == d.columns[0] && t.holds(d, columns) })
}

// decides says whether each of the others has at most one row for one of a's: it is found
// by a unique key from those before.
func (a *access) decides(all []*access) bool {
	bound := map[*access]bool{a: true}
	for again := true; again; {
		again = false
		for _, o := range all {
			if o.table != nil && !bound[o] && o.pulledOut(bound) {
				bound[o], again = true, true
			}
		}
	}
	return len(bound) == len(all)
}
