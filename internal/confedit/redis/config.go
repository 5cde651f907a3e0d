package redis

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

// maxIncludes bounds how deep files include files; Redis has no bound.
const maxIncludes = 50

// Config is a main file and all that it includes.
type Config struct {
	Files []*File // in the order they are first read

	read   ReadFunc
	glob   GlobFunc
	byPath map[string]*File
}

// File is one file of a configuration.
type File struct {
	Path string

	was, text string
	entries   []entry
	broken    error // the first line that Redis would refuse
}

// Bytes returns the file's text with all edits so far.
func (f *File) Bytes() []byte { return []byte(f.text) }

// Value is what a directive is set to and where.
type Value struct {
	Args []string // unquoted, without the directive's name
	Path string
	Line int // 1-based
}

// Load reads the main file and follows its includes. A file that is missing is
// an error, a pattern that matches nothing is not, as Redis has it. A relative
// include is an error, because it depends on the directory that Redis is in.
func Load(main string, read ReadFunc, glob GlobFunc) (*Config, error) {
	c := &Config{read: read, glob: glob, byPath: map[string]*File{}}
	if _, err := c.file(main, nil); err != nil {
		return nil, fmt.Errorf("load Redis configuration: %w", err)
	}
	return c, nil
}

// Parse reads one file without following includes. Every text is taken; Err
// says whether Redis would.
func Parse(name string, src []byte) *Config {
	f := &File{Path: name, was: string(src), text: string(src)}
	f.parse()
	return &Config{Files: []*File{f}, byPath: map[string]*File{name: f}}
}

// Err says which line Redis would refuse to split into arguments, nil for none.
func (c *Config) Err() error {
	for _, f := range c.Files {
		if f.broken != nil {
			return f.broken
		}
	}
	return nil
}

// parse fills f from its text, without includes.
func (f *File) parse() {
	f.entries, f.broken = nil, nil
	for _, l := range textedit.Lines(f.text) {
		body := strings.Trim(f.text[l.From:l.Body], " \t\r\n")
		if body == "" || body[0] == '#' {
			continue
		}
		args, err := split(f.text, l.From, l.Body)
		if err != nil && f.broken == nil {
			f.broken = fmt.Errorf("%s:%d: %w", f.Path, l.Num, err)
		}
		if len(args) > 0 && err == nil {
			f.entries = append(f.entries, entry{line: l, name: canonical(args[0].value), args: args})
		}
	}
}

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
	f := &File{Path: name, was: string(src), text: string(src)}
	f.parse()
	if f.broken != nil {
		return nil, f.broken
	}
	c.byPath[name] = f
	c.Files = append(c.Files, f)
	return f, c.follow(f, append(chain[:len(chain):len(chain)], name))
}

// follow reads what f includes.
func (c *Config) follow(f *File, chain []string) error {
	for i := range f.entries {
		e := &f.entries[i]
		if e.name != "include" || len(e.args) != 2 {
			continue
		}
		names, err := c.included(e.args[1].value)
		if err != nil {
			return fmt.Errorf("%s:%d: include %s: %w", f.Path, e.line.Num, e.args[1].value, err)
		}
		for _, name := range names {
			sub, err := c.file(name, chain)
			if err != nil {
				return fmt.Errorf("%s:%d: include: %w", f.Path, e.line.Num, err)
			}
			e.files = append(e.files, sub)
		}
	}
	return nil
}

// included lists the files that an include stands for, in Redis's order.
func (c *Config) included(target string) ([]string, error) {
	if !path.IsAbs(target) {
		return nil, errors.New("the path is relative to wherever Redis is; write it absolute")
	}
	if !strings.ContainsAny(target, "*?[{") {
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

// place is one entry as Redis comes by it.
type place struct {
	file *File
	i    int
	// behind says that an include stands before it in its file.
	behind bool
}

func (p place) entry() entry { return p.file.entries[p.i] }

// places lists all directives in the order in which Redis takes them.
func (c *Config) places() []place {
	var out []place
	var walk func(f *File, depth int)
	walk = func(f *File, depth int) {
		behind := false
		for i, e := range f.entries {
			out = append(out, place{f, i, behind})
			behind = behind || e.name == "include"
			for _, sub := range e.files {
				if depth < maxIncludes {
					walk(sub, depth+1)
				}
			}
		}
	}
	if len(c.Files) > 0 {
		walk(c.Files[0], 0)
	}
	return out
}

// subject is how many arguments of a directive say which of its lines is
// meant, and what they are.
func subject(name string, args []string) string {
	n := multi[name]
	if n < 0 || len(args) < n {
		return ""
	}
	return strings.ToLower(strings.Join(args[:n], "\x00"))
}

func (c *Config) winner(name, subj string) (place, bool) {
	var out place
	for _, p := range c.places() {
		if e := p.entry(); e.name == name && subject(name, e.values()) == subj {
			out = p
		}
	}
	return out, out.file != nil
}

// Get returns the directive's line that wins: the last one. Of a directive
// that is set per subject (client-output-buffer-limit per class,
// rename-command per command, user per name), subject names which. Old names
// (slave-…, …-ziplist-…) count as the new ones.
func (c *Config) Get(name string, subject ...string) (Value, bool) {
	p, ok := c.winner(canonical(name), strings.ToLower(strings.Join(subject, "\x00")))
	if !ok {
		return Value{}, false
	}
	return Value{Args: p.entry().values(), Path: p.file.Path, Line: p.entry().line.Num}, true
}

// Save returns the snapshot points in force, "seconds changes" each: those of
// all save lines behind the last `save ""`. A line behind an include replaces
// all before it: at the end of an included file Redis forgets that it is
// reading a configuration (reading_config_file in config.c; seen with 7.0).
// set is false where no line is, so that Redis's default holds.
func (c *Config) Save() (points []string, set bool) {
	for _, p := range c.places() {
		e := p.entry()
		if e.name != "save" {
			continue
		}
		args := e.values()
		set = true
		if p.behind || len(args) == 1 && args[0] == "" {
			points = nil
		}
		for i := 0; i+1 < len(args); i += 2 {
			points = append(points, args[i]+" "+args[i+1])
		}
	}
	return points, set
}

// Changed returns the new bytes of every file that edits have made different
// from what was read.
func (c *Config) Changed() map[string][]byte {
	return textedit.Changed(c.Files, func(f *File) (path, was, now string) { return f.Path, f.was, f.text })
}

// Names lists the directives that are set, in lower case and by their new
// names, in the order they first appear.
func (c *Config) Names() []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range c.places() {
		if n := p.entry().name; !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}
