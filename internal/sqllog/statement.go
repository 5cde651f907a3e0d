package sqllog

import "strings"

// Verb returns a statement's first word in capitals: "SELECT", "INSERT",
// "BEGIN", "COMMIT", "SET", … WITH gives the verb that follows its parts. ""
// if there is none.
func Verb(sql string) string {
	toks := lex(sql)
	for len(toks) > 0 && toks[0].sign("(") {
		toks = toks[1:]
	}
	if len(toks) == 0 || toks[0].kind != tokWord {
		return ""
	}
	if toks[0].is("WITH") {
		depth := 0
		for _, t := range toks[1:] {
			switch {
			case t.sign("("):
				depth++
			case t.sign(")"):
				depth--
			case depth == 0 && (t.is("SELECT") || t.is("INSERT") || t.is("UPDATE") || t.is("DELETE") || t.is("REPLACE")):
				return strings.ToUpper(t.text)
			}
		}
	}
	return strings.ToUpper(toks[0].text)
}

// tableModifiers may stand between a verb or FROM and a table's name.
var tableModifiers = wordSet(`LOW_PRIORITY HIGH_PRIORITY DELAYED QUICK IGNORE ONLY IF EXISTS NOT LATERAL TABLE TEMPORARY`)

// notTables are words that follow FROM, JOIN or UPDATE without naming a table.
var notTables = wordSet(`SELECT VALUES DUAL SET WHERE JSON_TABLE KEY`)

// Tables lists the tables that a statement reads or writes, in the order of
// their first mention, with their schema where the statement has it
// ("shop.users"). Common table expressions are no tables. Names are as
// written, without backticks.
func Tables(sql string) []string { return MySQL.Tables(sql) }

// Tables is Tables of a statement of the dialect.
func (d Dialect) Tables(sql string) []string {
	toks := d.lex(sql)
	own := withNames(toks)
	var out []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] && !own[strings.ToLower(name)] {
			seen[name] = true
			out = append(out, name)
		}
	}
	for i, t := range toks {
		if t.kind != tokWord || named(toks, i) {
			continue
		}
		switch strings.ToUpper(t.text) {
		case "FROM":
			if !inCall(toks, i) {
				tableList(toks, i+1, add)
			}
		case "JOIN", "STRAIGHT_JOIN":
			tableList(toks, i+1, add)
		case "INTO":
			if verbIs(toks, "INSERT", "REPLACE") || i > 0 && toks[i-1].is("IGNORE") {
				oneTable(toks, i+1, add)
			}
		case "INSERT", "REPLACE":
			if i == 0 {
				oneTable(toks, i+1, add)
			}
		case "UPDATE":
			if i == 0 || !toks[i-1].is("FOR") && !toks[i-1].is("KEY") {
				tableList(toks, i+1, add)
			}
		case "TABLE":
			if i > 0 && verbIs(toks, "CREATE", "ALTER", "DROP", "TRUNCATE", "OPTIMIZE", "ANALYZE", "CHECK", "REPAIR") {
				oneTable(toks, i+1, add)
			}
		case "TRUNCATE", "DESC", "DESCRIBE":
			if i == 0 && i+1 < len(toks) && !toks[1].is("TABLE") {
				oneTable(toks, i+1, add)
			}
		}
	}
	return out
}

func verbIs(toks []token, verbs ...string) bool {
	for _, v := range verbs {
		if len(toks) > 0 && toks[0].is(v) {
			return true
		}
	}
	return false
}

// inCall: the FROM of EXTRACT(x FROM y), TRIM, SUBSTRING is no clause.
func inCall(toks []token, from int) bool {
	depth := 0
	for j := from - 1; j >= 0; j-- {
		switch {
		case toks[j].sign(")"):
			depth++
		case toks[j].sign("("):
			if depth--; depth < 0 {
				return j > 0 && toks[j-1].kind == tokWord && (toks[j-1].is("EXTRACT") || toks[j-1].is("TRIM") || toks[j-1].is("SUBSTRING") || toks[j-1].is("SUBSTR"))
			}
		case depth == 0 && toks[j].is("SELECT"):
			return false
		}
	}
	return false
}

// withNames are the common table expressions of a statement, in small letters.
func withNames(toks []token) map[string]bool {
	if len(toks) == 0 || !toks[0].is("WITH") {
		return nil
	}
	out := map[string]bool{}
	for i := 1; i+1 < len(toks); i++ {
		if toks[i+1].is("AS") && i+2 < len(toks) && toks[i+2].sign("(") && (toks[i].kind == tokWord || toks[i].kind == tokQuoted) {
			out[strings.ToLower(toks[i].text)] = true
		} else if toks[i].sign(")") && toks[i+1].is("AS") { // name (columns) AS
			for j := i; j > 0; j-- {
				if toks[j].sign("(") {
					out[strings.ToLower(toks[j-1].text)] = true
					break
				}
			}
		}
	}
	return out
}

// oneTable reads a name at i and returns the index after it.
func oneTable(toks []token, i int, add func(string)) int {
	for i < len(toks) && toks[i].kind == tokWord && tableModifiers[strings.ToUpper(toks[i].text)] {
		i++
	}
	if i >= len(toks) || toks[i].kind != tokQuoted && (toks[i].kind != tokWord || notTables[strings.ToUpper(toks[i].text)] || toks[i].is("INTO") || strings.HasPrefix(toks[i].text, "@")) {
		return i
	}
	name := toks[i].text
	i++
	for i+1 < len(toks) && toks[i].sign(".") && (toks[i+1].kind == tokWord || toks[i+1].kind == tokQuoted) {
		name += "." + toks[i+1].text
		i += 2
	}
	if i < len(toks) && toks[i].sign("(") && !verbIs(toks, "INSERT", "REPLACE", "CREATE") {
		return i // a table function
	}
	add(name)
	return i
}

// tableList reads "a AS x, (b, c) JOIN …": names separated by commas until
// something else than an alias follows.
func tableList(toks []token, i int, add func(string)) {
	for i < len(toks) {
		for i < len(toks) && toks[i].sign("(") {
			i++
		}
		i = oneTable(toks, i, add)
		for i < len(toks) && (toks[i].sign(")") || toks[i].kind == tokQuoted || toks[i].kind == tokWord && (toks[i].is("AS") || keyword(toks[i].text) == "")) {
			i++
		}
		if i >= len(toks) || !toks[i].sign(",") {
			return
		}
		i++
	}
}

// InsertRows counts the rows of INSERT or REPLACE … VALUES (…), (…); 0 for any
// other statement.
func InsertRows(sql string) int {
	toks := lex(sql)
	if !verbIs(toks, "INSERT", "REPLACE") {
		return 0
	}
	depth := 0
	for i, t := range toks {
		switch {
		case t.sign("("):
			depth++
		case t.sign(")"):
			depth--
		}
		if depth != 0 || !t.is("VALUES") && !t.is("VALUE") || i+1 >= len(toks) || !toks[i+1].sign("(") {
			continue
		}
		rows := 0
		for at := i + 1; at < len(toks) && toks[at].sign("("); {
			rows++
			end := closing(toks, at)
			if end >= len(toks) || !toks[end].sign(",") {
				break
			}
			at = end + 1
		}
		return rows
	}
	return 0
}
