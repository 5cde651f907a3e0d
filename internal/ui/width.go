package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Width is the number of terminal columns that s takes on one line: wide and
// fullwidth characters two (Unicode Standard Annex #11; ambiguous ones count as
// one), combining marks and joiners none, an emoji sequence as one character.
// Control characters take none.
func Width(s string) int {
	n := 0
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		n += columnsOf(g.Value(), g.Width())
	}
	return n
}

// columnsOf a grapheme cluster that displaywidth takes for width wide. A space
// after a prepended mark, and the halfwidth katakana's voice marks, belong to the
// character before them (UAX #29), but terminals give them a column.
func columnsOf(cluster string, width int) int {
	for i, r := range cluster {
		if i > 0 && (r == ' ' || r == 0xff9e || r == 0xff9f) {
			width++
		}
	}
	return width
}

// Truncate cuts s to at most width columns and ends it with "…" if it was cut.
func Truncate(s string, width int) string {
	used, at := 0, 0
	end := 0 // of what fits with "…" behind it
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		used += columnsOf(g.Value(), g.Width())
		if used > width {
			if width < 1 {
				return ""
			}
			return s[:end] + "…"
		}
		if at += len(g.Value()); used < width {
			end = at
		}
	}
	return s
}

// Pad fills s up with spaces to width columns, or cuts it to them.
func Pad(s string, width int) string {
	s = Truncate(s, width)
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// Clean makes text harmless for a terminal: control characters except line
// feed and tab, bytes that are no UTF-8, and characters that reorder text
// (Unicode bidirectional controls) become visible escapes.
func Clean(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unsafeRune(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unsafeRune(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func unsafeRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return unicode.IsControl(r)
}
