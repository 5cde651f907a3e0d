package sqllog

import "strings"

// Unlocked is a statement without the clause at its end by which a SELECT locks what it
// reads (FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE), which a read-only transaction refuses.
// Its plan is the same.
func Unlocked(sql string) string {
	depth := 0
	toks := lex(sql)
	for i, t := range toks {
		switch {
		case t.sign("("):
			depth++
		case t.sign(")"):
			depth--
		}
		if depth != 0 || i+1 >= len(toks) {
			continue
		}
		next := toks[i+1]
		if t.is("FOR") && (next.is("UPDATE") || next.is("SHARE")) || t.is("LOCK") && next.is("IN") {
			return strings.TrimSpace(sql[:t.from])
		}
	}
	return sql
}
