package sqllog

import "strings"

// secretParts are parts of column and variable names whose values are secrets.
var secretParts = []string{"password", "passwd", "passphrase", "pwd", "token", "secret", "hash", "salt", "api_key", "apikey", "credential"}

// secretName reports a password-like column.
func secretName(name string) bool {
	l := strings.ToLower(name)
	if l == "pass" || strings.HasSuffix(l, "_pass") {
		return true
	}
	for _, p := range secretParts {
		if strings.Contains(l, p) {
			return true
		}
	}
	return false
}

// secretCalls are functions whose arguments are secrets.
var secretCalls = wordSet(`PASSWORD OLD_PASSWORD MD5 SHA SHA1 SHA2 ENCRYPT AES_ENCRYPT AES_DECRYPT DES_ENCRYPT
	DES_DECRYPT ENCODE DECODE KDF STATEMENT_DIGEST`)

// Mask replaces the values of password-like columns (secretParts), arguments
// of cryptographic functions and IDENTIFIED BY by 'x' (numbers by 0). The
// rest stays, so that the statement can still be explained. In an INSERT
// without column names all texts are masked, because any could be one.
func Mask(sql string) string {
	toks := lex(sql)
	secret := make([]bool, len(toks))
	markCalls(toks, secret)
	markComparisons(toks, secret)
	markInserts(toks, secret)
	var b strings.Builder
	at := 0
	for i, t := range toks {
		if !secret[i] || t.kind != tokString && t.kind != tokNumber {
			continue
		}
		b.WriteString(sql[at:t.from])
		b.WriteString(masked(t, i > 0 && toks[i-1].is("LIKE")))
		at = t.to
	}
	b.WriteString(sql[at:])
	return b.String()
}

// masked keeps what decides the plan: the type, and the place of a pattern's
// first wildcard.
func masked(t token, pattern bool) string {
	if t.kind == tokNumber {
		if isDigit(t.text[0]) && !strings.HasPrefix(strings.ToLower(t.text), "0x") || t.text[0] == '.' {
			return "0"
		}
		return "0x00"
	}
	inner := strings.Trim(t.text, `'"`)
	switch {
	case pattern && strings.HasPrefix(inner, "%"):
		return "'%x'"
	case pattern && strings.Contains(inner, "%"):
		return "'x%'"
	}
	return "'x'"
}

func markCalls(toks []token, secret []bool) {
	for i, t := range toks {
		if t.is("IDENTIFIED") || t.is("PASSWORD") && i == 1 && toks[0].is("SET") {
			for j := i + 1; j < len(toks) && !toks[j].sign(",") && !toks[j].sign(";"); j++ {
				secret[j] = true
			}
		}
		if t.kind == tokWord && secretCalls[strings.ToUpper(t.text)] && i+1 < len(toks) && toks[i+1].sign("(") {
			for j := i + 1; j < closing(toks, i+1); j++ {
				secret[j] = true
			}
		}
	}
}

// clauseEnds are words that end the value an operator compares with.
var clauseEnds = wordSet(`AND OR XOR WHERE ORDER GROUP HAVING LIMIT UNION FROM ON SET AS THEN ELSE END WHEN
	RETURNING SELECT FOR JOIN LEFT INNER STRAIGHT_JOIN VALUES DUPLICATE`)

// markComparisons marks both sides of an operator when one of them is a
// password-like column: password = 'a', 'a' = password, salt IN ('a', 'b'),
// SET token = CONCAT('a', id), hash BETWEEN 'a' AND 'b'.
func markComparisons(toks []token, secret []bool) {
	for i, t := range toks {
		if t.kind != tokWord && t.kind != tokQuoted || !secretName(t.text) {
			continue
		}
		if i+1 < len(toks) && toks[i+1].sign("(") {
			continue // a function of that name: its arguments are its own
		}
		between := false
		depth := 0
		for j := comparedFrom(toks, i); j < len(toks); j++ {
			n := toks[j]
			if n.sign("(") {
				depth++
			} else if n.sign(")") {
				if depth--; depth < 0 {
					break
				}
			}
			if depth <= 0 && (n.sign(",") || n.sign(";") || n.kind == tokWord && clauseEnds[strings.ToUpper(n.text)]) {
				if between && n.is("AND") {
					between = false
					continue
				}
				break
			}
			between = between || n.is("BETWEEN")
			secret[j] = true
		}
		// 'a' = password: the value stands before the operator.
		depth = 0
		for j := i - 1; j >= 0 && i-j < 64; j-- {
			n := toks[j]
			if n.sign(")") {
				depth++
			} else if n.sign("(") {
				depth--
			}
			if depth <= 0 && (n.sign(",") || n.sign(";") || n.kind == tokWord && clauseEnds[strings.ToUpper(n.text)]) {
				break
			}
			secret[j] = true
		}
	}
}

// comparedFrom returns where the value compared with column i may begin: after
// it, or after the brackets around it when an operator follows them, as in
// LOWER(password) = 'a' and (login, password) IN (('a', 'b')).
func comparedFrom(toks []token, i int) int {
	from, depth := i+1, 0
	for j := i + 1; j < len(toks); j++ {
		if toks[j].sign("(") {
			depth++
		} else if toks[j].sign(")") {
			if depth--; depth >= 0 {
				continue
			}
			if !comparison(toks, j+1) {
				return from
			}
			from, depth = j+1, 0
		}
	}
	return from
}

func comparison(toks []token, i int) bool {
	if i >= len(toks) {
		return false
	}
	n := toks[i]
	return n.kind == tokSign && strings.ContainsAny(n.text, "=<>!") || n.is("LIKE") || n.is("IN") || n.is("NOT") || n.is("BETWEEN") || n.is("REGEXP") || n.is("RLIKE")
}

// markInserts marks values that stand at the place of a password-like column.
func markInserts(toks []token, secret []bool) {
	if len(toks) == 0 || !toks[0].is("INSERT") && !toks[0].is("REPLACE") {
		return
	}
	for i, t := range toks {
		if !t.is("VALUES") && !t.is("VALUE") || i+1 >= len(toks) || !toks[i+1].sign("(") || i == 0 {
			continue
		}
		columns := columnsBefore(toks, i)
		for row := i + 1; row < len(toks) && toks[row].sign("("); {
			end := closing(toks, row)
			markRow(toks, secret, row, end, columns)
			if end >= len(toks) || !toks[end].sign(",") {
				break
			}
			row = end + 1
		}
		return
	}
	// INSERT … SELECT: values in the select list have no names of their own.
	for i, t := range toks {
		if t.is("SELECT") {
			for j := i; j < len(toks); j++ {
				secret[j] = secret[j] || toks[j].kind == tokString
			}
			return
		}
	}
}

// columnsBefore lists the names in the brackets before VALUES, nil if none.
func columnsBefore(toks []token, values int) []string {
	if !toks[values-1].sign(")") {
		return nil
	}
	var out []string
	for j := values - 2; j >= 0 && !toks[j].sign("("); j-- {
		if toks[j].kind == tokWord || toks[j].kind == tokQuoted {
			out = append([]string{toks[j].text}, out...)
		}
	}
	return out
}

func markRow(toks []token, secret []bool, open, end int, columns []string) {
	column, depth := 0, 0
	for j := open; j < end; j++ {
		switch {
		case toks[j].sign("("):
			depth++
		case toks[j].sign(")"):
			depth--
		case toks[j].sign(",") && depth == 1:
			column++
		default:
			if columns == nil {
				secret[j] = secret[j] || toks[j].kind == tokString
			} else if column < len(columns) && secretName(columns[column]) {
				secret[j] = true
			}
		}
	}
}
