package haproxy

import (
	"fmt"
	"slices"

	"kasoku/internal/confedit/textedit"
)

// ReadFunc reads a whole file.
type ReadFunc func(path string) ([]byte, error)

// sections are the keywords that begin one (configuration manual, 2.1, 3 and
// 4, of all versions up to 3.2).
var sections = []string{"global", "defaults", "frontend", "listen", "backend", "peers", "mailers", "resolvers", "userlist", "program", "cache",
	"http-errors", "ring", "log-forward", "fcgi-app", "namespace_list", "crt-store", "traces", "log-profile", "acme", "ruleset"}

// Config is what HAProxy reads: several files (-f) in their order.
type Config struct {
	Files []*File

	sections []*Section
	err      error
}

// File is one file of a configuration.
type File struct {
	Path string

	was, text  string
	statements []*Statement // sections' heads and conditions among them
}

// Bytes returns the file's text with all edits so far.
func (f *File) Bytes() []byte { return []byte(f.text) }

// Section is a section: its first statement, and those of the lines below.
type Section struct {
	Kind string // global, defaults, frontend, …
	Name string // "" if it has none
	// From names the defaults section that it takes its settings from; "" the
	// last one before it.
	From       string
	Head       *Statement
	Statements []*Statement

	number int
}

// Statement is a line with at least one word.
type Statement struct {
	Words []Word
	File  *File
	Line  textedit.Line
	// Block tells the branches of conditions (.if, .elif, .else) apart; 0 is
	// outside of all. A statement whose Block is not that of its section's Head
	// may not count.
	Block int

	section *Section // nil: a condition
}

// Is reports whether the statement begins with these words.
func (s *Statement) Is(words ...string) bool {
	if len(s.Words) < len(words) {
		return false
	}
	for i, w := range words {
		if s.Words[i].Text != w || s.Words[i].Variable {
			return false
		}
	}
	return true
}

// Word is the text of a word; "" if there are fewer.
func (s *Statement) Word(i int) string {
	if i >= len(s.Words) {
		return ""
	}
	return s.Words[i].Text
}

// Load reads files in their order. A text that HAProxy would not take, or that
// has scopes ([name]), is an error.
func Load(names []string, read ReadFunc) (*Config, error) {
	c := &Config{}
	for _, name := range names {
		src, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("load HAProxy's configuration: read %s: %w", name, err)
		}
		c.Files = append(c.Files, &File{Path: name, was: string(src), text: string(src)})
	}
	c.parse()
	return c, c.err
}

// Parse reads one file. Every text is taken; see Err.
func Parse(name string, src []byte) *Config {
	c := &Config{Files: []*File{{Path: name, was: string(src), text: string(src)}}}
	c.parse()
	return c
}

// Err is why HAProxy would not take the text; nil if nothing is seen.
func (c *Config) Err() error { return c.err }

// Sections are those of the kinds, in their order; all if none is given.
func (c *Config) Sections(kinds ...string) []*Section {
	var out []*Section
	for _, s := range c.sections {
		if len(kinds) == 0 || slices.Contains(kinds, s.Kind) {
			out = append(out, s)
		}
	}
	return out
}

// Defaults is the defaults section that a section takes its settings from; nil
// if there is none, or s is of a kind that has no such.
func (c *Config) Defaults(s *Section) *Section {
	if !slices.Contains([]string{"defaults", "frontend", "listen", "backend"}, s.Kind) {
		return nil
	}
	var last *Section
	for _, d := range c.Sections("defaults") {
		if d.number >= s.number {
			break
		}
		if s.From == "" || d.Name == s.From {
			last = d
		}
	}
	if s.Kind == "defaults" && s.From == "" {
		return nil // it begins anew
	}
	return last
}

// Find are the statements that begin with these words, in their order.
func (s *Section) Find(words ...string) []*Statement {
	var out []*Statement
	for _, x := range s.Statements {
		if x.Is(words...) {
			out = append(out, x)
		}
	}
	return out
}

// Changed returns the new bytes of every file that edits have made different
// from what was read.
func (c *Config) Changed() map[string][]byte {
	return textedit.Changed(c.Files, func(f *File) (path, was, now string) { return f.Path, f.was, f.text })
}

// parse fills in what the texts say.
func (c *Config) parse() {
	c.sections, c.err = nil, nil
	blocks := 0
	for _, f := range c.Files {
		p := &parser{config: c, file: f, blocks: blocks}
		f.statements = nil
		for _, l := range textedit.Lines(f.text) {
			if err := p.line(l); err != nil && c.err == nil {
				c.err = fmt.Errorf("%s:%d: %w", f.Path, l.Num, err)
			}
		}
		if len(p.open) > 0 && c.err == nil {
			c.err = fmt.Errorf("%s: an .if has no .endif", f.Path)
		}
		blocks = p.blocks
	}
}

// parser reads one file; sections end with it.
type parser struct {
	config  *Config
	file    *File
	section *Section
	open    []int // branches of conditions, the innermost last
	blocks  int   // so many branches were seen
}

func (p *parser) block() int {
	if len(p.open) == 0 {
		return 0
	}
	return p.open[len(p.open)-1]
}

func (p *parser) line(l textedit.Line) error {
	all, err := words(p.file.text, l.From, l.Body)
	if err != nil || len(all) == 0 {
		return err
	}
	s := &Statement{Words: all, File: p.file, Line: l, Block: p.block()}
	p.file.statements = append(p.file.statements, s)
	first := s.Word(0)
	switch {
	case p.file.text[all[0].From] == '[':
		return fmt.Errorf("a scope (%s); these are not understood", first)
	case first != "" && first[0] == '.':
		return p.condition(first)
	case slices.Contains(sections, first) && !all[0].Variable:
		p.section = &Section{Kind: first, Head: s, number: len(p.config.sections)}
		if s.Word(1) == "from" && len(all) == 3 {
			p.section.From = s.Word(2) // defaults without a name
		} else if p.section.Name = s.Word(1); s.Word(2) == "from" {
			p.section.From = s.Word(3)
		}
		s.section = p.section
		p.config.sections = append(p.config.sections, p.section)
	case p.section == nil:
		return fmt.Errorf("%q stands before any section", first)
	default:
		s.section = p.section
		p.section.Statements = append(p.section.Statements, s)
	}
	return nil
}

// condition enters and leaves branches (configuration manual, 2.4).
func (p *parser) condition(word string) error {
	switch word {
	case ".if":
		p.blocks++
		p.open = append(p.open, p.blocks)
	case ".elif", ".else":
		if len(p.open) == 0 {
			return fmt.Errorf("%s without .if", word)
		}
		p.blocks++
		p.open[len(p.open)-1] = p.blocks
	case ".endif":
		if len(p.open) == 0 {
			return fmt.Errorf("%s without .if", word)
		}
		p.open = p.open[:len(p.open)-1]
	}
	return nil // .notice and the like
}
