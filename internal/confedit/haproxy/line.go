package haproxy

import (
	"fmt"
	"strings"
)

// Word is one word of a statement: text[From:To] of the file, quotes included.
type Word struct {
	Text string // without quotes and escapes
	// Variable: it holds an environment variable, which only the running HAProxy
	// knows; Text has it as it is written.
	Variable bool
	From, To int
}

// spaces part words. A carriage return ends the line, but not before the first
// word nor behind a space (parse_line and readcfgfile in HAProxy's source).
const spaces = " \t\v\f"

// words cuts the line text[from:to], given without its line ending, into
// words (configuration manual, 2.2).
func words(text string, from, to int) ([]Word, error) {
	skip := func(at int) int {
		for at < to && strings.IndexByte(spaces+"\r", text[at]) >= 0 {
			at++
		}
		return at
	}
	var out []Word
	for at := skip(from); at < to && text[at] != '\r' && text[at] != '#'; {
		w, end, err := word(text[:to], at)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
		if at = end; at < to && text[at] != '\r' {
			at = skip(at)
		}
	}
	return out, nil
}

// word reads the word that begins at an offset, and returns where it ends.
func word(text string, from int) (Word, int, error) {
	var b strings.Builder
	w := Word{From: from}
	var quote byte // ' or "; 0 outside of quotes
	at := from
	for ; at < len(text); at++ {
		c := text[at]
		switch {
		case c == 0:
			return w, at, fmt.Errorf("a NUL character")
		case c == '\r', quote == 0 && (c == '#' || strings.IndexByte(spaces, c) >= 0):
			w.Text, w.To = b.String(), at
			return w, at, unclosed(quote)
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == '\\' && quote != '\'':
			taken, s, err := escape(text[at:], quote)
			if err != nil {
				return w, at, err
			}
			b.WriteString(s)
			at += taken - 1
		case c == '$' && quote == '"':
			w.Variable = true
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	w.Text, w.To = b.String(), at
	return w, at, unclosed(quote)
}

func unclosed(quote byte) error {
	if quote != 0 {
		return fmt.Errorf("a quote %c is not closed", quote)
	}
	return nil
}

// escape reads what begins with a backslash, and returns how many bytes that
// is. A backslash before anything else than these stands for itself; so does
// one before a dollar outside of quotes, where the manual says otherwise.
func escape(s string, quote byte) (taken int, text string, err error) {
	if len(s) < 2 || s[1] == '$' && quote == 0 {
		return 1, `\`, nil
	}
	switch s[1] {
	case ' ', '\\', '#', '"', '\'', '$':
		return 2, s[1:2], nil
	case 't':
		return 2, "\t", nil
	case 'n':
		return 2, "\n", nil
	case 'r':
		return 2, "\r", nil
	case 'x':
		var n int
		if len(s) < 4 || !hex(s[2]) || !hex(s[3]) {
			return 0, "", fmt.Errorf(`\x needs two hexadecimal digits`)
		}
		_, _ = fmt.Sscanf(s[2:4], "%x", &n)
		return 4, string([]byte{byte(n)}), nil
	}
	return 1, `\`, nil
}

func hex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// Quote writes a word so that it is read as it is given, quoted where needed.
func Quote(w string) string {
	plain := w != ""
	for i := range len(w) {
		if c := w[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`\"'#`, c) >= 0 {
			plain = false
		}
	}
	switch {
	case plain:
		return w
	case !strings.ContainsAny(w, "'\r\n"):
		return "'" + w + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "\r", `\r`, "\n", `\n`).Replace(w) + `"`
}
