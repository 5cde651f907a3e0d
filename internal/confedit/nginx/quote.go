package nginx

import "strings"

// Quote writes arg so that nginx reads it back as arg: bare where that is
// plain to read, else in double quotes.
func Quote(arg string) string {
	if bare(arg) {
		return escape(arg, 0)
	}
	return quoteWith(arg, '"')
}

func quoteWith(arg string, q byte) string { return string(q) + escape(arg, q) + string(q) }

// bare reports whether arg needs no quotes. ${name} needs none, any other
// brace gets them.
func bare(arg string) bool {
	for i := 0; i < len(arg); i++ {
		switch arg[i] {
		case ' ', '\t', '\r', '\n', ';', '"', '\'', '#', '{', '}':
			return false
		case '\\':
			if strings.HasPrefix(arg[i+1:], "$") {
				i++ // not a variable to nginx's reader
			}
		case '$':
			if end := variableEnd(arg, i); end > 0 {
				i = end
			}
		}
	}
	return arg != ""
}

// variableEnd returns the place of the brace that closes a ${name} at i, or 0.
func variableEnd(s string, i int) int {
	if !strings.HasPrefix(s[i:], "${") {
		return 0
	}
	for j := i + 2; j < len(s); j++ {
		c := s[j]
		if c == '}' {
			return j
		}
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return 0
		}
	}
	return 0
}

// escape doubles a backslash only where nginx would take it for an escape, so
// that a regular expression stays readable; q is the quote around, 0 for none.
func escape(s string, q byte) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && (i+1 == len(s) || strings.IndexByte("\"'\\trn\t\r\n", s[i+1]) >= 0):
			b.WriteString(`\\`)
		case q != 0 && c == q:
			b.WriteByte('\\')
			b.WriteByte(c)
		case q != 0 && c == '\n':
			b.WriteString(`\n`)
		case q != 0 && c == '\r':
			b.WriteString(`\r`)
		case q != 0 && c == '\t':
			b.WriteString(`\t`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
