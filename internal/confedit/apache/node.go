package apache

import (
	"fmt"
	"strings"
)

// maxDepth bounds nested sections. No real configuration comes near it.
const maxDepth = 200

// node is one directive of a text: a line, or a section with the lines in it.
type node struct {
	line *line
	end  *line // a section's closing line
	kids []*node
	body []*line // instead of kids: what stands in an opaque section
	name string  // as written, without < and >
	deep int     // sections of the same name that are open in body
}

// syntaxError is a syntax error in text whose path only the caller knows.
type syntaxError struct {
	line int
	text string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

func errorAt(l *line, format string, args ...any) error {
	return &syntaxError{line: l.num, text: fmt.Sprintf(format, args...)}
}

// nest puts a text's lines into sections. Comments and empty lines are in no
// node.
func nest(lines []*line) ([]*node, error) {
	top := &node{}
	stack := []*node{top}
	for _, l := range lines {
		in := stack[len(stack)-1]
		s, _ := l.logical()
		if in.line != nil && opaque(in.name) && !in.endsBody(s) {
			in.body = append(in.body, l)
			continue
		}
		if s == "" || s[0] == '#' {
			continue
		}
		p := split(s)
		switch {
		case p.open:
			return nil, errorAt(l, "<%s has no closing >", p.name)
		case p.closing:
			if len(stack) == 1 {
				return nil, errorAt(l, "</%s> closes no section", p.name)
			}
			if !strings.EqualFold(in.name, p.name) {
				return nil, errorAt(l, "</%s> stands where </%s> is needed, for the section of line %d", p.name, in.name, in.line.num)
			}
			in.end = l
			stack = stack[:len(stack)-1]
		case p.section:
			if len(stack) > maxDepth {
				return nil, errorAt(l, "sections are nested more than %d deep", maxDepth)
			}
			n := &node{line: l, name: p.name}
			in.kids = append(in.kids, n)
			stack = append(stack, n)
		default:
			in.kids = append(in.kids, &node{line: l, name: p.name})
		}
	}
	if len(stack) > 1 {
		in := stack[len(stack)-1]
		return nil, errorAt(in.line, "<%s> is never closed; </%s> is missing", in.name, in.name)
	}
	return top.kids, nil
}

// section reports whether n is a section.
func (n *node) section() bool { return n.end != nil }

// opaque reports whether what is in a section is text to the server and not
// directives: a macro's body, or code (mod_macro, mod_perl, mod_lua).
func opaque(section string) bool {
	s := strings.ToLower(section)
	return s == "macro" || s == "perl" || strings.HasPrefix(s, "lua")
}

// endsBody reports whether s closes the opaque section n; macros nest.
func (n *node) endsBody(s string) bool {
	if s == "" || s[0] == '#' {
		return false
	}
	p := split(s)
	switch {
	case !strings.EqualFold(p.name, n.name):
		return false
	case p.section && strings.EqualFold(n.name, "macro"):
		n.deep++
		return false
	case p.closing && n.deep > 0:
		n.deep--
		return false
	}
	return p.closing
}
