package patch

import (
	"go/scanner"
	"go/token"
	"strconv"
	"strings"

	"kasoku/internal/redact"
)

// Secret reports whether the lines around a place hold what looks like a secret: they are
// masked where people see them, and in no file of a series. In Go a secret is a text: what
// is given to a field named Passwd by a variable's name is none.
func Secret(diff string) bool {
	for _, hunk := range hunksOf(diff) {
		if redact.Text(hunk.text) == hunk.text {
			continue
		}
		// A hunk that begins or ends within a text is not read as Go.
		if !hunk.source || strings.Count(hunk.text, "`")%2 != 0 || secretText(hunk.text) {
			return true
		}
	}
	return false
}

// hunk is one side of a part of a diff, without the signs at the beginning of lines.
type hunk struct {
	text   string
	source bool // of Go
}

// hunksOf a diff are both sides of each part, and what stands outside of parts.
func hunksOf(diff string) []hunk {
	var out []hunk
	var before, after, other strings.Builder
	source, within := false, false
	flush := func() {
		for _, side := range []*strings.Builder{&before, &after} {
			if side.Len() > 0 {
				out = append(out, hunk{side.String(), source})
			}
			side.Reset()
		}
	}
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			flush()
			within = true
		case within && strings.HasPrefix(line, " "):
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		case within && strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "--- "):
			before.WriteString(line[1:])
		case within && strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++ "):
			after.WriteString(line[1:])
		default:
			flush()
			within = false
			if name, ok := strings.CutPrefix(line, "+++ "); ok {
				source = strings.HasSuffix(strings.TrimSpace(name), ".go")
			}
			other.WriteString(line)
		}
	}
	flush()
	return append(out, hunk{text: other.String()})
}

// secretText reports whether a text of Go source is a secret, by itself or by the name
// before it.
func secretText(src string) bool {
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(src)), []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	var before assigned
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return false
		case tok == token.SEMICOLON && lit == "\n": // a line ends, as within a list
			continue
		case tok == token.COMMENT:
			if redact.Text(lit) != lit {
				return true
			}
			continue
		}
		value := lit
		if tok == token.STRING || tok == token.CHAR {
			if text, err := strconv.Unquote(lit); err == nil {
				value = text
			}
			if before.secret(value) {
				return true
			}
		}
		before = before.then(tok, value)
	}
}

// assigned is the name that stands before a text, and whether what is between gives the one
// to the other.
type assigned struct {
	name  string
	given bool
}

// secret reports whether a text is one, by itself or as what is given to the name.
func (n assigned) secret(value string) bool {
	if redact.Text(value) != value {
		return true
	}
	line := n.name + " = " + strconv.Quote(value)
	return n.given && redact.Text(line) != line
}

// then is what stands before the next token.
func (n assigned) then(tok token.Token, value string) assigned {
	switch tok {
	case token.IDENT, token.STRING:
		return assigned{name: value}
	case token.ASSIGN, token.DEFINE, token.COLON, token.COMMA:
		return assigned{n.name, true}
	}
	return assigned{}
}
