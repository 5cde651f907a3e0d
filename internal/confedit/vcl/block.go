package vcl

import (
	"fmt"
	"strings"
)

// Block is one thing at the top level of VCL: backend, probe, acl, sub, vcl,
// import, include, or another declaration.
type Block struct {
	Kind string // the word it starts with
	Name string // of a backend, probe, acl or sub; what an import names; an include's path
	File *File
	Line int // 1-based, follows edits

	first, last int // its tokens
	open        int // the token {, 0 if there is none; last is its }
	glob        bool
	gone        bool
}

// Property is one .name = value; of a backend or probe.
type Property struct {
	Name  string // without the dot
	Value string // as written; see Text for strings. A block's value is "{…}" whole
	Line  int

	dot, from, to int // its tokens: the dot, the value's first and last
	end           int // the last token, ; or }
}

// parse finds the blocks of a file's tokens.
func parse(tokens []token) ([]*Block, error) {
	var out []*Block
	for i := 0; i < len(tokens); {
		t := tokens[i]
		if t.kind == inlineC {
			i++
			continue
		}
		if t.raw == "}" || t.raw == "{" || t.raw == ";" {
			return nil, errorAt(t.line, "unexpected %q", t.raw)
		}
		b := &Block{Kind: t.raw, Line: t.line, first: i}
		end, err := b.extent(tokens, i)
		if err != nil {
			return nil, err
		}
		b.last = end
		b.naming(tokens)
		out = append(out, b)
		i = end + 1
	}
	return out, nil
}

// extent finds the block's last token: the ; or the } of its first brace.
func (b *Block) extent(tokens []token, i int) (int, error) {
	for j := i; j < len(tokens); j++ {
		switch tokens[j].raw {
		case ";":
			return j, nil
		case "}":
			return 0, errorAt(tokens[j].line, `unexpected "}"; is a ; missing before it?`)
		case "{":
			end, err := closing(tokens, j)
			if err != nil {
				return 0, err
			}
			b.open = j
			return end, nil
		}
	}
	return 0, errorAt(tokens[i].line, "the file ends inside %q; a ; or } is missing", tokens[i].raw)
}

// closing finds the } for the { at i.
func closing(tokens []token, i int) (int, error) {
	depth := 0
	for j := i; j < len(tokens); j++ {
		switch tokens[j].raw {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				return j, nil
			}
		}
	}
	return 0, errorAt(tokens[i].line, "the { opened here is never closed")
}

// naming reads what the block is about.
func (b *Block) naming(tokens []token) {
	for _, t := range tokens[b.first+1 : b.last+1] {
		switch {
		case b.Kind == "include" && t.kind == name && t.raw == "glob":
			b.glob = true
		case b.Kind == "include" && t.kind == text:
			b.Name, _ = Text(t.raw)
			return
		case b.Kind != "include" && (t.kind == name || t.kind == number):
			b.Name = t.raw
			return
		case t.raw == "{":
			return
		}
	}
}

// where names a block in an error.
func (b *Block) where() string {
	return strings.TrimRight(fmt.Sprintf("%s:%d: %s %s", b.File.Path, b.Line, b.Kind, b.Name), " ")
}

// Properties lists the properties of a backend or probe in order; none for
// other blocks, and for a backend that is "none".
func (b *Block) Properties() []Property {
	if b.open == 0 || b.Kind != "backend" && b.Kind != "probe" {
		return nil
	}
	var out []Property
	tokens := b.File.tokens
	for i := b.open + 1; i < b.last; {
		if tokens[i].raw != "." || i+3 >= b.last || tokens[i+1].kind != name || tokens[i+2].raw != "=" {
			i++
			continue
		}
		p := Property{Name: tokens[i+1].raw, Line: tokens[i].line, dot: i, from: i + 3}
		end := i + 3
		if tokens[end].raw == "{" {
			end, _ = closing(tokens, end) // balanced, or the file would not have parsed
			p.to, p.end = end, end
			if end+1 < b.last && tokens[end+1].raw == ";" {
				p.end++
			}
		} else {
			for end < b.last && tokens[end].raw != ";" {
				end++
			}
			p.to, p.end = end-1, end
			if end == b.last { // the ; is missing; Varnish's check will tell
				p.end = end - 1
			}
		}
		if p.to >= p.from {
			p.Value = b.File.src[tokens[p.from].from:tokens[p.to].to]
			out = append(out, p)
		}
		i = p.end + 1
	}
	return out
}

// Property returns the property of that name.
func (b *Block) Property(name string) (Property, bool) {
	for _, p := range b.Properties() {
		if p.Name == strings.TrimPrefix(name, ".") {
			return p, true
		}
	}
	return Property{}, false
}
