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
	after       []jsPart  // what is not known behind it
}

// jsPart is a name, or a field of its value.
type jsPart struct {
	name string
	path []string
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
	after := s.blocks[len(s.blocks)-1].after
	s.blocks = s.blocks[:len(s.blocks)-1]
	for _, part := range after {
		s.set(part.name, part.path, unknownJS(part.name), true)
	}
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
	return s.spend(len(s.blocks)-from) && !slices.ContainsFunc(s.blocks[from:], func(b jsBlock) bool { return b.conditional })
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
