package sqllog

import "strings"

// lexPostgres splits a statement of PostgreSQL (manual, "Lexical Structure"):
// names in double quotes, texts as '…', E'…' and $tag$…$tag$, comments within
// comments, $1 as a placeholder. printed: it is a fingerprint, in which
// backticks hold names as well, and these may begin with a digit. escapes: a
// backslash escapes in '…' too (standard_conforming_strings=off).
func lexPostgres(sql string, printed, escapes bool) []token {
	var out []token
	i := 0
	add := func(kind tokenKind, n int) {
		out = append(out, token{kind, sql[i : i+n], i, i + n})
		i += n
	}
	for i < len(sql) {
		rest := sql[i:]
		switch c := sql[i]; {
		case c <= ' ':
			i++
		case strings.HasPrefix(rest, "--"):
			i += lineLength(rest)
		case strings.HasPrefix(rest, "/*"):
			i += nestedLength(rest)
		case c == '\'':
			add(tokString, quotedLength(rest, c, escapes))
		case c == '"', c == '`' && printed:
			add(tokQuoted, quotedLength(rest, c, false))
			t := &out[len(out)-1]
			name := strings.TrimSuffix(t.text[1:], string(c))
			t.text = strings.ReplaceAll(name, string([]byte{c, c}), string(c))
		case c == '$':
			n, value := dollarLength(rest)
			add(map[string]tokenKind{"?": tokMark, "''": tokString, "$": tokSign}[value], n)
		case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]) && !afterName(out, i):
			kind := tokNumber
			if printed {
				kind = numberOrName(rest, len(out) > 0 && out[len(out)-1].text == "." && out[len(out)-1].to == i)
			}
			add(kind, numberLength(rest))
		case c == '?':
			add(tokMark, 1)
		case isName(c), c == '@' && printed:
			n := nameLength(rest)
			if n < len(rest) && rest[n] == '\'' && n == 1 && strings.IndexByte("eEbBxXnN", c) >= 0 {
				add(tokString, n+quotedLength(rest[n:], '\'', escapes || c|0x20 == 'e'))
				continue
			}
			add(tokWord, n)
		case strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, "#>"):
			add(tokSign, 2)
		default:
			add(tokSign, signLength(rest))
		}
	}
	return out
}
