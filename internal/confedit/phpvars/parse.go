package phpvars

import (
	"fmt"
	"slices"
	"strings"
)

// File is one PHP file of settings.
type File struct {
	Path string

	was, text string
	err       error
	sets      []assignment
	unclear   map[string]int // variable → line where something else may set it
	included  int            // token index behind the last include outside of blocks
	insert    int            // where a new line goes
}

// assignment is $name = text[from:to] outside of all blocks.
type assignment struct {
	name     string // without $
	from, to int
	line     int
	token    int // index of its first token
}

// Value is what a variable is set to.
type Value struct {
	Text string // PHP code, e.g. CACHE_NONE or "mw_"
	Path string
	Line int // 1-based
	// Sure is false where an included file, a block or a reference may have
	// set it otherwise.
	Sure bool
}

// Parse reads a file. Every text is taken; Err says why one cannot be edited.
func Parse(path string, src []byte) *File {
	f := &File{Path: path, was: string(src), text: string(src)}
	f.parse()
	return f
}

// Err says why the file cannot be read as settings; nil if it can.
func (f *File) Err() error {
	if f.err == nil {
		return nil
	}
	return fmt.Errorf("read %s: %w", f.Path, f.err)
}

// Bytes returns the text with all edits so far.
func (f *File) Bytes() []byte { return []byte(f.text) }

// Changed returns the new bytes if edits have made them different.
func (f *File) Changed() map[string][]byte {
	if f.text == f.was {
		return map[string][]byte{}
	}
	return map[string][]byte{f.Path: []byte(f.text)}
}

// Get returns what the variable (without $) is set to; the last assignment
// counts. ok is false if none is outside of all blocks.
func (f *File) Get(name string) (v Value, ok bool) {
	a := f.last(name)
	if a == nil {
		return Value{}, false
	}
	_, unclear := f.unclear[name]
	return Value{Text: f.text[a.from:a.to], Path: f.Path, Line: a.line, Sure: !unclear && a.token >= f.included}, true
}

// Unclear is the line where the variable may be set in a way that Get does not
// see; 0 if there is none.
func (f *File) Unclear(name string) int { return f.unclear[name] }

// Names lists the variables that are set outside of all blocks, in order.
func (f *File) Names() []string {
	var out []string
	for _, a := range f.sets {
		if !slices.Contains(out, a.name) {
			out = append(out, a.name)
		}
	}
	return out
}

func (f *File) last(name string) *assignment {
	for i := len(f.sets) - 1; i >= 0; i-- {
		if f.sets[i].name == name {
			return &f.sets[i]
		}
	}
	return nil
}

// parser walks the tokens of a file.
type parser struct {
	*File
	tokens   []token
	brackets []byte // that are open
	braces   int    // of them {
	start    int    // index of the first token of the statement, -1 between
	ended    bool   // nothing behind is run
	lastOpen bool   // the text ends in PHP code
}

func (f *File) parse() {
	f.sets, f.unclear, f.included, f.err = nil, map[string]int{}, 0, nil
	s, err := scan(f.text)
	if err != nil {
		f.err = err
		return
	}
	p := &parser{File: f, tokens: s.tokens, start: -1, lastOpen: s.inPHP}
	f.insert = len(f.text)
	for i := 0; i < len(p.tokens) && !p.ended; i++ {
		if err := p.token(i); err != nil {
			f.err = err
			return
		}
	}
	switch {
	case p.ended:
	case len(p.brackets) > 0:
		f.err = fmt.Errorf("a %q is not closed", p.brackets[len(p.brackets)-1])
	case p.start >= 0:
		f.err = fmt.Errorf("line %d: a statement does not end", p.tokens[p.start].line)
	case len(p.tokens) == 0 && !p.lastOpen:
		f.err = fmt.Errorf("it holds no PHP code")
	case !p.lastOpen:
		f.insert = p.tokens[len(p.tokens)-1].from // the closing tag
	}
}

func (p *parser) is(i int, s string) bool {
	return i >= 0 && i < len(p.tokens) && strings.EqualFold(p.text[p.tokens[i].from:p.tokens[i].to], s)
}

// oneOf is is() for several.
func (p *parser) oneOf(i int, all ...string) bool {
	return slices.ContainsFunc(all, func(s string) bool { return p.is(i, s) })
}

// alternative are the words that end blocks without braces (PHP manual,
// "Alternative syntax for control structures").
var alternative = []string{"endif", "endfor", "endforeach", "endwhile", "endswitch", "enddeclare"}

func (p *parser) token(i int) error {
	t := p.tokens[i]
	if p.start < 0 && t.kind != closeTag && !p.is(i, ";") {
		p.start = i
	}
	switch {
	case t.kind == closeTag:
		if len(p.brackets) == 0 {
			p.end(i)
		}
	case t.kind == variable:
		p.look(i)
	case t.kind == text:
		// $GLOBALS["name"] and its like.
		if name := strings.Trim(p.text[t.from:t.to], `"'`); p.is(i-1, "[") && p.is(i-2, "$GLOBALS") {
			p.unclear[name] = t.line
		}
	case t.kind == word && p.oneOf(i, alternative...):
		return fmt.Errorf("line %d: %s: blocks without braces are not read", t.line, p.text[t.from:t.to])
	case p.oneOf(i, "{", "(", "[", "#["):
		b := p.text[t.to-1]
		p.brackets = append(p.brackets, b)
		if b == '{' {
			p.braces++
		}
	case p.oneOf(i, "}", ")", "]"):
		return p.closing(i)
	case p.is(i, ";") && len(p.brackets) == 0:
		p.end(i)
	}
	return nil
}

var pairs = map[byte]byte{'}': '{', ')': '(', ']': '['}

func (p *parser) closing(i int) error {
	t := p.tokens[i]
	b := p.text[t.from]
	if n := len(p.brackets); n == 0 || p.brackets[n-1] != pairs[b] {
		return fmt.Errorf("line %d: %q closes nothing", t.line, b)
	}
	p.brackets = p.brackets[:len(p.brackets)-1]
	if b == '}' {
		p.braces--
		// A block ends its statement, but not a function that is assigned.
		if len(p.brackets) == 0 && p.start >= 0 && p.tokens[p.start].kind != variable {
			p.end(i)
		}
	}
	return nil
}

// look notes a variable that is set in another way than $name = … outside of
// all blocks.
func (p *parser) look(i int) {
	t := p.tokens[i]
	name := p.text[t.from+1 : t.to]
	plain := i == p.start && len(p.brackets) == 0 && p.is(i+1, "=") && !p.is(i+2, "&")
	switch {
	case plain:
		return
	case p.braces > 0,
		p.oneOf(i+1, "=", "+=", "-=", "*=", "/=", ".=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**=", "??=", "++", "--"),
		// Part of it, at the begin of a statement or behind if (…), else.
		(i == p.start || p.oneOf(i-1, ")", "else", "do")) && p.oneOf(i+1, "[", "->"),
		p.oneOf(i-1, "&", "++", "--"),
		p.oneOf(p.start, "[", "list", "unset", "global", "static", "foreach"):
		p.unclear[name] = t.line
	}
}

// end of the statement that token i ends.
func (p *parser) end(i int) {
	first := p.start
	p.start = -1
	if first < 0 {
		return
	}
	t := p.tokens[first]
	switch {
	case t.kind == variable && p.is(first+1, "=") && first+2 < i && !p.is(first+2, "&"):
		p.sets = append(p.sets, assignment{name: p.text[t.from+1 : t.to], from: p.tokens[first+2].from, to: p.tokens[i-1].to, line: t.line, token: first})
	case p.oneOf(first, "return", "exit", "die", "throw", "goto", "__halt_compiler"):
		p.ended, p.insert = true, t.from
		return
	}
	for k := first; k < i; k++ {
		if p.tokens[k].kind == word && p.oneOf(k, "include", "include_once", "require", "require_once", "eval", "extract") {
			p.included = i
		}
	}
}
