package sqllog

// Explainable reports whether EXPLAIN can take the statement without running
// it: one SELECT, UPDATE or DELETE, with or without WITH before it.
func Explainable(sql string) bool {
	toks := lex(sql)
	for len(toks) > 0 && toks[0].sign("(") {
		toks = toks[1:]
	}
	if len(toks) == 0 {
		return false
	}
	for _, t := range toks {
		if t.sign(";") || t.kind == tokMark || t.is("INTO") {
			return false // several statements, a placeholder, SELECT … INTO
		}
	}
	first := toks[0]
	return first.is("SELECT") || first.is("UPDATE") || first.is("DELETE") || first.is("WITH")
}
