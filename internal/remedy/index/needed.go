package index

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/evidence"
)

// missed is how much more a statement must cost without an index before it
// counts as needing it: less is within what the model can tell.
const missed = 1.01

// Needed says which statement an existing index serves better than what would be
// left without it, "" if none. A statement on the table that cannot be judged
// counts as needing it.
func Needed(statements []evidence.Statement, tables []evidence.Table, schema, table, name string) string {
	var rest []evidence.Table
	for _, t := range tables {
		if strings.EqualFold(t.Schema, schema) && strings.EqualFold(t.Name, table) {
			var keep []evidence.TableIndex
			for _, x := range t.Indexes {
				if !strings.EqualFold(x.Name, name) {
					keep = append(keep, x)
				}
			}
			t.Indexes = keep
		}
		rest = append(rest, t)
	}
	with, without := newCatalog(tables), newCatalog(rest)
	for at, st := range statements {
		text := strings.ToLower(st.Example + " " + st.Fingerprint)
		if !strings.Contains(text, strings.ToLower(table)) {
			continue
		}
		short := shorten(st.Fingerprint, st.Example)
		a := judged(st, at, with)
		if a.root == nil && a.insertInto == nil && !strings.HasPrefix(strings.TrimSpace(text), "insert") {
			return fmt.Sprintf("%q cannot be judged", short)
		}
		if strings.Contains(text, " index") && strings.Contains(text, strings.ToLower(name)) {
			return fmt.Sprintf("%q may name it", short)
		}
		if a.root == nil {
			continue // an INSERT of values reads nothing
		}
		if planReads(st, tables, table, name) && !begins(rest, tables, schema, table, name) {
			return fmt.Sprintf("the server reads it for %q (EXPLAIN)", short)
		}
		if before, after := a.baseline().cost, judged(st, at, without).baseline().cost; after > missed*before+1 {
			return fmt.Sprintf("%q costs %.1f times as much without it", short, after/max(before, 1))
		}
	}
	return ""
}

// planReads reports whether the server's own plan of the statement reads the
// index. The plan calls tables by their aliases: what is no table's name may be
// this one.
func planReads(s evidence.Statement, tables []evidence.Table, table, name string) bool {
	return slices.ContainsFunc(evidence.Plan(s.Explain), func(p evidence.PlanTable) bool {
		other := !strings.EqualFold(p.Table, table) && slices.ContainsFunc(tables, func(t evidence.Table) bool { return strings.EqualFold(t.Name, p.Table) })
		// One that reads several indexes names them in ways of their own.
		several := p.Access == "index_merge" && strings.Contains(strings.ToLower(s.Explain), strings.ToLower(name))
		return (strings.EqualFold(p.Key, name) || several) && !other
	})
}

// begins reports whether an index that is left begins with the columns of the
// one that goes, so that it finds the same rows in the same order.
func begins(rest, tables []evidence.Table, schema, table, name string) bool {
	of := func(all []evidence.Table) []evidence.TableIndex {
		for _, t := range all {
			if strings.EqualFold(t.Schema, schema) && strings.EqualFold(t.Name, table) {
				return t.Indexes
			}
		}
		return nil
	}
	for _, gone := range of(tables) {
		if !strings.EqualFold(gone.Name, name) {
			continue
		}
		return slices.ContainsFunc(of(rest), func(x evidence.TableIndex) bool {
			return !x.Hidden && len(x.Columns) >= len(gone.Columns) && slices.EqualFunc(x.Columns[:len(gone.Columns)], gone.Columns, strings.EqualFold)
		})
	}
	return false
}

// Size of an index with these columns ("col", "col(10)") on the table, bytes,
// estimated.
func Size(t evidence.Table, columns []string) int64 {
	d := indexDef{table: newTable(t)}
	for _, spec := range columns {
		name, length := splitPrefix(spec)
		d.columns, d.lengths = append(d.columns, strings.ToLower(name)), append(d.lengths, length)
	}
	return int64((&candidate{indexDef: d}).size())
}
