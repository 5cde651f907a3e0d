package unit

import (
	"errors"
	"fmt"
	"io/fs"

	"kasoku/internal/confedit/textedit"
)

// ReadFunc reads a whole file.
type ReadFunc func(path string) ([]byte, error)

// GlobFunc lists the files that match a shell pattern (* ? [ ]), in any order.
type GlobFunc func(pattern string) ([]string, error)

// Config is a unit file and its drop-ins.
type Config struct {
	Name  string
	Files []*File // in the order they are read; a drop-in changes what is before

	alone bool // one file without a unit's directories around it
}

// Value is what a setting is set to and where.
type Value struct {
	Text string // lines joined, without white space around; quotes are kept
	Path string
	Line int // 1-based
}

// Load finds and reads a unit's files. A unit that is found nowhere is an
// error for which errors.Is(err, fs.ErrNotExist) holds.
func Load(name string, read ReadFunc, glob GlobFunc) (*Config, error) {
	fragments, more, err := find(name, glob)
	if err != nil {
		return nil, fmt.Errorf("load unit: %w", err)
	}
	c := &Config{Name: name}
	for _, p := range fragments {
		src, err := read(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("load unit %s: read %s: %w", name, p, err)
		}
		c.Files = append(c.Files, newFile(p, src))
		break
	}
	if len(c.Files) == 0 {
		return nil, fmt.Errorf("load unit %s: %w: %w", name, errNoUnit, fs.ErrNotExist)
	}
	for _, p := range more {
		src, err := read(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("load unit %s: read drop-in %s: %w", name, p, err)
		}
		c.Files = append(c.Files, newFile(p, src))
	}
	return c, nil
}

// Parse reads one file alone. Every text is taken.
func Parse(path string, src []byte) *Config {
	return &Config{Files: []*File{newFile(path, src)}, alone: true}
}

// place is one assignment.
type place struct {
	file *File
	i    int
}

func (p place) entry() *entry { return &p.file.entries[p.i] }

func (c *Config) places(section, key string) []place {
	var out []place
	for _, f := range c.Files {
		for i, e := range f.entries {
			if !e.header && e.section == section && e.key == key {
				out = append(out, place{f, i})
			}
		}
	}
	return out
}

func (p place) value() Value {
	return Value{Text: p.entry().value.String(), Path: p.file.Path, Line: p.entry().line}
}

// Get returns the last assignment of a setting that holds one value. An empty
// Text means that it was put back to its default.
func (c *Config) Get(section, key string) (Value, bool) {
	all := c.places(section, key)
	if len(all) == 0 {
		return Value{}, false
	}
	return all[len(all)-1].value(), true
}

// List returns the assignments that count of a setting that holds a list:
// those behind the last empty one (systemd.unit(5); ExecStart, Environment,
// EnvironmentFile and the like. Dependencies such as After have no reset).
func (c *Config) List(section, key string) []Value {
	var out []Value
	for _, p := range c.places(section, key) {
		if v := p.value(); v.Text == "" {
			out = nil
		} else {
			out = append(out, v)
		}
	}
	return out
}

// Sections lists the sections in the order they first appear.
func (c *Config) Sections() []string {
	var out []string
	seen := map[string]bool{}
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

// Changed returns the new bytes of every file that edits have made different
// from what was read; a drop-in that is new is among them.
func (c *Config) Changed() map[string][]byte {
	return textedit.Changed(c.Files, func(f *File) (path, was, now string) { return f.Path, f.was, f.text })
}

// Keys lists the settings of a section in the order they first appear.
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
