package vcl

import (
	"regexp"
	"slices"
	"sort"
	"strings"
)

// Plain is a block's code as Varnish reads it: tokens with one space between
// them, a string as "", without comments and without what edits marked. So
// `return(synth(403, "no")); # x` is `return ( synth ( 403 , "" ) ) ;`.
type Plain struct {
	Text string

	at    []int // where each token begins in Text
	lines []int // its line in the file, 1-based
}

// Plain returns the block's code in this form.
func (b *Block) Plain() Plain {
	marks := b.File.marks()
	var p Plain
	var code strings.Builder
	for _, t := range b.File.tokens[b.first : b.last+1] {
		if slices.ContainsFunc(marks, func(m Marked) bool { return m.from <= t.from && t.to <= m.to }) {
			continue
		}
		p.at, p.lines = append(p.at, code.Len()), append(p.lines, t.line)
		switch t.kind {
		case text:
			code.WriteString(`""`)
		case inlineC:
			code.WriteString("C{ }C")
		default:
			code.WriteString(t.raw)
		}
		code.WriteByte(' ')
	}
	p.Text = code.String()
	return p
}

// Place is where code matches.
type Place struct {
	Text string // what matches, of Plain.Text
	Line int    // of the file, 1-based
}

// Find lists the places where the code matches.
func (p Plain) Find(re *regexp.Regexp) []Place {
	var out []Place
	for _, m := range re.FindAllStringIndex(p.Text, -1) {
		i := sort.SearchInts(p.at, m[0]+1) - 1
		out = append(out, Place{strings.TrimSpace(p.Text[m[0]:m[1]]), p.lines[i]})
	}
	return out
}
