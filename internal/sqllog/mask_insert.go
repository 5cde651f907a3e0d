package sqllog

// inserts marks values that stand at the place of a password-like column.
// The INSERT may stand anywhere: behind WITH, EXPLAIN, another statement, in a
// MERGE.
func (m *masking) inserts() {
	toks := m.toks
	insert, secrets := -1, anySecret(toks)
	for i, t := range toks {
		switch {
		case t.sign(";"):
			insert = -1
		case t.is("INSERT"), t.is("REPLACE") && (i+1 >= len(toks) || !toks[i+1].sign("(")):
			insert = i
		case (t.is("VALUES") || t.is("VALUE")) && i > 0 && i+1 < len(toks) && toks[i+1].sign("("):
			if insert < 0 && !secrets {
				continue
			}
			columns := m.columnsBefore(insert, i)
			for row := i + 1; row < len(toks) && toks[row].sign("("); {
				end := m.ends[row]
				m.row(row, end, columns)
				if end >= len(toks) || !toks[end].sign(",") {
					break
				}
				row = end + 1
			}
		}
	}
	m.selects()
}

// selects marks the texts of INSERT … SELECT: values in the select list have
// no names of their own.
func (m *masking) selects() {
	toks := m.toks
	from, insert, values := -1, false, false
	mark := func(end int) {
		if from >= 0 && insert && !values {
			for j := from; j < end; j++ {
				m.marked[j] = m.marked[j] || toks[j].kind == tokString
			}
		}
		from, insert, values = -1, false, false
	}
	for i, t := range toks {
		switch {
		case t.sign(";"):
			mark(i)
		case t.is("SELECT") && from < 0:
			from = i
		case t.is("INSERT"), t.is("REPLACE") && (i+1 >= len(toks) || !toks[i+1].sign("(")):
			insert = true
		case (t.is("VALUES") || t.is("VALUE")) && insert && from < 0:
			values = true // a SELECT behind it is within a value
		}
	}
	mark(len(toks))
}

// anySecret: the statement names a password-like column somewhere, which may be
// that of a list of values, as in FROM (VALUES (…)) AS v (id, password).
func anySecret(toks []token) bool {
	for i := range toks {
		if secretName(nameOf(toks, i)) {
			return true
		}
	}
	return false
}

// columnsBefore lists the names in the brackets before VALUES, which come after
// the INSERT; nil if there are none. PostgreSQL has OVERRIDING … VALUE between.
func (m *masking) columnsBefore(insert, values int) []string {
	toks := m.toks
	end := values - 1
	for ; end > insert && end > values-4 && (toks[end].is("VALUE") || toks[end].is("USER") || toks[end].is("SYSTEM") || toks[end].is("OVERRIDING")); end-- {
	}
	if insert < 0 || end <= insert || !toks[end].sign(")") {
		return nil
	}
	open := end - 1
	for ; open > insert && !toks[open].sign("(") && m.step(); open-- {
	}
	out := []string{""}
	for j := open + 1; j < end && m.step(); j++ {
		if toks[j].sign(",") {
			out = append(out, "")
		} else if name := nameOf(toks, j); name != "" {
			out[len(out)-1] = name // the last of t.password
		}
	}
	return out
}

func (m *masking) row(open, end int, columns []string) {
	toks := m.toks
	column, depth := 0, 0
	for j := open; j < end && m.step(); j++ {
		switch {
		case toks[j].sign("("):
			depth++
		case toks[j].sign(")"):
			depth--
		case toks[j].sign(",") && depth == 1:
			column++
		default:
			if columns == nil {
				m.marked[j] = m.marked[j] || toks[j].kind == tokString
			} else if column >= len(columns) || secretName(columns[column]) {
				m.marked[j] = true
			}
		}
	}
}
