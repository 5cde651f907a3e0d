package apache

import "strings"

// Quote writes arg so that the server reads it back as arg: bare where that is
// plain to read, else in double quotes. ${NAME} stays a variable. A NUL or
// line feed cannot be written; an edit with one fails.
func Quote(arg string) string {
	if bare(arg) {
		return escape(arg, 0)
	}
	return quoteWith(arg, '"')
}

func quoteWith(arg string, q byte) string { return string(q) + escape(arg, q) + string(q) }

// bare reports whether arg needs no quotes. A backslash at the end would join
// the line with the next, < and > could be taken for a section's.
func bare(arg string) bool {
	if arg == "" || arg[0] == '"' || arg[0] == '\'' || strings.HasSuffix(arg, `\`) {
		return false
	}
	for i := 0; i < len(arg); i++ {
		if isSpace(arg[i]) || arg[i] == '>' || arg[i] == '<' {
			return false
		}
	}
	return true
}

// escape doubles a backslash only where the server would take it for an
// escape, so that a regular expression stays readable; q is the quote around,
// 0 for none.
func escape(s string, q byte) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && (i+1 < len(s) && (s[i+1] == '\\' || q != 0 && s[i+1] == q) || i+1 == len(s) && q != 0):
			b.WriteString(`\\`)
		case q != 0 && c == q:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
