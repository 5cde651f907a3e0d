package vcl

import (
	"fmt"
	"regexp"
	"strings"
)

// Marked is code that an edit added, between two comments.
type Marked struct {
	Mark string
	Code string // without the comments, as it stands in the file
	File *File
	Line int // of the first comment

	from, to int // whole lines, both comments included
}

var goodMark = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

var markLine = regexp.MustCompile(`(?m)^[ \t]*# kasoku:(begin|end) ([a-z0-9._-]+)[ \t]*\r?$\n?`)

// Marks lists the marked code of all files.
func (c *Config) Marks() []Marked {
	var out []Marked
	for _, f := range c.Files {
		out = append(out, f.marks()...)
	}
	return out
}

func (f *File) marks() []Marked {
	var out []Marked
	var open *Marked
	begin := 0
	for _, m := range markLine.FindAllStringSubmatchIndex(f.src, -1) {
		mark := f.src[m[4]:m[5]]
		if f.inToken(m[2]) {
			continue
		}
		switch f.src[m[2]:m[3]] {
		case "begin":
			open = &Marked{Mark: mark, File: f, Line: 1 + strings.Count(f.src[:m[2]], "\n"), from: m[0]}
			begin = m[1]
		case "end":
			if open != nil && open.Mark == mark {
				open.Code, open.to = f.src[begin:m[0]], m[1]
				out = append(out, *open)
			}
			open = nil
		}
	}
	return out
}

// inToken reports whether a byte is inside a token.
func (f *File) inToken(pos int) bool {
	for _, t := range f.tokens {
		if t.from < pos && pos < t.to {
			return true
		}
	}
	return false
}

// Marked returns the code of a mark.
func (c *Config) Marked(mark string) (Marked, bool) {
	for _, m := range c.Marks() {
		if m.Mark == mark {
			return m, true
		}
	}
	return Marked{}, false
}

// Begin puts statements at the beginning of a subroutine, Append declarations at
// the end of the main file. Both put the code between two comments with a mark,
// a lower-case word, by which it is found again: code with the same mark is
// replaced where it stands. If the subroutine is not there, it is added to the
// main file.
func (c *Config) Begin(sub, mark, code string) error {
	return c.mark("insert into sub "+sub, mark, code, func() (*File, int, string, string, string) {
		b := c.Block("sub", sub)
		if b == nil {
			return c.newSub(sub)
		}
		return b.beginning()
	})
}

// Append is described with Begin.
func (c *Config) Append(mark, code string) error {
	return c.mark("append to "+c.main, mark, code, func() (*File, int, string, string, string) {
		f := c.Files[0]
		lead := ""
		if f.src != "" && !strings.HasSuffix(f.src, "\n") {
			lead = f.eol
		}
		return f, len(f.src), "", lead, ""
	})
}

// mark puts code between comments at the place that find names: a file, a byte
// in it, the indentation, and what goes before and behind.
func (c *Config) mark(what, mark, code string, find func() (*File, int, string, string, string)) error {
	if !goodMark.MatchString(mark) {
		return fmt.Errorf("%s: the mark %q is not made of lower-case letters, digits, dots and dashes", what, mark)
	}
	if strings.Contains(code, "kasoku:begin") || strings.Contains(code, "kasoku:end") {
		return fmt.Errorf("%s: the code holds a mark itself", what)
	}
	var f *File
	var from, to int
	var indent, lead, follow string
	if m, ok := c.Marked(mark); ok {
		f, from, to = m.File, m.from, m.to
		first := strings.TrimLeft(f.src[from:to], " \t")
		indent = f.src[from : to-len(first)]
		if !strings.HasSuffix(f.src[from:to], "\n") {
			follow = "\x00" // the file ends here without a line end
		}
	} else {
		f, from, indent, lead, follow = find()
		to = from
	}
	body, err := indented(code, indent, f.eol)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	text := indent + "# kasoku:begin " + mark + f.eol + body + indent + "# kasoku:end " + mark + f.eol
	if follow == "\x00" {
		text, follow = strings.TrimSuffix(text, f.eol), ""
	}
	err = c.splice(f, from, to, lead+text+follow, func() error {
		if got, ok := c.Marked(mark); !ok || got.Code != body {
			return fmt.Errorf("the mark %s would not be found again", mark)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// newSub is the place for a subroutine that is not there.
func (c *Config) newSub(sub string) (*File, int, string, string, string) {
	f := c.Files[0]
	lead := f.eol
	if f.src != "" && !strings.HasSuffix(f.src, "\n") {
		lead += f.eol
	}
	return f, len(f.src), f.unit(), lead + "sub " + sub + " {" + f.eol, "}" + f.eol
}

// beginning is the place right after the block's {.
func (b *Block) beginning() (*File, int, string, string, string) {
	f := b.File
	open := f.tokens[b.open]
	next := f.tokens[b.open+1].from
	base := f.lineIndent(open.from)
	for i := open.to; i < next; {
		rest := f.src[i:next]
		switch {
		case rest[0] == '\n':
			return f, i + 1, base + f.unit(), "", ""
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			i += strings.IndexByte(rest+"\n", '\n')
		case strings.HasPrefix(rest, "/*"):
			i += strings.Index(rest, "*/") + 2
		default:
			i++
		}
	}
	return f, open.to, base + f.unit(), f.eol, base
}
