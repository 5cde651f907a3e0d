package index

import (
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
)

// intersected takes from the server's own plan which indexes of a table it compares the
// entries of, wherever the statement reads it, if it does so once.
func (s *statement) intersected() {
	plan := evidence.Plan(s.Explain)
	s.root.walk(func(b *block) {
		for _, a := range b.accesses {
			reads := func(p evidence.PlanTable) bool { return strings.EqualFold(p.Table, a.alias) }
			at := slices.IndexFunc(plan, reads)
			if at < 0 || a.hinted || a.table == nil || slices.ContainsFunc(plan[at+1:], reads) {
				continue
			}
			a.merged = a.table.named(plan[at].Intersected)
		}
	})
}

// planned takes what the server's own plan tells of a statement on one table: which of the
// indexes that are there it reads, and how many entries. The server looks into the index
// for that, so it sees values that are more frequent than the mean.
func (s *statement) planned(a *access) {
	plan := evidence.Plan(s.Explain)
	if len(plan) != 1 || !strings.EqualFold(plan[0].Table, a.alias) || a.hinted {
		return
	}
	p := plan[0]
	expected := planRows(p)
	if p.Access != "ref" && p.Access != "range" || expected <= 0 || a.block.limit > 0 || s.Count <= 0 {
		return
	}
	examined := float64(s.RowsExamined) / float64(s.Count)
	for _, d := range a.table.indexes {
		if !strings.EqualFold(d.name, p.Key) {
			continue
		}
		// The plan is of one execution, the count is the mean of all.
		m := a.match(d, nil)
		share := min(expected, examined) / a.table.rows
		if m.used == 1 && share > moreFrequent*combine(m.sel) {
			a.by(d).sel = min(1, share)
		}
	}
}

// merges says whether its plan compares the entries of several indexes: the server does not
// count as examined those that are not in all of them.
func (s *statement) merges() (found bool) {
	s.root.walk(func(b *block) {
		for _, a := range b.accesses {
			found = found || len(a.merged) > 0
		}
	})
	return found
}

// moreFrequent times as many rows as the mean: what the statistics say is no guide then.
const moreFrequent = 2

// by is the only condition that an index serves.
func (a *access) by(d indexDef) *pred {
	for _, p := range a.preds {
		if p.column == d.columns[0] && p.kind != predJoin {
			return p
		}
	}
	return &pred{}
}

// planRows is what a plan expects to read of a table.
func planRows(p evidence.PlanTable) float64 {
	switch n := p.Rows.(type) {
	case float64:
		return n
	case string:
		v, err := strconv.ParseFloat(n, 64)
		if err == nil {
			return v
		}
	}
	return 0
}

// named are indexes of the table, nil if one of the names is none of them.
func (t *table) named(names []string) (out []indexDef) {
	for _, name := range names {
		at := slices.IndexFunc(t.indexes, func(d indexDef) bool { return strings.EqualFold(d.name, name) })
		if at < 0 {
			return nil
		}
		out = append(out, t.indexes[at])
	}
	return out
}

// intersection is the path that the server took: all entries of each index are read, and
// the rows fetched that are in all of them.
func (a *access) intersection(bound map[*access]bool, out float64) (p path, ok bool) {
	if len(a.merged) == 0 {
		return path{}, false
	}
	p.out = out
	for _, d := range a.merged {
		m := a.match(d, bound)
		n := max(a.table.rows*combine(m.sel), 0.01)
		p.rows += n
		p.cost += m.dives*costDive + n*costCovered
		p.also = append(p.also, d.table.key+":"+d.key)
	}
	p.cost += out * costFetched
	p.index, p.also = p.also[0], p.also[1:]
	return p, true
}
