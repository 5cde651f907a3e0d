package nginx

import (
	"errors"
	"fmt"
	"strings"
)

// A small backtracking matcher for the regular expressions of locations. nginx
// uses PCRE on bytes; Go's regexp works on runes and has no look-ahead or
// look-behind (`/\.(?!well-known)`), back-references, atomic groups or
// possessive quantifiers.

// maxSteps bounds a match, as PCRE's match limit does (10 million there).
const maxSteps = 1_000_000

// pcre is a compiled expression.
type pcre struct {
	root piece
	caps int
}

// piece matches at i and calls next with where it ended, until next is
// content.
type piece func(m *match, i int, next func(int) bool) bool

type match struct {
	s     string
	steps int
	caps  [][2]int
}

// match reports whether the expression matches anywhere in s; sure is false
// if it took too many steps to tell.
func (p *pcre) match(s string) (found, sure bool) {
	m := &match{s: s, steps: maxSteps}
	for i := 0; i <= len(s); i++ {
		m.caps = make([][2]int, p.caps+1)
		for c := range m.caps {
			m.caps[c] = [2]int{-1, -1}
		}
		if p.root(m, i, func(int) bool { return true }) && m.steps > 0 {
			return true, true
		}
	}
	return false, m.steps > 0
}

func (m *match) spend() bool { m.steps--; return m.steps > 0 }

// compilePCRE reads an expression.
func compilePCRE(expr string, fold bool) (*pcre, error) {
	r := &pcreReader{s: unquote(expr), fold: fold, names: map[string]int{}}
	root, err := r.alternatives(0)
	if err == nil && r.i < len(r.s) {
		err = errors.New("a closing bracket too many")
	}
	if err != nil {
		return nil, fmt.Errorf("regular expression %q at byte %d: %w", r.s, r.i, err)
	}
	return &pcre{root: root, caps: r.caps}, nil
}

// unquote writes \Q…\E as characters with a backslash each where needed.
func unquote(expr string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(expr, '\\')
		if i < 0 || i+1 == len(expr) {
			return b.String() + expr
		}
		if expr[i+1] != 'Q' {
			b.WriteString(expr[:i+2])
			expr = expr[i+2:]
			continue
		}
		b.WriteString(expr[:i])
		text, rest, _ := strings.Cut(expr[i+2:], `\E`)
		for _, c := range []byte(text) {
			if !wordByte(c) && c < 0x80 {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
		expr = rest
	}
}

type pcreReader struct {
	s      string
	i      int
	fold   bool // (?i)
	dotAll bool // (?s)
	multi  bool // (?m)
	caps   int
	names  map[string]int
}

func (r *pcreReader) more() bool { return r.i < len(r.s) }

func (r *pcreReader) take(prefix string) bool {
	if strings.HasPrefix(r.s[r.i:], prefix) {
		r.i += len(prefix)
		return true
	}
	return false
}

// alternatives reads up to a closing bracket or the end. Flags set inside end
// with it.
func (r *pcreReader) alternatives(depth int) (piece, error) {
	if depth > maxDepth {
		return nil, errors.New("nested too deep")
	}
	fold, dotAll, multi := r.fold, r.dotAll, r.multi
	defer func() { r.fold, r.dotAll, r.multi = fold, dotAll, multi }()
	var options []piece
	for {
		seq, err := r.sequence(depth)
		if err != nil {
			return nil, err
		}
		options = append(options, seq)
		if !r.take("|") {
			break
		}
	}
	if len(options) == 1 {
		return options[0], nil
	}
	return func(m *match, i int, next func(int) bool) bool {
		for _, o := range options {
			if m.spend() && o(m, i, next) {
				return true
			}
		}
		return false
	}, nil
}

func (r *pcreReader) sequence(depth int) (piece, error) {
	var list []piece
	for r.more() && r.s[r.i] != '|' && r.s[r.i] != ')' {
		p, err := r.atom(depth)
		if err != nil {
			return nil, err
		}
		if p == nil { // flags only
			continue
		}
		if p, err = r.quantified(p); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return chain(list), nil
}

func chain(list []piece) piece {
	switch len(list) {
	case 0:
		return func(_ *match, i int, next func(int) bool) bool { return next(i) }
	case 1:
		return list[0]
	}
	rest := chain(list[1:])
	return func(m *match, i int, next func(int) bool) bool {
		return list[0](m, i, func(j int) bool { return rest(m, j, next) })
	}
}

// quantified reads * + ? {n,m} behind p, with ? for lazy and + for possessive.
func (r *pcreReader) quantified(p piece) (piece, error) {
	for r.more() {
		lo, hi := 0, -1
		switch {
		case r.take("*"):
		case r.take("+"):
			lo = 1
		case r.take("?"):
			hi = 1
		case r.s[r.i] == '{':
			var ok bool
			if lo, hi, ok = r.bounds(); !ok {
				return p, nil // a plain brace
			}
			if hi >= 0 && hi < lo || lo > 65535 || hi > 65535 {
				return nil, errors.New("the bounds of a repetition are wrong")
			}
		default:
			return p, nil
		}
		switch {
		case r.take("?"):
			p = repeat(p, lo, hi, true)
		case r.take("+"):
			p = atomic(repeat(p, lo, hi, false))
		default:
			p = repeat(p, lo, hi, false)
		}
	}
	return p, nil
}

func (r *pcreReader) bounds() (lo, hi int, ok bool) {
	end := strings.IndexByte(r.s[r.i:], '}')
	if end < 0 {
		return 0, 0, false
	}
	text := r.s[r.i+1 : r.i+end]
	a, b, two := strings.Cut(text, ",")
	lo, ok = number(a)
	hi = lo
	if two && ok {
		hi = -1
		if b != "" {
			hi, ok = number(b)
		}
	}
	if ok {
		r.i += end + 1
	}
	return lo, hi, ok
}

func number(s string) (int, bool) {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' || i > 6 {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s != ""
}

func repeat(p piece, lo, hi int, lazy bool) piece {
	var from func(m *match, i, n int, next func(int) bool) bool
	from = func(m *match, i, n int, next func(int) bool) bool {
		if !m.spend() {
			return false
		}
		again := func() bool {
			return (hi < 0 || n < hi) && p(m, i, func(j int) bool {
				if j == i && n >= lo {
					return false // an empty turn adds nothing
				}
				return from(m, j, n+1, next)
			})
		}
		switch {
		case n < lo:
			return again()
		case lazy:
			return next(i) || again()
		}
		return again() || next(i)
	}
	return func(m *match, i int, next func(int) bool) bool { return from(m, i, 0, next) }
}

// atomic keeps the first way in which p matches.
func atomic(p piece) piece {
	return func(m *match, i int, next func(int) bool) bool {
		end := -1
		return p(m, i, func(j int) bool { end = j; return true }) && next(end)
	}
}

// look matches without taking anything: ahead, or behind i.
func look(p piece, behind, want bool) piece {
	return func(m *match, i int, next func(int) bool) bool {
		found := false
		if behind {
			for start := i; start >= 0 && !found; start-- {
				found = m.spend() && p(m, start, func(j int) bool { return j == i })
			}
		} else {
			found = p(m, i, func(int) bool { return true })
		}
		return found == want && next(i)
	}
}

func assert(ok func(s string, i int) bool) piece {
	return func(m *match, i int, next func(int) bool) bool { return ok(m.s, i) && next(i) }
}

func one(ok func(c byte) bool) piece {
	return func(m *match, i int, next func(int) bool) bool {
		return m.spend() && i < len(m.s) && ok(m.s[i]) && next(i+1)
	}
}
