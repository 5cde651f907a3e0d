package patch

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Place is where a shape fits, or looks as if it did.
type Place struct {
	// ID is the shape with four hexadecimal digits of what is there: it stays the same
	// while other lines are edited.
	ID       string `json:"id"`
	Shape    string `json:"shape"`
	File     string `json:"file"` // below the program's folder
	Line     int    `json:"line"` // from 1
	Lines    int    `json:"lines"`
	Function string `json:"function,omitempty"`
	// What is there, in words.
	What string `json:"what"`
	// Statement is the SQL text, if there is one.
	Statement string `json:"statement,omitempty"`
	// Text is where the statement stands, if that is not at the place.
	Text    *Span    `json:"text,omitempty"`
	Refused *Refusal `json:"refused,omitempty"`
	// With is the ID of the place whose patch is this one's, too; "" if it has its own.
	With string `json:"with,omitempty"`
	// Makes are functions, as profiles name them, that run no more, or hardly, when Symbol
	// calls them; empty of a place that is about something else.
	Makes  []string `json:"-"`
	Symbol string   `json:"-"`
	// Tables must not be written by others, or an answer may be older than the last write
	// by Staleness; 0 where it is never.
	Tables    []string      `json:"tables,omitempty"`
	Staleness time.Duration `json:"staleness,omitempty"` // nanoseconds
	// Subject and Body of the commit.
	Subject string `json:"-"`
	Body    string `json:"-"`

	program *Program
	file    *file
	edits   []edit
	imports []string // that the file needs for it
	beside  *Place   // what it changes in another file
	// freed are names of variables with a statement's text that it reads no more.
	freed  []*ast.Ident
	reader string // PHP: the function that it writes
	// lead is the place whose patch makes this one's change too; nil: it has its own.
	lead *Place
	rows *rowLoop // that it gathers the rows of before
}

// Span is a number of lines of a file.
type Span struct {
	File  string `json:"file"` // below the program's folder
	Line  int    `json:"line"` // from 1
	Lines int    `json:"lines"`
}

// Holds reports whether the place's statement stands at a line of a file.
func (p *Place) Holds(file string, line int) bool {
	at := p.Text
	if at == nil {
		at = &Span{p.File, p.Line, p.Lines}
	}
	return filepath.ToSlash(file) == filepath.ToSlash(at.File) && line >= at.Line && line < at.Line+at.Lines
}

// statementAt notes that the statement stands elsewhere.
func (p *Place) statementAt(f *file, n ast.Node) {
	from, to := f.line(n.Pos()), f.line(n.End())
	p.Text = &Span{f.rel, from, to - from + 1}
}

// in is the part of the place that changes a file.
func (p *Place) in(f *file) *Place {
	if f == p.file {
		return p
	}
	if p.beside == nil {
		p.beside = &Place{ID: p.ID, Shape: p.Shape, File: f.rel, program: p.program, file: f}
	}
	return p.beside.in(f)
}

// Leads are the places that make the changes of places, each once.
func Leads(places []*Place) []*Place {
	var out []*Place
	for _, p := range places {
		if p.lead != nil {
			p = p.lead
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Lead is the place that makes this one's change; it may be the place itself.
func (p *Place) Lead() *Place { return Leads([]*Place{p})[0] }

// partsOf are the places that make the changes of places, with what they change in other
// files.
func partsOf(places []*Place) []*Place {
	var out []*Place
	for _, p := range Leads(places) {
		for ; p != nil; p = p.beside {
			out = append(out, p)
		}
	}
	return out
}

// place is a new place around a node.
func (f *file) place(shape string, n ast.Node, what string) *Place {
	from, to := f.line(n.Pos()), f.line(n.End())
	return &Place{Shape: shape, File: f.rel, Line: from, Lines: to - from + 1, Function: f.function(n), What: what, program: f.program, file: f}
}

// refused takes a reason; nil leaves the place as it is.
func (p *Place) refused(r *Refusal) *Place {
	if r != nil && p.Refused == nil {
		p.Refused = r
	}
	return p
}

// Message of its commit: the subject, what and why in lines of 72.
func (p *Place) Message() string {
	if p.lead != nil {
		return p.lead.Message()
	}
	body := p.Body
	if p.rows != nil {
		body += "\n\n" + p.rows.says()
	}
	return p.Subject + "\n\n" + wrap(body, 72) + "\n"
}

// wrap breaks paragraphs into lines of at most so many characters.
func wrap(text string, width int) string {
	var out []string
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for _, w := range strings.Fields(paragraph) {
			switch {
			case line == "":
				line = w
			case len(line)+1+len(w) > width:
				out, line = append(out, line), w
			default:
				line += " " + w
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// number gives places their IDs; those that are alike are told apart by their order.
func number(places []*Place) {
	seen := map[string]int{}
	for _, p := range places {
		what := strings.Join([]string{p.Shape, filepath.ToSlash(p.File), p.Function, p.What, p.Statement}, "\x00")
		seen[what]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", what, seen[what]))
		p.ID = fmt.Sprintf("%s-%x", p.Shape, sum[:2])
	}
}

// Program that the place is in.
func (p *Place) Program() *Program { return p.program }
