package ini

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
)

// ReadFunc reads a whole file.
type ReadFunc func(path string) ([]byte, error)

// GlobFunc lists the files that match a shell pattern (* ? [ ]), in any order.
type GlobFunc func(pattern string) ([]string, error)

// maxIncludes bounds how deep files include files: MariaDB stops at 10
// (max_recursion_level), PHP-FPM at 5.
const maxIncludes = 10

// Config is a main file and all that it includes.
type Config struct {
	Files []*File // in the order they are first read
	// Version is the MySQL-family server's, such as "10.11": with it sections
	// that are for this version alone ([mariadb-10.11]) count as the server's.
	// Suffix is what --defaults-group-suffix says: sections with it
	// ([mysqld.two]) count as those without. Set them before the first question.
	Version, Suffix string

	dialect Dialect
	main    *File
	more    []*File // read after main
	read    ReadFunc
	glob    GlobFunc
	byPath  map[string]*File
}

// File is one file of a configuration.
type File struct {
	Path string

	was   string
	lines []*line
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

// Value is what a key is set to and where.
type Value struct {
	Text string // without quotes, escapes applied; "" for a key without value
	Path string
	Line int // 1-based
}

// Load reads the main file and follows its includes. An include of a file that
// does not exist (an error for which errors.Is(err, fs.ErrNotExist) holds) is
// passed over, as the servers do; any other failure to read is an error. A
// relative MySQL include is an error, because it would depend on the
// directory that the server is started from. A relative PHP-FPM include is
// relative to PHP's prefix, which is taken to be what stands before /etc/ in
// the main file's path.
func Load(main string, d Dialect, read ReadFunc, glob GlobFunc) (*Config, error) {
	c := &Config{dialect: d, read: read, glob: glob, byPath: map[string]*File{}}
	f, err := c.file(main, nil)
	if err != nil {
		return nil, fmt.Errorf("load configuration: %w", err)
	}
	c.main = f
	return c, nil
}

// file reads a file once, with what it includes. chain names the files that
// lead here.
func (c *Config) file(name string, chain []string) (*File, error) {
	for _, up := range chain {
		if up == name {
			return nil, fmt.Errorf("%s: the files include each other in a circle", name)
		}
	}
	if len(chain) > maxIncludes {
		return nil, fmt.Errorf("%s: files include files more than %d deep", name, maxIncludes)
	}
	if f := c.byPath[name]; f != nil {
		return f, nil
	}
	src, err := c.read(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	f := &File{Path: name, was: string(src), eol: "\n"}
	if i := strings.IndexByte(f.was, '\n'); i > 0 && f.was[i-1] == '\r' {
		f.eol = "\r\n"
	}
	if f.lines, err = c.dialect.lines(f.was); err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	c.byPath[name] = f
	c.Files = append(c.Files, f)
	inSection := false
	for _, l := range f.lines {
		switch {
		case l.kind == header:
			inSection = true
		case l.kind == entry && c.dialect == MySQL && !inSection:
			return nil, fmt.Errorf("%s:%d: option %s stands before any [section]; the server refuses that", name, l.num, l.key)
		case l.kind == include:
			if err := c.include(f, l, append(chain[:len(chain):len(chain)], name)); err != nil {
				return nil, fmt.Errorf("%s:%d: include %s: %w", name, l.num, l.value, err)
			}
		}
	}
	return f, nil
}

func (c *Config) include(f *File, l *line, chain []string) error {
	names, err := c.included(l, chain[0])
	if err != nil {
		return err
	}
	for _, name := range names {
		sub, err := c.file(name, chain)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		l.files = append(l.files, sub)
	}
	return nil
}

// included lists the files that an include stands for, in the reader's order.
func (c *Config) included(l *line, main string) ([]string, error) {
	target := l.value
	if target == "" {
		return nil, errors.New("it names no file")
	}
	if !path.IsAbs(target) {
		if c.dialect == MySQL {
			return nil, fmt.Errorf("the path is relative to wherever the server is started; write it absolute")
		}
		prefix := path.Dir(main)
		if i := strings.Index(main, "/etc/"); i >= 0 {
			prefix = main[:i+1]
		}
		target = path.Join(prefix, target)
	}
	switch {
	case l.key == "!includedir":
		target = path.Join(globEscape(path.Clean(target)), "*.cnf")
	case !strings.ContainsAny(target, "*?["):
		return []string{target}, nil
	}
	found, err := c.glob(target)
	if err != nil {
		return nil, err
	}
	out := append([]string(nil), found...)
	sort.Strings(out)
	return out, nil
}

func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// place is one line as the reader comes by it.
type place struct {
	file    *File
	line    *line
	section string
	special bool   // under [PATH=] or [HOST=]
	implied string // value of an opposite form (skip-x); "" for the key itself
}

// places lists all lines in the order in which the reader takes them.
func (c *Config) places() []place {
	var out []place
	for _, f := range append([]*File{c.main}, c.more...) {
		section := ""
		c.walk(f, &section, &out, 0)
	}
	return out
}

func (c *Config) walk(f *File, section *string, out *[]place, depth int) {
	if depth > maxIncludes {
		return
	}
	if c.dialect == MySQL { // each file starts outside any section
		own := ""
		section = &own
	}
	for _, l := range f.lines {
		if l.kind == header {
			*section = c.group(l.section)
		}
		*out = append(*out, place{file: f, line: l, section: *section, special: c.dialect.elsewhere(*section)})
		for _, sub := range l.files {
			c.walk(sub, section, out, depth+1)
		}
	}
}

// group returns the section that one for a version or a suffix stands for.
func (c *Config) group(section string) string {
	if c.dialect != MySQL {
		return section
	}
	if base, ok := strings.CutSuffix(section, c.Suffix); ok && c.Suffix != "" && base != "" {
		return base
	}
	base, ok := strings.CutSuffix(section, "-"+c.Version)
	if ok && c.Version != "" && (base == "mysqld" || base == "mariadb" || base == "mariadbd") {
		return base
	}
	return section
}

// matches lists where key is set in section, in the order read.
func (c *Config) matches(section, key string) []place {
	var out []place
	forms := c.dialect.forms(key)
	for _, p := range c.places() {
		if p.line.kind != entry || p.special || !c.dialect.sameSection(p.section, section) {
			continue
		}
		if implied, ok := forms[c.dialect.canonicalKey(p.line.key)]; ok && (implied == "" || !p.line.hasSep) {
			p.implied = implied
			out = append(out, p)
		}
	}
	return out
}

// winner returns the place whose value counts.
func (c *Config) winner(section, key string) (place, bool) {
	found := c.matches(section, key)
	switch {
	case len(found) == 0:
		return place{}, false
	case c.dialect.firstWins(key):
		return found[0], true
	}
	return found[len(found)-1], true
}

// Get returns the value that wins: the last one read, or the first where the
// reader has it so (see FPM). The sections that a MariaDB server reads as one
// count as one. For MySQL, skip-x counts as x set to 0.
func (c *Config) Get(section, key string) (Value, bool) {
	p, ok := c.winner(section, key)
	if !ok {
		return Value{}, false
	}
	text := p.line.value
	if p.implied != "" {
		text = p.implied
	}
	return Value{Text: text, Path: p.file.Path, Line: p.line.num}, true
}

// Sections lists the sections in the order they first appear.
func (c *Config) Sections() []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range c.places() {
		if p.line.kind == header && !seen[p.section] {
			seen[p.section] = true
			out = append(out, p.section)
		}
	}
	return out
}

// Keys lists the keys that are set in section as first written, in order.
func (c *Config) Keys(section string) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range c.places() {
		if p.line.kind != entry || p.special || !c.dialect.sameSection(p.section, section) {
			continue
		}
		if k := c.dialect.canonicalKey(p.line.key); !seen[k] {
			seen[k] = true
			out = append(out, p.line.key)
		}
	}
	return out
}

// Changed returns the new bytes of every file that edits have made different
// from what was read.
func (c *Config) Changed() map[string][]byte {
	out := map[string][]byte{}
	for _, f := range c.Files {
		if now := f.text(); now != f.was {
			out[f.Path] = []byte(now)
		}
	}
	return out
}
