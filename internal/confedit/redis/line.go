package redis

import (
	"errors"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// arg is one argument: text[from:to] as written, with quotes.
type arg struct {
	from, to int
	value    string
}

// entry is one line that holds a directive.
type entry struct {
	line textedit.Line
	name string // lower case, new name
	args []arg  // the first is the name
	// files are those that an include stands for.
	files []*File
}

func (e entry) values() []string {
	var out []string
	for _, a := range e.args[1:] {
		out = append(out, a.value)
	}
	return out
}

// isSpace is C's isspace.
func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'
}

var errQuotes = errors.New("unbalanced quotes; a closing quote must be followed by white space or the line's end")

// split cuts text[from:to] into arguments (sdssplitargs in Redis's sds.c).
func split(text string, from, to int) ([]arg, error) {
	var out []arg
	for i := from; ; {
		for i < to && isSpace(text[i]) {
			i++
		}
		if i >= to || text[i] == 0 {
			return out, nil
		}
		a := arg{from: i}
		var err error
		if i, err = a.read(text[:to], i); err != nil {
			return nil, err
		}
		a.to = i
		out = append(out, a)
	}
}

// read fills a.value from text[i:] and returns where the argument ends.
func (a *arg) read(text string, i int) (int, error) {
	var quote byte
	var b strings.Builder
	defer func() { a.value = b.String() }()
	for ; i < len(text) && text[i] != 0; i++ {
		c := text[i]
		switch {
		case quote == 0 && isSpace(c):
			return i, nil
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0:
			b.WriteByte(c)
		case quote == '"' && c == '\\' && i+3 < len(text) && text[i+1] == 'x' && hex(text[i+2]) >= 0 && hex(text[i+3]) >= 0:
			b.WriteByte(byte(hex(text[i+2])<<4 | hex(text[i+3])))
			i += 3
		case quote == '"' && c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(escaped(text[i]))
		case quote == '\'' && c == '\\' && i+1 < len(text) && text[i+1] == '\'':
			i++
			b.WriteByte('\'')
		case c == quote:
			if i+1 < len(text) && !isSpace(text[i+1]) {
				return i, errQuotes
			}
			return i + 1, nil
		default:
			b.WriteByte(c)
		}
	}
	if quote != 0 {
		return i, errQuotes
	}
	return i, nil
}

func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// encode writes value as one argument, in the quotes that old begins with.
func encode(value, old string) string {
	quote := byte(0)
	if old != "" && (old[0] == '"' || old[0] == '\'') {
		quote = old[0]
	}
	if quote == '\'' && (strings.ContainsAny(value, "\n\r\x00") || strings.Contains(value, `\'`) || strings.HasSuffix(value, `\`)) {
		quote = '"'
	}
	if quote == 0 && (value == "" || strings.ContainsAny(value, " \t\n\r\v\f\"'\\#\x00")) {
		quote = '"'
	}
	switch quote {
	case 0:
		return value
	case '\'':
		return "'" + strings.ReplaceAll(value, "'", `\'`) + "'"
	}
	const digits = "0123456789abcdef"
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c == 0x7f:
			b.WriteString(`\x`)
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
