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

// unescapePHP reads a PHP value made of strings and words without a gap; an
// expression (E_ALL & ~E_NOTICE) is returned as written.
func unescapePHP(raw string) string {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			end := phpStringEnd(raw, i+1)
			if end == len(raw) {
				return raw
			}
			b.WriteString(unescapeString(raw[i+1 : end]))
			i = end
		case c == '\'':
			n := strings.IndexByte(raw[i+1:], c)
			if n < 0 {
				return raw
			}
			b.WriteString(raw[i+1 : i+1+n])
			i += n + 1
		case strings.IndexByte("&|^~()!", c) >= 0:
			return raw
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescapeString reads the inside of a double-quoted PHP string.
func unescapeString(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\') {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
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
	} else if strings.ContainsAny(value, "#\"'") || value != strings.Trim(value, spaces) || strings.HasSuffix(value, "\xa0") {
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
	plainPHP   = regexp.MustCompile(`^[A-Za-z0-9_./:,%+@*-]+( [A-Za-z0-9_./:,%+@*-]+)*$`)
	expression = regexp.MustCompile(`^[~(]*[A-Z_][A-Z0-9_ &|~^!()]*$`)
)

func (d Dialect) encodePHP(value, old string) (string, error) {
	if d == FPM && strings.ContainsAny(value, "\r\n") {
		return "", fmt.Errorf("a value in a PHP-FPM file cannot span lines")
	}
	quotes := len(old) > 1 && (old[0] == '"' || old[0] == '\'') && old[len(old)-1] == old[0]
	if !quotes && (value == "" || plainPHP.MatchString(value) || expression.MatchString(value) && value == strings.Trim(value, spaces)) {
		return value, nil
	}
	single := strings.Contains(value, "'")
	if !single && (quotes && old[0] == '\'' || strings.ContainsAny(value, `"\`)) {
		return "'" + value + "'", nil // nothing in it needs an escape
	}
	// PHP takes \" at the end of a line for the end of the string.
	if strings.Contains(value, "\"\n") || strings.Contains(value, "\"\r") {
		return "", fmt.Errorf("a value with a single quote, and with a double quote at the end of a line, cannot be written: %q", value)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`, nil
}
