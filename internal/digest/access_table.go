package digest

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"kasoku/internal/accesslog"
)

// slotTable finds a request's slot by its method and its path's shape. It is
// open-addressed; a slot is compared by its hash first.
//
// The number of slots is bounded. When it is full, what was seen so far
// teaches which words are slugs, slots of one route become one, and if that
// does not make room, the rarest become "(others)".
type slotTable struct {
	run     *accessRun
	keep    bool // numbers stay in the shapes
	places  []*slot
	count   int
	limit   int
	key     []byte
	asked   []byte            // scratch, as key
	learnt  *accesslog.Routes // after the table was full
	byPath  map[string]*slot  // of patterns
	evicted int64             // shapes that became "(others)"
}

// maxByPath paths are remembered for patterns.
const maxByPath = 1 << 15

// keyRoom is enough for most keys, and for workers not to share cache lines.
const keyRoom = 1 << 10

func (t *slotTable) init(run *accessRun) {
	t.run = run
	t.keep = run.o.Routes.Numbers > 2
	t.limit = max(minSlots, allSlots/run.o.Workers)
	if run.slots > 0 {
		t.limit = run.slots
	}
	t.places = make([]*slot, 1024)
	t.key = make([]byte, 0, keyRoom)
	if len(run.o.Routes.Patterns) > 0 {
		t.byPath = map[string]*slot{}
	}
}

// add sums one request up.
func (t *slotTable) add(r *accesslog.Row, at position) {
	if t.byPath != nil && t.addPattern(r, at) {
		return
	}
	key, counted, path := t.key[:0], false, len(r.Method) > 0
	if path {
		key = append(append(key, r.Method...), ' ')
		key, counted, path = accesslog.AppendShape(key, r.Target, t.keep)
	}
	if !path {
		key = append(append(key[:0], otherMethod...), ' ')
		if len(r.Method) == 0 {
			key = append(key, noRequestRoute...)
		} else {
			key = append(key, noPathRoute...)
		}
	}
	t.key = key
	s := t.find(key)
	if s == nil {
		s = t.miss(key, path, at)
	}
	s = t.operation(s, r.Target, at)
	if !s.varies && counted {
		s.note(s.path, r.Target)
	}
	if at <= s.at {
		s.at, s.example = at, exampleOf(r.Target)
	}
	s.add(r)
}

// addPattern sums the request up if a pattern fits its path.
func (t *slotTable) addPattern(r *accesslog.Row, at position) bool {
	t.key = append(append(append(t.key[:0], r.Method...), ' '), pathOf(r.Target)...)
	s, known := t.byPath[string(t.key)]
	if !known {
		method, path, _ := strings.Cut(string(t.key), " ")
		if text := t.run.patterns.Match(path); text != "" {
			if !knownMethods[method] {
				method = otherMethod
			}
			key := []byte(method + " \x00" + text)
			if s = t.find(key); s == nil {
				s = t.insert(&slot{key: string(key), method: method, route: text, at: at, varies: true})
			}
		}
		if len(t.byPath) >= maxByPath {
			clear(t.byPath)
		}
		if len(path) <= maxExample*4 {
			t.byPath[string(t.key)] = s
		}
	}
	if s == nil {
		return false
	}
	if at <= s.at {
		s.at, s.example = at, exampleOf(r.Target)
	}
	s.add(r)
	return true
}

// pathOf cuts the query off; targets of proxies keep their host.
func pathOf(target []byte) []byte {
	if len(target) > 0 && target[0] != '/' {
		return []byte(accesslog.PathOf(string(target)))
	}
	for i, c := range target {
		if c == '?' || c == '#' {
			return target[:i]
		}
	}
	return target
}

func (t *slotTable) find(key []byte) *slot {
	hash := maphash.Bytes(slotSeed, key)
	mask := uint64(len(t.places) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := t.places[i]
		if s == nil {
			return nil
		}
		if s.hash == hash && s.key == string(key) {
			return s
		}
	}
}

// insert adds a slot that find did not find.
func (t *slotTable) insert(s *slot) *slot {
	if 2*(t.count+1) > len(t.places) {
		old := t.places
		t.places = make([]*slot, 2*len(old))
		for _, s := range old {
			if s != nil {
				t.place(s)
			}
		}
	}
	s.hash = maphash.String(slotSeed, s.key)
	t.place(s)
	t.count++
	return s
}

func (t *slotTable) place(s *slot) {
	mask := uint64(len(t.places) - 1)
	i := s.hash & mask
	for t.places[i] != nil {
		i = (i + 1) & mask
	}
	t.places[i] = s
}

// miss makes a slot for a key that is new, or finds the one that it belongs
// to by what was learnt.
func (t *slotTable) miss(key []byte, path bool, at position) *slot {
	method, rest, _ := strings.Cut(string(key), " ")
	if !knownMethods[method] {
		method = otherMethod
	}
	if path && t.learnt != nil {
		rest = t.learnt.Generalize(rest)
	}
	return t.get(method, rest, path, at)
}

// get finds or makes the slot of a method and shape.
func (t *slotTable) get(method, shape string, path bool, at position) *slot {
	key := method + " " + shape
	if s := t.find([]byte(key)); s != nil {
		return s
	}
	if t.count >= t.limit {
		t.fold()
		if path {
			shape = t.learnt.Generalize(shape)
			key = method + " " + shape
			if s := t.find([]byte(key)); s != nil {
				return s
			}
		}
	}
	s := &slot{key: key, method: method, at: at}
	if path {
		s.path = shape
	} else {
		s.route = shape
	}
	return t.insert(s)
}

// all slots, in an order that depends on the requests alone.
func (t *slotTable) all() []*slot {
	var out []*slot
	for _, s := range t.places {
		if s != nil {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *slot) int { return strings.Compare(a.key, b.key) })
	return out
}

// fold makes room.
func (t *slotTable) fold() {
	slots := t.all()
	clear(t.byPath)
	o := t.run.o.Routes
	o.Patterns = nil
	t.learnt = learnRoutes(o, slots)
	t.places, t.count = make([]*slot, 1024), 0
	slices.SortStableFunc(slots, func(a, b *slot) int { return cmp.Compare(b.count, a.count) })
	name := func(s *slot) string { return t.learnt.Generalize(s.learnt()) }
	dispatch := dispatchOf(slots, name)
	for _, s := range slots {
		if s.count == 0 { // a path that is asked for operations alone
			continue
		}
		shape := s.route
		if s.path != "" {
			shape = name(s)
		}
		key, asked := s.folded(shape, dispatch[shape])
		into := t.find([]byte(key))
		// Half of the room is for what comes.
		if into == nil && t.count >= t.limit/2 && s.path != "" {
			t.evicted++
			into = t.others(s)
		}
		if into != nil {
			into.merge(s)
			continue
		}
		n := *s
		n.key, n.asked = key, asked
		n.dispatch, n.plain, n.operations = nil, 0, 0
		if s.path != "" {
			n.path, n.numbers, n.varies = shape, nil, true
		}
		t.insert(&n)
	}
	t.keepDispatch(slots, name)
}

// folded is the key of a slot whose path has become a shape, and the operation that it is
// still told apart by.
func (s *slot) folded(shape string, d *accesslog.Dispatch) (key, asked string) {
	key = s.method + " " + shape
	if s.asked != "" && d != nil {
		if asked = accesslog.OperationOf(s.asked, d.Known()); asked != "" {
			key += operationMark + asked
		}
	}
	if s.path == "" {
		key = s.key
	}
	return key, asked
}

// others is the slot for those that find no room, as s, the first of them.
func (t *slotTable) others(s *slot) *slot {
	key := otherMethod + " " + othersRoute
	if into := t.find([]byte(key)); into != nil {
		return into
	}
	return t.insert(&slot{key: key, method: otherMethod, route: othersRoute, at: s.at, example: s.example, varies: true})
}

// learnRoutes teaches the shapes of slots.
func learnRoutes(o accesslog.RouteOptions, slots []*slot) *accesslog.Routes {
	routes, err := accesslog.NewRoutes(o)
	if err != nil { // only patterns can be wrong
		panic(err)
	}
	for _, s := range slots {
		if s.path != "" {
			routes.AddCount(s.learnt(), s.count)
		}
	}
	return routes
}

// knownMethods of HTTP, WebDAV and caches.
var knownMethods = map[string]bool{"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true, "CONNECT": true, "OPTIONS": true, "TRACE": true,
	"PATCH": true, "PROPFIND": true, "PROPPATCH": true, "MKCOL": true, "COPY": true, "MOVE": true, "LOCK": true, "UNLOCK": true, "REPORT": true,
	"SEARCH": true, "QUERY": true, "PURGE": true, "BAN": true, otherMethod: true}
