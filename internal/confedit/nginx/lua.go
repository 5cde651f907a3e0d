package nginx

import "strings"

// luaBlock reports whether a block directive's body is Lua code
// (lua-nginx-module: content_by_lua_block and its kin).
func luaBlock(name string) bool { return strings.HasSuffix(name, "_by_lua_block") }

// luaBody takes Lua code up to, not including, the brace that closes the
// block. Braces in strings, long brackets and comments do not count, as in
// lua-nginx-module's own reader.
func (l *lexer) luaBody() (string, error) {
	line, depth := l.line, 0
	for i := l.pos; i < len(l.src); {
		switch c := l.src[i]; {
		case c == '{':
			depth++
			i++
		case c == '}':
			if depth == 0 {
				return l.advance(i), nil
			}
			depth--
			i++
		case c == '"' || c == '\'':
			i = luaString(l.src, i)
		case strings.HasPrefix(l.src[i:], "--"):
			if end := luaLong(l.src, i+2); end > 0 {
				i = end
			} else if n := strings.IndexByte(l.src[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(l.src)
			}
		case c == '[':
			if end := luaLong(l.src, i); end > 0 {
				i = end
			} else {
				i++
			}
		default:
			i++
		}
	}
	return "", l.errorf(line, "the Lua block opened here is never closed; count its braces")
}

// luaString returns the place behind a short string that starts at i. A
// string that is not closed on its line ends there.
func luaString(s string, i int) int {
	q := s[i]
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case q:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(s)
}

// luaLong returns the place behind a long bracket ([[…]], [==[…]==]) that
// starts at i, or 0 if none does.
func luaLong(s string, i int) int {
	if i >= len(s) || s[i] != '[' {
		return 0
	}
	level := 0
	for i+1+level < len(s) && s[i+1+level] == '=' {
		level++
	}
	open := i + 1 + level
	if open >= len(s) || s[open] != '[' {
		return 0
	}
	end := strings.Index(s[open+1:], "]"+strings.Repeat("=", level)+"]")
	if end < 0 {
		return len(s)
	}
	return open + 1 + end + level + 2
}
