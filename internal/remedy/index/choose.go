package index

import (
	"sort"
	"strings"
)

// saving of one statement with a set of candidates.
type saving struct {
	seconds float64
	left    float64 // part of its time that is not saved, 0–1
	rows    float64 // examined per execution
	used    map[string]bool
}

// better orders candidates: more gain; then fewer columns, the most selective
// first column, and the name, so that ties do not depend on chance.
func better(a *candidate, ga float64, b *candidate, gb float64) bool {
	if d := ga - gb; d > 1e-9*max(ga, gb) || -d > 1e-9*max(ga, gb) {
		return ga > gb
	}
	if len(a.columns) != len(b.columns) {
		return len(a.columns) < len(b.columns)
	}
	if a.leading != b.leading {
		return a.leading > b.leading
	}
	return a.table.key+a.key < b.table.key+b.key
}

// objective of a set: seconds saved in the window, writes subtracted.
func (w *workload) objective(set []*candidate) float64 {
	sum := 0.0
	for _, s := range w.statements {
		sum += w.saves(s, set).seconds
	}
	for _, c := range set {
		sum -= w.writeCost(c)
	}
	return sum
}

// writeCost in seconds of keeping the index up to date: one entry for a row
// inserted or deleted, two for a changed one, and 0.4 % more for each byte of
// it, as longer entries mean more pages and more log.
func (w *workload) writeCost(c *candidate) float64 {
	bytes := 0.0
	for i, col := range c.columns {
		bytes += meanBytes(c.table.columns[col], c.lengths[i])
	}
	return c.entries() * w.opts.WriteCost.Seconds() * (1 + 0.004*bytes)
}

// entries that the workload's writes put into the index or take out.
func (c *candidate) entries() float64 {
	changed := 0.0
	for _, col := range c.columns {
		changed = max(changed, c.table.updates[col])
	}
	return c.table.inserts + c.table.deletes + 2*changed
}

// leastSaved of one execution, in units of cost.go: a twentieth of what any statement takes.
// Less cannot be told from chance, and the estimate is no better than that.
const leastSaved = costStatement / 20

// saves estimates what a set saves one statement.
func (w *workload) saves(s *statement, set []*candidate) saving {
	touched := map[*table]bool{}
	s.root.walk(func(b *block) {
		for _, a := range b.accesses {
			touched[a.table] = true
		}
	})
	extra := map[*table][]indexDef{}
	var keys []string
	for _, c := range set {
		if touched[c.table] {
			extra[c.table] = append(extra[c.table], c.indexDef)
			keys = append(keys, c.table.key+":"+c.key)
		}
	}
	sort.Strings(keys)
	key := itoa(s.at) + ";" + strings.Join(keys, ";")
	if v, ok := w.memo[key]; ok {
		return v
	}
	for _, list := range extra {
		sort.Slice(list, func(i, j int) bool { return list[i].key < list[j].key })
	}
	before := s.baseline()
	after := (&model{extra: extra}).block(s.root)
	v := saving{rows: after.rows, used: after.used}
	// The server's count of rows corrects a guess that was too dark.
	scale := 1.0
	if measured := float64(s.RowsExamined) / float64(s.Count); s.RowsExamined > 0 && measured < before.rows && !s.hidden() && !s.merges() {
		scale = measured / before.rows
	}
	fixed := costStatement + s.sending()
	cb := fixed + before.cost*scale
	ca := fixed + min(after.cost, before.cost*scale)
	v.left = ca / cb
	if cb-ca < leastSaved {
		v.left = 1 // noise
	}
	v.seconds = s.seconds() * (1 - v.left)
	if w.memo == nil {
		w.memo = map[string]saving{}
	}
	w.memo[key] = v
	return v
}

// sending is what the answer of one execution costs, however its rows are found.
func (s *statement) sending() float64 {
	return (costSent*float64(s.RowsSent) + costSentByte*float64(s.BytesSent)) / float64(max(s.Count, 1))
}

// baseline is the estimate with the existing indexes.
func (s *statement) baseline() estimate {
	if s.base == nil {
		e := (&model{}).block(s.root)
		s.base = &e
	}
	return *s.base
}

// choose picks the set greedily and then improves it by dropping and
// exchanging until nothing gets better. Covering indexes come in after the
// others, where they still clearly pay.
func (w *workload) choose() []*candidate {
	set := w.grow(nil, false)
	set = w.grow(set, true)
	for round := 0; round < 10; round++ {
		next, improved := w.exchange(set)
		if !improved {
			break
		}
		set = next
	}
	return w.shorten(set)
}

// rows examined by all statements with a set.
func (w *workload) rows(set []*candidate) float64 {
	sum := 0.0
	for _, s := range w.statements {
		sum += w.saves(s, set).rows * float64(s.Count)
	}
	return sum
}

// grow adds the best candidate, again and again, while that saves enough.
func (w *workload) grow(set []*candidate, covering bool) []*candidate {
	value := w.objective(set)
	for {
		least := w.least(value)
		var best *candidate
		var bestSet []*candidate
		bestGain := 0.0
		for _, c := range w.candidates {
			next, ok := with(set, c)
			if !ok || c.covering && !covering {
				continue
			}
			gain := w.objective(next) - value
			if gain <= 0 || best != nil && gain < bestGain*(1-1e-6) {
				continue
			}
			if gain > w.need(c, set, next, value) && (best == nil || better(c, gain, best, bestGain)) {
				best, bestSet, bestGain = c, next, gain
			}
		}
		for _, b := range w.bundles {
			next, ok := b.into(set)
			if !ok {
				continue
			}
			if gain := w.objective(next) - value; gain > least*float64(len(b)) && (best == nil || gain > bestGain*(1+1e-9)) {
				best, bestSet, bestGain = b[0], next, gain
			}
		}
		if best == nil {
			return set
		}
		set, value = bestSet, value+bestGain
	}
}

// with adds c; candidates that are prefixes of it go. ok is false if c is
// there already or a prefix of one that is.
func with(set []*candidate, c *candidate) (out []*candidate, ok bool) {
	for _, have := range set {
		if c.prefixOf(have.indexDef) {
			return nil, false
		}
		if !have.prefixOf(c.indexDef) {
			out = append(out, have)
		}
	}
	return append(out, c), true
}

// exchange drops an index that no longer pays, or replaces one by a better.
func (w *workload) exchange(set []*candidate) ([]*candidate, bool) {
	value := w.objective(set)
	for i := range set {
		rest := append(append([]*candidate(nil), set[:i]...), set[i+1:]...)
		if value-w.objective(rest) < w.leastOf(set[i], value) {
			return rest, true
		}
		var best *candidate
		var bestSet []*candidate
		bestGain := 0.0
		for _, c := range w.candidates {
			if c.table != set[i].table {
				continue
			}
			next, ok := with(rest, c)
			if !ok {
				continue
			}
			need := 1e-9 * w.total
			if c.covering && !set[i].covering || c.covering && c.entry() > coverGrowth*set[i].entry() {
				need = w.need(c, set, next, value)
			}
			gain := w.objective(next) - value
			if gain > need && (best == nil || better(c, gain, best, bestGain)) {
				best, bestSet, bestGain = c, next, gain
			}
		}
		if best != nil {
			return bestSet, true
		}
	}
	return w.split(set, value)
}

// splitters are the candidates of a table, best alone first, of which pairs are tried.
const splitters = 20

// split replaces an index by two, where one that serves both of two statements serves
// neither well.
func (w *workload) split(set []*candidate, value float64) ([]*candidate, bool) {
	least := w.least(value)
	for i := range set {
		rest := append(append([]*candidate(nil), set[:i]...), set[i+1:]...)
		var list []*candidate
		for _, c := range w.candidates {
			if c.table == set[i].table && c != set[i] && !c.covering && len(list) < splitters {
				list = append(list, c)
			}
		}
		for j, c := range list {
			first, ok := with(rest, c)
			if !ok {
				continue
			}
			for _, d := range list[j+1:] {
				if next, ok := with(first, d); ok && len(next) == len(set)+1 && w.objective(next) > value+least {
					return next, true
				}
			}
		}
	}
	return set, false
}

// countWrites adds a statement's writes to its tables.
func (w *workload) countWrites(s *statement) {
	n := float64(s.Count)
	rows := 0.0
	if s.root != nil {
		rows = s.baseline().out
		if s.RowsExamined > 0 && s.Count > 0 {
			rows = min(rows, float64(s.RowsExamined)/n)
		}
	}
	if s.insertInto != nil {
		if !s.insertBlock {
			rows = s.insertRows
		}
		s.insertInto.inserts += n * rows
		return
	}
	for _, a := range s.deleteFrom {
		if a.table != nil {
			a.table.deletes += n * rows
		}
	}
	for _, u := range s.updates {
		if u.access.table != nil {
			u.access.table.updates[u.column] += n * rows
		}
	}
}
