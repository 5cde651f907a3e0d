package source

import (
	"strings"

	"kasoku/internal/lazyregexp"
)

// Text is a string of a program, whole with what is joined to it.
type Text struct {
	Line     int
	Function string
	s        string // with holes
}

// mostExpression is how many tokens a value between two texts may have.
const mostExpression = 200

// texts are the strings of a file, in order.
func texts(l *lang, toks []token) []Text {
	out := rawTexts(l, toks)
	for i := range out {
		out[i].s = withHoles(out[i].s)
	}
	return out
}

// rawTexts are the strings of a file as they stand there, in order: only what is
// concatenated or interpolated is a hole.
func rawTexts(l *lang, toks []token) []Text {
	in := functions(l, toks)
	used := make([]bool, len(toks))
	var out []Text
	for i, t := range toks {
		if t.kind == text && !used[i] {
			out = append(out, Text{Line: t.line, Function: in[i], s: join(l, toks, i, used)})
		}
	}
	return out
}

// join is the text at i with all that is concatenated to it.
func join(l *lang, toks []token, i int, used []bool) string {
	s := toks[i].s
	for j := i + 1; j < len(toks); {
		t := toks[j]
		switch {
		case t.kind == text && l.adjacent && (t.line <= toks[j-1].line+1):
			s, used[j] = s+t.s, true
			j++
		case t.kind == sign && joins(l, t.s) && j+1 < len(toks):
			if next := toks[j+1]; next.kind == text {
				s, used[j+1] = s+next.s, true
				j += 2
				continue
			}
			end := expression(l, toks, j+1)
			if end == j+1 {
				return s
			}
			s += hole
			j = end
		default:
			return s
		}
	}
	return s
}

// joins reports whether a sign joins texts in the language.
func joins(l *lang, s string) bool {
	return s == "<<" && strings.Contains(l.concat, "<") || len(s) == 1 && s != "<" && s != "%" && strings.Contains(l.concat, s)
}

// expression is where a value that is joined to a text ends: at the next sign that joins,
// at what ends an argument or a statement, and where lines end statements, at the line's
// end.
func expression(l *lang, toks []token, i int) int {
	depth := 0
	for j := i; j < len(toks) && j < i+mostExpression; j++ {
		t := toks[j]
		if depth == 0 && j > i && (t.kind == text || t.first && toks[j-1].s != "." && t.s != "." && !joins(l, t.s) && l.concat != "." && l.name != "java") {
			return j
		}
		if t.kind != sign {
			continue
		}
		switch t.s {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth < 0 {
				return j
			}
		case ",", ";":
			if depth == 0 {
				return j
			}
		default:
			if depth == 0 && joins(l, t.s) {
				return j
			}
		}
	}
	return i
}

// What formats put into a text: %s and its kind, %(name)s, {}, {0}, {name}, #{name},
// ${name}; and names of parameters: :name, $1, @p1, ?1. A :: casts, a := assigns.
var (
	formatted = lazyregexp.New(`%(\([A-Za-z_0-9]+\))?[-+0 #]*[0-9*]*(\.[0-9*]+)?l*[sdvqifuxX]\b|[#$]?\{[A-Za-z_0-9.:!]*\}`)
	parameter = lazyregexp.New(`(^|[^:A-Za-z_0-9@$?])([:$@][A-Za-z_0-9]+|\?[0-9]+)`)
)

// withHoles puts holes for what formats put in, and ? for parameters.
func withHoles(s string) string {
	if strings.ContainsAny(s, "%{") {
		s = formatted.ReplaceAllString(s, hole)
	}
	if strings.ContainsAny(s, ":$@?") {
		s = parameter.ReplaceAllString(s, "$1?")
	}
	return s
}

// verbs begin statements.
var verbs = map[string]bool{"SELECT": true, "INSERT": true, "UPDATE": true, "DELETE": true, "REPLACE": true, "WITH": true, "CALL": true,
	"SET": true, "SHOW": true, "LOCK": true, "TRUNCATE": true, "CREATE": true, "ALTER": true, "DROP": true, "MERGE": true, "DO": true}

// statement reports whether a text begins like a statement of SQL.
func statement(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n(")
	for strings.HasPrefix(s, "/*") || strings.HasPrefix(s, "--") {
		end := "\n"
		if s[0] == '/' {
			end = "*/"
		}
		_, rest, ok := strings.Cut(s[2:], end)
		if !ok {
			return false
		}
		s = strings.TrimLeft(rest, " \t\r\n(")
	}
	n := strings.IndexFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' && r < 'a' || r > 'z' })
	return n > 0 && (s[n] == ' ' || s[n] == '\n' || s[n] == '\t' || s[n] == '\r' || s[n] == '(' || s[n] == '*') && verbs[strings.ToUpper(s[:n])]
}
