package apache

import (
	"fmt"
	"strings"
)

// reader goes through the configuration as the server does.
type reader struct {
	c     *Config
	state *state
	files []*File
	seen  map[*File]bool
	fresh map[string]bool // keys of the directives of this reading
	uses  int             // macros that are being written out
}

// place is where lines come from.
type place struct {
	file  *File
	macro bool     // written out from a macro
	chain []string // the files that lead here, outermost first
	key   string   // tells the same line at different places apart
}

// rebuild reads everything from the files' lines. Directives that were there
// before keep their objects. On an error the tree is what it was.
func (c *Config) rebuild() error {
	r := &reader{c: c, state: newState(c.opt), seen: map[*File]bool{}, fresh: map[string]bool{}}
	f, err := r.file(c.main)
	if err != nil {
		return err
	}
	root := &Directive{IsSection: true, File: f, Line: 1, config: c}
	if c.Root != nil {
		root = c.Root
	}
	kids, err := r.expand(place{file: f, chain: []string{f.Path}, key: f.Path}, f.nodes, root, Active)
	if err != nil {
		return err
	}
	root.Children, root.File = kids, f
	c.Root, c.Files = root, r.files
	fillAll(kids, r)
	for key, d := range c.known {
		d.gone = !r.fresh[key]
	}
	return nil
}

// fillAll makes the new tree's values the ones that callers see.
func fillAll(list []*Directive, r *reader) {
	for i, d := range list {
		list[i] = d.settle(r)
		for _, k := range list[i].Children {
			k.Parent = list[i]
		}
		fillAll(list[i].Children, r)
	}
}

// settle returns the object that stands for d: the one that stood at its place
// before, with d's values, or d.
func (d *Directive) settle(r *reader) *Directive {
	if old := r.c.known[d.key]; old != nil {
		*old = *d
		return old
	}
	r.c.known[d.key] = d
	return d
}

func (r *reader) file(name string) (*File, error) {
	f, err := r.c.file(name)
	if err == nil && !r.seen[f] {
		r.seen[f] = true
		r.files = append(r.files, f)
	}
	return f, err
}

// expand shows nodes as directives in parent.
func (r *reader) expand(at place, nodes []*node, parent *Directive, state State) ([]*Directive, error) {
	var out []*Directive
	for i, n := range nodes {
		s, _ := n.line.logical()
		resolved := s
		if state != Inactive {
			resolved = r.state.resolve(s)
		}
		p := split(resolved)
		d := &Directive{Name: p.name, Args: values(p.args), IsSection: n.section(), Parent: parent, File: at.file, Line: n.line.num, State: state, config: r.c}
		if at.macro {
			d.key = fmt.Sprintf("%s/%d", at.key, i)
		} else {
			d.key = fmt.Sprintf("%s/%p", at.key, n.line)
			d.line, d.end = n.line, n.end
		}
		r.fresh[d.key] = true
		if err := r.directive(at, n, d); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// directive does for d what the server does while it reads.
func (r *reader) directive(at place, n *node, d *Directive) (err error) {
	below := at
	below.key = d.key
	if d.IsSection {
		inner := d.State
		if cond := r.state.condition(r.c, d); cond > inner {
			inner = cond
		}
		if d.Is("Macro") {
			if d.State == Active {
				r.state.define(at, d, n.body)
			}
			return nil
		}
		d.Children, err = r.expand(below, n.kids, d, inner)
		return err
	}
	if d.State == Inactive {
		return nil
	}
	switch strings.ToLower(d.Name) {
	case "include", "includeoptional":
		d.Children, err = r.include(below, d)
	case "use":
		d.Children, err = r.use(below, d)
	default:
		if d.State == Active {
			r.state.take(d)
		}
	}
	return err
}

// where names a directive in an error.
func (d *Directive) where() string {
	if d.Parent == nil {
		return d.File.Path
	}
	return fmt.Sprintf("%s:%d: %s", d.File.Path, d.Line, d.Name)
}
