package nginx

import "fmt"

// lexer walks one file's text. Its states are those of ngx_conf_read_token
// (nginx, src/core/ngx_conf_file.c).
type lexer struct {
	src  string
	pos  int
	line int // 1-based line of pos
}

// word is one token: raw as written, value as nginx understands it.
type word struct {
	gap   string // spaces, line ends and comments before the word
	raw   string
	value string
}

func (l *lexer) errorf(line int, format string, args ...any) error {
	return &syntaxError{line: line, text: fmt.Sprintf(format, args...)}
}

// syntaxError is a syntax error in text whose path only the caller knows.
type syntaxError struct {
	line int
	text string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func (l *lexer) advance(to int) string {
	s := l.src[l.pos:to]
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			l.line++
		}
	}
	l.pos = to
	return s
}

// trivia takes spaces and comments. A comment ends at a line feed only.
func (l *lexer) trivia() string {
	i := l.pos
	for i < len(l.src) {
		switch {
		case isSpace(l.src[i]):
			i++
		case l.src[i] == '#':
			for i < len(l.src) && l.src[i] != '\n' {
				i++
			}
		default:
			return l.advance(i)
		}
	}
	return l.advance(i)
}

// word takes one token that starts at pos, which is neither a space nor one
// of ; { } #.
func (l *lexer) word() (word, error) {
	start, line := l.pos, l.line
	if q := l.src[start]; q == '"' || q == '\'' {
		for i := start + 1; i < len(l.src); i++ {
			if l.src[i] == '\\' {
				i++
			} else if l.src[i] == q {
				raw := l.advance(i + 1)
				return word{raw: raw, value: unescape(raw[1 : len(raw)-1])}, l.afterQuote(line)
			}
		}
		return word{}, l.errorf(line, "the %c opened here is never closed", q)
	}
	variable := false // a { directly after $ belongs to the word
	for i := start; i < len(l.src); i++ {
		c := l.src[i]
		if c == '{' && variable {
			continue
		}
		variable = false
		if c == '\\' {
			i++
			continue
		}
		if c == '$' {
			variable = true
			continue
		}
		if isSpace(c) || c == ';' || c == '{' {
			raw := l.advance(i)
			return word{raw: raw, value: unescape(raw)}, nil
		}
	}
	return word{}, l.errorf(line, "the file ends inside a directive; a ; or } is missing")
}

// afterQuote refuses what nginx refuses directly behind a closing quote.
func (l *lexer) afterQuote(line int) error {
	if l.pos >= len(l.src) {
		return l.errorf(line, "the file ends inside a directive; a ; or } is missing")
	}
	if c := l.src[l.pos]; !isSpace(c) && c != ';' && c != '{' && c != ')' {
		return l.errorf(l.line, "unexpected %q after a closing quote; put a space between them", c)
	}
	return nil
}

// unescape applies nginx's escapes: \" \' \\ lose the backslash, \t \r \n
// become the character, any other backslash stays.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '"', '\'', '\\':
				i++
			case 't', 'r', 'n':
				i++
				out = append(out, map[byte]byte{'t': '\t', 'r': '\r', 'n': '\n'}[s[i]])
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}
