package record

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kasoku/internal/lazyregexp"
)

// plain texts need no quotes in a block.
var plain = lazyregexp.New(`^[A-Za-z/][A-Za-z0-9 /_.?=&%+~:,$(){}-]*$`)

// quote writes a text as a YAML scalar, without quotes where it needs none.
func quote(s string) string {
	word := strings.ToLower(s)
	reserved := word == "true" || word == "false" || word == "null" || word == "yes" || word == "no" || word == "on" || word == "off" || word == "y" || word == "n"
	if plain.MatchString(s) && !reserved && !strings.Contains(s, ": ") && !strings.HasSuffix(s, ":") && !strings.HasSuffix(s, " ") {
		return s
	}
	return double(s)
}

// double writes a text in double quotes.
func double(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r >= 0xd800 && r < 0xe000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// printable makes a comment's text one line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}

// wrap breaks a comment at spaces.
func wrap(s string, width int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len(line)+1+len(word) > width {
			out, line = append(out, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(out, line)
}
