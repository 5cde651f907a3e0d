package digest

import (
	"bytes"

	"kasoku/internal/accesslog"
)

// operationMark stands in a slot's key between its path and what was asked for there.
const operationMark = "\x00?"

// maxOperations of one path and method are told apart while the log is read.
const maxOperations = 256

// operation is the slot of what a query asks a slot's path for; the slot itself, if
// nothing tells.
func (t *slotTable) operation(s *slot, target []byte, at position) *slot {
	mark := bytes.IndexByte(target, '?')
	if s.path == "" {
		return s
	}
	if mark < 0 {
		if s.dispatch != nil {
			s.dispatch.Requests++
		} else {
			s.plain++
		}
		return s
	}
	if s.dispatch == nil {
		s.dispatch = &accesslog.Dispatch{Requests: s.plain}
		s.plain = 0
	}
	query, _, _ := bytes.Cut(target[mark+1:], []byte("#"))
	t.asked = s.dispatch.Operation(t.asked[:0], query)
	if len(t.asked) == 0 {
		return s
	}
	t.key = append(append(append(append(append(t.key[:0], s.method...), ' '), s.path...), operationMark...), t.asked...)
	if sub := t.find(t.key); sub != nil {
		return sub
	}
	if s.operations >= maxOperations {
		return s
	}
	s.operations++
	method, path := s.method, s.path
	if t.count >= t.limit {
		t.fold()
		path = t.learnt.Generalize(path)
	}
	key := method + " " + path + operationMark + string(t.asked)
	if sub := t.find([]byte(key)); sub != nil {
		return sub
	}
	return t.insert(&slot{key: key, method: method, path: path, asked: string(t.asked), at: at})
}

// keepDispatch puts what the slots saw of each method and path to the slots that are left
// of them; a path that is left with none begins anew.
func (t *slotTable) keepDispatch(slots []*slot, name func(*slot) string) {
	for _, s := range slots {
		if s.path == "" || s.asked != "" || s.dispatch == nil && s.plain == 0 {
			continue
		}
		path := name(s)
		key := s.method + " " + path
		into := t.find([]byte(key))
		if into == nil {
			if s.dispatch == nil || 4*t.count >= 3*t.limit { // room for what comes is left
				continue
			}
			into = t.insert(&slot{key: key, method: s.method, path: path, at: s.at, varies: true})
		}
		into.plain += s.plain
		into.operations += s.operations
		if s.dispatch != nil {
			if into.dispatch == nil {
				into.dispatch = &accesslog.Dispatch{}
			}
			into.dispatch.Merge(s.dispatch)
		}
	}
}

// dispatchOf joins what the slots saw of each path, whatever the method; name is how a
// slot's path is called.
func dispatchOf(slots []*slot, name func(*slot) string) map[string]*accesslog.Dispatch {
	out := map[string]*accesslog.Dispatch{}
	for _, s := range slots {
		if s.path == "" || s.dispatch == nil && s.plain == 0 {
			continue
		}
		path := name(s)
		if out[path] == nil {
			out[path] = &accesslog.Dispatch{}
		}
		out[path].Requests += s.plain
		if s.dispatch != nil {
			out[path].Merge(s.dispatch)
		}
	}
	return out
}

// moments of numbers.
type moments struct{ count, sum, squares float64 }

func (m *moments) add(count int64, sum, squares float64) {
	m.count, m.sum, m.squares = m.count+float64(count), m.sum+sum, m.squares+squares
}

// within is the sum of squared distances to the mean.
func (m *moments) within() float64 {
	if m.count == 0 {
		return 0
	}
	return max(m.squares-m.sum*m.sum/m.count, 0)
}

// explained is the share of the variance that the groups explain, less what as many
// groups explain by chance (omega squared); known is false if there is none.
func explained(groups map[string]*moments) (share float64, known bool) {
	var all moments
	within := 0.0
	for _, g := range groups {
		all.count, all.sum, all.squares = all.count+g.count, all.sum+g.sum, all.squares+g.squares
		within += g.within()
	}
	total, free := all.within(), all.count-float64(len(groups))
	if total <= 1e-9*all.squares || free < 1 {
		return 0, false
	}
	chance := within / free
	return (total - within - float64(len(groups)-1)*chance) / (total + chance), true
}

// leastExplained of times or sizes by a parameter whose name does not say that it
// dispatches.
const leastExplained = 0.05

// dispatchers are the parameters by which the requests of each route are split.
func (run *accessRun) dispatchers(slots []*slot, name func(*slot) string) map[string][]string {
	out := map[string][]string{}
	byRoute := map[string][]*slot{}
	for _, s := range slots {
		if s.asked != "" {
			byRoute[name(s)] = append(byRoute[name(s)], s)
		}
	}
	for route, d := range dispatchOf(slots, name) {
		for _, p := range d.Chosen(route) {
			if p.Sure || matters(byRoute[route], p.Name) {
				out[route] = append(out[route], p.Name)
			}
		}
	}
	return out
}

// matters: the parameter's values explain some of the times or sizes, or nothing is known
// of these.
func matters(slots []*slot, name string) bool {
	times, sizes := map[string]*moments{}, map[string]*moments{}
	for _, s := range slots {
		value := accesslog.OperationOf(s.asked, []string{name})
		if times[value] == nil {
			times[value], sizes[value] = &moments{}, &moments{}
		}
		times[value].add(s.time.count, s.time.total.Seconds(), s.timeSquares)
		if s.sized {
			sizes[value].add(s.count, float64(s.bytes), s.byteSquares)
		}
	}
	byTime, timed := explained(times)
	bySize, sized := explained(sizes)
	return !timed && !sized || byTime >= leastExplained || bySize >= leastExplained
}
