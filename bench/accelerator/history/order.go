package history

import "fmt"

// Anomalies that one read shows.
const (
	Duplicate    = "an element twice"
	OfNobody     = "an element of nobody"
	Incompatible = "incompatible orders"
	AbortedRead  = "G1a (aborted read)"
	Intermediate = "G1b (intermediate read)"
	LostAppend   = "lost append"
)

// writer is who appended an element.
type writer struct {
	txn    int
	undone bool // by ROLLBACK TO, or the statement failed
	last   bool // the transaction's last on that key that stays
}

// order is the versions of a key, oldest first.
type order struct {
	elements []int
	// acknowledged is for each place the earliest time at which the commit of an element
	// there or later was known; endless if none was.
	acknowledged []int64
}

const endless = int64(1<<63 - 1)

// checked is a history on the way.
type checked struct {
	*Result
	txns    []Txn
	writers map[[2]int]writer // by key and element
	order   map[int]*order
}

// writersOf finds who appended what, and what was taken back.
func (h *checked) writersOf() {
	h.writers = map[[2]int]writer{}
	for i, t := range h.txns {
		undone := undoneOf(t)
		last := map[int][2]int{}
		for j, op := range t.Ops {
			if op.Kind != Append {
				continue
			}
			id := [2]int{op.Key, op.Value}
			if _, twice := h.writers[id]; twice {
				h.found(Duplicate, fmt.Sprintf("%d was appended to %d by two transactions", op.Value, op.Key))
			}
			h.writers[id] = writer{txn: i, undone: undone[j]}
			if !undone[j] {
				last[op.Key] = id
			}
		}
		for _, id := range last {
			w := h.writers[id]
			w.last = true
			h.writers[id] = w
		}
	}
}

// undoneOf says which operations of a transaction were taken back by ROLLBACK TO, by place,
// and which appends were refused.
func undoneOf(t Txn) map[int]bool {
	undone := map[int]bool{}
	saved := 0
	for i, op := range t.Ops {
		switch op.Kind {
		case Append:
			undone[i] = op.Failed
		case Save:
			saved = i
		case Undo:
			for j := saved; j < i; j++ {
				undone[j] = true
			}
		case Read, Lock:
		}
	}
	return undone
}

// settled is a read's list without the reader's own elements that were taken back later.
func (h *checked) settled(txn int, op Op) []int {
	for _, v := range op.List {
		if w, ok := h.writers[[2]int{op.Key, v}]; ok && w.txn == txn && w.undone {
			var out []int
			for _, v := range op.List {
				if w := h.writers[[2]int{op.Key, v}]; w.txn != txn || !w.undone {
					out = append(out, v)
				}
			}
			return out
		}
	}
	return op.List
}

// orders finds each key's versions.
func (h *checked) orders() {
	h.order = map[int]*order{}
	h.reads(func(_ int, op Op, list []int) {
		o := h.order[op.Key]
		if o == nil {
			o = &order{}
			h.order[op.Key] = o
		}
		if len(list) > len(o.elements) {
			o.elements = list
		}
	})
	h.reads(func(_ int, op Op, list []int) {
		o := h.order[op.Key].elements
		for p, v := range list {
			if o[p] != v {
				h.found(Incompatible, fmt.Sprintf("%d was read as %v and %v", op.Key, list, o))
				return
			}
		}
	})
	for key, o := range h.order {
		h.acknowledge(key, o)
	}
	h.lost()
}

// acknowledge fills in when a key's elements were known to be committed.
func (h *checked) acknowledge(key int, o *order) {
	o.acknowledged = make([]int64, len(o.elements)+1)
	o.acknowledged[len(o.elements)] = endless
	seen := map[int]bool{}
	for p := len(o.elements) - 1; p >= 0; p-- {
		v := o.elements[p]
		if seen[v] {
			h.found(Duplicate, fmt.Sprintf("%d has %d twice: %v", key, v, o.elements))
		}
		seen[v] = true
		o.acknowledged[p] = o.acknowledged[p+1]
		if w, ok := h.writers[[2]int{key, v}]; ok {
			if t := h.txns[w.txn]; t.Outcome == Committed && t.End < o.acknowledged[p] {
				o.acknowledged[p] = t.End
			}
		}
	}
}

// lost finds appends of committed transactions that the last reads have not.
func (h *checked) lost() {
	there := map[[2]int]bool{}
	final := false
	for _, t := range h.txns {
		if t.Process >= 0 {
			continue
		}
		final = true
		for _, op := range t.Ops {
			for _, v := range op.List {
				there[[2]int{op.Key, v}] = true
			}
		}
	}
	for id, w := range h.writers {
		if final && !w.undone && h.txns[w.txn].Outcome == Committed && !there[id] {
			h.found(LostAppend, fmt.Sprintf("%d, committed, is not in the last read of %d", id[1], id[0]))
		}
	}
}

// reads goes through the reads of committed transactions, with their settled lists.
func (h *checked) reads(do func(txn int, op Op, list []int)) {
	for i, t := range h.txns {
		if t.Outcome != Committed {
			continue
		}
		for _, op := range t.Ops {
			if op.Kind == Read || op.Kind == Lock {
				do(i, op, h.settled(i, op))
			}
		}
	}
}

// kept is reads without those that were taken back: MariaDB gives up the locks taken since
// the savepoint, so at no level they still hold when the transaction ends.
func (h *checked) kept(do func(txn int, op Op, list []int)) {
	for i, t := range h.txns {
		if t.Outcome != Committed {
			continue
		}
		undone := undoneOf(t)
		for j, op := range t.Ops {
			if (op.Kind == Read || op.Kind == Lock) && !undone[j] {
				do(i, op, h.settled(i, op))
			}
		}
	}
}
