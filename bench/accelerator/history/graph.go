package history

import "sort"

// dependency is what an edge from one transaction to another stands for.
type dependency uint8

const (
	ww   dependency = 1 << iota // the second overwrites what the first wrote
	wr                          // the second reads what the first wrote
	rw                          // the second overwrites what the first read
	time                        // the second began when the first had ended
)

// edge is to a transaction, or to a moment.
type edge struct {
	to   int
	kind dependency
}

// graph has a node per transaction, and one per moment at which a transaction ended.
type graph struct {
	out [][]edge
	// visit and came are those of searches (way): the number of the last that came by, and
	// from where it came.
	visit, came []int
	visits      int
}

func (g *graph) add(from, to int, kind dependency) {
	if from != to {
		g.out[from] = append(g.out[from], edge{to, kind})
	}
}

// dependencies is the graph of transactions that may have committed.
func (h *checked) dependencies() *graph {
	g := &graph{out: make([][]edge, len(h.txns))}
	for key, o := range h.order {
		before := -1
		for _, v := range o.elements {
			w, ok := h.writers[[2]int{key, v}]
			if !ok {
				continue
			}
			if before >= 0 {
				g.add(before, w.txn, ww)
			}
			before = w.txn
		}
	}
	h.kept(func(i int, op Op, list []int) {
		if n := len(list); n > 0 {
			if w, ok := h.writers[[2]int{op.Key, list[n-1]}]; ok {
				g.add(w.txn, i, wr)
			}
		}
		if next := h.overwriter(op.Key, len(list)); next >= 0 {
			g.add(i, next, rw)
		}
	})
	h.moments(g)
	return g
}

// overwriter is the transaction that appended what a list of so many elements has not, -1
// if there is none.
func (h *checked) overwriter(key, length int) int {
	o := h.order[key].elements
	for _, v := range o[min(length, len(o)):] {
		if w, ok := h.writers[[2]int{key, v}]; ok {
			return w.txn
		}
	}
	return -1
}

// moments adds the order of real time: each end is a node, each leads to the next, and
// the last one before a transaction began to that.
func (h *checked) moments(g *graph) {
	var ended []int
	for i, t := range h.txns {
		if t.Outcome == Committed {
			ended = append(ended, i)
		}
	}
	sort.Slice(ended, func(a, b int) bool { return h.txns[ended[a]].End < h.txns[ended[b]].End })
	base := len(g.out)
	g.out = append(g.out, make([][]edge, len(ended))...)
	for n, i := range ended {
		g.add(i, base+n, time)
		if n > 0 {
			g.add(base+n-1, base+n, time)
		}
	}
	for i, t := range h.txns {
		if n := sort.Search(len(ended), func(n int) bool { return h.txns[ended[n]].End >= t.Begin }); n > 0 {
			g.add(base+n-1, i, time)
		}
	}
}

// components numbers the strongly connected components of the graph with edges of some
// kinds alone. size is by number.
func (g *graph) components(kinds dependency) (number []int, size []int) {
	t := &tarjan{g: g, kinds: kinds, index: make([]int, len(g.out)), low: make([]int, len(g.out)), number: make([]int, len(g.out))}
	for i := range t.number {
		t.number[i] = -1
	}
	for root := range g.out {
		if t.index[root] == 0 {
			t.from(root)
		}
	}
	return t.number, t.size
}

// tarjan is Tarjan's algorithm without recursion.
type tarjan struct {
	g          *graph
	kinds      dependency
	index, low []int // from 1, in the order of the visits
	number     []int // -1: not known yet
	size       []int
	open       []int
	count      int
}

// frame is a node that is visited, and its edge that is next.
type frame struct{ node, next int }

func (t *tarjan) from(root int) {
	calls := []frame{t.enter(root)}
	for len(calls) > 0 {
		f := &calls[len(calls)-1]
		if f.next == len(t.g.out[f.node]) {
			node := f.node
			t.leave(node)
			if calls = calls[:len(calls)-1]; len(calls) > 0 {
				up := calls[len(calls)-1].node
				t.low[up] = min(t.low[up], t.low[node])
			}
			continue
		}
		e := t.g.out[f.node][f.next]
		f.next++
		switch {
		case e.kind&t.kinds == 0:
		case t.index[e.to] == 0:
			calls = append(calls, t.enter(e.to))
		case t.number[e.to] < 0:
			t.low[f.node] = min(t.low[f.node], t.index[e.to])
		}
	}
}

func (t *tarjan) enter(node int) frame {
	t.count++
	t.index[node], t.low[node] = t.count, t.count
	t.open = append(t.open, node)
	return frame{node: node}
}

// leave closes a component if node was its first.
func (t *tarjan) leave(node int) {
	if t.low[node] != t.index[node] {
		return
	}
	n := len(t.open)
	for t.open[n-1] != node {
		n--
	}
	for _, member := range t.open[n-1:] {
		t.number[member] = len(t.size)
	}
	t.size = append(t.size, len(t.open)-n+1)
	t.open = t.open[:n-1]
}
