package load

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// scope knows the variables that are set at a place of the file. Names appear
// as steps are read, so a use before the value is an error.
type scope struct {
	names    map[string]int // "user.login" or "token" → slot
	drawn    map[string]*pool
	used     map[int]bool
	next     int
	teardown bool
}

func newScope() *scope {
	return &scope{names: map[string]int{baseName: baseSlot}, drawn: map[string]*pool{}, used: map[int]bool{}, next: baseSlot + 1}
}

// baseName is a variable that is always there: the target's own origin, such as
// http://127.0.0.1:8080, for headers (Referer, Origin) by which applications tell
// their own pages from others'.
const (
	baseName = "base"
	baseSlot = 0
)

// child sees what is set now; what it adds stays its own.
func (s *scope) child() *scope {
	return &scope{names: maps.Clone(s.names), drawn: maps.Clone(s.drawn), used: map[int]bool{}, next: s.next}
}

// slot returns a name's slot, a new one if it has none.
func (s *scope) slot(name string) int {
	if i, ok := s.names[name]; ok {
		return i
	}
	i := s.next
	s.names[name] = i
	s.next++
	return i
}

// readDraws reads draw: {name: pool}.
func (c *compiler) readDraws(n ast.Node, what string, sc *scope) []draw {
	if n == nil {
		return nil
	}
	var out []draw
	for _, p := range c.document.pairs(n, what+": draw") {
		if !isName(p.key) {
			c.fail(p.at, "%s: %q cannot name a draw; use letters, digits, - and _", what, p.key)
			continue
		}
		name, ok := c.text(p.value, what+": draw")
		if !ok {
			continue
		}
		from := c.pools[name]
		if from == nil {
			names := slices.Sorted(maps.Keys(c.pools))
			c.fail(p.value, "%s: there is no pool %q; %s", what, name, suggest(name, names))
			continue
		}
		if before := sc.drawn[p.key]; before != nil && before != from {
			c.fail(p.at, "%s: %s was drawn from the pool %s before; use another name", what, p.key, before.name)
			continue
		}
		sc.drawn[p.key] = from
		d := draw{pool: from}
		for i, f := range from.fields {
			d.fields = append(d.fields, drawnField{field: i, slot: sc.slot(p.key + "." + f)})
		}
		out = append(out, d)
	}
	return out
}

// variable finds the slot of ${name}.
func (c *compiler) variable(n ast.Node, what, name string, sc *scope) (int, bool) {
	slot, ok := sc.names[name]
	if ok {
		sc.used[slot] = true
		return slot, true
	}
	base, field, dotted := strings.Cut(name, ".")
	if from := sc.drawn[base]; from != nil {
		if dotted {
			c.fail(n, "%s: pool %s has no field %q; %s", what, from.name, field, suggest(field, from.fields))
		} else {
			c.fail(n, "%s: ${%s} needs a field, for example ${%s.%s}", what, name, name, append(from.fields, "field")[0])
		}
		return 0, false
	}
	known := slices.Collect(maps.Keys(sc.names))
	known = slices.DeleteFunc(known, func(n string) bool { return n == baseName })
	sort.Strings(known)
	hint := "nothing is drawn or extracted before this step"
	if len(known) > 0 {
		hint = suggest(name, known)
	}
	c.fail(n, "%s: unknown variable ${%s}; %s", what, name, hint)
	return 0, false
}

// template compiles a text. Literal parts are encoded now, variables when
// they are rendered.
func (c *compiler) template(n ast.Node, what, text string, enc encoding, sc *scope) template {
	var t template
	pieces, err := splitText(text)
	if err != nil {
		c.fail(n, "%s: %v", what, err)
		return t
	}
	for _, p := range pieces {
		if p.variable {
			if slot, ok := c.variable(n, what, p.text, sc); ok {
				t.addSlot(slot, enc)
			}
			continue
		}
		literal := []byte(p.text)
		if enc == formText || enc == jsonText {
			literal = appendEncoded(nil, literal, enc)
		}
		t.addLiteral(literal)
	}
	return t
}

// textTemplate reads a scalar and compiles it.
func (c *compiler) textTemplate(n ast.Node, what string, enc encoding, sc *scope) template {
	text, ok := c.text(n, what)
	if !ok {
		return template{}
	}
	return c.template(n, what, text, enc, sc)
}
