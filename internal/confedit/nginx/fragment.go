package nginx

import (
	"fmt"
	"strings"
)

// lineEnd tells a file's line ending by its first line.
func lineEnd(src string) string {
	if i := strings.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// eolAt returns the line ending in use where text stands: text's own, or else
// the file's.
func (f *File) eolAt(text string) string {
	if strings.Contains(text, "\n") {
		return lineEnd(text)
	}
	return f.eol
}

// indentUnit finds one step of a file's indentation: what the first directive
// that is indented deeper than its block has more than the block. Four spaces
// where no line tells.
func indentUnit(n *node) string {
	for _, k := range n.kids {
		if own, ok := k.indent(); ok && !n.isFile() {
			if outer, ok := n.indent(); ok && len(own) > len(outer) && strings.HasPrefix(own, outer) {
				return own[len(outer):]
			}
		}
		if u := indentUnit(k); u != "" {
			return u
		}
	}
	if n.isFile() {
		return "    "
	}
	return ""
}

// indent returns the spaces before n if n is the first thing on its line.
func (n *node) indent() (string, bool) {
	at, own := n.ownLine()
	if !own {
		return "", false
	}
	return n.lead[at:], true
}

// fragment is new text for a file: whole directives with their comments.
type fragment struct {
	kids []*node
	tail string // comments behind the last directive
	flat bool   // fits in the middle of a line
}

// parseFragment reads text that an edit brings.
func parseFragment(text string) (*fragment, error) {
	top, err := parse(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
	if err != nil {
		return nil, fmt.Errorf("the new text: %w", err)
	}
	if len(top.kids) == 0 && top.tail == "" {
		return nil, fmt.Errorf("the new text is empty")
	}
	all := top.text()
	return &fragment{kids: top.kids, tail: top.tail,
		flat: top.tail == "" && !strings.Contains(all, "\n") && !strings.Contains(all, "#")}, nil
}

// layOut gives the fragment's lines the indentation base and steps of unit,
// and the file's line ending. Text inside quotes and Lua code stays as it is,
// but for the line ending.
func (f *fragment) layOut(base, unit, eol string) {
	for _, k := range f.kids {
		k.layOut(base, unit, eol)
	}
	f.tail = reindent(f.tail, base, base, eol)
}

func (n *node) layOut(base, unit, eol string) {
	n.lead = reindent(n.lead, base, base, eol)
	for i := range n.words {
		n.words[i].gap = reindent(n.words[i].gap, base+unit, base+unit, eol)
		n.words[i].raw = strings.ReplaceAll(n.words[i].raw, "\n", eol)
	}
	n.gap = reindent(n.gap, base, base, eol)
	n.lua = strings.ReplaceAll(n.lua, "\n", eol)
	for _, k := range n.kids {
		k.layOut(base+unit, unit, eol)
	}
	n.tail = reindent(n.tail, base+unit, base, eol)
}

// reindent starts every line of trivia after the first with indent, the last
// one with last. Empty lines stay empty.
func reindent(s, indent, last, eol string) string {
	lines := strings.Split(s, "\n")
	if len(lines) == 1 {
		return s
	}
	for i := 1; i < len(lines); i++ {
		lines[i] = strings.TrimLeft(lines[i], " \t")
		if i == len(lines)-1 {
			lines[i] = last + lines[i]
		} else if lines[i] != "" {
			lines[i] = indent + lines[i]
		}
	}
	return strings.Join(lines, eol)
}
