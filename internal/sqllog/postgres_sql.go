package sqllog

import "strings"

// hashSign stands for PostgreSQL's operator #, which begins a comment in MySQL.
const hashSign = '\x01'

// FromPostgres writes a statement of PostgreSQL so that it can be told into
// classes: names in quotes as names, values of all kinds as values, without its
// comments (PostgreSQL manual, "Lexical Structure"). ToPostgres turns the
// fingerprint back. It accepts any bytes.
func FromPostgres(sql string) string {
	b := make([]byte, 0, len(sql)+16)
	for i := 0; i < len(sql); {
		rest := sql[i:]
		switch c := sql[i]; {
		case strings.HasPrefix(rest, "--"):
			b = append(b, '\n')
			i += lineLength(rest)
		case strings.HasPrefix(rest, "/*"):
			b = append(b, ' ')
			i += nestedLength(rest)
		case c == '\'':
			escapes := i > 0 && (sql[i-1] == 'E' || sql[i-1] == 'e') && (i < 2 || !isName(sql[i-2]) && !isDigit(sql[i-2]))
			if escapes {
				b = b[:len(b)-1]
			}
			b = append(b, "''"...)
			i += quotedLength(rest, '\'', escapes)
		case c == '"':
			n := quotedLength(rest, '"', false)
			name := strings.TrimSuffix(rest[1:n], `"`)
			b = append(b, "`"+strings.ReplaceAll(strings.ReplaceAll(name, `""`, `"`), "`", "``")+"`"...)
			i += n
		case c == '$' && (i == 0 || !isName(sql[i-1]) && !isDigit(sql[i-1])):
			n, value := dollarLength(rest)
			b = append(b, value...)
			i += n
		case isDigit(c) && (i == 0 || !isName(sql[i-1]) && !isDigit(sql[i-1])):
			n := numberLength(rest)
			number := rest[:n]
			if strings.ContainsAny(number, "_oO") { // 1_000, 0o17
				number = "0"
			}
			b = append(b, number...)
			i += n
		case c == '#':
			b = append(b, hashSign)
			i++
		case c == '`':
			b = append(b, ' ')
			i++
		default:
			b = append(b, c)
			i++
		}
	}
	return string(b)
}

// nestedLength of a comment: PostgreSQL's have others within.
func nestedLength(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			if depth--; depth == 0 {
				return i + 2
			}
			i++
		}
	}
	return len(s)
}

// dollarLength reads $1, or $tag$ … $tag$.
func dollarLength(s string) (n int, value string) {
	if d := digits([]byte(s[1:min(len(s), 8)])); d > 0 {
		return 1 + d, "?"
	}
	i := 1
	for i < len(s) && (isName(s[i]) && s[i] != '$' || isDigit(s[i])) {
		i++
	}
	if i == len(s) || s[i] != '$' {
		return 1, "$"
	}
	tag := s[:i+1]
	if end := strings.Index(s[len(tag):], tag); end >= 0 {
		return end + 2*len(tag), "''"
	}
	return len(s), "''"
}

var toPostgres = strings.NewReplacer("``", "`", "`", `"`, string(hashSign), "#", " : : ", "::")

// ToPostgres gives a fingerprint the look of PostgreSQL's SQL.
func ToPostgres(fingerprint string) string { return toPostgres.Replace(fingerprint) }
