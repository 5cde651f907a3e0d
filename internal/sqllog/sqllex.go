package sqllog

import "strings"

// tokenKind of SQL text.
type tokenKind int

const (
	tokWord   tokenKind = iota // keyword, name or variable, without backticks
	tokQuoted                  // name that was in backticks
	tokString                  // '…' or "…", with an introducer such as _utf8 or N
	tokNumber                  // also 0x…, x'…', b'…'
	tokMark                    // a placeholder: ? or … of a digest
	tokSign                    // operator or punctuation
)

type token struct {
	kind tokenKind
	text string // as in the statement; a tokQuoted without its backticks
	from int    // byte offsets in the statement
	to   int
}

// lex splits a statement in the dialect of MariaDB and MySQL. Comments are
// left out; what stands in /*! … */, and in MariaDB's /*M! … */, is code. It accepts any bytes: an open
// quote ends with the text.
func lex(sql string) []token { return lexInto(nil, sql) }

// lexInto appends the tokens to out.
func lexInto(out []token, sql string) []token { return lexEscaped(out, sql, true) }

// lexEscaped is lexInto where a backslash escapes in texts, or does not
// (sql_mode NO_BACKSLASH_ESCAPES).
func lexEscaped(out []token, sql string, escapes bool) []token {
	i := 0
	add := func(kind tokenKind, from, to int) {
		text := sql[from:to]
		if kind == tokQuoted {
			text = strings.ReplaceAll(strings.Trim(text, "`"), "``", "`")
		}
		out = append(out, token{kind, text, from, to})
		i = to
	}
	for i < len(sql) {
		c := sql[i]
		rest := sql[i:]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == 0:
			i++
		case c == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			i += lineLength(rest)
		case strings.HasPrefix(rest, "/*!"), strings.HasPrefix(rest, "/*M!"):
			i += strings.IndexByte(rest, '!') + 1
			for i < len(sql) && sql[i] >= '0' && sql[i] <= '9' {
				i++
			}
		case strings.HasPrefix(rest, "/*"):
			if n := strings.Index(rest[2:], "*/"); n >= 0 {
				i += n + 4
			} else {
				i = len(sql)
			}
		case strings.HasPrefix(rest, "*/"):
			i += 2
		case c == '\'' || c == '"':
			add(tokString, i, i+quotedLength(rest, c, escapes))
		case c == '`':
			add(tokQuoted, i, i+quotedLength(rest, c, false))
		case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]) && !afterName(out, i):
			add(numberOrName(rest, len(out) > 0 && out[len(out)-1].text == "." && out[len(out)-1].to == i), i, i+numberLength(rest))
		case strings.HasPrefix(rest, "..."):
			add(tokMark, i, i+3)
		case c == '?':
			add(tokMark, i, i+1)
		case isName(c) || c == '@':
			n := nameLength(rest)
			next := byte(0)
			if n < len(rest) {
				next = rest[n]
			}
			switch word := strings.ToLower(rest[:n]); {
			case next == '\'' && (word == "x" || word == "b"):
				add(tokNumber, i, i+n+quotedLength(rest[n:], '\'', escapes))
			case (next == '\'' || next == '"') && (word == "n" || strings.HasPrefix(word, "_")):
				add(tokString, i, i+n+quotedLength(rest[n:], next, escapes))
			default:
				add(tokWord, i, i+n)
			}
		default:
			add(tokSign, i, i+signLength(rest))
		}
	}
	return out
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isName accepts every byte of a multi-byte character.
func isName(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// afterName: in "t.1a" the dot belongs to a name, not to a number.
func afterName(out []token, at int) bool {
	if len(out) == 0 {
		return false
	}
	last := out[len(out)-1]
	return last.to == at && (last.kind == tokWord || last.kind == tokQuoted)
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n + 1
	}
	return len(s)
}

// quotedLength counts the bytes of a quoted text with its quotes. A doubled
// quote stands for one; a backslash escapes if escapes is set.
func quotedLength(s string, quote byte, escapes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == quote:
			if i+1 < len(s) && s[i+1] == quote {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(s)
}

func nameLength(s string) int {
	i := 1
	for i < len(s) && (isName(s[i]) || isDigit(s[i]) || s[i] == '@' && s[0] == '@') {
		i++
	}
	return i
}

// numberLength: 12, 1.5e-3, .5, 0xFF; and names that begin with a digit.
func numberLength(s string) int {
	i := 0
	for i < len(s) {
		c := s[i]
		exponent := (c == '+' || c == '-') && i > 0 && (s[i-1] == 'e' || s[i-1] == 'E') && i+1 < len(s) && isDigit(s[i+1]) && plainNumber(s[:i-1])
		if !isDigit(c) && c != '.' && !isName(c) && !exponent {
			break
		}
		i++
	}
	return max(i, 1)
}

// plainNumber reports digits with at most one dot.
func plainNumber(s string) bool {
	dots := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '.' {
			dots++
		} else if !isDigit(s[i]) {
			return false
		}
	}
	return s != "" && dots <= 1
}

// numberOrName tells 123 and 1e5 from a name such as 2fa_codes.
func numberOrName(s string, afterDot bool) tokenKind {
	s = s[:numberLength(s)]
	if afterDot {
		return tokWord
	}
	l := strings.ToLower(s)
	if hex, ok := strings.CutPrefix(l, "0x"); ok && strings.Trim(hex, "0123456789abcdef") == "" {
		return tokNumber
	}
	if bits, ok := strings.CutPrefix(l, "0b"); ok && bits != "" && strings.Trim(bits, "01") == "" {
		return tokNumber
	}
	mantissa, exp, has := strings.Cut(l, "e")
	if plainNumber(mantissa) && (!has || plainNumber(strings.TrimLeft(exp, "+-"))) {
		return tokNumber
	}
	return tokWord
}

var longSigns = []string{"<=>", "->>", "!=", "<>", "<=", ">=", "<<", ">>", "||", "&&", ":=", "->"}

func signLength(s string) int {
	for _, sign := range longSigns {
		if strings.HasPrefix(s, sign) {
			return len(sign)
		}
	}
	return 1
}

// is compares a word without regard to case.
func (t token) is(word string) bool { return t.kind == tokWord && strings.EqualFold(t.text, word) }

// sign reports whether t is this operator.
func (t token) sign(text string) bool { return t.kind == tokSign && t.text == text }

// literal reports a value.
func (t token) literal() bool {
	return t.kind == tokString || t.kind == tokNumber || t.kind == tokMark
}
