package nginx

import (
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// ReadFunc reads a whole file.
type ReadFunc func(path string) ([]byte, error)

// GlobFunc lists the files that match a shell pattern (* ? [ ]), in any order.
type GlobFunc func(pattern string) ([]string, error)

// maxIncludes bounds how deep files include files; nginx itself stops only
// when it runs out of file descriptors.
const maxIncludes = 50

// Config is a main file and all that it includes.
type Config struct {
	Files []*File // in the order nginx first opens them
	// Root is a block without a name that holds the main file's directives.
	// Its Children, and those of every block, have the directives of included
	// files in the place of each include.
	Root *Directive

	read ReadFunc
	glob GlobFunc
	dir  string // what includes are relative to
	byID map[string]*File
}

// File is one file of a configuration.
type File struct {
	Path string

	was  string
	top  *node
	unit string // one step of indentation
	eol  string // "\n" or "\r\n"
}

// Bytes returns the file's text with all edits so far.
func (f *File) Bytes() []byte { return []byte(f.top.text()) }

// Load reads the main file and follows its includes. A relative main is
// relative to prefix, as with nginx -p; a relative include is relative to the
// main file's directory (nginx manual, "include"; ngx_process_options). An
// include without wildcards whose file is missing is an error, a pattern that
// matches nothing is not: both as nginx has it.
func Load(main, prefix string, read ReadFunc, glob GlobFunc) (*Config, error) {
	if main == "" {
		return nil, errors.New("load nginx configuration: no main file is named")
	}
	if !path.IsAbs(main) {
		main = path.Join(prefix, main)
	}
	c := &Config{read: read, glob: glob, dir: path.Dir(main), byID: map[string]*File{}}
	f, err := c.file(main)
	if err != nil {
		return nil, fmt.Errorf("load nginx configuration: %w", err)
	}
	c.Root = &Directive{IsBlock: true, File: f, Line: 1, config: c, node: f.top}
	f.top.views = append(f.top.views, c.Root)
	if c.Root.Children, err = c.expand(f, f.top.kids, c.Root, []string{main}); err != nil {
		return nil, fmt.Errorf("load nginx configuration: %w", err)
	}
	attach(c.Root.Children)
	return c, nil
}

// file reads and parses a file once.
func (c *Config) file(name string) (*File, error) {
	if f := c.byID[name]; f != nil {
		return f, nil
	}
	src, err := c.read(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	top, err := parse(string(src))
	if err != nil {
		return nil, atPath(name, err)
	}
	f := &File{Path: name, was: string(src), top: top, eol: lineEnd(string(src))}
	f.unit = indentUnit(top)
	c.byID[name] = f
	c.Files = append(c.Files, f)
	return f, nil
}

// atPath writes a syntax error as path:line: text.
func atPath(name string, err error) error {
	var s *syntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("%s:%d: %s", name, s.line, s.text)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// expand shows nodes of f as directives in parent, with includes followed.
// chain names the files that lead here, outermost first.
func (c *Config) expand(f *File, nodes []*node, parent *Directive, chain []string) ([]*Directive, error) {
	var out []*Directive
	for _, n := range nodes {
		if isInclude(n) {
			more, err := c.include(f, n, parent, chain)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
			continue
		}
		d := &Directive{Name: n.words[0].value, IsBlock: n.block, Parent: parent, File: f, Line: n.line, config: c, node: n}
		for _, w := range n.words[1:] {
			d.Args = append(d.Args, w.value)
		}
		var err error
		if d.Children, err = c.expand(f, n.kids, d, chain); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func isInclude(n *node) bool {
	return !n.block && len(n.words) == 2 && n.words[0].value == "include"
}

func (c *Config) include(f *File, n *node, parent *Directive, chain []string) ([]*Directive, error) {
	pattern := n.words[1].value
	names, err := c.included(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: include %s: %w", f.Path, n.line, pattern, err)
	}
	var out []*Directive
	for _, name := range names {
		for _, up := range chain {
			if up == name {
				return nil, fmt.Errorf("%s:%d: include %s: the files include each other in a circle", f.Path, n.line, name)
			}
		}
		if len(chain) > maxIncludes {
			return nil, fmt.Errorf("%s:%d: include %s: files include files more than %d deep", f.Path, n.line, name, maxIncludes)
		}
		sub, err := c.file(name)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: include %s: %w", f.Path, n.line, pattern, err)
		}
		more, err := c.expand(sub, sub.top.kids, parent, append(chain[:len(chain):len(chain)], name))
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// included lists the files that an include stands for, in nginx's order:
// glob(3) sorts by bytes and leaves out names with a leading dot unless the
// pattern has it.
func (c *Config) included(pattern string) ([]string, error) {
	if !path.IsAbs(pattern) {
		pattern = path.Join(c.dir, pattern)
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{pattern}, nil
	}
	found, err := c.glob(pattern)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range found {
		if !hidden(pattern, name) {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out, nil
}

func hidden(pattern, name string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(name, "/")
	for i := range got {
		if i < len(want) && strings.HasPrefix(got[i], ".") && !strings.HasPrefix(want[i], ".") {
			return true
		}
	}
	return false
}

// Changed returns the new bytes of every file that edits have made different
// from what was read.
func (c *Config) Changed() map[string][]byte {
	return textedit.Changed(c.Files, func(f *File) (path, was, now string) { return f.Path, f.was, f.top.text() })
}
