package accesslog

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"kasoku/internal/redact"
)

// decode undoes the escapes of nginx (\x22), Apache (\", \\, \n) and JSON
// (\u0022), in place. A backslash before anything else stays.
func decode(b []byte) []byte {
	at := bytes.IndexByte(b, '\\')
	if at < 0 {
		return b
	}
	to := at
	for i := at; i < len(b); {
		c := b[i]
		if c != '\\' || i+1 == len(b) {
			b[to] = c
			i, to = i+1, to+1
			continue
		}
		plain, size := escaped(b[i:])
		if size == 0 {
			b[to] = c
			i, to = i+1, to+1
			continue
		}
		if plain < utf8.RuneSelf || b[i+1] != 'u' {
			b[to] = byte(plain)
			to++
		} else {
			to += utf8.EncodeRune(b[to:to+utf8.UTFMax], plain) // \uXXXX is longer than its UTF-8
		}
		i += size
	}
	return b[:to]
}

// escaped reads one escape; size 0: it is none.
func escaped(b []byte) (plain rune, size int) {
	switch b[1] {
	case 'x', 'X':
		if len(b) >= 4 {
			if hi, lo := hexValue(b[2]), hexValue(b[3]); hi >= 0 && lo >= 0 {
				return rune(hi<<4 | lo), 4
			}
		}
	case 'u':
		r, ok := unicode(b)
		if !ok {
			return 0, 0
		}
		if r >= 0xd800 && r < 0xdc00 {
			if low, ok := unicode(b[6:]); ok && low >= 0xdc00 && low < 0xe000 {
				return (r-0xd800)<<10 | (low - 0xdc00) + 0x10000, 12
			}
		}
		return r, 6
	case '"', '\\', '/', '\'':
		return rune(b[1]), 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'v':
		return '\v', 2
	}
	return 0, 0
}

// unicode reads \uXXXX.
func unicode(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range b[2:6] {
		v := hexValue(c)
		if v < 0 {
			return 0, false
		}
		r = r<<4 | rune(v)
	}
	return r, true
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// quoteText shows a line in a message without its secrets, at most n bytes of it.
func quoteText(b []byte, n int) string {
	text := redact.Line(string(b[:min(len(b), 4*n)])) // no longer: patterns go over it
	if len(text) > n {
		return strconv.Quote(text[:n]) + "…"
	}
	return strconv.Quote(text)
}
