package nginx

import "strings"

// maxDepth bounds nested blocks. No real configuration comes near it.
const maxDepth = 200

// node is one directive of one file. Its pieces joined in order are the
// directive's text; the nodes of a file and its tail are the file's text.
type node struct {
	lead   string // what lies between the directive before and this one
	words  []word // name and arguments
	gap    string // before the ; or {
	block  bool
	kids   []*node
	lua    string // instead of kids in a *_by_lua_block
	tail   string // between the last kid and the closing brace, or the end of file
	parent *node
	line   int // 1-based line of the first word
	views  []*Directive
}

func (n *node) isFile() bool { return n.parent == nil }

// parse reads one file's text as a node that has no words.
func parse(src string) (*node, error) {
	l := &lexer{src: src, line: 1}
	top := &node{block: true, line: 1}
	if err := l.block(top, 0); err != nil {
		return nil, err
	}
	return top, nil
}

// block fills parent with the directives up to its closing brace, or to the
// end of text for a file.
func (l *lexer) block(parent *node, depth int) error {
	for {
		lead := l.trivia()
		if l.pos == len(l.src) {
			if !parent.isFile() {
				return l.errorf(parent.line, "block %q is never closed; a } is missing", parent.words[0].value)
			}
			parent.tail = lead
			return nil
		}
		if l.src[l.pos] == '}' {
			if parent.isFile() {
				return l.errorf(l.line, `unexpected "}"`)
			}
			parent.tail = lead
			l.pos++
			return nil
		}
		n := &node{lead: lead, parent: parent, line: l.line}
		if err := l.directive(n, depth); err != nil {
			return err
		}
		parent.kids = append(parent.kids, n)
	}
}

// directive fills n, whose lead was taken.
func (l *lexer) directive(n *node, depth int) error {
	for {
		gap := l.trivia()
		if l.pos == len(l.src) {
			return l.errorf(n.line, "the file ends inside a directive; a ; or } is missing")
		}
		switch c := l.src[l.pos]; c {
		case '}':
			return l.errorf(l.line, `unexpected "}"; is a ; missing before it?`)
		case ';', '{':
			if len(n.words) == 0 {
				return l.errorf(l.line, "unexpected %q", c)
			}
			l.pos++
			n.gap, n.block = gap, c == '{'
			if n.block {
				return l.body(n, depth)
			}
			return nil
		}
		w, err := l.word()
		if err != nil {
			return err
		}
		w.gap = gap
		n.words = append(n.words, w)
	}
}

func (l *lexer) body(n *node, depth int) error {
	if depth >= maxDepth {
		return l.errorf(n.line, "blocks are nested more than %d deep", maxDepth)
	}
	if !luaBlock(n.words[0].value) {
		return l.block(n, depth+1)
	}
	lua, err := l.luaBody()
	if err != nil {
		return err
	}
	n.lua = lua
	l.pos++
	return nil
}

// text joins a file's pieces.
func (n *node) text() string {
	var b strings.Builder
	n.print(&b)
	return b.String()
}

func (n *node) print(b *strings.Builder) {
	b.WriteString(n.lead)
	for _, w := range n.words {
		b.WriteString(w.gap)
		b.WriteString(w.raw)
	}
	if !n.isFile() {
		b.WriteString(n.gap)
		if !n.block {
			b.WriteByte(';')
			return
		}
		b.WriteByte('{')
	}
	b.WriteString(n.lua)
	for _, k := range n.kids {
		k.print(b)
	}
	b.WriteString(n.tail)
	if !n.isFile() {
		b.WriteByte('}')
	}
}

// renumber sets the lines of n and everything in it, where line is the line
// that n's lead starts on; it returns the line behind n.
func (n *node) renumber(line int) int {
	count := func(s string) { line += strings.Count(s, "\n") }
	count(n.lead)
	n.line = line
	for _, v := range n.views {
		v.Line = line
	}
	for _, w := range n.words {
		count(w.gap)
		count(w.raw)
	}
	count(n.gap)
	count(n.lua)
	for _, k := range n.kids {
		line = k.renumber(line)
	}
	count(n.tail)
	return line
}

// index returns n's place among its parent's kids, -1 after its removal.
func (n *node) index() int {
	if n.parent != nil {
		for i, k := range n.parent.kids {
			if k == n {
				return i
			}
		}
	}
	return -1
}
