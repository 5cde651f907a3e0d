package record

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsToken of a script. kind is one of the letters below.
type jsToken struct {
	kind  byte
	text  string // of a string: its value
	line  int
	parts []jsToken // of a template: strings and the source of expressions
}

// Kinds of tokens.
const (
	jsName     = 'n'
	jsString   = 's'
	jsTemplate = 't'
	jsNumber   = '0'
	jsPunct    = 'p'
	jsSource   = 'e' // an expression in a template
)

// jsTokens splits a script (ECMAScript, lexical grammar). Regular expressions
// are left out.
func jsTokens(text string) []jsToken {
	s := &jsScanner{text: text, line: 1}
	for s.at < len(text) {
		s.token()
	}
	return s.out
}

type jsScanner struct {
	text string
	at   int
	line int
	out  []jsToken
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func (s *jsScanner) token() {
	c := s.text[s.at]
	rest := s.text[s.at:]
	switch {
	case c == '\n':
		s.line++
		s.at++
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case strings.HasPrefix(rest, "//"):
		s.skip(strings.IndexByte(rest, '\n'))
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest, "*/")
		if end >= 0 {
			end += 2
		}
		s.skip(end)
	case c == '"' || c == '\'':
		s.quoted(c)
	case c == '`':
		s.template()
	case c >= '0' && c <= '9':
		end := s.at
		for end < len(s.text) && (isNameByte(s.text[end]) || s.text[end] == '.') {
			end++
		}
		s.put(jsNumber, s.text[s.at:end])
		s.at = end
	case isNameByte(c):
		end := s.at
		for end < len(s.text) && isNameByte(s.text[end]) {
			end++
		}
		s.put(jsName, s.text[s.at:end])
		s.at = end
	case c == '/' && s.regexpHere():
		s.regexp()
	default:
		for _, p := range []string{"===", "!==", "=>", "==", "||", "&&", "??"} {
			if strings.HasPrefix(rest, p) {
				s.put(jsPunct, p)
				s.at += len(p)
				return
			}
		}
		s.put(jsPunct, rest[:1])
		s.at++
	}
}

// skip n bytes; all that is left if n is negative.
func (s *jsScanner) skip(n int) {
	if n < 0 {
		n = len(s.text) - s.at
	}
	s.line += strings.Count(s.text[s.at:s.at+n], "\n")
	s.at += n
}

func (s *jsScanner) put(kind byte, text string) {
	s.out = append(s.out, jsToken{kind: kind, text: text, line: s.line})
}

// regexpHere: a slash begins a regular expression where no value stands before
// it.
func (s *jsScanner) regexpHere() bool {
	if len(s.out) == 0 {
		return true
	}
	last := s.out[len(s.out)-1]
	return last.kind == jsPunct && last.text != ")" && last.text != "]" && last.text != "}" || last.kind == jsName && last.text == "return"
}

func (s *jsScanner) regexp() {
	class := false
	for s.at++; s.at < len(s.text) && s.text[s.at] != '\n'; s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\':
			s.at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.at++
			s.put(jsPunct, "/regexp/")
			return
		}
	}
}

func (s *jsScanner) quoted(quote byte) {
	line := s.line
	var b strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case quote, '\n':
			if c == quote {
				s.at++
			}
			s.out = append(s.out, jsToken{kind: jsString, text: b.String(), line: line})
			return
		case '\\':
			s.escape(&b)
		default:
			b.WriteByte(c)
		}
	}
	s.out = append(s.out, jsToken{kind: jsString, text: b.String(), line: line})
}

// escape reads what follows a backslash; at stays on its last byte.
func (s *jsScanner) escape(b *strings.Builder) {
	if s.at++; s.at >= len(s.text) {
		return
	}
	c := s.text[s.at]
	digits := map[byte]int{'x': 2, 'u': 4}[c]
	switch {
	case c == '\n':
		s.line++
	case strings.IndexByte("ntrbfv", c) >= 0:
		b.WriteString(escapes[c])
	case digits > 0 && s.at+digits < len(s.text):
		if n, err := strconv.ParseUint(s.text[s.at+1:s.at+1+digits], 16, 32); err == nil {
			b.WriteRune(rune(n))
			s.at += digits
		}
	default:
		b.WriteByte(c)
	}
}

// template reads `…${…}…`.
func (s *jsScanner) template() {
	t := jsToken{kind: jsTemplate, line: s.line}
	var b strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		switch {
		case c == '`':
			s.at++
			t.parts = append(t.parts, jsToken{kind: jsString, text: b.String(), line: s.line})
			s.out = append(s.out, t)
			return
		case c == '\\':
			s.escape(&b)
		case c == '$' && s.at+1 < len(s.text) && s.text[s.at+1] == '{':
			end := strings.IndexByte(s.text[s.at:], '}')
			if end < 0 {
				end = len(s.text) - s.at - 1
			}
			t.parts = append(t.parts, jsToken{kind: jsString, text: b.String(), line: s.line}, jsToken{kind: jsSource, text: s.text[s.at+2 : max(s.at+end, s.at+2)], line: s.line})
			b.Reset()
			s.at += end
		default:
			if c == '\n' {
				s.line++
			}
			b.WriteByte(c)
		}
	}
	t.parts = append(t.parts, jsToken{kind: jsString, text: strings.ToValidUTF8(b.String(), string(utf8.RuneError)), line: s.line})
	s.out = append(s.out, t)
}
