package record

import (
	"strings"

	"kasoku/internal/lazyregexp"
)

// word of a shell command, with the line where it begins.
type word struct {
	text string
	line int
	// unknown names variables in it, whose values are not known.
	unknown []string
	// input: the word is what the command reads, and no argument.
	input inputKind
	// nested: curl is among the commands whose output it would hold.
	nested bool
}

// command is a list of words.
type command []word

// isCmd: the text is for cmd.exe, as browsers copy it on Windows: each quote
// has a caret before it, and a caret ends each line but the last.
var isCmd = lazyregexp.New(`\^"|\^\r?\n`)

// shellCommands splits a text into commands: bash's quoting, or cmd.exe's.
func shellCommands(text string) []command {
	if isCmd.MatchString(text) {
		return cmdCommands(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	s := &shell{text: strings.ReplaceAll(text, "\r\n", "\n"), line: 1, state: &shellState{vars: map[string]string{}}}
	return s.commands()
}

// shell reads bash's words (bash(1), QUOTING).
type shell struct {
	text string
	at   int
	line int

	now  *word  // nil: between words
	buf  []byte // its text
	list command
	out  []command

	state *shellState
	depth int // of $(…)
	docs  []hereDocument
	docOf []int // the commands that read them
	// coming: the next word is the command's input.
	coming inputKind
	pipes  []pipe
	piped  bool // the present command reads from the one at from
	from   int
}

func (s *shell) next() byte {
	if s.at >= len(s.text) {
		return 0
	}
	c := s.text[s.at]
	s.at++
	if c == '\n' {
		s.line++
	}
	return c
}

func (s *shell) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *shell) add(text string) {
	if s.now == nil {
		s.now = &word{line: s.line}
	}
	s.buf = append(s.buf, text...)
}

func (s *shell) endWord() {
	if s.now != nil {
		s.now.text = string(s.buf)
		if s.now.input = s.coming; s.coming == inputText {
			s.now.text += "\n"
		}
		s.coming = noInput
		s.list = append(s.list, *s.now)
		s.now, s.buf = nil, s.buf[:0]
	}
}

func (s *shell) endCommand() {
	if s.endWord(); len(s.list) > 0 {
		if !s.assign() {
			if s.piped {
				s.pipes = append(s.pipes, pipe{s.from, len(s.out)})
			}
			s.out = append(s.out, s.list)
		}
		s.list = nil
	}
	s.piped = false
}

func (s *shell) commands() []command {
	for s.at < len(s.text) {
		switch c := s.next(); c {
		case ' ', '\t':
			s.endWord()
		case '\n':
			s.documents()
			s.endCommand()
		case '|':
			s.pipe()
		case ';', '&', '(', ')':
			s.endCommand()
		case '<':
			if s.now != nil {
				s.run()
				continue
			}
			s.redirect()
		case '#':
			if s.now != nil {
				s.add("#")
				continue
			}
			for s.peek() != '\n' && s.peek() != 0 {
				s.at++
			}
		case '\\':
			if n := s.next(); n != '\n' && n != 0 {
				s.addByte()
			}
		case '\'':
			s.single()
		case '"':
			s.double()
		case '$':
			s.dollar(false)
		default:
			s.run()
		}
	}
	s.documents()
	s.endCommand()
	return s.joinPipes()
}

// pipe ends a command whose output the next one reads; || only ends it.
func (s *shell) pipe() {
	s.endCommand()
	if s.peek() == '|' {
		s.at++
		return
	}
	s.piped, s.from = true, len(s.out)-1
}

// run adds bytes up to the next one that means something.
func (s *shell) run() {
	from := s.at - 1
	for s.at < len(s.text) && strings.IndexByte(" \t\n;|&()#\\'\"$", s.text[s.at]) < 0 {
		s.at++
	}
	s.add(s.text[from:s.at])

}

func (s *shell) single() {
	s.add("")
	end := strings.IndexByte(s.text[s.at:], '\'')
	if end < 0 {
		end = len(s.text) - s.at
	}
	part := s.text[s.at : s.at+end]
	s.add(part)
	s.line += strings.Count(part, "\n")
	s.at = min(s.at+end+1, len(s.text))
}

func (s *shell) double() {
	s.add("")
	for s.at < len(s.text) {
		switch c := s.next(); c {
		case '"':
			return
		case '\\':
			n := s.next()
			if strings.IndexByte("\"\\$`", n) < 0 && n != '\n' {
				s.add(`\`)
			}
			if n != '\n' && n != 0 {
				s.addByte()
			}
		case '$':
			s.dollar(true)
		default:
			s.addByte()
		}
	}
}

func (s *shell) addByte() { s.add(s.text[s.at-1 : s.at]) }

// dollar: $'…', or a variable, whose value is not known.
func (s *shell) dollar(quoted bool) {
	if !quoted && s.peek() == '\'' {
		s.at++
		s.ansi()
		return
	}
	if s.peek() == '(' {
		if length, nested := s.substitution(); length > 0 {
			s.line += strings.Count(s.text[s.at:s.at+length], "\n")
			s.at += length
			s.add(fillIn)
			s.now.nested = s.now.nested || nested
			s.now.unknown = append(s.now.unknown, "$(…)")
			return
		}
	}
	name := variableName(s.text[s.at:min(len(s.text), s.at+maxVariableName)])
	if name == "" {
		s.add("$")
		return
	}
	s.at += len(name)
	s.line += strings.Count(name, "\n")
	if value, ok := s.known(name); ok {
		s.add(value)
		return
	}
	s.add(fillIn)
	s.now.unknown = append(s.now.unknown, toldVariable(name))
}

// toldVariable is the name without what may be its value: ${KEY:-value}, $(…).
func toldVariable(name string) string {
	plain := plainVariable.FindString(strings.TrimPrefix(name, "{"))
	switch {
	case name[0] == '(':
		return "$(…)"
	case name[0] != '{':
		return "$" + plain
	case plain+"}" == name[1:]:
		return "${" + plain + "}"
	}
	return "${" + plain + "…}"
}

// maxVariableName bytes of a variable with its braces.
const maxVariableName = 250

var plainVariable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*`)

// variableName that a text begins with: a name, {…} or (…) of one line; "" if
// it begins with none.
func variableName(text string) string {
	if text == "" || text[0] != '{' && text[0] != '(' {
		return plainVariable.FindString(text)
	}
	end := strings.IndexAny(text, map[byte]string{'{': "}\n", '(': ")\n"}[text[0]])
	if end < 0 || text[end] == '\n' {
		return ""
	}
	return text[:end+1]
}

// escapes of $'…' (bash(1), QUOTING).
var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'e': "\x1b", 'f': "\f", 'v': "\v", '\\': "\\", '\'': "'", '"': "\"", '?': "?"}

func (s *shell) ansi() {
	s.add("")
	for s.at < len(s.text) {
		c := s.next()
		switch {
		case c == '\'':
			return
		case c != '\\':
			s.addByte()
		default:
			n := s.next()
			if text, ok := escapes[n]; ok {
				s.add(text)
			} else if digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[n]; digits > 0 {
				s.add(s.code(digits, n == 'x'))
			} else if n >= '0' && n <= '7' {
				s.at--
				s.add(s.octal())
			} else if n != 0 {
				s.add(`\`)
				s.addByte()
			}
		}
	}
}

// octal is the byte of up to three octal digits.
func (s *shell) octal() string {
	value := 0
	for n := 0; n < 3 && s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '7'; n++ {
		value = value<<3 | int(s.text[s.at]-'0')
		s.at++
	}
	return string([]byte{byte(value)})
}

func (s *shell) code(most int, raw bool) string {
	value, n := rune(0), 0
	for ; n < most && s.at < len(s.text) && isHex(s.text[s.at]); n++ {
		c := s.text[s.at] | 0x20
		if c >= 'a' {
			c -= 'a' - '9' - 1
		}
		value = value<<4 + rune(c-'0')
		s.at++
	}
	if raw {
		return string([]byte{byte(value)})
	}
	return string(value)
}
