package nginx

import (
	"fmt"
	"slices"
	"strings"
)

// Append adds text, one or more whole directives, as the last thing in the
// block d, in the file that closes the block; on the Root, at the end of the
// main file. The text takes the surroundings' indentation and line ending.
func (d *Directive) Append(text string) error {
	frag, err := d.prepare("append to", text)
	if err != nil {
		return err
	}
	if !d.IsBlock {
		return fmt.Errorf("append to %s: it is not a block", d.where())
	}
	n := d.node
	if luaBlock(d.Name) {
		return fmt.Errorf("append to %s: its body is Lua code, not directives", d.where())
	}
	keep := commentsOf(n.tail) // comments before the brace
	space := n.tail[len(keep):]
	eol, base := d.File.eolAt(space), d.childIndent()
	if len(n.kids) > 0 && frag.flat && !n.isFile() && !strings.Contains(n.tail, "\n") {
		return d.insert(frag, n, len(n.kids), " ", n.tail, inside)
	}
	frag.layOut(base, d.File.unit, eol)
	lead, follow := keep+eol+base, space
	switch {
	case n.isFile() && len(n.kids) == 0 && keep == "":
		lead, follow = space, eol
	case !n.isFile() && !strings.Contains(space, "\n"):
		follow = eol + d.lineIndent()
	}
	return d.insert(frag, n, len(n.kids), lead, follow, inside)
}

// commentsOf cuts the white space behind the last comment of gap, but not the
// comment's own: blanks at its end belong to it.
func commentsOf(gap string) string {
	keep := strings.TrimRight(gap, " \t\r\n")
	if keep == "" {
		return ""
	}
	rest := gap[len(keep):]
	return keep + rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))]
}

// InsertBefore adds text before d, above the comment lines that stand
// directly over d.
func (d *Directive) InsertBefore(text string) error {
	frag, err := d.prepare("insert before", text)
	if err != nil {
		return err
	}
	if d.Parent == nil {
		return fmt.Errorf("insert before %s: a file has no place before it; use Append", d.where())
	}
	n, eol := d.node, d.File.eolAt(d.node.lead)
	lead, follow := n.lead, " "
	at, own := n.ownLine()
	switch {
	case own:
		base := n.lead[at:]
		top := commentStart(n.lead, at, n.parent.isFile() && n.index() == 0)
		frag.layOut(base, d.File.unit, eol)
		lead, follow = n.lead[:top]+base, eol+n.lead[top:]
	case frag.flat:
	default:
		base := d.lineIndent()
		frag.layOut(base, d.File.unit, eol)
		lead, follow = strings.TrimRight(lead, " \t")+eol+base, eol+base
	}
	return d.insert(frag, n.parent, n.index(), lead, follow, before)
}

// InsertAfter adds text after d and after the comment at the end of its line.
func (d *Directive) InsertAfter(text string) error {
	frag, err := d.prepare("insert after", text)
	if err != nil {
		return err
	}
	if d.Parent == nil {
		return fmt.Errorf("insert after %s: a file has no place after it; use Append", d.where())
	}
	n, eol := d.node, d.File.eolAt(*d.node.after())
	keep, rest := *n.after(), ""
	if nl := strings.IndexByte(keep, '\n'); nl >= 0 {
		if nl > 0 && keep[nl-1] == '\r' {
			nl--
		}
		keep, rest = keep[:nl], keep[nl:]
	}
	lead, follow := keep, rest
	base := d.lineIndent()
	switch {
	case rest != "" || n.atEnd():
		frag.layOut(base, d.File.unit, eol)
		lead = keep + eol + base
	case frag.flat:
		lead, follow = " ", keep
	default:
		frag.layOut(base, d.File.unit, eol)
		lead, follow = eol+base, eol+base
		if n.index() == len(n.parent.kids)-1 {
			follow = eol + n.parent.views[0].lineIndent()
		}
	}
	return d.insert(frag, n.parent, n.index()+1, lead, follow, behind)
}

// prepare parses the text of an insertion.
func (d *Directive) prepare(what, text string) (*fragment, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	frag, err := parseFragment(text)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", what, d.where(), err)
	}
	return frag, nil
}

// inside, before and behind say where new directives show, seen from one view
// of the directive that an insertion starts from.
func inside(view *Directive) (*Directive, int) { return view, len(view.Children) }
func before(view *Directive) (*Directive, int) { return view.Parent, view.position() }
func behind(view *Directive) (*Directive, int) { return view.Parent, view.position() + 1 }

// insert puts the fragment in front of parent's i-th kid (or at its end),
// where lead, the fragment and follow take the place of the text that was
// there, and shows the new nodes wherever d's file is included. If the
// fragment includes a file that cannot be read, nothing changes.
func (d *Directive) insert(f *fragment, parent *node, i int, lead, follow string, at func(*Directive) (*Directive, int)) error {
	views := append([]*Directive(nil), d.node.views...)
	fresh := make([][]*Directive, len(views))
	for v, view := range views {
		shown, _ := at(view)
		var err error
		if fresh[v], err = d.config.expand(d.File, f.kids, shown, []string{d.File.Path}); err != nil {
			return fmt.Errorf("insert at %s: %w", d.where(), err)
		}
	}
	slot := &parent.tail
	if i < len(parent.kids) {
		slot = &parent.kids[i].lead
	}
	if len(f.kids) > 0 {
		f.kids[0].lead = lead + f.kids[0].lead
		*slot = f.tail + follow
	} else {
		*slot = lead + f.tail + follow
	}
	for _, k := range f.kids {
		k.parent = parent
	}
	parent.kids = slices.Insert(parent.kids, i, f.kids...)
	for v, view := range views {
		shown, place := at(view)
		attach(fresh[v])
		shown.Children = slices.Insert(shown.Children, place, fresh[v]...)
	}
	d.edited()
	return nil
}

// attach makes directives known to their nodes as views of them.
func attach(list []*Directive) {
	for _, d := range list {
		d.node.views = append(d.node.views, d)
		attach(d.Children)
	}
}

// position returns d's place among its parent's children.
func (d *Directive) position() int {
	for i, k := range d.Parent.Children {
		if k == d {
			return i
		}
	}
	return len(d.Parent.Children)
}

// childIndent returns the indentation of the lines in block d.
func (d *Directive) childIndent() string {
	for _, k := range d.node.kids {
		if in, ok := k.indent(); ok {
			return in
		}
	}
	if d.node.isFile() {
		return ""
	}
	return d.lineIndent() + d.File.unit
}

// lineIndent returns the indentation of the line that d is on.
func (d *Directive) lineIndent() string {
	for n := d.node; n != nil && !n.isFile(); n = n.parent {
		for i := n.index(); i >= 0; i-- {
			if in, ok := n.parent.kids[i].indent(); ok {
				return in
			}
		}
	}
	return ""
}

// commentStart returns where in lead the comment lines begin that stand
// directly above the line at lead[at]. top says that lead begins a file, so
// that its first line is whole.
func commentStart(lead string, at int, top bool) int {
	for at > 0 {
		start := strings.LastIndexByte(lead[:at-1], '\n') + 1
		line := strings.TrimSpace(lead[start : at-1])
		if !strings.HasPrefix(line, "#") || start == 0 && !top {
			break
		}
		at = start
	}
	return at
}
