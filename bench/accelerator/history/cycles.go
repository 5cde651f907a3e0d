package history

import (
	"fmt"
	"strings"
)

// Classes of cycles (Adya 1999; Elle's names). With RealTime behind it, a class needs
// the order of real time.
const (
	G0       = "G0 (ww)"
	G1c      = "G1c (ww, wr)"
	GSingle  = "G-single (one rw)"
	G2       = "G2-item (several rw)"
	RealTime = ", with real time"
)

// mostWitnesses bounds how many cycles of a class are counted, mostTries how many edges
// are tried for one.
const (
	mostWitnesses = 20
	mostTries     = 2000
)

// cycles finds the classes of cycles that are there. With real time only those are looked
// for that are not there without.
func (h *checked) cycles() {
	g := h.dependencies()
	for _, more := range []struct {
		kinds dependency
		name  string
	}{{0, ""}, {time, RealTime}} {
		for _, c := range []struct {
			class string
			all   dependency // of the cycle
			one   dependency // one edge of this kind is in it
			rest  dependency // the way back
		}{
			{G0, ww, ww, ww}, {G1c, ww | wr, wr, ww | wr}, {GSingle, ww | wr | rw, rw, ww | wr}, {G2, ww | wr | rw, rw, ww | wr | rw},
		} {
			if more.kinds != 0 && h.Counts[c.class] > 0 {
				continue
			}
			h.search(g, c.class+more.name, c.all|more.kinds, c.one, c.rest|more.kinds, c.class == G2)
		}
	}
}

// search counts cycles that begin with an edge of kind one and go back by edges of kinds
// rest. several: only those that have no way back without another rw.
func (h *checked) search(g *graph, class string, all, one, rest dependency, several bool) {
	number, size := g.components(all)
	tries, found := 0, 0
	for from := range g.out {
		if size[number[from]] < 2 {
			continue
		}
		for _, e := range g.out[from] {
			if e.kind != one || number[e.to] != number[from] {
				continue
			}
			if tries++; tries > mostTries || found == mostWitnesses {
				return
			}
			way := g.way(e.to, from, rest, number)
			if way == nil || several && g.way(e.to, from, rest&^rw, number) != nil {
				continue
			}
			found++
			h.found(class, h.told(g, append([]int{from}, way...)))
		}
	}
}

// way is a shortest way between nodes of one component, both included, nil if there is none.
func (g *graph) way(from, to int, kinds dependency, number []int) []int {
	if len(g.visit) < len(g.out) {
		g.visit, g.came = make([]int, len(g.out)), make([]int, len(g.out))
	}
	g.visits++
	g.visit[from], g.came[from] = g.visits, -1
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == to {
			var back []int
			for ; at >= 0; at = g.came[at] {
				back = append([]int{at}, back...)
			}
			return back
		}
		for _, e := range g.out[at] {
			if g.visit[e.to] != g.visits && e.kind&kinds != 0 && number[e.to] == number[from] {
				g.visit[e.to], g.came[e.to] = g.visits, at
				queue = append(queue, e.to)
			}
		}
	}
	return nil
}

// told is a cycle in words.
func (h *checked) told(g *graph, nodes []int) string {
	var out []string
	for _, n := range nodes {
		if n < len(h.txns) {
			out = append(out, fmt.Sprintf("%v", h.txns[n]))
		}
	}
	return strings.Join(out, " → ")
}
