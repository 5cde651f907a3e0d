package sqllog

import (
	"regexp"
	"strings"
)

// keywords are printed in capitals, and a bracket after them is set off by a
// space. Other words keep their case: table names are case-sensitive on Linux.
var keywords = wordSet(`ADD ALL ALTER ANALYZE AND ANY AS ASC BEGIN BETWEEN BY CALL CASE COLLATE COMMIT CREATE CROSS
	DELETE DESC DESCRIBE DISTINCT DROP DUPLICATE ELSE END ESCAPE EXISTS EXPLAIN FALSE FOR FORCE FROM FULL GLOBAL GROUP
	HAVING IGNORE IN INDEX INNER INSERT INTERVAL INTO IS JOIN KEY LEFT LIKE LIMIT LOCK NATURAL NOT NULL OFFSET ON OR
	ORDER OUTER OVER PARTITION PRIMARY REGEXP REPLACE RETURNING RIGHT RLIKE ROLLBACK SELECT SESSION SET SHARE SHOW
	SOME START STRAIGHT_JOIN TABLE THEN TO TRANSACTION TRUE TRUNCATE UNION UNIQUE UPDATE USE USING VALUES WHEN
	WHERE WINDOW WITH XOR`)

func wordSet(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// calls are keywords that are also function names: no space before a bracket.
var calls = wordSet("LEFT RIGHT REPLACE TRUNCATE")

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// Fingerprint turns a statement into its class: values become ?, lists of
// values after IN and further rows of VALUES collapse to one, comments go,
// white space, case of keywords and needless backticks are made the same. The
// result is still SQL. Statements that differ in values only are equal.
func Fingerprint(sql string) string {
	toks := marks(lex(strings.TrimRight(sql, "; \t\r\n")))
	toks = collapse(toks)
	var b strings.Builder
	for i, t := range toks {
		text := t.text
		switch t.kind {
		case tokWord:
			if up := strings.ToUpper(text); keywords[up] && !named(toks, i) {
				text = up
			}
		case tokQuoted:
			if !plainName.MatchString(text) || keywords[strings.ToUpper(text)] {
				text = "`" + strings.ReplaceAll(text, "`", "``") + "`"
			}
		}
		if i > 0 && spaced(toks, i) {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return b.String()
}

// named: a keyword after a dot is a name.
func named(toks []token, i int) bool { return i > 0 && toks[i-1].sign(".") }

// marks replaces every value by ?, with its sign if it has one.
func marks(toks []token) []token {
	var out []token
	for i, t := range toks {
		switch {
		case t.literal():
			if n := len(out); n > 0 && (out[n-1].sign("-") || out[n-1].sign("+")) && t.kind != tokString &&
				(n == 1 || out[n-2].kind == tokSign && !out[n-2].sign(")") || out[n-2].kind == tokWord && keywords[strings.ToUpper(out[n-2].text)]) {
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
func collapse(toks []token) []token {
	var out []token
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		out = append(out, t)
		if i+1 >= len(toks) || !toks[i+1].sign("(") {
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
			out = append(out, toks[i+1:end]...)
			row := plain(toks[i+1 : end])
			for end+1 < len(toks) && toks[end].sign(",") && toks[end+1].sign("(") {
				next := closing(toks, end+1)
				if plain(toks[end+1:next]) != row {
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

func plain(toks []token) string {
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// spaced tells whether a space stands before token i.
func spaced(toks []token, i int) bool {
	a, b := toks[i-1], toks[i]
	switch {
	case b.sign(",") || b.sign(")") || b.sign(";") || b.sign(".") || a.sign("(") || a.sign(".") || a.sign("!") || a.sign("~"):
		return false
	case b.sign("("):
		up := strings.ToUpper(a.text)
		isName := a.kind == tokQuoted || a.kind == tokWord && (!keywords[up] || named(toks, i-1) || calls[up])
		return !isName
	}
	return true
}
