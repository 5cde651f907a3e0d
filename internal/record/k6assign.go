package record

import "slices"

// assignment to a name or to a part of its value, if one stands here: what is
// surely done is done, else the value is no longer known.
func (s *k6Script) assignment() {
	start := s.at
	name := s.peek(0).text
	if _, known := s.values[name]; !known || s.is(-1, ".") || s.is(1, ":") {
		if !known && s.is(-1, ",") && s.is(1, "=") { // let a = 1, b = 2
			s.declared(name, unknownJS(name))
			s.assignment()
			return
		}
		if name == "Object" && s.is(1, ".") && s.is(2, "assign") && s.is(3, "(") {
			s.expression()
		}
		s.at = start + 1
		return
	}
	s.single = s.decided(-1)
	sure, removed := s.sure(name), s.is(-1, "delete")
	before := s.is(-1, "+") && s.is(-2, "+") || s.is(-1, "-") && s.is(-2, "-")
	s.at++
	path := s.path()
	operator, v := s.assigned(name, path, sure)
	switch {
	case removed:
		s.set(name, path, undefinedJS{}, sure)
	case before && len(path) == 0:
		s.set(name, path, s.counted(s.values[name], s.is(-1-(s.at-start), "+")), sure)
	case operator:
		s.set(name, path, v, sure)
		return
	}
	s.at = start + 1
}

// path of fields behind a name: .a["b"].
func (s *k6Script) path() []string {
	var path []string
	for s.spend(1) {
		switch {
		case s.is(0, ".") && s.peek(1).kind == jsName:
			path = append(path, s.peek(1).text)
			s.at += 2
		case s.is(0, "[") && s.peek(1).kind == jsString && s.is(2, "]"):
			path = append(path, s.peek(1).text)
			s.at += 3
		case s.is(0, "["): // of a name that is not plain
			at := s.at
			s.at++
			key, _ := s.expression().(string)
			if !s.is(0, "]") {
				s.at = at
				return path
			}
			s.at++
			path = append(path, key)
		default:
			return path
		}
	}
	return path
}

// assigned is the new value, if an operator that assigns stands here. at is
// behind the operator then.
func (s *k6Script) assigned(name string, path []string, sure bool) (found bool, v any) {
	line := s.peek(0).line
	old := s.values[name]
	for _, field := range path {
		object, _ := old.(map[string]any)
		old = object[field]
	}
	read := func(n int) any {
		s.at += n
		at := s.at
		v := s.expression()
		s.at = at
		return v
	}
	switch {
	case s.is(0, "="):
		return true, read(1)
	case s.is(0, "+") && s.is(1, "="):
		return true, s.joined(old, read(2), line)
	case s.is(0, "+") && s.is(1, "+"), s.is(0, "-") && s.is(1, "-"):
		up := s.is(0, "+")
		s.at += 2
		return true, s.counted(old, up)
	case s.peek(0).kind == jsPunct && s.is(1, "=") && !s.is(0, "<") && !s.is(0, ">") && !s.is(0, "!") && !s.is(0, ",") && !s.is(0, ";"):
		s.at += 2
		return true, unknownJS(name)
	}
	if n := len(path); n > 0 && s.is(0, "(") && slices.Contains([]string{"push", "unshift", "pop", "shift", "splice", "sort", "reverse", "fill"}, path[n-1]) {
		s.at++
		at := s.at
		args := s.arguments()
		s.at = at
		target := s.values[name]
		for _, field := range path[:n-1] {
			object, _ := target.(map[string]any)
			target = object[field]
		}
		list, ok := target.([]any)
		if v = any(unknownJS(name)); ok && path[n-1] == "push" && s.spend(len(list)) {
			v = append(slices.Clone(list), args...)
		}
		s.set(name, path[:n-1], v, sure)
	}
	return false, nil
}

// counted is a number one higher, or lower.
func (s *k6Script) counted(v any, up bool) any {
	n, ok := v.(float64)
	switch {
	case !ok:
		return unknownJS("a counter")
	case up:
		return n + 1
	}
	return n - 1
}

// set a name's value, or a field of it. Objects are shared, as in the script.
func (s *k6Script) set(name string, path []string, v any, sure bool) {
	for i := len(s.blocks) - 1; !sure && !s.single && i >= 0; i-- {
		if b := &s.blocks[i]; b.conditional { // its value to the end of the block
			b.after = append(b.after, jsPart{name, path})
			sure = true
		}
	}
	if !sure {
		if v = any(unknownJS(name)); len(path) > 0 {
			v = unknownJS(name + "." + path[len(path)-1])
		}
	}
	if len(path) == 0 {
		s.values[name] = s.secret(name, v)
		return
	}
	object, ok := s.values[name].(map[string]any)
	for _, field := range path[:len(path)-1] {
		if ok {
			object, ok = object[field].(map[string]any)
		}
	}
	last := path[len(path)-1]
	if !ok || object == nil || last == "" {
		s.values[name] = unknownJS(name)
		return
	}
	if _, gone := v.(undefinedJS); gone {
		delete(object, last)
		return
	}
	object[last] = v
}
