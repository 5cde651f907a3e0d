package sqllog

import "strings"

// keywords are printed in capitals, and a bracket after them is set off by a
// space. Other words keep their case: table names are case-sensitive on Linux.
var keywords = capitals(`ADD ALL ALTER ANALYZE AND ANY AS ASC BEGIN BETWEEN BY CALL CASE COLLATE COMMIT CREATE CROSS
	DELETE DESC DESCRIBE DISTINCT DROP DUPLICATE ELSE END ESCAPE EXISTS EXPLAIN FALSE FOR FORCE FROM FULL GLOBAL GROUP
	HAVING IGNORE IN INDEX INNER INSERT INTERVAL INTO IS JOIN KEY LEFT LIKE LIMIT LOCK NATURAL NOT NULL OFFSET ON OR
	ORDER OUTER OVER PARTITION PRIMARY REGEXP REPLACE RETURNING RIGHT RLIKE ROLLBACK SELECT SESSION SET SHARE SHOW
	SOME START STRAIGHT_JOIN TABLE THEN TO TRANSACTION TRUE TRUNCATE UNION UNIQUE UPDATE USE USING VALUES WHEN
	WHERE WINDOW WITH XOR`)

// capitals maps each word to itself.
func capitals(s string) map[string]string {
	out := map[string]string{}
	for _, w := range strings.Fields(s) {
		out[w] = w
	}
	return out
}

func wordSet(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// calls are keywords that are also function names: no space before a bracket.
var calls = wordSet("LEFT RIGHT REPLACE TRUNCATE")

// Fingerprint turns a statement into its class: values become ?, lists of
// values after IN and further rows of VALUES collapse to one, comments go,
// white space, case of keywords and needless backticks are made the same.
// LIMIT with an offset is one with LIMIT without, ASC is left out of ORDER BY,
// a UNION of more than two equal parts is one of two, CALL keeps the
// procedure's name only and USE no name: as pt-query-digest has it. The result
// is still SQL. Statements that differ in values only are equal.
func Fingerprint(sql string) string {
	var f Fingerprinter
	return string(f.Append(nil, sql))
}

// Fingerprinter makes fingerprints in buffers that it uses again. It is for
// one goroutine.
type Fingerprinter struct{ toks, marked, out []token }

// Append appends the statement's fingerprint to dst.
func (f *Fingerprinter) Append(dst []byte, sql string) []byte {
	f.toks = lexInto(f.toks[:0], strings.TrimRight(sql, "; \t\r\n"))
	for n := len(f.toks); n > 0 && f.toks[n-1].sign(";"); n-- { // before a comment
		f.toks = f.toks[:n-1]
	}
	f.marked = marks(f.marked[:0], f.toks)
	f.out = collapse(f.out[:0], f.marked)
	toks := oneRepeat(shorten(f.out))
	for i, t := range toks {
		if i > 0 && spaced(toks, i) {
			dst = append(dst, ' ')
		}
		switch t.kind {
		case tokWord:
			if up := keyword(t.text); up != "" && !named(toks, i) {
				dst = append(dst, up...)
				continue
			}
		case tokQuoted:
			if !isPlainName(t.text) || keyword(t.text) != "" {
				dst = append(append(append(dst, '`'), strings.ReplaceAll(t.text, "`", "``")...), '`')
				continue
			}
		}
		dst = append(dst, t.text...)
	}
	return dst
}

// keyword returns the word in capitals if it is a keyword, else "".
func keyword(word string) string {
	var up [16]byte
	if len(word) > len(up) {
		return ""
	}
	for i := range len(word) {
		c := word[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		up[i] = c
	}
	return keywords[string(up[:len(word)])]
}

// isPlainName: letters, digits, _ and $, not a digit first.
func isPlainName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || !isName(c) && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return s != ""
}

// named: a keyword after a dot is a name.
func named(toks []token, i int) bool { return i > 0 && toks[i-1].sign(".") }

// marks replaces every value by ?, with its sign if it has one.
func marks(out, toks []token) []token {
	for i, t := range toks {
		switch {
		case t.literal():
			if n := len(out); n > 0 && (out[n-1].sign("-") || out[n-1].sign("+")) && t.kind != tokString &&
				(n == 1 || out[n-2].kind == tokSign && !out[n-2].sign(")") || out[n-2].kind == tokWord && keyword(out[n-2].text) != "") {
				out = out[:n-1]
			}
			// Adjacent strings are one: 'a' 'b' (MySQL manual, "String Literals").
			if n := len(out); n > 0 && out[n-1].kind == tokMark && t.kind == tokString && toks[i-1].kind == tokString {
				continue
			}
			out = append(out, token{kind: tokMark, text: "?"})
		case (t.is("NULL") || t.is("TRUE") || t.is("FALSE")) && i > 0 && !toks[i-1].is("IS") && !toks[i-1].is("NOT") && !toks[i-1].is("SET") && !toks[i-1].sign("."):
			out = append(out, token{kind: tokMark, text: "?"})
		default:
			out = append(out, t)
		}
	}
	return out
}

// collapse shortens IN (?, ?, …) to IN (?) and VALUES (…), (…) to one row.
func collapse(out, toks []token) []token {
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		out = append(out, t)
		if i+1 >= len(toks) || t.kind != tokWord || !toks[i+1].sign("(") {
			continue
		}
		switch {
		case t.is("IN"):
			if end := listEnd(toks, i+2); end > 0 {
				out = append(out, toks[i+1], token{kind: tokMark, text: "?"}, toks[end])
				i = end
			}
		case t.is("VALUES"), t.is("VALUE"):
			end := closing(toks, i+1)
			row := toks[i+1 : end]
			out = append(out, row...)
			for end+1 < len(toks) && toks[end].sign(",") && toks[end+1].sign("(") {
				next := closing(toks, end+1)
				if !sameTokens(toks[end+1:next], row) {
					break
				}
				end = next
			}
			// A digest's "(...) , ..." ends with marks of its own.
			for end+1 < len(toks) && toks[end].sign(",") && toks[end+1].kind == tokMark {
				end += 2
			}
			i = end - 1
		}
	}
	return out
}

func sameTokens(a, b []token) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].text != b[i].text {
			return false
		}
	}
	return true
}

// listEnd returns the index of the ")" of a list of marks only; 0 if it holds
// anything else.
func listEnd(toks []token, from int) int {
	for i := from; i < len(toks); i++ {
		switch {
		case toks[i].sign(")"):
			return i * btoi(i > from)
		case toks[i].kind != tokMark && !toks[i].sign(","):
			return 0
		}
	}
	return 0
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// closing returns the index after the bracket that closes the one at open.
func closing(toks []token, open int) int {
	depth := 0
	for i := open; i < len(toks); i++ {
		if toks[i].sign("(") {
			depth++
		} else if toks[i].sign(")") {
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(toks)
}

// spaced tells whether a space stands before token i.
func spaced(toks []token, i int) bool {
	a, b := toks[i-1], toks[i]
	switch {
	case b.sign(",") || b.sign(")") || b.sign(";") || b.sign(".") || a.sign("(") || a.sign(".") || a.sign("!") || a.sign("~"):
		return false
	case b.sign("("):
		if a.kind != tokWord {
			return a.kind != tokQuoted
		}
		up := keyword(a.text)
		return up != "" && !named(toks, i-1) && !calls[up]
	}
	return true
}
