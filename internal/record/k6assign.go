package record

import (
	"maps"
	"slices"
)

// undefinedJS is the value undefined.
type undefinedJS struct{}

// fileJS is what http.file gives: its name and type.
type fileJS struct{ name, typ string }

// jsBlock is a block of the script that is looked at.
type jsBlock struct {
	saved       []jsSaved // what its declarations hide
	conditional bool      // what stands in it may not be done, or more than once
	phase       string    // setup, teardown or handleSummary
}

// jsSaved is a name as it was before a declaration.
type jsSaved struct {
	name  string
	value any
	known bool
	depth int
}

// jsFunction is one whose block begins next.
type jsFunction struct {
	params []string
	phase  string
}

// k6Phases are functions that a run calls by their names (k6, "Test lifecycle").
var k6Phases = []string{"setup", "teardown", "handleSummary"}

// maxJSBack tokens are looked at for the begin of a bracket.
const maxJSBack = 2000

// openBracket is the place of the bracket that the one at closes, relative to
// it; false: too far away.
func (s *k6Script) openBracket(at int) (int, bool) {
	depth := 0
	for n := at; n > at-maxJSBack && s.at+n >= 0 && s.spend(1); n-- {
		switch {
		case s.is(n, ")"):
			depth++
		case s.is(n, "("):
			if depth--; depth == 0 {
				return n, true
			}
		}
	}
	return 0, false
}

// decided by a condition or a loop is what stands behind the token at n.
func (s *k6Script) decided(n int) bool {
	if s.is(n, "else") || s.is(n, "do") {
		return true
	}
	if !s.is(n, ")") {
		return false
	}
	at, ok := s.openBracket(n)
	return ok && slices.ContainsFunc([]string{"if", "for", "while", "switch", "catch", "await"}, func(word string) bool { return s.is(at-1, word) })
}

// open a block; at is on its bracket.
func (s *k6Script) open() {
	b := jsBlock{conditional: s.decided(-1), phase: s.phase()}
	if s.next.phase != "" {
		b.phase = s.next.phase
	}
	params := s.next.params
	s.next = jsFunction{}
	s.blocks = append(s.blocks, b)
	for _, name := range params {
		s.declared(name, unknownJS(name))
	}
	s.at++
}

func (s *k6Script) close() {
	s.at++
	if len(s.blocks) == 0 {
		return
	}
	for _, old := range slices.Backward(s.blocks[len(s.blocks)-1].saved) {
		s.values[old.name], s.depths[old.name] = old.value, old.depth
		if !old.known {
			delete(s.values, old.name)
			delete(s.depths, old.name)
		}
	}
	s.blocks = s.blocks[:len(s.blocks)-1]
}

// phase of the run to which what stands here belongs.
func (s *k6Script) phase() string {
	if len(s.blocks) == 0 {
		return ""
	}
	return s.blocks[len(s.blocks)-1].phase
}

// declared gives a name its value until its block ends.
func (s *k6Script) declared(name string, v any) {
	if n := len(s.blocks); n > 0 {
		old, known := s.values[name]
		s.blocks[n-1].saved = append(s.blocks[n-1].saved, jsSaved{name, old, known, s.depths[name]})
	}
	s.values[name], s.depths[name] = v, len(s.blocks)
}

// sure: an assignment to the name that stands here is done, once.
func (s *k6Script) sure(name string) bool {
	if s.decided(-1) {
		return false
	}
	from := min(s.depths[name], len(s.blocks))
	return !slices.ContainsFunc(s.blocks[from:], func(b jsBlock) bool { return b.conditional })
}

// function: at is on the word. Its parameters hide other names.
func (s *k6Script) function() {
	f := jsFunction{phase: s.naming}
	s.naming = ""
	s.at++
	if s.is(0, "*") {
		s.at++
	}
	if s.peek(0).kind == jsName {
		if f.phase = ""; slices.Contains(k6Phases, s.peek(0).text) && len(s.blocks) == 0 {
			f.phase = s.peek(0).text
		}
		s.at++
	}
	if !s.is(0, "(") {
		return
	}
	for depth := 0; s.at < len(s.tokens) && s.spend(1); s.at++ {
		if s.is(0, "(") {
			depth++
		} else if s.is(0, ")") {
			depth--
		} else if s.peek(0).kind == jsName && !s.is(-1, ":") && !s.is(-1, ".") {
			f.params = append(f.params, s.peek(0).text)
		}
		if depth == 0 {
			break
		}
	}
	for s.at++; s.at < len(s.tokens) && !s.is(0, "{") && !s.is(0, ";") && s.spend(1); s.at++ { // a type
	}
	if s.is(0, "{") {
		s.next = f
	}
}

// arrow function; at is on its arrow.
func (s *k6Script) arrow() {
	f := jsFunction{phase: s.naming}
	s.naming = ""
	from, ok := -1, true
	if s.is(-1, ")") {
		from, ok = s.openBracket(-1)
	}
	for n := from; ok && n < 0; n++ {
		if s.peek(n).kind == jsName && !s.is(n-1, ":") && !s.is(n-1, ".") {
			f.params = append(f.params, s.peek(n).text)
		}
	}
	s.at++
	if s.is(0, "{") {
		s.next = f
		return
	}
	for _, name := range f.params { // until the end: better not known than wrong
		if _, known := s.values[name]; known {
			s.values[name] = unknownJS(name)
		}
	}
}

// declaration by const, let or var; at is on the word.
func (s *k6Script) declaration() {
	loop := s.is(-1, "(") && (s.is(-2, "for") || s.is(-2, "await"))
	s.at++
	if s.is(0, "{") || s.is(0, "[") {
		s.taken(loop)
		return
	}
	name, line := s.peek(0).text, s.peek(0).line
	s.at++
	if s.is(0, ":") { // a type
		s.skipType()
	}
	if !s.is(0, "=") || loop {
		v := any(undefinedJS{})
		if loop || s.is(0, "of") || s.is(0, "in") {
			v = unknownJS(name)
		}
		s.declared(name, v)
		return
	}
	s.at++
	at := s.at
	v := s.expression()
	if name == "options" {
		s.note("The script's options (line %d) are left out: give the run its load (workload, duration or arrivals) and its thresholds.", line)
	}
	s.declared(name, s.secret(name, v))
	s.at = at // its calls are looked at, too
	if len(s.blocks) == 0 && slices.Contains(k6Phases, name) {
		s.naming = name
	}
}

// secret is the value to keep for a name: a text named like a secret is masked.
func (s *k6Script) secret(name string, v any) any {
	if text, ok := v.(string); ok {
		return s.variable(name, text, false)
	}
	return v
}

// skipType skips a type up to the sign after it.
func (s *k6Script) skipType() {
	for depth := 0; s.at < len(s.tokens) && s.spend(1); s.at++ {
		t := s.peek(0)
		if t.kind != jsPunct {
			continue
		}
		switch t.text {
		case "(", "[", "{", "<":
			depth++
		case ")", "]", "}", ">":
			if depth--; depth < 0 {
				return
			}
		case "=", ";", ",":
			if depth == 0 {
				return
			}
		}
	}
}

// taken are the names of a pattern, such as {a, b: c}; at is on its bracket.
func (s *k6Script) taken(loop bool) {
	fields := map[string]string{} // by the name they get
	for depth := 0; s.at < len(s.tokens) && s.spend(1); s.at++ {
		t := s.peek(0)
		switch {
		case s.is(0, "{") || s.is(0, "["):
			depth++
		case s.is(0, "}") || s.is(0, "]"):
			depth--
		case t.kind == jsName && s.is(-1, ":") && depth == 1:
			fields[t.text] = s.peek(-2).text
		case t.kind == jsName && !s.is(1, ":") && !s.is(-1, "="):
			fields[t.text] = ""
			if depth == 1 {
				fields[t.text] = t.text
			}
		}
		if depth == 0 {
			break
		}
	}
	s.at++
	from := any(nil)
	if s.is(0, "=") && !loop {
		s.at++
		at := s.at
		from = s.expression()
		s.at = at
	}
	object, _ := from.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v, known := object[fields[name]]
		if !known {
			v = unknownJS(name)
		}
		s.declared(name, v)
	}
}

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
