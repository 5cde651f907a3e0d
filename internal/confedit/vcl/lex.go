package vcl

import (
	"fmt"
	"strings"
)

// kind says what a token is.
type kind int

const (
	symbol kind = iota // one character that is none of the others
	name               // also with dots and dashes: req.http.X-A
	number
	text    // "…", {"…"} or """…"""
	inlineC // C{ … }C
)

// token is one token, with the spaces and comments before it.
type token struct {
	kind     kind
	from, to int // its place in the file; the gap reaches from the token before to from
	raw      string
	line     int // 1-based
}

// syntaxError is a syntax error in text whose path only the caller knows.
type syntaxError struct {
	line int
	text string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

func errorAt(line int, format string, args ...any) error {
	return &syntaxError{line: line, text: fmt.Sprintf(format, args...)}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isName(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '_' || c == '-' || c == '.'
}

// lexer walks one file's text.
type lexer struct {
	src  string
	pos  int
	line int // of pos
}

// lex cuts text into tokens.
func lex(src string) ([]token, error) {
	l := &lexer{src: src, line: 1}
	var out []token
	for {
		if err := l.trivia(); err != nil {
			return nil, err
		}
		if l.pos == len(src) {
			return out, nil
		}
		t := token{from: l.pos, line: l.line}
		end, err := l.end(&t)
		if err != nil {
			return nil, err
		}
		l.advance(end)
		t.to, t.raw = end, src[t.from:end]
		out = append(out, t)
	}
}

func (l *lexer) advance(to int) {
	l.line += strings.Count(l.src[l.pos:to], "\n")
	l.pos = to
}

// trivia takes spaces and comments. A /* inside a comment is an error, as it
// is to Varnish.
func (l *lexer) trivia() error {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case isSpace(rest[0]):
			l.advance(l.pos + 1)
		case rest[0] == '#' || strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.advance(l.pos + n)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return errorAt(l.line, "the comment opened here is never closed")
			}
			if strings.Contains(rest[2:2+n], "/*") {
				return errorAt(l.line, "the comment opened here has a /* in it")
			}
			l.advance(l.pos + n + 4)
		default:
			return nil
		}
	}
	return nil
}

// end finds where the token at pos ends, and its kind.
func (l *lexer) end(t *token) (int, error) {
	rest := l.src[l.pos:]
	long := func(open, closing string) (int, error) {
		n := strings.Index(rest[len(open):], closing)
		if n < 0 {
			return 0, errorAt(l.line, "the %s opened here is never closed; %s is missing", open, closing)
		}
		return l.pos + len(open) + n + len(closing), nil
	}
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "C{"):
		t.kind = inlineC
		return long("C{", "}C")
	case strings.HasPrefix(rest, `{"`):
		t.kind = text
		return long(`{"`, `"}`)
	case strings.HasPrefix(rest, `"""`):
		t.kind = text
		return long(`"""`, `"""`)
	case c == '"':
		t.kind = text
		n := strings.IndexAny(rest[1:], "\"\r\n")
		if n < 0 || rest[1+n] != '"' {
			return 0, errorAt(l.line, `the " opened here is not closed on its line; a string over lines is {"…"}`)
		}
		return l.pos + n + 2, nil
	case isAlpha(c):
		t.kind = name
		return l.pos + span(rest, isName), nil
	case isDigit(c):
		t.kind = number
		return l.pos + span(rest, func(c byte) bool { return isDigit(c) || c == '.' }), nil
	}
	return l.pos + 1, nil
}

func span(s string, ok func(byte) bool) int {
	n := 0
	for n < len(s) && ok(s[n]) {
		n++
	}
	return n
}

// Text returns what a string token stands for; VCL's strings know no escapes.
// ok is false if raw is no string.
func Text(raw string) (s string, ok bool) {
	for _, q := range [][2]string{{`{"`, `"}`}, {`"""`, `"""`}, {`"`, `"`}} {
		if strings.HasPrefix(raw, q[0]) && strings.HasSuffix(raw, q[1]) && len(raw) >= len(q[0])+len(q[1]) {
			return raw[len(q[0]) : len(raw)-len(q[1])], true
		}
	}
	return "", false
}
