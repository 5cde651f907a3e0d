package haproxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// Change is a change of one statement, to be made by Apply.
type Change struct {
	at     *Statement
	words  []string
	follow bool
}

// Replace writes other words in place of the statement's. Its indentation and a
// comment behind it stay.
func (s *Statement) Replace(words ...string) Change { return Change{at: s, words: words} }

// Follow puts a statement on a line of its own below the one of s.
func (s *Statement) Follow(words ...string) Change {
	return Change{at: s, words: words, follow: true}
}

// Apply makes the changes, all or none, and returns them as edits of the text
// before. It is an error if the new words are not read back as they are, or if
// any other statement is read differently then. Sections and Statements from
// before are of the text before; get new ones for more changes.
func (c *Config) Apply(changes ...Change) ([]textedit.Edit, error) {
	if c.err != nil {
		return nil, c.err
	}
	var edits []textedit.Edit
	next := &Config{}
	for _, f := range c.Files {
		var own []textedit.Edit
		for _, x := range changes {
			if x.at.File.Path == f.Path {
				e, err := x.edit()
				if err != nil {
					return nil, err
				}
				own = append(own, e)
			}
		}
		next.Files = append(next.Files, &File{Path: f.Path, was: f.was, text: textedit.Apply(f.text, own...)})
		edits = append(edits, own...)
	}
	if len(edits) != len(changes) {
		return nil, errors.New("a change is of another configuration")
	}
	next.parse()
	if next.err != nil {
		return nil, fmt.Errorf("the new text would not be taken: %w", next.err)
	}
	for i, f := range c.Files {
		if want, got := f.expected(changes), next.Files[i].read(); !slices.Equal(want, got) {
			return nil, fmt.Errorf("%s: the new text would change how other lines are read, or not be read back", f.Path)
		}
	}
	*c = *next
	return edits, nil
}

// edit is the change as a span of the file's text.
func (x Change) edit() (textedit.Edit, error) {
	f, s := x.at.File, x.at
	i := slices.Index(f.statements, s)
	switch {
	case len(x.words) == 0:
		return textedit.Edit{}, fmt.Errorf("%s:%d: there are no words to write", f.Path, s.Line.Num)
	case i < 0:
		return textedit.Edit{}, fmt.Errorf("%s:%d: the text was changed since", f.Path, s.Line.Num)
	case s.section == nil:
		return textedit.Edit{}, fmt.Errorf("%s:%d: %s belongs to no section", f.Path, s.Line.Num, s.Word(0))
	}
	var quoted []string
	for _, w := range x.words {
		quoted = append(quoted, Quote(w))
	}
	text := strings.Join(quoted, " ")
	if !x.follow {
		return textedit.Edit{Path: f.Path, From: s.Words[0].From, To: s.Words[len(s.Words)-1].To, New: text}, nil
	}
	return textedit.InsertLine(f.Path, f.text, s.Line.To, x.indent(i)+text), nil
}

// indent is what stands before the statement, or, below a section's head,
// before the next one.
func (x Change) indent(i int) string {
	f, s := x.at.File, x.at
	if s.section.Head != s {
		return f.text[s.Line.From:s.Words[0].From]
	}
	if i+1 < len(f.statements) {
		if n := f.statements[i+1]; n.section == s.section {
			return f.text[n.Line.From:n.Words[0].From]
		}
	}
	return "    "
}

// read is each statement as one text: its section's number, block and words.
func (f *File) read() []string {
	var out []string
	for _, s := range f.statements {
		words := make([]string, len(s.Words))
		for i, w := range s.Words {
			words[i] = w.Text
		}
		out = append(out, s.as(words))
	}
	return out
}

func (s *Statement) as(words []string) string {
	at := -1
	if s.section != nil {
		at = s.section.number
	}
	return fmt.Sprintf("%d %d %v %q", at, s.Block, s.section != nil && s.section.Head == s, words)
}

// expected is what read must tell after the changes.
func (f *File) expected(changes []Change) []string {
	out := f.read()
	for i, s := range slices.Backward(f.statements) {
		var below []string
		for _, x := range changes {
			switch {
			case x.at != s:
			case x.follow:
				plain := &Statement{Block: s.Block, section: s.section}
				below = append(below, plain.as(x.words))
			default:
				out[i] = s.as(x.words)
			}
		}
		out = slices.Insert(out, i+1, below...)
	}
	return out
}
