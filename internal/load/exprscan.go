package load

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// exprToken is a word of an expression.
type exprToken struct {
	kind   tokenKind
	at     int    // in bytes
	text   string // as written
	number float64
	unit   unit
}

type tokenKind uint8

const (
	endToken tokenKind = iota
	numberToken
	nameToken
	routeToken // in quotes
	signToken
)

// String is the token for messages.
func (t exprToken) String() string {
	if t.kind == endToken {
		return "the end"
	}
	return strconv.Quote(shorten(t.text, 40))
}

// exprScanner cuts an expression into tokens.
type exprScanner struct {
	text string
	at   int
}

// exprSigns, longer ones first.
var exprSigns = []string{"<=", ">=", "==", "!=", "&&", "||", "<", ">", "!", "+", "-", "*", "/", "(", ")", ",", "?", ":"}

// next gives a token, or why there is none at its place.
func (s *exprScanner) next() (t exprToken, why string) {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
	rest := s.text[s.at:]
	t.at = s.at
	if rest == "" {
		return t, ""
	}
	switch c := rest[0]; {
	case c >= '0' && c <= '9' || c == '.':
		return s.number(t, rest)
	case c == '\'' || c == '"':
		end := strings.IndexByte(rest[1:], c)
		if end < 0 {
			return t, fmt.Sprintf("the route's closing %c is missing", c)
		}
		return s.cut(t, routeToken, end+2), ""
	}
	for _, sign := range exprSigns {
		if strings.HasPrefix(rest, sign) {
			return s.cut(t, signToken, len(sign)), ""
		}
	}
	if n := wordLength(rest, true); n > 0 {
		return s.cut(t, nameToken, n), ""
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return t, fmt.Sprintf("%q means nothing here; write + - * / < > = ! && || ? : ( ) , names, numbers and 'routes'", r)
}

func (s *exprScanner) cut(t exprToken, kind tokenKind, n int) exprToken {
	t.kind, t.text = kind, s.text[s.at:s.at+n]
	s.at += n
	return t
}

// number reads 1, 1.5, .5, 1e3, and with a unit 200ms, 1MiB or 5%.
func (s *exprScanner) number(t exprToken, rest string) (exprToken, string) {
	n := prefixLength(rest, "0123456789.")
	if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
		m := n + 1
		if m < len(rest) && (rest[m] == '+' || rest[m] == '-') {
			m++
		}
		if digits := prefixLength(rest[m:], "0123456789"); digits > 0 {
			n = m + digits
		}
	}
	name := wordLength(rest[n:], false)
	if strings.HasPrefix(rest[n:], "%") {
		name = 1
	}
	v, err := strconv.ParseFloat(rest[:n], 64)
	suffix := rest[n : n+name]
	t = s.cut(t, numberToken, n+name)
	if err != nil {
		return t, fmt.Sprintf("%q is no number", shorten(t.text, 40))
	}
	t.number, t.unit = v, unit{zero: v == 0}
	if suffix == "" {
		return t, ""
	}
	l, ok := literals[suffix]
	if !ok {
		return t, fmt.Sprintf("%q is no unit; write ns, us, ms, s, m, h, B, KB, MB, GB, KiB, MiB, GiB or %%", shorten(suffix, 40))
	}
	t.number, t.unit = v*l.size, l.unit
	return t, ""
}

// prefixLength is how many bytes at the begin of s are in set.
func prefixLength(s, set string) int {
	n := 0
	for n < len(s) && strings.IndexByte(set, s[n]) >= 0 {
		n++
	}
	return n
}

// wordLength of a name at the begin of s; digits may follow the first letter
// of a name, but not of a unit.
func wordLength(s string, digits bool) int {
	for i, r := range s {
		if r == '_' || unicode.IsLetter(r) || digits && i > 0 && unicode.IsDigit(r) {
			continue
		}
		return i
	}
	return len(s)
}
