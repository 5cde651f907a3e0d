package source

import (
	"bytes"
	"strings"
)

// kind of a token.
type kind int

const (
	word kind = iota // a name, keyword or number
	text             // a string literal
	sign             // anything else, one character, or one of the signs below
)

// signs of more than one character that must not be taken for two.
var signs = []string{"->", "::", ".=", "+=", "=>", "<<", "||", "&&", "=="}

// token of a program.
type token struct {
	kind  kind
	s     string // the word or sign; a text with holes as hole
	line  int    // from 1
	col   int    // from 0, in bytes
	first bool   // of its line
}

// hole stands in a text for what the program puts there. It is a name for the lexer of
// SQL, so that what is around it is read as it will be.
const hole = "zzkasokuholezz"

// lexer reads one file.
type lexer struct {
	l         *lang
	src       []byte
	at        int
	line      int
	lineStart int
	out       []token
	heredocs  []heredoc // whose text begins at the next line
	fresh     bool      // no token on this line yet
}

// heredoc is one that was announced: its text is token at of out.
type heredoc struct {
	at         int
	end        string
	raw, strip bool
}

// lex returns a file's tokens. What it does not understand is a sign; it never fails.
func lex(l *lang, src []byte) []token {
	x := &lexer{l: l, src: src, line: 1, fresh: true}
	if l.name == "php" {
		x.skipTo("<?")
	}
	for x.at < len(x.src) {
		x.next()
	}
	return x.out
}

// next reads a token, or skips what is none.
func (x *lexer) next() {
	c := x.src[x.at]
	switch {
	case c == '\n':
		x.newline()
		x.takeHeredocs()
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		x.at++
	case x.comment(), x.quoted():
	case isWord(c) || c == '$' && (x.l.dollar || x.l.name == "javascript"), c == '@' && x.l.name == "ruby":
		start := x.at
		for x.at++; x.at < len(x.src) && isWord(x.src[x.at]); x.at++ {
		}
		x.add(word, string(x.src[start:x.at]), start)
	case c == '?' && x.l.name == "php" && x.has("?>"):
		x.skipTo("<?")
	default:
		x.sign()
	}
}

func (x *lexer) sign() {
	for _, s := range signs {
		if x.has(s) {
			x.add(sign, s, x.at)
			x.at += len(s)
			return
		}
	}
	x.add(sign, string(x.src[x.at]), x.at)
	x.at++
}

func (x *lexer) add(k kind, s string, start int) {
	x.out = append(x.out, token{kind: k, s: s, line: x.line, col: start - x.lineStart, first: x.fresh})
	x.fresh = false
}

func (x *lexer) newline() {
	x.at++
	x.line++
	x.lineStart, x.fresh = x.at, true
}

func (x *lexer) has(s string) bool { return bytes.HasPrefix(x.src[x.at:], []byte(s)) }

// skipTo moves behind the next s, and to the end if there is none.
func (x *lexer) skipTo(s string) {
	n := bytes.Index(x.src[x.at:], []byte(s))
	if n < 0 {
		n = len(x.src) - x.at
	} else {
		n += len(s)
	}
	x.skip(n)
}

// skip moves n bytes on and counts their lines.
func (x *lexer) skip(n int) {
	for end := min(x.at+n, len(x.src)); x.at < end; {
		if x.src[x.at] == '\n' {
			x.newline()
		} else {
			x.at++
		}
	}
}

// comment skips one that begins here.
func (x *lexer) comment() bool {
	if x.l.block && x.has("/*") {
		x.at += 2
		x.skipTo("*/")
		return true
	}
	if x.fresh && x.at == x.lineStart && x.src[x.at] == '=' && (x.l.name == "perl" || x.l.name == "ruby") && x.at+1 < len(x.src) && isLetter(x.src[x.at+1]) {
		x.skipTo(map[string]string{"perl": "\n=cut", "ruby": "\n=end"}[x.l.name]) // documentation
		return true
	}
	for _, begin := range x.l.line {
		if !x.has(begin) || begin == "#" && !x.hash() {
			continue
		}
		for x.at < len(x.src) && x.src[x.at] != '\n' {
			if x.l.name == "php" && x.has("?>") {
				break // the comment ends with the program's part
			}
			x.at++
		}
		return true
	}
	return false
}

// hash reports whether a # begins a comment: in Perl it may be part of a name ($#list),
// in PHP of an attribute.
func (x *lexer) hash() bool {
	if x.l.name == "php" {
		return !x.has("#[")
	}
	return x.at == 0 || x.l.name != "perl" || strings.ContainsRune(" \t\n;{}(,", rune(x.src[x.at-1]))
}

// value reports whether the last token ends a value, so that a / divides and a < compares.
func (x *lexer) value() bool {
	if len(x.out) == 0 {
		return false
	}
	t := x.out[len(x.out)-1]
	switch t.kind {
	case text:
		return true
	case word:
		return !beforeValue[t.s]
	default:
		return t.s == ")" || t.s == "]" || t.s == "}"
	}
}

// beforeValue are keywords after which a value begins.
var beforeValue = map[string]bool{"return": true, "and": true, "or": true, "not": true, "if": true, "unless": true, "while": true,
	"when": true, "split": true, "grep": true, "map": true, "case": true, "in": true, "typeof": true, "await": true, "yield": true, "else": true, "then": true}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWord(c byte) bool  { return isLetter(c) || isDigit(c) }
