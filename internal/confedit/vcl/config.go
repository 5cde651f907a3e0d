package vcl

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

// DefaultPath is where varnishd looks for files that are not named absolutely
// (parameter vcl_path, Debian's default).
var DefaultPath = []string{"/etc/varnish", "/usr/share/varnish/vcl"}

// maxIncludes bounds how deep files include files.
const maxIncludes = 50

// Config is a main file and all that it includes at the top level. An include
// inside a subroutine is not followed: its text is statements.
type Config struct {
	Files []*File // in the order Varnish first opens them

	main string
	path []string
	read ReadFunc
	glob GlobFunc
	byID map[string]*File
	all  []*Block
}

// File is one file of a configuration.
type File struct {
	Path string

	was, src string
	tokens   []token
	blocks   []*Block
	eol      string // "\n" or "\r\n"
}

// Load reads the main file and follows its includes. vclPath is the parameter
// vcl_path cut at the colons, nil for DefaultPath. The text must be cut into
// tokens and blocks; what is in them is for varnishd -C to check.
func Load(main string, vclPath []string, read ReadFunc, glob GlobFunc) (*Config, error) {
	if main == "" {
		return nil, errors.New("load VCL: no main file is named")
	}
	if vclPath == nil {
		vclPath = DefaultPath
	}
	c := &Config{main: main, path: vclPath, read: read, glob: glob, byID: map[string]*File{}}
	if err := c.rebuild(); err != nil {
		return nil, fmt.Errorf("load VCL: %w", err)
	}
	return c, nil
}

// rebuild follows the includes from the files' texts. On an error nothing is
// changed.
func (c *Config) rebuild() error {
	var files []*File
	var all []*Block
	seen := map[*File]bool{}
	var visit func(name string, chain []string) error
	visit = func(name string, chain []string) error {
		f, err := c.file(name)
		if err != nil {
			return err
		}
		if !seen[f] {
			seen[f] = true
			files = append(files, f)
		}
		for _, b := range f.blocks {
			all = append(all, b)
			if b.Kind != "include" || b.Name == "" {
				continue
			}
			names, err := c.included(f, b)
			if err != nil {
				return fmt.Errorf("%s: %w", b.where(), err)
			}
			for _, sub := range names {
				for _, up := range chain {
					if up == sub {
						return fmt.Errorf("%s: the files include each other in a circle", b.where())
					}
				}
				if len(chain) > maxIncludes {
					return fmt.Errorf("%s: files include files more than %d deep", b.where(), maxIncludes)
				}
				if err := visit(sub, append(chain[:len(chain):len(chain)], sub)); err != nil {
					return fmt.Errorf("%s: %w", b.where(), err)
				}
			}
		}
		return nil
	}
	if err := visit(c.main, []string{c.main}); err != nil {
		return err
	}
	c.Files, c.all = files, all
	return nil
}

func (c *Config) file(name string) (*File, error) {
	if f := c.byID[name]; f != nil {
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
	if err := f.parse(f.was); err != nil {
		return nil, err
	}
	c.byID[name] = f
	return f, nil
}

// parse takes src as the file's text. Blocks that were there before keep their
// objects, told by kind, name and order. On an error nothing is changed.
func (f *File) parse(src string) error {
	tokens, err := lex(src)
	var blocks []*Block
	if err == nil {
		blocks, err = parse(tokens)
	}
	var s *syntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("%s:%d: %s", f.Path, s.line, s.text)
	}
	old := map[string][]*Block{}
	for _, b := range f.blocks {
		b.gone = true
		old[b.Kind+" "+b.Name] = append(old[b.Kind+" "+b.Name], b)
	}
	for i, b := range blocks {
		b.File = f
		if same := old[b.Kind+" "+b.Name]; len(same) > 0 {
			*same[0] = *b
			blocks[i], old[b.Kind+" "+b.Name] = same[0], same[1:]
		}
	}
	f.src, f.tokens, f.blocks = src, tokens, blocks
	return nil
}

// included lists the files of an include.
func (c *Config) included(f *File, b *Block) ([]string, error) {
	dirs := c.path
	switch {
	case path.IsAbs(b.Name):
		dirs = []string{"/"}
	case strings.HasPrefix(b.Name, "./"):
		dirs = []string{path.Dir(f.Path)}
	}
	for _, dir := range dirs {
		full := path.Join(dir, b.Name)
		if b.glob {
			found, err := c.glob(full)
			if err != nil {
				return nil, err
			}
			out := append([]string(nil), found...)
			sort.Strings(out)
			if len(out) > 0 || len(dirs) == 1 {
				return out, nil
			}
			continue
		}
		if _, err := c.file(full); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return []string{full}, err
		}
	}
	return nil, fmt.Errorf("%s is in none of %s", b.Name, strings.Join(dirs, ", "))
}

// Blocks lists the blocks of a kind ("backend", "sub" …) in the order Varnish
// reads them, "" for all.
func (c *Config) Blocks(kind string) []*Block {
	var out []*Block
	for _, b := range c.all {
		if kind == "" || b.Kind == kind {
			out = append(out, b)
		}
	}
	return out
}

// Block returns the first block of that kind and name, or nil. A sub may be
// written several times: Varnish joins them in the order read.
func (c *Config) Block(kind, name string) *Block {
	for _, b := range c.all {
		if b.Kind == kind && b.Name == name {
			return b
		}
	}
	return nil
}

// Changed returns the new bytes of every file that edits have made different
// from what was read.
func (c *Config) Changed() map[string][]byte {
	out := map[string][]byte{}
	for name, f := range c.byID {
		if f.src != f.was {
			out[name] = []byte(f.src)
		}
	}
	return out
}
