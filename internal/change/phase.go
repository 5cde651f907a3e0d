package change

import "slices"

// A transaction may have phases (Change.Phase). Those of the move of an
// endpoint are: the server listens on the new endpoint too; every client is
// switched; the old endpoint is closed. Each is in effect and healthy before
// the next begins, and undo goes the same way back, so that at every moment
// each client's endpoint is served.

// all are the numbers of all changes.
func (t *txn) all() []int {
	out := make([]int, len(t.Changes))
	for i := range out {
		out[i] = i
	}
	return out
}

// phases are the numbers of the changes of each phase, in order.
func (t *txn) phases() [][]int {
	var out [][]int
	for i := range t.Changes {
		if i == 0 || t.Changes[i].Phase != t.Changes[i-1].Phase {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], i)
	}
	return out
}

// part is one phase of a transaction that is being put back.
type part struct {
	t  *txn
	of []int // its changes, ascending
	// last of the transaction's phases: nothing builds on it.
	last bool
}

func (p part) phase() int { return p.t.Changes[p.of[0]].Phase }

// stage is what is put back before services are activated.
type stage []part

// stages of putting back transactions, newest first. Those without phases
// share a stage with their neighbours, so that a service is activated once.
func stages(txs []*txn) []stage {
	var out []stage
	joins := false // the next one may join the last stage
	for _, t := range txs {
		phases := t.phases()
		for n, of := range slices.Backward(phases) {
			p := part{t, of, n == len(phases)-1}
			if len(phases) == 1 && joins && !out[len(out)-1].needs(t) {
				out[len(out)-1] = append(out[len(out)-1], p)
			} else {
				out = append(out, stage{p})
			}
			joins = len(phases) == 1
		}
	}
	return out
}

// needs reports whether a transaction of the stage needs what t prepared.
func (s stage) needs(t *txn) bool {
	return slices.ContainsFunc(s, func(p part) bool { return t.prepares(p.t) })
}

// blocked reports whether a later phase of the same transaction, or what it
// prepared, is not back: then this one must stay, because clients may still use
// what it made.
func (u *putback) blocked(p part) bool {
	return !p.last && u.stuck[p.t.ID] ||
		slices.ContainsFunc(u.txs, func(o *txn) bool { return (u.stuck[o.ID] || u.x.openElsewhere(o)) && p.t.prepares(o) })
}
