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
	DES_DECRYPT ENCODE DECODE KDF STATEMENT_DIGEST
	CRYPT GEN_SALT DIGEST HMAC DECRYPT ENCRYPT_IV DECRYPT_IV SHA224 SHA256 SHA384 SHA512 PGP_SYM_ENCRYPT
	PGP_SYM_ENCRYPT_BYTEA PGP_SYM_DECRYPT PGP_SYM_DECRYPT_BYTEA PGP_PUB_ENCRYPT PGP_PUB_DECRYPT`) // PostgreSQL's pgcrypto and own

// Mask replaces the values of password-like columns (secretParts), arguments
// of cryptographic functions and IDENTIFIED BY by 'x' (numbers by 0). The
// rest stays, so that the statement can still be explained. In an INSERT
// without column names all texts are masked, because any could be one. Where
// the server's settings decide what is a text, and so what could be a secret,
// what is one under any of them is masked.
func (d Dialect) Mask(sql string) string {
	var spans []span
	for _, toks := range d.readings(sql) {
		m := newMasking(toks)
		m.calls()
		m.comparisons()
		m.inserts()
		for i, t := range toks {
			if m.secret(i) && (t.kind == tokString || t.kind == tokNumber) && !beside(toks, i) {
				spans = append(spans, span{t.from, t.to, masked(t, i > 0 && (toks[i-1].is("LIKE") || toks[i-1].is("ILIKE")))})
			}
		}
	}
	return replaced(sql, spans)
}

// beside: what stands at a dot is a name.
func beside(toks []token, i int) bool {
	return i > 0 && toks[i-1].sign(".") || i+1 < len(toks) && toks[i+1].sign(".")
}

// Mask masks a statement of MariaDB or MySQL.
func Mask(sql string) string { return MySQL.Mask(sql) }

// masked keeps what decides the plan: the type, and the place of a pattern's
// first wildcard.
func masked(t token, pattern bool) string {
	if t.kind == tokNumber {
		if isDigit(t.text[0]) && !strings.HasPrefix(strings.ToLower(t.text), "0x") || t.text[0] == '.' {
			return "0"
		}
		return "0x00"
	}
	inner := strings.Trim(strings.TrimLeft(t.text, "eEnN"), `'"`)
	switch {
	case pattern && strings.HasPrefix(inner, "%"):
		return "'%x'"
	case pattern && strings.Contains(inner, "%"):
		return "'x%'"
	}
	return "'x'"
}

// masking marks the tokens of one statement that are secret.
type masking struct {
	toks   []token
	marked []bool
	ends   []int // behind the bracket that closes the one at the index
	left   int   // steps; below 0 all is taken for secret
}

// stepsOfToken: statements that people write take some steps for each of their
// tokens, because brackets are gone through once for each that is around; such as
// are made to take the square of their length are masked as a whole.
const stepsOfToken, leastSteps = 16, 1 << 14

func newMasking(toks []token) *masking {
	m := &masking{toks: toks, marked: make([]bool, len(toks)), ends: make([]int, len(toks)), left: max(stepsOfToken*len(toks), leastSteps)}
	var open []int
	for i := range toks {
		m.ends[i] = len(toks)
		switch {
		case toks[i].sign("("):
			open = append(open, i)
		case toks[i].sign(")") && len(open) > 0:
			m.ends[open[len(open)-1]] = i + 1
			open = open[:len(open)-1]
		}
	}
	return m
}

// step counts one; false: there were too many.
func (m *masking) step() bool {
	m.left--
	return m.left >= 0
}

func (m *masking) secret(i int) bool { return m.marked[i] || m.left < 0 }

// mark marks tokens, which the caller has counted or which it goes over once.
func (m *masking) mark(from, to int) {
	for j := from; j < to && m.step(); j++ {
		m.marked[j] = true
	}
}

func (m *masking) calls() {
	toks := m.toks
	until := 0 // what is before is marked
	for i, t := range toks {
		if t.is("IDENTIFIED") || t.is("PASSWORD") && i == 1 && toks[0].is("SET") {
			for j := max(i+1, until); j < len(toks) && !toks[j].sign(",") && !toks[j].sign(";") && m.step(); j++ {
				m.marked[j] = true
			}
		}
		if i >= until && t.kind == tokWord && i+1 < len(toks) && toks[i+1].sign("(") && secretCalls[strings.ToUpper(t.text)] {
			until = m.ends[i+1]
			m.mark(i+1, until)
		}
	}
}

// clauseEnds are words that end the value an operator compares with.
var clauseEnds = wordSet(`AND OR XOR WHERE ORDER GROUP HAVING LIMIT UNION FROM ON SET AS THEN ELSE END WHEN
	RETURNING SELECT FOR JOIN LEFT INNER STRAIGHT_JOIN VALUES DUPLICATE CONFLICT`)

// nameOf is the column that a token names, "" if none: a word, a name in quotes,
// a text in double quotes (a name with MySQL's ANSI_QUOTES), and the key within a
// document, as in data->>'password' and JSON_EXTRACT(data, '$.password').
func nameOf(toks []token, i int) string {
	t := toks[i]
	switch {
	case t.kind == tokWord || t.kind == tokQuoted:
		return t.text
	case t.kind != tokString:
		return ""
	case t.text[0] == '"':
		return strings.Trim(t.text, `"`)
	case strings.HasPrefix(t.text, "'$"):
		return t.text
	case i > 0 && toks[i-1].kind == tokSign && strings.HasSuffix(toks[i-1].text, ">") && strings.ContainsAny(toks[i-1].text, "-#"),
		i > 1 && toks[i-1].sign(">") && toks[i-2].sign("#>"):
		return t.text
	}
	return ""
}

// comparisons marks both sides of an operator when one of them is a
// password-like column: password = 'a', 'a' = password, salt IN ('a', 'b'),
// SET token = CONCAT('a', id), hash BETWEEN 'a' AND 'b'.
func (m *masking) comparisons() {
	toks := m.toks
	for i := range toks {
		if !secretName(nameOf(toks, i)) {
			continue
		}
		if i+1 < len(toks) && toks[i+1].sign("(") {
			continue // a function of that name: its arguments are its own
		}
		between := false
		depth, cases := 0, 0
		for j := m.comparedFrom(i); j < len(toks) && m.step(); j++ {
			n := toks[j]
			if n.sign("(") {
				depth++
			} else if n.sign(")") {
				if depth--; depth < 0 {
					break
				}
			}
			switch { // token = CASE WHEN … THEN 'a' END
			case n.is("CASE"):
				cases++
			case n.is("END") && cases > 0:
				cases--
				m.marked[j] = true
				continue
			}
			if depth <= 0 && cases == 0 && (n.sign(",") || n.sign(";") || n.kind == tokWord && clauseEnds[strings.ToUpper(n.text)]) {
				if between && n.is("AND") {
					between = false
					continue
				}
				break
			}
			between = between || n.is("BETWEEN")
			m.marked[j] = true
		}
		// 'a' = password: the value stands before the operator.
		depth = 0
		for j := i - 1; j >= 0 && i-j < 64 && m.step(); j-- {
			n := toks[j]
			if n.sign(")") {
				depth++
			} else if n.sign("(") {
				depth--
			}
			if depth <= 0 && (n.sign(",") || n.sign(";") || n.kind == tokWord && clauseEnds[strings.ToUpper(n.text)]) {
				if j == i-1 && n.is("AS") {
					continue // 'a' AS password
				}
				break
			}
			m.marked[j] = true
		}
	}
}

// comparedFrom returns where the value compared with column i may begin: after
// it, or after the brackets around it when an operator follows them, as in
// LOWER(password) = 'a' and (login, password) IN (('a', 'b')).
func (m *masking) comparedFrom(i int) int {
	toks := m.toks
	from, depth := i+1, 0
	for j := i + 1; j < len(toks) && m.step(); j++ {
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
	return n.kind == tokSign && strings.ContainsAny(n.text, "=<>!~:|@") || n.is("LIKE") || n.is("IN") || n.is("NOT") || n.is("BETWEEN") || n.is("REGEXP") || n.is("RLIKE") || n.is("ILIKE") || n.is("SIMILAR") || n.is("IS")
}
