package supervisor

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

// Config is a main file and all that its [include] names.
type Config struct {
	Files []*File // in the order they are read
}

// Value is what an option is set to and where.
type Value struct {
	Text string // as written, lines joined; see Expand for %(…)s
	Path string
	Line int // 1-based
}

// Load reads the main file and then the files that its [include] names: files
// are patterns parted by white space, relative to the main file's directory,
// in which %(here)s and %(ENV_X)s stand for that directory and for variables
// of env. An included file's own [include] is passed over, as supervisor does.
func Load(main string, env map[string]string, read ReadFunc, glob GlobFunc) (*Config, error) {
	src, err := read(main)
	if err != nil {
		return nil, fmt.Errorf("load supervisor configuration: read %s: %w", main, err)
	}
	c := Parse(main, src)
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("load supervisor configuration: %w", err)
	}
	v, ok := c.Get("include", "files")
	if !ok {
		return c, nil
	}
	names := map[string]string{"here": path.Dir(main)}
	for k, v := range env {
		names["ENV_"+k] = v
	}
	patterns, err := Expand(v.Text, names)
	if err != nil {
		return nil, fmt.Errorf("load supervisor configuration: %s:%d: files: %w", v.Path, v.Line, err)
	}
	for _, p := range strings.Fields(patterns) {
		if err := c.include(p, path.Dir(main), read, glob); err != nil {
			return nil, fmt.Errorf("load supervisor configuration: %s:%d: include %s: %w", v.Path, v.Line, p, err)
		}
	}
	return c, nil
}

func (c *Config) include(pattern, dir string, read ReadFunc, glob GlobFunc) error {
	if !path.IsAbs(pattern) {
		pattern = path.Join(dir, pattern)
	}
	found, err := glob(pattern)
	if err != nil {
		return err
	}
	found = append([]string(nil), found...)
	sort.Strings(found)
	for _, name := range found {
		if path.Base(name)[0] == '.' && path.Base(pattern)[0] != '.' {
			continue // Python's glob leaves hidden files out
		}
		src, err := read(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		f := newFile(name, src)
		if f.broken != "" {
			return fmt.Errorf("%s:%s", name, f.broken)
		}
		c.Files = append(c.Files, f)
	}
	return nil
}

// Parse reads one file without following [include]. Every text is taken; Err
// says whether supervisor would take it.
func Parse(path string, src []byte) *Config {
	return &Config{Files: []*File{newFile(path, src)}}
}

// Err says which line supervisor would refuse, nil for none.
func (c *Config) Err() error {
	for _, f := range c.Files {
		if f.broken != "" {
			return errors.New(f.Path + ":" + f.broken)
		}
	}
	return nil
}

type place struct {
	file *File
	i    int
}

func (p place) entry() *entry { return &p.file.entries[p.i] }

// winner returns the last assignment in section, or else in [DEFAULT].
func (c *Config) winner(section, key string) (place, bool) {
	var own, general place
	for _, f := range c.Files {
		for i, e := range f.entries {
			switch {
			case e.header || e.key != strings.ToLower(key):
			case e.section == section:
				own = place{f, i}
			case e.section == "DEFAULT":
				general = place{f, i}
			}
		}
	}
	if own.file == nil {
		own = general
	}
	return own, own.file != nil
}

// Get returns the value that counts of an option: the last one read. Names
// ignore case, sections do not. What stands in [DEFAULT] counts in every
// section that does not say otherwise.
func (c *Config) Get(section, key string) (Value, bool) {
	p, ok := c.winner(section, key)
	if !ok || len(c.headers(section)) == 0 {
		return Value{}, false
	}
	e := p.entry()
	return Value{Text: e.value.String(), Path: p.file.Path, Line: e.line}, true
}

func (c *Config) headers(section string) []place {
	var out []place
	for _, f := range c.Files {
		for i, e := range f.entries {
			if e.header && e.section == section {
				out = append(out, place{f, i})
			}
		}
	}
	return out
}

// Sections lists the sections in the order they first appear: supervisord,
// program:NAME, group:NAME, …
func (c *Config) Sections() []string {
	var out []string
	seen := map[string]bool{"DEFAULT": true}
	for _, f := range c.Files {
		for _, e := range f.entries {
			if e.header && !seen[e.section] {
				seen[e.section] = true
				out = append(out, e.section)
			}
		}
	}
	return out
}

// Keys lists the options of a section in lower case, in the order they first
// appear.
func (c *Config) Keys(section string) []string {
	var out []string
	seen := map[string]bool{}
	for _, f := range c.Files {
		for _, e := range f.entries {
			if !e.header && e.section == section && !seen[e.key] {
				seen[e.key] = true
				out = append(out, e.key)
			}
		}
	}
	return out
}

// Changed returns the new bytes of every file that edits have made different
// from what was read.
func (c *Config) Changed() map[string][]byte {
	return textedit.Changed(c.Files, func(f *File) (path, was, now string) { return f.Path, f.was, f.text })
}

// Expand puts names in for %(name)s and % for %%, as supervisor does with most
// values: ENV_X is a variable of supervisord's environment, here the directory
// of the file, program_name and the like are the program's.
func Expand(text string, names map[string]string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i+1:]
		switch {
		case text[i] != '%':
			b.WriteByte(text[i])
		case strings.HasPrefix(rest, "%"):
			b.WriteByte('%')
			i++
		case strings.HasPrefix(rest, "("):
			end := strings.IndexByte(rest, ')')
			if end < 0 || !strings.HasPrefix(rest[end+1:], "s") {
				return "", fmt.Errorf("%q: write %%(name)s for an expansion and %%%% for a percent sign", text)
			}
			v, ok := names[rest[1:end]]
			if !ok {
				return "", fmt.Errorf("%q: there is no value for %s", text, rest[1:end])
			}
			b.WriteString(v)
			i += end + 2
		default:
			return "", fmt.Errorf("%q: write %%%% for a percent sign", text)
		}
	}
	return b.String(), nil
}
