package source

import (
	"cmp"
	"slices"

	"kasoku/internal/sqllog"
)

// Place is where a statement is made.
type Place struct {
	File     string `json:"file"` // below the folder
	Line     int    `json:"line"` // from 1, where its text begins
	Function string `json:"function,omitempty"`
	// Sure: the text makes this class and no other place holds it. Else Why says what
	// speaks for it.
	Sure bool   `json:"sure"`
	Why  string `json:"why,omitempty"`
	// Covered is the part (0–1) of the class's words that stand in the source.
	Covered float64 `json:"covered"`
}

// Limits of what is told.
const (
	mostPlaces = 5
	// leastCovered is the part of a class that a text must hold to be told at all.
	leastCovered = 0.5
	whole        = 0.999
)

// Find returns the places that may make statements of a class (or one statement), the
// likeliest first, at most five: where a text makes it, else where the names of its table
// and columns stand in calls as mappers of objects have them. None if nothing fits.
func (x *Index) Find(statement string) []Place {
	class := oneLimit(words(sqllog.Fingerprint(statement)))
	found := x.fitting(class)
	if len(found) == 0 {
		return x.guess(class)
	}
	best := found[0].covered
	found = slices.DeleteFunc(found, func(c candidate) bool { return c.covered < best-1e-9 })
	out := make([]Place, 0, len(found))
	for _, c := range found[:min(len(found), mostPlaces)] {
		t := c.pattern.text
		p := Place{File: x.names[c.pattern.file], Line: t.Line, Function: t.Function, Covered: c.covered}
		switch {
		case c.covered >= whole && len(found) == 1:
			p.Sure = true
		case c.covered >= whole:
			p.Why = "one of several that hold the same text"
		case c.open:
			p.Why = "its text begins so; what follows is put together elsewhere"
		default:
			p.Why = "parts of its text are put in when it runs"
		}
		out = append(out, p)
	}
	return out
}

// candidate is a pattern that fits a class.
type candidate struct {
	pattern *pattern
	covered float64
	open    bool // the class goes on where the pattern ends
}

// fitting are the patterns that fit a class, those that cover most of it first.
func (x *Index) fitting(class []string) []candidate {
	var out []candidate
	seen := map[string]bool{}
	for _, key := range append([]string{""}, class...) {
		if seen[key] {
			continue
		}
		seen[key] = true
		for _, i := range x.byName[key] {
			p := &x.patterns[i]
			holes, ok := fit(p.words, class, false)
			open := !ok
			if open {
				if holes, ok = fit(p.words, class, true); !ok {
					continue
				}
			}
			c := candidate{pattern: p, open: open, covered: x.covered(p, class, holes)}
			if c.covered >= leastCovered && len(p.names) > 0 {
				out = append(out, c)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.covered, a.covered), cmp.Compare(a.pattern.file, b.pattern.file), cmp.Compare(a.pattern.text.Line, b.pattern.text.Line))
	})
	return out
}

// covered is the part of a class that stands in the source, where holes stand for the
// rest: values are no part of a text, and other texts of the function may be put in.
func (x *Index) covered(p *pattern, class []string, holes []run) float64 {
	missing := 0
	pieces := x.pieces[place{p.file, p.text.Function}]
	for _, h := range holes {
		if ws := class[h.from:h.end]; !values(ws) {
			missing += uncovered(ws, pieces)
		}
	}
	return 1 - float64(missing)/float64(max(len(class), 1))
}

// uncovered is how many words of ws no pieces, one after the other, hold.
func uncovered(ws []string, pieces [][]string) int {
	missing := 0
	for i := 0; i < len(ws); {
		longest := 0
		for _, p := range pieces {
			longest = max(longest, begins(ws[i:], p))
		}
		if longest == 0 {
			if !values(ws[i : i+1]) {
				missing++
			}
			longest = 1
		}
		i += longest
	}
	return missing
}

// begins is how many words of ws the piece makes at its beginning: all of the piece, with a
// value for each hole of it; else 0.
func begins(ws, piece []string) int {
	if len(piece) > len(ws) || len(piece) == 1 && !isName(piece[0]) {
		return 0
	}
	for i, w := range piece {
		if w != ws[i] && !(w == wild && ws[i] == "?") {
			return 0
		}
	}
	return len(piece)
}
