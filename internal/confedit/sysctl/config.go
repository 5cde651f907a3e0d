package sysctl

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// ReadFunc reads a whole file.
type ReadFunc func(path string) ([]byte, error)

// GlobFunc lists the files that match a shell pattern (* ? [ ]), in any order.
type GlobFunc func(pattern string) ([]string, error)

// Reader is the program that applies the files at boot. The two agree except
// in the last file.
type Reader int

const (
	// Systemd is systemd-sysctl (sysctl.d(5)): all files of Dirs sorted by
	// name; of two with the same name the one in the earlier directory alone
	// counts. Debian links 99-sysctl.conf to /etc/sysctl.conf.
	Systemd Reader = iota
	// Procps is `sysctl --system` (sysctl(8)): the same, and then
	// /etc/sysctl.conf.
	Procps
)

// Dirs are the directories of both readers, the one that overrides first.
var Dirs = []string{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"}

// MainFile is read last by Procps.
const MainFile = "/etc/sysctl.conf"

// Config is all files that are applied.
type Config struct {
	Files []*File // in the order they are applied

	reader Reader
}

// Value is what a parameter is set to and where.
type Value struct {
	Text string
	Path string
	Line int    // 1-based
	Key  string // as matched, with slashes: a pattern if that is what sets it
}

// Load finds and reads the files. A directory or file that does not exist (an
// error for which errors.Is(err, fs.ErrNotExist) holds) is passed over; any
// other failure is an error. An empty file, as /dev/null reads, masks those of
// its name in later directories.
func Load(r Reader, read ReadFunc, glob GlobFunc) (*Config, error) {
	c := &Config{reader: r}
	seen := map[string]bool{}
	var names []string
	for _, dir := range Dirs {
		found, err := glob(dir + "/*.conf")
		if err != nil {
			return nil, fmt.Errorf("load sysctl configuration: list %s: %w", dir, err)
		}
		for _, name := range found {
			if base := path.Base(name); !seen[base] && base[0] != '.' {
				seen[base] = true
				names = append(names, name)
			}
		}
	}
	sort.Slice(names, func(i, j int) bool { return path.Base(names[i]) < path.Base(names[j]) })
	if r == Procps {
		names = append(names, MainFile)
	}
	for _, name := range names {
		src, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("load sysctl configuration: read %s: %w", name, err)
		}
		c.Files = append(c.Files, newFile(name, src))
	}
	return c, nil
}

// Parse reads one file alone, as `sysctl -p FILE` does. Every text is taken.
func Parse(name string, src []byte) *Config {
	return &Config{Files: []*File{newFile(name, src)}}
}

func newFile(name string, src []byte) *File {
	f := &File{Path: name, was: string(src), text: string(src)}
	f.parse()
	return f
}

// winner returns the file and entry that set the parameter. One that names it
// wins over patterns, wherever they stand; "-key" without a value keeps
// patterns away (sysctl.d(5)). Among equals the last one read wins.
func (c *Config) winner(key string) (*File, int, bool) {
	key = Normalize(strings.Trim(key, spaces))
	var exact, pattern, none place
	for _, f := range c.Files {
		for i, e := range f.entries {
			switch {
			case !e.matches(key):
			case e.key == key && e.hasSep:
				exact, none = place{f, i}, place{}
			case e.key == key:
				none = place{f, i}
				exact = place{}
			case e.hasSep:
				pattern = place{f, i}
			}
		}
	}
	switch {
	case exact.file != nil:
		return exact.file, exact.i, true
	case none.file != nil || pattern.file == nil:
		return nil, 0, false
	}
	return pattern.file, pattern.i, true
}

type place struct {
	file *File
	i    int
}

// Get returns the value that a parameter has after boot. key may be written
// with dots or slashes.
func (c *Config) Get(key string) (Value, bool) {
	f, i, ok := c.winner(key)
	if !ok {
		return Value{}, false
	}
	e := f.entries[i]
	return Value{Text: e.value, Path: f.Path, Line: e.line.Num, Key: e.key}, true
}

// Keys lists the parameters and patterns that are set, with slashes, sorted.
func (c *Config) Keys() []string {
	seen := map[string]bool{}
	var out []string
	for _, f := range c.Files {
		for _, e := range f.entries {
			if e.hasSep && !seen[e.key] {
				seen[e.key] = true
				out = append(out, e.key)
			}
		}
	}
	sort.Strings(out)
	return out
}

// Changed returns the new bytes of every file that edits have made different
// from what was read; a file that is new is among them.
func (c *Config) Changed() map[string][]byte {
	return textedit.Changed(c.Files, func(f *File) (path, was, now string) { return f.Path, f.was, f.text })
}
