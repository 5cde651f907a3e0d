// Package literal replaces an exact text in a file whose format Kasoku does
// not know, such as a database's address in an application's settings.
//
// In: a file's bytes, the text and its replacement. Out: the new bytes and how
// many places were replaced. A place counts only where the text is a token of
// its own, so that 127.0.0.1:3306 is not found in 127.0.0.1:33060 and /tmp/a
// not in /tmp/a.bak.
package literal

import "bytes"

// Replace puts new in every place where old stands as a token, and returns how
// many there were. Everything else stays byte for byte. An empty old is found
// nowhere. The result never shares memory with src.
func Replace(src []byte, old, new string) ([]byte, int) {
	out := make([]byte, 0, len(src))
	count, from := 0, 0
	for i := 0; old != ""; {
		n := bytes.Index(src[i:], []byte(old))
		if n < 0 {
			break
		}
		at := i + n
		if !isToken(src, at, at+len(old)) {
			i = at + 1
			continue
		}
		out = append(append(out, src[from:at]...), new...)
		from = at + len(old)
		i = from
		count++
	}
	return append(out, src[from:]...), count
}

// isToken reports whether src[from:to] neither begins nor ends inside a longer
// word, number, host name or path.
func isToken(src []byte, from, to int) bool {
	if from > 0 {
		before := src[from-1]
		if word(before) && (word(src[from]) || src[from] == '/' || src[from] == '.') {
			return false
		}
		// 10.0.0.1 is not 0.0.1: a dot joins if a word is on its other side.
		if before == '.' && word(src[from]) && from > 1 && word(src[from-2]) {
			return false
		}
		if before == '/' && src[from] == '/' && !bytes.HasSuffix(src[:from], []byte("://")) {
			return false
		}
	}
	if to < len(src) {
		after, last := src[to], src[to-1]
		if word(after) && (word(last) || last == '/' || last == '.') {
			return false
		}
		if after == '.' && word(last) && to+1 < len(src) && word(src[to+1]) {
			return false
		}
		if after == '/' && src[from] == '/' { // /tmp/a is not /tmp/a/b
			return false
		}
	}
	return true
}

// word reports whether c goes on with a word: letters, digits, _ and -, and
// any byte of a character outside ASCII.
func word(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}
