package history

import (
	"fmt"
	"slices"
)

// Anomalies that the reads of one transaction show.
const (
	OwnMissing   = "own append not seen"
	UndoneSeen   = "undone append seen"
	Unrepeatable = "unrepeatable read"
	GoesBack     = "read goes back"
	Fractured    = "fractured read"
	// StaleTxn: it misses what was acknowledged before the transaction began.
	StaleTxn = "stale read, by transaction"
	// StaleStatement: it misses what was acknowledged before the statement was sent.
	StaleStatement = "stale read, by statement"
)

// direct finds what needs no cycles.
func (h *checked) direct() {
	h.reads(func(i int, op Op, list []int) {
		h.single(i, op, list)
		for p, v := range list {
			if w, ok := h.writers[[2]int{op.Key, v}]; ok && w.txn != i {
				h.ofOthers(i, op.Key, v, w, p == len(list)-1)
			} else if !ok {
				h.found(OfNobody, fmt.Sprintf("%d has %d, which nobody appended", op.Key, v))
			}
		}
	})
	for i, t := range h.txns {
		if t.Outcome == Committed {
			h.internal(t)
			h.fractured(i, t)
		}
	}
}

// ofOthers looks at an element of another transaction in a read.
func (h *checked) ofOthers(reader, key, v int, w writer, last bool) {
	switch {
	case w.undone || h.txns[w.txn].Outcome == Aborted:
		h.found(AbortedRead, fmt.Sprintf("%v read %d of %d, which was rolled back", h.txns[reader], v, key))
	case last && !w.last:
		h.found(Intermediate, fmt.Sprintf("%v read %d up to %d, and its transaction appended more", h.txns[reader], key, v))
	}
}

// single finds reads that are older than they may be.
func (h *checked) single(i int, op Op, list []int) {
	o, t := h.order[op.Key], h.txns[i]
	known := o.acknowledged[min(len(list), len(o.elements))]
	if known < t.Begin {
		h.found(StaleTxn, fmt.Sprintf("%v read %d as %v, and %v was there before it began", t, op.Key, list, o.elements))
	}
	if known < op.At {
		h.found(StaleStatement, fmt.Sprintf("%v read %d as %v, and %v was there before the statement was sent", t, op.Key, list, o.elements))
	}
}

// known is what a transaction knows of a key.
type known struct {
	plain  []int // the last plain read since the last own append, nil: none
	late   bool  // that was after the savepoint
	own    []int // own appends, in order, without those taken back
	saved  int   // how many of them there were at the savepoint
	undone []int
}

// back is ROLLBACK TO. Reads since the savepoint do not count either: their locks are given up.
func (k *known) back() {
	if k.late {
		k.plain = nil
	}
	if k.saved < len(k.own) {
		k.undone = append(k.undone, k.own[k.saved:]...)
		k.own, k.plain = k.own[:k.saved:k.saved], nil
	}
}

// internal compares the operations of one transaction on one key with each other.
func (h *checked) internal(t Txn) {
	keys := map[int]*known{}
	for _, op := range t.Ops {
		k := keys[op.Key]
		if k == nil {
			k = &known{}
			keys[op.Key] = k
		}
		switch op.Kind {
		case Append:
			k.plain = nil
			if !op.Failed {
				k.own = append(k.own, op.Value)
			}
		case Save:
			for _, k := range keys {
				k.saved, k.late = len(k.own), false
			}
		case Undo:
			for _, k := range keys {
				k.back()
			}
		case Read, Lock:
			h.compare(t, op, k.own, k.undone, k.plain)
			if op.Kind == Read {
				k.plain, k.late = append(make([]int, 0, len(op.List)), op.List...), true
			}
		}
	}
}

// compare compares a read with what its transaction did and read before.
func (h *checked) compare(t Txn, op Op, own, undone, before []int) {
	for _, v := range own {
		if !slices.Contains(op.List, v) {
			h.found(OwnMissing, fmt.Sprintf("%v appended %d to %d and read %v", t, v, op.Key, op.List))
		}
	}
	for _, v := range undone {
		if slices.Contains(op.List, v) {
			h.found(UndoneSeen, fmt.Sprintf("%v took back %d of %d and read %v", t, v, op.Key, op.List))
		}
	}
	if op.Kind != Read || before == nil {
		return
	}
	if !slices.Equal(before, op.List) {
		h.found(Unrepeatable, fmt.Sprintf("%v read %d as %v and then as %v", t, op.Key, before, op.List))
	}
	if len(before) > len(op.List) {
		h.found(GoesBack, fmt.Sprintf("%v read %d as %v and then as %v", t, op.Key, before, op.List))
	}
}

// fractured finds plain reads, before anything that locks, that saw one part of a
// transaction and missed another.
func (h *checked) fractured(i int, t Txn) {
	seen := map[int]int{} // by key: how long the list was that was read last
	undone := undoneOf(t)
	for j, op := range t.Ops {
		if op.Kind != Read {
			break
		}
		if !undone[j] {
			seen[op.Key] = len(op.List)
		}
	}
	if len(seen) < 2 {
		return
	}
	for key, n := range seen {
		for _, v := range h.order[key].elements[:min(n, len(h.order[key].elements))] {
			w, ok := h.writers[[2]int{key, v}]
			if !ok || w.txn == i {
				continue
			}
			if op, missed := h.missed(w.txn, key, seen); missed {
				h.found(Fractured, fmt.Sprintf("%v read %d of %d and not %d of %d, of one transaction", t, v, key, op.Value, op.Key))
				return
			}
		}
	}
}

// missed is an append of a transaction to another key than this one that a read of it has not.
func (h *checked) missed(txn, key int, seen map[int]int) (Op, bool) {
	for _, op := range h.txns[txn].Ops {
		n, read := seen[op.Key]
		if !read || op.Kind != Append || op.Key == key || h.writers[[2]int{op.Key, op.Value}].undone {
			continue
		}
		if slices.Index(h.order[op.Key].elements, op.Value) >= n {
			return op, true
		}
	}
	return Op{}, false
}
