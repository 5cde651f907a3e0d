package sqllog

import (
	"strconv"
	"strings"
)

// Unaliased is a fingerprint with the aliases of its tables numbered in the order in
// which they stand (t1, t2, …): some frameworks draw new ones for each statement, so
// that no two are alike (Directus), others count them on. It tells statements that are
// the same but for these, and is not for showing.
func Unaliased(fingerprint string) string {
	toks := Fingerprints.lex(fingerprint)
	names, defined := map[string]string{}, map[int]bool{}
	for i, t := range toks {
		if !t.is("FROM") && !t.is("JOIN") && !t.is("STRAIGHT_JOIN") || named(toks, i) {
			continue
		}
		if at := aliasAfter(toks, i+1); at > 0 {
			defined[at] = true
			if names[toks[at].text] == "" {
				names[toks[at].text] = "t" + strconv.Itoa(len(names)+1)
			}
		}
	}
	if len(names) == 0 {
		return fingerprint
	}
	var b strings.Builder
	for i, t := range toks {
		text := t.text
		switch to := names[text]; {
		case to == "" || !isAName(t):
			if up := keyword(text); up != "" && t.kind == tokWord && !named(toks, i) {
				text = up
			}
		case defined[i], !named(toks, i) && i+1 < len(toks) && toks[i+1].sign("."):
			text = to
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return b.String()
}

// isAName: a word that is no keyword, or one in backticks.
func isAName(t token) bool {
	return t.kind == tokQuoted || t.kind == tokWord && keyword(t.text) == ""
}

// aliasAfter is where the alias of the table at i, or of the SELECT in brackets there,
// stands; 0 if it has none.
func aliasAfter(toks []token, i int) int {
	switch {
	case i >= len(toks):
		return 0
	case toks[i].sign("("):
		i = closing(toks, i)
	case isAName(toks[i]):
		for i++; i+1 < len(toks) && toks[i].sign("."); i += 2 {
		}
	default:
		return 0
	}
	if i < len(toks) && toks[i].is("AS") {
		i++
	}
	if i >= len(toks) || !isAName(toks[i]) || i+1 < len(toks) && toks[i+1].sign("(") {
		return 0
	}
	return i
}
