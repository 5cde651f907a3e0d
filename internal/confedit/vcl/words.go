package vcl

import (
	"fmt"
	"strings"
)

// argument is one word of a command line.
type argument struct {
	gap   string // what stands before it
	raw   string // as written
	value string
}

// cutLine cuts a line into words as a POSIX shell and systemd both do: spaces
// part words, a backslash before a line end is a space, quotes hold spaces.
// What a shell would do more ($NAME, $(…), globs) is left as it is written.
func cutLine(s string) (list []argument, tail string, err error) {
	for pos := 0; ; {
		start := pos
		for pos < len(s) && (isSpace(s[pos]) || s[pos] == '\\' && lineEndAt(s, pos+1) > 0) {
			if s[pos] == '\\' {
				pos += lineEndAt(s, pos+1)
			}
			pos++
		}
		if pos == len(s) {
			return list, s[start:], nil
		}
		a := argument{gap: s[start:pos]}
		end, value, err := cutWord(s, pos)
		if err != nil {
			return nil, "", err
		}
		a.raw, a.value = s[pos:end], value
		list = append(list, a)
		pos = end
	}
}

// lineEndAt returns the length of the line end at pos, 0 if there is none.
func lineEndAt(s string, pos int) int {
	switch {
	case strings.HasPrefix(s[min(pos, len(s)):], "\r\n"):
		return 2
	case strings.HasPrefix(s[min(pos, len(s)):], "\n"):
		return 1
	}
	return 0
}

func cutWord(s string, pos int) (end int, value string, err error) {
	var b strings.Builder
	quote := byte(0)
	for i := pos; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && isSpace(c):
			return i, b.String(), nil
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote && quote != 0:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(s):
			if n := lineEndAt(s, i+1); n > 0 {
				i += n
				continue
			}
			i++
			if quote == '"' && strings.IndexByte("\"\\$`", s[i]) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	if quote != 0 {
		return 0, "", fmt.Errorf("read a command line: the %c in %q is never closed", quote, s[pos:])
	}
	return len(s), b.String(), nil
}

// writeWord writes a value as one word of a line, with quotes where needed.
func writeWord(value string) string {
	plain := value != ""
	for i := 0; i < len(value); i++ {
		if isSpace(value[i]) || strings.IndexByte("\"'\\$`*?[]#~&|;<>(){}!", value[i]) >= 0 {
			plain = false
		}
	}
	if plain {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value) + `"`
}
