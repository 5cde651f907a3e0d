package index

import (
	"encoding/json"
	"strconv"
	"strings"

	"kasoku/internal/evidence"
)

// planned takes what the server's own plan tells of a statement on one table: which of the
// indexes that are there it reads, and how many entries. The server looks into the index
// for that, so it sees values that are more frequent than the mean.
func (s *statement) planned(a *access) {
	plan := evidence.Plan(s.Explain)
	if len(plan) != 1 || !strings.EqualFold(plan[0].Table, a.alias) || a.hinted {
		return
	}
	p := plan[0]
	if p.Access == "index_merge" {
		a.merged = a.intersected(s.Explain)
		return
	}
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
func (s *statement) merges() bool {
	return s.root != nil && len(s.root.accesses) == 1 && len(s.root.accesses[0].merged) > 0
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

// intersected are the indexes of an intersection: MariaDB's plan has them under
// "index_merge", "intersect", MySQL's is a key "intersect(a,b)".
func (a *access) intersected(explain string) (out []indexDef) {
	var root any
	if json.Unmarshal([]byte(explain), &root) != nil {
		return nil
	}
	names := map[string]bool{}
	intersections(root, false, names)
	for _, d := range a.table.indexes {
		if names[strings.ToLower(d.name)] {
			out = append(out, d)
		}
	}
	if len(out) != len(names) {
		return nil
	}
	return out
}

func intersections(v any, within bool, names map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			intersections(x, within, names)
		}
	case map[string]any:
		key, _ := v["key"].(string)
		if list, ok := strings.CutPrefix(strings.ToLower(key), "intersect("); ok {
			for _, name := range strings.Split(strings.TrimSuffix(list, ")"), ",") {
				names[strings.TrimSpace(name)] = true
			}
		} else if within && key != "" {
			names[strings.ToLower(key)] = true
		}
		for k, x := range v {
			intersections(x, within || k == "intersect", names)
		}
	}
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
