package trace

import (
	"regexp"
	"strings"
)

// reTokens are a statement's parts; an open quote ends with the text.
var reTokens = regexp.MustCompile("(?s)/\\*[^!].*?\\*/|--\\s[^\\n]*|#[^\\n]*|'(?:[^'\\\\]|\\\\.|'')*'?|\"(?:[^\"\\\\]|\\\\.|\"\")*\"?|`[^`]*`?|\\$[0-9]+|[\\w$@.\\x{80}-\\x{10ffff}]+|\\S")

// rePostgresTokens are the same in PostgreSQL's dialect: # is an operator, $$ begins a
// text, and a backslash is a character.
var rePostgresTokens = regexp.MustCompile("(?s)/\\*.*?\\*/|--[^\\n]*|\\$\\$.*?(?:\\$\\$|$)|'(?:[^']|'')*'?|\"(?:[^\"]|\"\")*\"?|\\$[0-9]+|[\\w$@.\\x{80}-\\x{10ffff}]+|\\S")

// identity is a statement's text without comments and white space, so that
// equal ones are the same statement with the same values; condition is its
// part after WHERE, up to LIMIT. open: it has placeholders, whose values are
// unknown.
func identity(sql string, postgres bool) (text, condition string, open bool) {
	var all, cond []string
	in := false
	tokens := reTokens
	if postgres {
		tokens = rePostgresTokens
	}
	for _, w := range tokens.FindAllString(sql, -1) {
		switch c := w[0]; {
		case strings.HasPrefix(w, "/*") && len(w) > 2 || strings.HasPrefix(w, "--") && len(w) > 2 || c == '#' && !postgres:
			continue
		case c == '?' || c == '$' && len(w) > 1 && w[1] >= '0' && w[1] <= '9':
			open = true
		case strings.EqualFold(w, "WHERE"):
			in = true
		case strings.EqualFold(w, "LIMIT"):
			in = false
		}
		all = append(all, w)
		if in {
			cond = append(cond, w)
		}
	}
	return strings.Join(all, " "), strings.Join(cond, " "), open
}
