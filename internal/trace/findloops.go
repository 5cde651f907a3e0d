package trace

import "strings"

// loops are searched for once.
func (st *stream) loops() []loop {
	if !st.looped {
		st.found, st.looped = loops(st.rows()), true
	}
	return st.found
}

// maxGroup is the longest group of statements looked for as a loop's body; a
// longer one is rarely repeated in one request, and the search is quadratic in
// it.
const maxGroup = 12

// loop is a group of statements that is repeated.
type loop struct {
	calls []*call
	group []string // fingerprints of one turn
	turns int
}

// loops finds where a group of at least two statements, of which at least one
// writes, comes at least three times one after another. Groups that only read
// are told statement by statement as n+1.
func loops(rows []*call) []loop {
	var out []loop
	for i := 0; i < len(rows); {
		best, bestTurns := 0, 0
		for size := 2; size <= maxGroup && i+fewest*size <= len(rows); size++ {
			if !loopBody(rows[i : i+size]) {
				continue
			}
			turns := 1
			for i+(turns+1)*size <= len(rows) && sameGroup(rows[i:i+size], rows[i+turns*size:]) {
				turns++
			}
			if turns >= fewest && turns*size > best*bestTurns {
				best, bestTurns = size, turns
			}
		}
		if best == 0 {
			i++
			continue
		}
		l := loop{calls: rows[i : i+best*bestTurns], turns: bestTurns}
		for _, c := range rows[i : i+best] {
			l.group = append(l.group, c.sql.fingerprint)
		}
		out = append(out, l)
		i += best * bestTurns
	}
	return out
}

func sameGroup(a, b []*call) bool {
	for i := range a {
		if a[i].sql.fingerprint != b[i].sql.fingerprint {
			return false
		}
	}
	return true
}

// loopBody: at least two different statements, at least one that writes.
func loopBody(group []*call) bool {
	writes, different := false, false
	for _, c := range group {
		writes = writes || !c.sql.reads
		different = different || c.sql.fingerprint != group[0].sql.fingerprint
	}
	return writes && different
}

// loopCalls are all calls inside such loops.
func (st *stream) loopCalls() map[*call]bool {
	out := map[*call]bool{}
	for _, l := range st.loops() {
		for _, c := range l.calls {
			out[c] = true
		}
	}
	return out
}

// findLoops: a group of statements for each item. The group's statements would
// do once each for all items.
func findLoops(st *stream) []occurrence {
	var out []occurrence
	for _, l := range st.loops() {
		out = append(out, occurrence{kind: QueriesInLoop, what: strings.Join(l.group, "; "), calls: l.calls, could: len(l.group), statements: l.group, keys: varyingOf(l.calls),
			better: "each of these statements once for all items: read with IN (…), write with several rows"})
	}
	return out
}
