package args

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// systemdWord reads up to unquoted white space, with systemd's escapes.
func (l *List) systemdWord(w *Word, i int) int {
	text := l.text
	var quote byte
	for i < len(text) {
		c := text[i]
		switch {
		case quote == 0 && isSpace(c):
			return i
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			i++
		case quote == c && quote != 0:
			quote = 0
			i++
		case text[i:] == `\;` && i == w.From, i == w.From && strings.HasPrefix(text[i:], `\;`) && isSpace(text[i+2]):
			w.add(';', i, i+2, 0) // parts no commands
			i += 2
		case c == '\\':
			value, n := cUnescape(text[i:])
			if n == 0 {
				l.broken = "it ends with a backslash"
				w.add(c, i, i+1, quote)
				return len(text)
			}
			for j := 0; j < len(value); j++ {
				w.add(value[j], i, i+n, quote)
			}
			i += n
		case c == '%' || c == '$':
			if i+1 < len(text) && text[i+1] == c {
				w.add(c, i, i+2, quote)
				i += 2
				continue
			}
			if i+1 < len(text) && (c == '%' || text[i+1] == '{' || text[i+1] == '_' || text[i+1]|0x20 >= 'a' && text[i+1]|0x20 <= 'z') {
				w.Literal = false
			}
			w.add(c, i, i+1, quote)
			i++
		default:
			w.add(c, i, i+1, quote)
			i++
		}
	}
	if quote != 0 {
		l.broken = fmt.Sprintf("a %c is never closed", quote)
	}
	return i
}

// escapes are the one-letter escapes of cunescape_one (escape.c).
var escapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '"': '"', '\'': '\'', 's': ' '}

// cUnescape reads the escape at the start of s: what it stands for and its
// length, 0 where s is a lone backslash. What is no escape stands for itself.
func cUnescape(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	if c, ok := escapes[s[1]]; ok {
		return string([]byte{c}), 2
	}
	digits, base := 0, 16
	switch s[1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case '0', '1', '2', '3', '4', '5', '6', '7':
		s, digits, base = s[:1]+"0"+s[1:], 3, 8 // so that the digits start at 2
	}
	if digits > 0 && len(s) >= 2+digits && !strings.ContainsAny(s[2:2+digits], "+-_") {
		n, err := strconv.ParseUint(s[2:2+digits], base, 32)
		length := 2 + digits
		if base == 8 {
			length--
		}
		if err == nil && n > 0 && (digits > 3 && utf8.ValidRune(rune(n)) || digits <= 3 && n < 256) {
			if digits > 3 {
				return string(rune(n)), length
			}
			return string([]byte{byte(n)}), length
		}
	}
	return `\` + s[1:2], 2
}
