package index

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// mostOfArm candidates are tried for each arm beside those of the others.
const mostOfArm = 4

// mostBundles of one OR.
const mostBundles = 64

// bundle is a set of candidates that help only together: one for each arm.
type bundle []*candidate

// addBundles lists what could serve the arms of a's ORs, and sets of them.
func (w *workload) addBundles(found map[string]*candidate, a *access) {
	for _, g := range a.ors {
		var lists [][]*candidate
		for _, x := range g.arms {
			lists = append(lists, w.armCandidates(found, a, g, x))
		}
		w.bundles = append(w.bundles, combinations(lists)...)
	}
}

// armCandidates are the best for one arm: few rows, then few columns. Where there is an
// index already, none is needed: nil stands for that.
func (w *workload) armCandidates(found map[string]*candidate, a *access, g *orGroup, x arm) []*candidate {
	type scored struct {
		c    *candidate
		rows float64
	}
	var list []scored
	add := func(columns []string) {
		c := w.candidate(a.with(x), columns)
		if c == nil {
			return
		}
		key := c.table.key + ":" + c.key
		if have := found[key]; have != nil && !have.covering {
			c = have
		}
		c.armed, c.covering, c.keys = true, false, len(c.columns)
		found[key] = c
		if r, ok := a.armBy(g, x, c.indexDef, nil); ok {
			list = append(list, scored{c, r.rows})
		}
	}
	alone := *a.with(x)
	plain, _ := w.sequences(&alone)
	for _, columns := range plain {
		add(columns.list)
	}
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].rows != list[j].rows {
			return list[i].rows < list[j].rows
		}
		if len(list[i].c.columns) != len(list[j].c.columns) {
			return len(list[i].c.columns) < len(list[j].c.columns)
		}
		if list[i].c.leading != list[j].c.leading {
			return list[i].c.leading > list[j].c.leading
		}
		return list[i].c.key < list[j].c.key
	})
	var out []*candidate
	for _, d := range a.table.indexes {
		if _, ok := a.armBy(g, x, d, nil); ok {
			out = append(out, nil)
			break
		}
	}
	seen := map[*candidate]bool{}
	singles := 0
	for _, s := range list { // the best ones, and a single column whatever it reads
		single := len(s.c.columns) == 1 && singles == 0
		if seen[s.c] || len(out) >= mostOfArm && !single {
			continue
		}
		if single {
			singles++
		}
		seen[s.c] = true
		out = append(out, s.c)
	}
	return out
}

// combinations takes one of each list; nils stand for nothing.
func combinations(lists [][]*candidate) []bundle {
	out := []bundle{nil}
	for _, list := range lists {
		var next []bundle
		for _, have := range out {
			for _, c := range list {
				b := append(bundle(nil), have...)
				if c != nil && !slices.Contains(b, c) { // one may serve several arms
					b = append(b, c)
				}
				next = append(next, b)
			}
		}
		out = next[:min(len(next), mostBundles)]
	}
	var several []bundle
	for _, b := range out {
		if len(b) > 0 {
			several = append(several, b)
		}
	}
	return several
}

// into adds a bundle to a set; ok is false where that changes nothing.
func (b bundle) into(set []*candidate) (out []*candidate, ok bool) {
	out = set
	for _, c := range b {
		if next, added := with(out, c); added {
			out, ok = next, true
		}
	}
	return out, ok
}

// needs are the chosen indexes without which c serves none of its statements: those of
// the other arms of an OR.
func (w *workload) needs(c *candidate, chosen []*candidate) (out []*candidate) {
	key := c.table.key + ":" + c.key
	for _, o := range chosen {
		if o == c || o.table != c.table {
			continue
		}
		var rest []*candidate
		for _, x := range chosen {
			if x != o {
				rest = append(rest, x)
			}
		}
		served, without := false, false
		for _, s := range w.statements {
			served = served || w.saves(s, chosen).used[key] && w.saves(s, chosen).seconds > 0
			without = without || w.saves(s, rest).used[key] && w.saves(s, rest).seconds > 0
		}
		if served && !without {
			out = append(out, o)
		}
	}
	return out
}

// together says which indexes are read beside this one.
func together(list []*candidate) string {
	var names []string
	for _, o := range list {
		names = append(names, "("+strings.Join(o.columns, ", ")+")")
	}
	return fmt.Sprintf("; only together with %s: the server reads one for each side of the OR and puts the rows together (index merge, union), so the statement stays as it is", strings.Join(names, " and "))
}
