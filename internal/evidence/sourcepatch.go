package evidence

import (
	"fmt"
	"time"
)

// SourcePatch is a change of an application's source that package patch offers, with what
// a run tells of the statement that stands there.
type SourcePatch struct {
	Service string // the application
	ID      string // as `kasoku patch` names it
	Shape   string // "P1"
	Title   string // the commit's subject
	What    string // is there, in words
	// File, below the application's folder, from Line (from 1) on, so many Lines of it.
	File        string
	Line, Lines int
	Function    string
	// Dir is the top of the checkout; Diff and Build are relative to it, and so are
	// Products, what the build makes.
	Dir             string
	Diff            []byte
	Message         string // of the commit
	Build, Products []string

	// Statement is its text, which stands at Text; "" if it is about none. More is where
	// other statements stand that it changes, too. For all of them Database is asked, Count
	// times of Counts in all, which took Total of All, the time of all its statements.
	Statement  string
	Text       CodeSpan
	More       []CodeSpan
	Database   string
	Count      int64
	Counts     int64
	Total, All time.Duration
	// Makes are functions, as profiles name them, that Symbol, the place's function, calls no
	// more, or hardly; Made is the part of the program's profile that they are in there, 0–1.
	Makes  []string
	Symbol string
	Made   float64
	// Tables that nothing may write meanwhile: Written is a statement of the run that does,
	// "" if there is none. An answer may become as old as Staleness; 0: no older than it was.
	Tables    []string
	Written   string
	Staleness time.Duration
	// PerRequest is the most often that one request of a route made it, by requests that
	// were followed; 0: not known.
	PerRequest float64
}

// JoinedPatch is several patches of one program as one commit.
type JoinedPatch struct {
	IDs     []string // those that it holds: one that changes the lines of an earlier one is left out
	Diff    []byte
	Message string
}

// CodeSpan is a number of lines of a file below the application's folder.
type CodeSpan struct {
	File        string
	Line, Lines int // the first from 1
}

// Holds reports whether a line of a file is among them.
func (s CodeSpan) Holds(file string, line int) bool {
	return file == s.File && line >= s.Line && line < s.Line+s.Lines
}

// Place is "home.go:33 (server.deckOf)".
func (p SourcePatch) Place() string {
	if p.Function == "" {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d (%s)", p.File, p.Line, p.Function)
}
