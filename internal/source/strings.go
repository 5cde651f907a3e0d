package source

import (
	"bytes"
	"strings"
)

// quoted reads a text that begins here.
func (x *lexer) quoted() bool {
	c, l := x.src[x.at], x.l
	switch {
	case x.triple():
	case c == '"':
		x.quote(1, `"`, strings.Contains(l.interpolates, `"`) || x.prefixed('f'))
	case c == '\'' && l.name == "go", c == '\'' && (l.name == "java" || l.name == "kotlin"):
		x.quote(1, "'", false) // a character
		x.out = x.out[:len(x.out)-1]
	case c == '\'' && l.name == "perl" && x.at > 0 && isWord(x.src[x.at-1]):
		x.at++ // an old name, main'sub
	case c == '\'':
		x.quote(1, "'", x.prefixed('f'))
	case c == '`' && l.name == "go":
		x.raw("`")
	case c == '`' && strings.Contains(l.interpolates, "`"):
		x.quote(1, "`", true)
	case c == '<' && x.here():
	case c == '%' && l.name == "ruby" && !x.value() && x.percent():
	case c == 'q' && l.name == "perl" && x.perlQuote():
	case c == '/' && l.regex && !x.value():
		x.pattern()
	default:
		return false
	}
	return true
}

// prefixed reports whether the word right before the quote holds the letter (Python's
// f"…"), and takes that word back.
func (x *lexer) prefixed(letter byte) bool {
	n := len(x.out)
	if x.l.name != "python" || n == 0 || x.out[n-1].kind != word || x.out[n-1].col+len(x.out[n-1].s) != x.at-x.lineStart || x.out[n-1].line != x.line {
		return false
	}
	p := strings.ToLower(x.out[n-1].s)
	if strings.Trim(p, "rbfu") != "" {
		return false
	}
	x.fresh = x.out[n-1].first
	x.out = x.out[:n-1]
	return strings.IndexByte(p, letter) >= 0
}

// triple reads """…""" and ”'…”'.
func (x *lexer) triple() bool {
	for _, q := range []string{`"""`, "'''"} {
		if !x.has(q) || q == "'''" && x.l.name != "python" {
			continue
		}
		switch x.l.name {
		case "python", "java", "kotlin":
			x.quote(3, q, x.prefixed('f') || x.l.name == "kotlin")
			return true
		}
	}
	return false
}

// raw reads up to the next end, without escapes.
func (x *lexer) raw(end string) {
	start, line, col, first := x.at+1, x.line, x.at-x.lineStart, x.fresh
	x.at++
	x.skipTo(end)
	stop := max(start, x.at-len(end))
	x.out = append(x.out, token{kind: text, s: string(x.src[start:stop]), line: line, col: col, first: first})
	x.fresh = false
}

// quote reads a text with escapes and, if it may have them, holes.
func (x *lexer) quote(begin int, end string, holes bool) {
	line, col, first := x.line, x.at-x.lineStart, x.fresh
	x.at += begin
	s := x.body(end, holes, 0)
	x.out = append(x.out, token{kind: text, s: s, line: line, col: col, first: first})
	x.fresh = false
}

// body reads up to the end of a text and behind it. open, if not 0, is a bracket that may
// stand in it in pairs.
func (x *lexer) body(end string, holes bool, open byte) string {
	var b strings.Builder
	depth := 0
	for x.at < len(x.src) {
		c := x.src[x.at]
		switch {
		case x.has(end) && depth == 0:
			x.at += len(end)
			return b.String()
		case open != 0 && c == open:
			depth++
		case open != 0 && c == end[0]:
			depth--
		case c == '\\' && x.at+1 < len(x.src):
			b.WriteString(unescaped(x.src[x.at+1]))
			x.skip(2)
			continue
		case holes && x.hole():
			b.WriteString(hole)
			continue
		}
		b.WriteByte(c)
		x.skip(1)
	}
	return b.String()
}

// unescaped is what \c means for a statement: white space, or the character.
func unescaped(c byte) string {
	switch c {
	case 'n', 'r', 't', '\n':
		return "\n"
	}
	return string(c)
}

// hole skips what the language puts into a text here: #{…}, ${…}, {$…}, {…}, $name with
// what is looked up in it.
func (x *lexer) hole() bool {
	c := x.src[x.at]
	after := byte(0)
	if x.at+1 < len(x.src) {
		after = x.src[x.at+1]
	}
	switch name := x.l.name; {
	case c == '#' && after == '{' && name == "ruby", c == '$' && after == '{' && name != "python":
		x.at += 2
	case c == '{' && after == '$' && name == "php", c == '@' && after == '{' && name == "perl":
		x.at += 2
	case c == '{' && name == "python":
		if after == '{' {
			return false
		}
		x.at++
	case (c == '$' || c == '@' && name == "perl") && x.l.dollar && isLetter(after):
		x.variable()
		return true
	default:
		return false
	}
	for depth := 1; x.at < len(x.src) && depth > 0; x.skip(1) {
		switch x.src[x.at] {
		case '{':
			depth++
		case '}':
			depth--
		}
	}
	return true
}

// variable skips $name, $name[…], $name->name, $name->{…}.
func (x *lexer) variable() {
	for x.at++; x.at < len(x.src) && isWord(x.src[x.at]); x.at++ {
	}
	for x.at < len(x.src) {
		rest := x.src[x.at:]
		switch {
		case rest[0] == '[' || rest[0] == '{' && x.l.name == "perl":
			n := bytes.IndexAny(rest, "]}")
			if n < 0 || n > 80 {
				return
			}
			x.at += n + 1
		case len(rest) > 2 && rest[0] == '-' && rest[1] == '>' && (isLetter(rest[2]) || rest[2] == '[' || rest[2] == '{'):
			for x.at += 2; x.at < len(x.src) && isWord(x.src[x.at]); x.at++ {
			}
		default:
			return
		}
	}
}

// closing is the bracket that ends what c begins.
func closing(c byte) string {
	if n := strings.IndexByte("([{<", c); n >= 0 {
		return ")]}>"[n : n+1]
	}
	return string(c)
}

// delimited reads a text between brackets or equal signs, which begins at from.
func (x *lexer) delimited(from int, holes bool) {
	line, col, first := x.line, x.at-x.lineStart, x.fresh
	c := x.src[from]
	x.at = from + 1
	open := c
	if closing(c) == string(c) {
		open = 0
	}
	s := x.body(closing(c), holes, open)
	x.out = append(x.out, token{kind: text, s: s, line: line, col: col, first: first})
	x.fresh = false
}

// percent reads Ruby's %(…), %q(…), %Q(…); false for others.
func (x *lexer) percent() bool {
	rest := x.src[x.at+1:]
	if len(rest) > 1 && strings.IndexByte("([{<|", rest[0]) >= 0 {
		x.delimited(x.at+1, true)
		return true
	}
	if len(rest) > 2 && strings.IndexByte("qQ", rest[0]) >= 0 && strings.IndexByte("([{<|!", rest[1]) >= 0 {
		x.delimited(x.at+2, rest[0] == 'Q')
		return true
	}
	return false
}

// perlQuote reads q(…) and qq(…); false if it is a name that begins so.
func (x *lexer) perlQuote() bool {
	if x.at > 0 && (isWord(x.src[x.at-1]) || strings.IndexByte("$@%>{-", x.src[x.at-1]) >= 0) {
		return false
	}
	n := x.at + 1
	double := n < len(x.src) && x.src[n] == 'q'
	if double {
		n++
	}
	for n < len(x.src) && (x.src[n] == ' ' || x.src[n] == '\n') {
		n++
	}
	if n >= len(x.src) || strings.IndexByte("({[<|!/~#", x.src[n]) < 0 || n > x.at+2 && x.src[n] == '#' {
		return false
	}
	x.skip(n - x.at)
	x.delimited(n, double)
	return true
}

// pattern skips a regular expression.
func (x *lexer) pattern() {
	for n := x.at + 1; n < len(x.src) && x.src[n] != '\n'; n++ {
		switch x.src[n] {
		case '\\':
			n++
		case '/':
			x.at = n + 1
			x.out = append(x.out, token{kind: word, s: "/", line: x.line, col: x.at - x.lineStart})
			x.fresh = false
			return
		}
	}
	x.sign()
}
