package args

import (
	"fmt"
	"strings"

	"kasoku/internal/confedit/textedit"
)

// Quoting says who splits a list into words.
type Quoting int

const (
	// Shell is sh and Python's shlex: quotes, backslashes; | & ; < > ( ) and
	// line ends part commands (POSIX Shell Command Language, 2.2 and 2.3).
	Shell Quoting = iota
	// Systemd is ExecStart= (systemd.service, "Command lines"; extract_first_word
	// in extract-word.c): both quotes take C escapes, $$ is $, %% is %, a word
	// ; parts commands.
	Systemd
	// Plain splits at white space alone, as a shell does with an unquoted
	// $DAEMON_OPTS.
	Plain
)

// Word is one argument.
type Word struct {
	From, To int    // list text [From:To) as written, with quotes
	Value    string // as the program gets it, as far as Literal
	// Literal is false where a variable, a specifier or a command is put in
	// only when the list is used.
	Literal bool
	// Operator is true of what parts commands; it is no argument.
	Operator bool

	value  textedit.Mapped
	quotes []byte // the quote around each byte of Value, 0 for none
}

// List is an argument list.
type List struct {
	Words []Word

	text    string
	quoting Quoting
	broken  string // why it cannot be split, "" if it can
}

// Parse cuts text into words. It takes every text; Err says what is wrong.
func Parse(text string, q Quoting) *List {
	l := &List{text: text, quoting: q}
	for i := 0; i < len(text) && l.broken == ""; {
		if isSpace(text[i]) && !(q == Shell && text[i] == '\n') {
			i++
			continue
		}
		if q == Shell && strings.HasPrefix(text[i:], "\\\n") { // a continued line
			i += 2
			continue
		}
		w := Word{From: i, Literal: true}
		i = l.word(&w, i)
		w.To, w.Value = i, w.value.String()
		l.Words = append(l.Words, w)
	}
	return l
}

// String returns the list's text with all edits so far.
func (l *List) String() string { return l.text }

// Err says why the text is not a list; nil if it is one.
func (l *List) Err() error {
	if l.broken == "" {
		return nil
	}
	return fmt.Errorf("arguments %q: %s", l.text, l.broken)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

const operators = "|&;<>()\n"

// word fills w from text[i:] and returns where it ends.
func (l *List) word(w *Word, i int) int {
	switch l.quoting {
	case Shell:
		if strings.IndexByte(operators, l.text[i]) >= 0 {
			w.Operator = true
			w.add(l.text[i], i, i+1, 0)
			return i + 1
		}
		if l.text[i] == '#' { // a comment, which ends the list like an operator
			w.Operator = true
			for i < len(l.text) && l.text[i] != '\n' {
				w.add(l.text[i], i, i+1, 0)
				i++
			}
			return i
		}
		return l.shellWord(w, i)
	case Systemd:
		i = l.systemdWord(w, i)
		w.Operator = l.text[w.From:i] == ";"
		return i
	}
	for i < len(l.text) && !isSpace(l.text[i]) {
		w.add(l.text[i], i, i+1, 0)
		i++
	}
	return i
}

func (w *Word) add(c byte, from, to int, quote byte) {
	w.value.Add(c, from, to)
	w.quotes = append(w.quotes, quote)
}

// shellWord reads up to unquoted white space or an operator.
func (l *List) shellWord(w *Word, i int) int {
	text := l.text
	var quote byte
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == 0 && (isSpace(c) || strings.IndexByte(operators, c) >= 0):
			return i
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == c && quote != 0:
			quote = 0
		case c == '\\' && quote != '\'':
			if i+1 == len(text) {
				l.broken = "it ends with a backslash"
				w.add(c, i, i+1, quote)
				return len(text)
			}
			next := text[i+1]
			switch {
			case next == '\n': // joins two lines
			case quote == '"' && strings.IndexByte("$`\"\\", next) < 0:
				w.add(c, i, i+1, quote)
				w.add(next, i+1, i+2, quote)
			default:
				w.add(next, i, i+2, quote)
			}
			i++
		default:
			if quote != '\'' && (c == '$' || c == '`') || quote == 0 && strings.IndexByte("*?[~", c) >= 0 {
				w.Literal = false
			}
			w.add(c, i, i+1, quote)
		}
	}
	if quote != 0 {
		l.broken = fmt.Sprintf("a %c is never closed", quote)
	}
	return i
}

// Encode writes value as one word, in the quotes that old, the raw word it
// replaces, begins with where they serve. An error says that no spelling
// exists.
func Encode(value, old string, q Quoting) (string, error) {
	if strings.IndexByte(value, 0) >= 0 {
		return "", fmt.Errorf("an argument cannot hold a zero byte: %q", value)
	}
	var quote byte
	if old != "" && (old[0] == '\'' || old[0] == '"') {
		quote = old[0]
	}
	switch {
	case q == Plain:
		if value == "" || strings.ContainsAny(value, " \t\r\n") {
			return "", fmt.Errorf("white space parts arguments here and cannot be quoted: %q", value)
		}
		return value, nil
	case quote == 0 && bare(value, q):
		return inside(value, 0, q)
	case quote == 0 && q == Shell && !strings.Contains(value, "'"):
		quote = '\''
	case quote == 0, quote == '\'' && q == Shell && strings.Contains(value, "'"):
		quote = '"'
	}
	s, err := inside(value, quote, q)
	return string(quote) + s + string(quote), err
}

// bare reports whether value needs no quotes.
func bare(value string, q Quoting) bool {
	for i := 0; i < len(value); i++ {
		c := value[i]
		if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 || strings.IndexByte("-_./:,+@=^", c) >= 0 || c == '%' || c == '$' && q == Systemd) {
			return false
		}
	}
	return value != ""
}

// inside writes value for a place between quotes of that kind, 0 for none.
func inside(value string, quote byte, q Quoting) (string, error) {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case q == Systemd && (c == '$' || c == '%'):
			b.WriteByte(c)
			b.WriteByte(c)
		case q == Systemd && c == '\n':
			b.WriteString(`\n`)
		case q == Systemd && c == '\r':
			b.WriteString(`\r`)
		case q == Systemd && (c == '\\' || c == quote):
			b.WriteByte('\\')
			b.WriteByte(c)
		case q == Shell && quote == '"' && strings.IndexByte("$`\"\\", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		case q == Shell && quote == '\'' && c == '\'':
			return "", fmt.Errorf("a single quote cannot stand between single quotes: %q", value)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}
