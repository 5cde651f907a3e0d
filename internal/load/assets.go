package load

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goccy/go-yaml/ast"
)

// autoAssets is how a step fetches what its page refers to (assets: auto).
type autoAssets struct {
	route int  // of assets whose own path no route names
	step  step // how each is requested and checked; its path is not used
}

// autoWord in the list of a step's assets stands for those of the page.
const autoWord = "auto"

// readAssetsKey reads assets: a path, auto, or a list of both.
func (c *compiler) readAssetsKey(st *step, n ast.Node) {
	for _, p := range c.texts(n, st.name+": assets") {
		if p.key == autoWord {
			c.autoAssets(st, p)
			continue
		}
		why := badPath(p.key)
		if strings.Contains(p.key, "${") {
			why = "holds a variable; an asset is the same for everybody, so make it a step"
		}
		if why != "" {
			c.fail(p.at, "%s: asset %q %s; or write auto for all that the page refers to", st.name, p.key, why)
			continue
		}
		target := asciiPath(p.key)
		i, known := c.assets[target]
		if !known {
			i = len(c.out.assets)
			c.assets[target] = i
			label, _, _ := strings.Cut(target, "?")
			a := asset{target: []byte(target), route: c.route("GET " + label)}
			a.step = assetStep("asset "+target, a.route)
			a.step.path.addLiteral(a.target)
			c.out.assets = append(c.out.assets, a)
		}
		st.assets = append(st.assets, i)
	}
}

func (c *compiler) autoAssets(st *step, p pair) {
	if st.auto != nil {
		c.fail(p.at, "%s: assets has auto twice; keep one", st.name)
		return
	}
	// Their own paths may have routes that only score.weights names, as the
	// places where redirects lead.
	c.follows = true
	label := st.name
	if st.route < len(c.out.routes) {
		label = c.out.routes[st.route]
	}
	route := c.route(label + " (assets)")
	st.auto = &autoAssets{route: route, step: assetStep("assets of "+st.name, route)}
}

func assetStep(name string, route int) step {
	return step{name: name, method: "GET", route: route, repeat: 1, expect: expectation{statuses: []int{200}, size: -1}}
}

// assetQueue is what a user has still to fetch for a page. It keeps its
// memory from page to page.
type assetQueue struct {
	memory  *assetMemory // of the run
	targets [][]byte
	next    int
	foreign int64 // links to other origins so far, which are not fetched
	scan    assetScan
}

// begin empties the queue. listed are the assets that the step names itself:
// they are fetched apart, not twice.
func (q *assetQueue) begin(all []asset, listed []int) {
	q.targets, q.next = q.targets[:0], 0
	for _, i := range listed {
		q.targets = appendTargetOnce(q.targets, all[i].target)
	}
	q.next = len(q.targets)
}

// page adds what an HTML page refers to. body is decoded; target is the
// page's own, after redirects.
func (q *assetQueue) page(body, target []byte) { q.add(body, target, false) }

// sheet adds what a style sheet refers to.
func (q *assetQueue) sheet(body, target []byte) { q.add(body, target, true) }

// kept adds what a target refers to that the browser has in its cache, if it
// is a style sheet that some user has fetched.
func (q *assetQueue) kept(target []byte) {
	if list := q.memory.sheetOf(target); list != nil {
		q.take(list.targets)
	}
}

// pop gives the next target to fetch. It holds until the next begin.
func (q *assetQueue) pop() (target []byte, ok bool) {
	if q.next >= len(q.targets) {
		return nil, false
	}
	q.next++
	return q.targets[q.next-1], true
}

func (q *assetQueue) add(body, target []byte, sheet bool) {
	key := listKey(body, target, sheet)
	list := q.memory.get(key)
	if list == nil {
		s := &q.scan
		s.found = s.found[:0]
		s.begin(target, q.memory.inside)
		if sheet {
			s.sheet(body)
		} else {
			s.page(body)
		}
		q.foreign += int64(s.foreign)
		q.take(s.found)
		if sheet || q.memory.again(key) {
			list = q.memory.put(key, s.found, s.foreign)
		}
	} else {
		q.foreign += int64(list.foreign)
		q.take(list.targets)
	}
	if sheet && list != nil {
		q.memory.noteSheet(target, list)
	}
}

func (q *assetQueue) take(targets [][]byte) {
	for _, t := range targets {
		if len(q.targets) >= maxFound {
			return
		}
		q.targets = appendTargetOnce(q.targets, t)
	}
}

const (
	// maxLists that a run remembers, and the bytes of their targets. A site
	// has some hundred pages that are alike for all.
	maxLists     = 2048
	maxListBytes = 16 << 20
	// seenSlots of pages met once. A page that is different for each user is
	// not remembered.
	seenSlots = 4096
)

// assetMemory remembers what pages and style sheets refer to, over all users
// of a run: equal bytes need not be looked through again.
type assetMemory struct {
	inside func([]byte) ([]byte, bool) // of the run's target
	seen   [seenSlots]atomic.Uint64
	mu     sync.RWMutex
	lists  map[uint64]*assetList
	sheets map[string]*assetList // by target
	bytes  int
}

// assetList does not change.
type assetList struct {
	targets [][]byte
	foreign int
}

func newAssetMemory(inside func([]byte) ([]byte, bool)) *assetMemory {
	return &assetMemory{inside: inside, lists: map[uint64]*assetList{}, sheets: map[string]*assetList{}}
}

// listKey of a body at a place. Equal keys of different bodies are as likely
// as any collision of 64 bits: never in practice.
func listKey(body, target []byte, sheet bool) uint64 {
	key := maphash.Bytes(targetSeed, body) ^ bits.RotateLeft64(maphash.Bytes(targetSeed, target), 32)
	if sheet {
		key = ^key
	}
	return key
}

func (m *assetMemory) get(key uint64) *assetList {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.lists[key]
}

// again reports whether a key came before, not long ago.
func (m *assetMemory) again(key uint64) bool {
	return m.seen[key%seenSlots].Swap(key) == key
}

// put copies a list. A full memory begins anew.
func (m *assetMemory) put(key uint64, targets [][]byte, foreign int) *assetList {
	list := &assetList{foreign: foreign, targets: make([][]byte, len(targets))}
	size := 0
	for i, t := range targets {
		list.targets[i] = append([]byte(nil), t...)
		size += len(t)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lists) >= maxLists || m.bytes+size > maxListBytes {
		clear(m.lists)
		clear(m.sheets)
		m.bytes = 0
	}
	m.lists[key] = list
	m.bytes += size
	return list
}

func (m *assetMemory) sheetOf(target []byte) *assetList {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.sheets[string(target)]
}

func (m *assetMemory) noteSheet(target []byte, list *assetList) {
	if m.sheetOf(target) == list {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.sheets) < maxLists && len(target) <= maxTarget {
		m.sheets[string(target)] = list
	}
}
