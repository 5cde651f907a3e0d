package nginx

import (
	"fmt"
	"slices"
	"strings"
)

// where names a directive in an error.
func (d *Directive) where() string {
	if d.Parent == nil {
		return d.File.Path
	}
	return fmt.Sprintf("%s:%d: %s", d.File.Path, d.Line, d.Name)
}

// alive refuses edits of what was removed.
func (d *Directive) alive() error {
	if d.Parent == nil {
		return nil
	}
	for n := d.node; ; n = n.parent {
		if n.isFile() {
			return nil
		}
		if n.index() < 0 {
			return fmt.Errorf("edit %s: it was removed before", d.where())
		}
	}
}

// edited brings the line numbers of d's file up to date.
func (d *Directive) edited() { d.File.top.renumber(1) }

// SetArgs replaces the arguments. An argument that stays the same keeps its
// spelling; a new one takes the quotes of the one it replaces.
func (d *Directive) SetArgs(args ...string) error {
	if d.Parent == nil {
		return fmt.Errorf("set arguments of %s: a file has none", d.where())
	}
	if err := d.alive(); err != nil {
		return err
	}
	n := d.node
	words := n.words[:1:1]
	for i, a := range args {
		if i+1 >= len(n.words) {
			words = append(words, word{gap: " ", raw: Quote(a), value: a})
			continue
		}
		w := n.words[i+1]
		if w.value != a {
			if q := w.raw[0]; q == '"' || q == '\'' {
				w.raw = quoteWith(a, q)
			} else {
				w.raw = Quote(a)
			}
			w.value = a
		}
		words = append(words, w)
	}
	n.words = words
	n.separate()
	for _, v := range n.views {
		v.Args = append([]string(nil), args...)
	}
	d.edited()
	return nil
}

// separate puts a space where two pieces would be read as one.
func (n *node) separate() {
	for i := 1; i < len(n.words); i++ {
		prev, w := n.words[i-1], &n.words[i]
		if w.gap == "" && !(quoted(prev.raw) && strings.HasPrefix(w.raw, ")")) {
			w.gap = " "
		}
	}
	last := n.words[len(n.words)-1].raw
	if n.block && n.gap == "" && strings.HasSuffix(last, "$") && !quoted(last) {
		n.gap = " " // ${ would go on with the word
	}
}

func quoted(raw string) bool { return raw[0] == '"' || raw[0] == '\'' }

// Remove takes the directive out, with its line and the comment at the end of
// the line if nothing else is on it. Comments above it stay.
func (d *Directive) Remove() error {
	if d.Parent == nil {
		return fmt.Errorf("remove %s: a whole file cannot be removed here", d.where())
	}
	if err := d.alive(); err != nil {
		return err
	}
	n, i := d.node, d.node.index()
	after := n.after()
	*after = n.joint(*after)
	n.parent.kids = slices.Delete(n.parent.kids, i, i+1)
	for _, v := range n.views {
		v.Parent.drop(v)
	}
	d.edited()
	return nil
}

// joint is the text that stays between n's neighbours once n is gone, where
// rest is the text behind n.
func (n *node) joint(rest string) string {
	at, own := n.ownLine()
	if !own { // between others on a line; its lead is spaces only
		if rest == "" {
			return n.lead
		}
		return rest
	}
	if nl := strings.IndexByte(rest, '\n'); nl >= 0 {
		return n.lead[:at] + rest[nl+1:]
	}
	if n.atEnd() {
		return cutLineEnd(n.lead[:at])
	}
	return n.lead + strings.TrimLeft(rest, " \t")
}

func (d *Directive) drop(child *Directive) {
	if i := slices.Index(d.Children, child); i >= 0 {
		d.Children = slices.Delete(d.Children, i, i+1)
	}
}

// after returns the text that follows n: the next node's lead, or the tail of
// what n is in.
func (n *node) after() *string {
	if i := n.index(); i+1 < len(n.parent.kids) {
		return &n.parent.kids[i+1].lead
	}
	return &n.parent.tail
}

// atEnd reports whether nothing but spaces and comments follows n in its file.
func (n *node) atEnd() bool {
	return n.parent.isFile() && n.index() == len(n.parent.kids)-1
}

// ownLine reports whether n is the first thing on its line; the line starts
// at n.lead[at].
func (n *node) ownLine() (at int, own bool) {
	nl := strings.LastIndexByte(n.lead, '\n')
	if nl < 0 && (!n.parent.isFile() || n.index() > 0) {
		return 0, false
	}
	return nl + 1, true
}

func cutLineEnd(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}
