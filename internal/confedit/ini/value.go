package ini

import (
	"fmt"
	"regexp"
	"strings"
)

// unescapeMySQL reads a MySQL value: quotes around it are dropped, \n \t \r
// \b \s \" \' \\ are escapes, any other backslash stays (my_default.c).
func unescapeMySQL(raw string) string {
	if n := len(raw); n > 1 && (raw[0] == '"' || raw[0] == '\'') && raw[n-1] == raw[0] {
		raw = raw[1 : n-1]
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			b.WriteByte(raw[i])
			continue
		}
		i++
		switch raw[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 's':
			b.WriteByte(' ')
		case '"', '\'', '\\':
			b.WriteByte(raw[i])
		default:
			b.WriteByte('\\')
			b.WriteByte(raw[i])
		}
	}
	return b.String()
}

// unescapePHP reads a PHP value where it is one quoted string; anything else
// (a number, a constant, an expression) is returned as written.
func unescapePHP(raw string) string {
	n := len(raw)
	if n < 2 || raw[0] != raw[n-1] {
		return raw
	}
	switch raw[0] {
	case '\'':
		if in := raw[1 : n-1]; !strings.Contains(in, "'") {
			return in
		}
	case '"':
		var b strings.Builder
		for i := 1; i < n-1; i++ {
			if raw[i] == '"' {
				return raw // two strings
			}
			if raw[i] == '\\' {
				i++
				if i == n-1 {
					return raw
				}
				if strings.IndexByte(`"\'`, raw[i]) < 0 {
					b.WriteByte('\\')
				}
			}
			b.WriteByte(raw[i])
		}
		return b.String()
	}
	return raw
}

// encode writes value so that the dialect's reader gets it back. old is the
// text it replaces, whose quotes are kept; "" for none.
func (d Dialect) encode(value, old string) (string, error) {
	if strings.IndexByte(value, 0) >= 0 {
		return "", fmt.Errorf("a value cannot hold a zero byte")
	}
	if d == MySQL {
		return encodeMySQL(value, old), nil
	}
	return d.encodePHP(value, old)
}

func encodeMySQL(value, old string) string {
	q := ""
	if n := len(old); n > 1 && (old[0] == '"' || old[0] == '\'') && old[n-1] == old[0] {
		q = old[:1]
	} else if strings.ContainsAny(value, "#\"'") || value != strings.TrimSpace(value) {
		q = `"`
	}
	var b strings.Builder
	b.WriteString(q)
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\\':
			b.WriteString(`\\`)
		case q != "" && (c == '"' || c == '\''):
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString(q)
	return b.String()
}

// plainPHP are values that need no quotes: numbers, sizes, paths, lists and
// addresses. expression is what PHP evaluates: E_ALL & ~E_DEPRECATED.
var (
	plainPHP   = regexp.MustCompile(`^[A-Za-z0-9_./:,%+@*\\-]+( [A-Za-z0-9_./:,%+@*\\-]+)*$`)
	expression = regexp.MustCompile(`^[A-Z0-9_ &|~^!()]+$`)
	negative   = regexp.MustCompile(`^~?[A-Z_]+[A-Z0-9_ &|~^!()]*$`)
)

func (d Dialect) encodePHP(value, old string) (string, error) {
	if d == FPM && strings.ContainsAny(value, "\r\n") {
		return "", fmt.Errorf("a value in a PHP-FPM file cannot span lines")
	}
	quotes := len(old) > 1 && (old[0] == '"' || old[0] == '\'') && unescapePHP(old) != old
	if !quotes && (value == "" || plainPHP.MatchString(value) || expression.MatchString(value) && negative.MatchString(value)) {
		return value, nil
	}
	if quotes && old[0] == '\'' && !strings.Contains(value, "'") {
		return "'" + value + "'", nil
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`, nil
}
