package apache

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// ReadFunc reads a whole file.
type ReadFunc func(path string) ([]byte, error)

// GlobFunc lists the files and folders that match a shell pattern (* ? [ ]),
// in any order.
type GlobFunc func(pattern string) ([]string, error)

// Options say how the server is started.
type Options struct {
	// Root is what relative paths are relative to until a ServerRoot directive
	// says otherwise: apache2 -d, or HTTPD_ROOT of apache2 -V. "" stands for
	// the main file's folder.
	Root    string
	Defines []string // apache2 -D
	// Env is the server's environment; see Environment for Debian's envvars.
	Env map[string]string
	// Compiled are the modules that apache2 -l lists ("core.c"); nil stands
	// for those of Debian's package.
	Compiled []string
	Version  string // "2.4.57", for <IfVersion>; "" leaves it unknown
}

// Config is a main file and all that it includes.
type Config struct {
	Files []*File // in the order the server first opens them
	// Root is a section without a name that holds the main file's directives.
	Root *Directive

	main  string
	opt   Options
	read  ReadFunc
	glob  GlobFunc
	byID  map[string]*File
	known map[string]*Directive // by place, so that pointers stay good over edits
}

// File is one file of a configuration.
type File struct {
	Path string

	was   string
	lines []*line
	nodes []*node
	eol   string // "\n" or "\r\n"
}

// Bytes returns the file's text with all edits so far.
func (f *File) Bytes() []byte { return []byte(f.text()) }

func (f *File) text() string {
	var b strings.Builder
	for _, l := range f.lines {
		b.WriteString(l.text)
	}
	return b.String()
}

// Load reads the main file and follows its includes, taking Define, UnDefine,
// LoadModule, ServerRoot and macros into account in the order read. A .htaccess
// file is read in the same way. What the server refuses is an error: a section
// that is not closed, a missing included file. Names and arguments of
// directives are not checked; that is for the server's own check (apache2 -t).
func Load(main string, o Options, read ReadFunc, glob GlobFunc) (*Config, error) {
	if main == "" {
		return nil, errors.New("load Apache configuration: no main file is named")
	}
	if o.Root == "" {
		o.Root = path.Dir(main)
	}
	if !path.IsAbs(main) {
		main = path.Join(o.Root, main)
	}
	c := &Config{main: main, opt: o, read: read, glob: glob, byID: map[string]*File{}, known: map[string]*Directive{}}
	if err := c.rebuild(); err != nil {
		return nil, fmt.Errorf("load Apache configuration: %w", err)
	}
	return c, nil
}

// file reads and nests a file once.
func (c *Config) file(name string) (*File, error) {
	if f := c.byID[name]; f != nil {
		return f, nil
	}
	src, err := c.read(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	f := &File{Path: name, was: string(src), lines: cutLines(string(src)), eol: lineEnd(string(src))}
	if err := f.nest(); err != nil {
		return nil, err
	}
	c.byID[name] = f
	return f, nil
}

// nest numbers the file's lines and puts them into sections.
func (f *File) nest() error {
	num := 1
	for _, l := range f.lines {
		l.num = num
		num += strings.Count(l.text, "\n")
	}
	nodes, err := nest(f.lines)
	if err != nil {
		return atPath(f.Path, err)
	}
	f.nodes = nodes
	return nil
}

// index returns the place of a line in the file, -1 if it is not there.
func (f *File) index(l *line) int {
	for i, x := range f.lines {
		if x == l {
			return i
		}
	}
	return -1
}

// lineEnd tells a text's line ending by its first line.
func lineEnd(src string) string {
	if i := strings.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// atPath writes a syntax error as path:line: text.
func atPath(name string, err error) error {
	var s *syntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("%s:%d: %s", name, s.line, s.text)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Changed returns the new bytes of every file that edits have made different
// from what was read.
func (c *Config) Changed() map[string][]byte {
	out := map[string][]byte{}
	for name, f := range c.byID {
		if now := f.text(); now != f.was {
			out[name] = []byte(now)
		}
	}
	return out
}
