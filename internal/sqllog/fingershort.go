package sqllog

// shorten makes one of forms that pt-query-digest takes for one: LIMIT ?, ?
// and LIMIT ? OFFSET ? are LIMIT ?; ORDER BY a ASC is ORDER BY a; CALL p(…) is
// CALL p; USE name is USE ?. It works in place.
func shorten(toks []token) []token {
	if len(toks) == 2 && toks[0].is("USE") {
		toks[1] = token{kind: tokMark, text: "?"}
		return toks
	}
	if len(toks) > 0 && toks[0].is("CALL") {
		for i, t := range toks {
			if t.sign("(") {
				return toks[:i]
			}
		}
	}
	ordered := false
	out := toks[:0]
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if t.kind != tokWord {
			out = append(out, t)
			continue
		}
		switch {
		case t.is("BY") && i > 0 && toks[i-1].is("ORDER"):
			ordered = true
		case t.is("ASC") && ordered && !named(toks, i):
			continue
		case t.is("LIMIT") && i+3 < len(toks) && toks[i+1].kind == tokMark && toks[i+3].kind == tokMark && (toks[i+2].sign(",") || toks[i+2].is("OFFSET")):
			out = append(out, t, toks[i+1])
			i += 3
			continue
		}
		out = append(out, t)
	}
	return out
}

// repeatCandidates bounds how many SELECTs before a UNION are tried as the
// start of the part that repeats: deeper nesting than that is not written.
const repeatCandidates = 16

// oneRepeat shortens A UNION A UNION A to A UNION A. It works in place.
func oneRepeat(toks []token) []token {
	for first := 0; first < len(toks); first++ {
		if !toks[first].is("UNION") {
			continue
		}
		join := 1
		if first+1 < len(toks) && (toks[first+1].is("ALL") || toks[first+1].is("DISTINCT")) {
			join = 2
		}
		tried := 0
		for from := first - 1; from >= 0 && tried < repeatCandidates; from-- {
			if !toks[from].is("SELECT") {
				continue
			}
			tried++
			if n := first - from; repeats(toks, from, first, join) {
				at := first + join
				end := at + n
				for end+join+n <= len(toks) && sameTokens(toks[end:end+join], toks[first:at]) && sameTokens(toks[end+join:end+join+n], toks[from:first]) {
					end += join + n
				}
				toks = append(toks[:at+n], toks[end:]...)
				first = at + n - 1
				break
			}
		}
	}
	return toks
}

// repeats: after the UNION at first (join words long) comes toks[from:first]
// again.
func repeats(toks []token, from, first, join int) bool {
	at, n := first+join, first-from
	return at+n <= len(toks) && sameTokens(toks[at:at+n], toks[from:first])
}
