package ini

import (
	"fmt"
	"strings"
)

type kind int

const (
	blank   kind = iota // nothing or a comment
	header              // [section]
	entry               // key, or key = value
	include             // !include, !includedir, include=
)

// line is one entry of a file: one line of text, or several where a quoted
// PHP value spans them. The lines' texts joined are the file.
type line struct {
	text string // with its line ending
	kind kind
	num  int // 1-based

	section string // of a header
	key     string // of an entry or include as written: mysqld's "!include"
	keyEnd  int    // text[:keyEnd] ends with the key
	hasSep  bool   // there is a =
	from    int    // text[from:to] is the value with its quotes
	to      int
	value   string // as the reader of the file understands it

	files []*File // of an include
}

// body returns the text without its line ending.
func body(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'
}

const spaces = " \t\r\n\v\f"

// lines cuts src into lines.
func (d Dialect) lines(src string) ([]*line, error) {
	var out []*line
	num := 1
	for len(src) > 0 {
		end := strings.IndexByte(src, '\n') + 1
		if end == 0 {
			end = len(src)
		}
		l := &line{text: src[:end], num: num}
		for {
			open, err := d.parse(l)
			if err != nil {
				return nil, fmt.Errorf("%d: %w", num, err)
			}
			if !open {
				break
			}
			if d != PHP || end == len(src) {
				return nil, fmt.Errorf("%d: a quote opened in the value of %s is never closed", num, l.key)
			}
			more := strings.IndexByte(src[end:], '\n') + 1
			if more == 0 {
				more = len(src) - end
			}
			end += more
			*l = line{text: src[:end], num: num}
		}
		num += strings.Count(l.text, "\n")
		src = src[end:]
		out = append(out, l)
	}
	return out, nil
}

// parse fills l from its text. open says that a quote is not closed yet.
func (d Dialect) parse(l *line) (open bool, err error) {
	start := len(l.text) - len(strings.TrimLeft(l.text, spaces))
	if start == len(l.text) {
		return false, nil
	}
	switch c := l.text[start]; {
	case c == ';' || c == '#' && d == MySQL:
		return false, nil
	case c == '[':
		return false, d.parseHeader(l, start)
	case c == '!' && d == MySQL:
		return false, parseBang(l, start)
	case d == MySQL:
		parseOption(l, start)
		return false, nil
	}
	return d.parsePHP(l, start), nil
}

func (d Dialect) parseHeader(l *line, start int) error {
	end := strings.IndexByte(body(l.text)[start:], ']')
	if end < 0 {
		return fmt.Errorf("a section header has no closing bracket: %s", body(l.text)[start:])
	}
	l.kind = header
	l.section = strings.TrimRight(l.text[start+1:start+end], spaces)
	if d != MySQL {
		l.section = strings.TrimLeft(l.section, spaces)
	}
	return nil
}

// parseBang reads !include and !includedir; the rest of the line is the path.
func parseBang(l *line, start int) error {
	text := strings.TrimSpace(l.text[start+1:])
	for _, word := range []string{"includedir", "include"} {
		rest, ok := strings.CutPrefix(text, word)
		if ok && rest != "" && isSpace(rest[0]) {
			l.kind, l.key, l.value = include, "!"+word, strings.TrimSpace(rest)
			return nil
		}
	}
	return fmt.Errorf("%q is neither !include FILE nor !includedir DIR", body(l.text)[start:])
}

// parseOption reads a MySQL option. A # outside quotes starts a comment
// (remove_end_comment in my_default.c).
func parseOption(l *line, start int) {
	text := body(l.text)
	var quote byte
	escaped := false
	for i := start; i < len(text); i++ {
		c := text[i]
		if (c == '\'' || c == '"') && !escaped {
			if quote == 0 {
				quote = c
			} else if quote == c {
				quote = 0
			}
		}
		if quote == 0 && c == '#' {
			text = text[:i]
			break
		}
		escaped = quote != 0 && c == '\\' && !escaped
	}
	l.split(text, start)
	l.value = unescapeMySQL(l.text[l.from:l.to])
}

// parsePHP reads a key of php.ini or of an FPM pool. A ; outside quotes starts
// a comment.
func (d Dialect) parsePHP(l *line, start int) (open bool) {
	text := body(l.text)
	eq := strings.IndexAny(text[start:], "=;\n")
	if eq >= 0 && text[start+eq] == '=' {
		var end int
		end, open = phpValueEnd(text, start+eq+1)
		text = text[:end]
	} else if eq >= 0 {
		text = text[:start+eq]
	}
	l.split(text, start)
	l.value = unescapePHP(l.text[l.from:l.to])
	if d == FPM && l.hasSep && strings.EqualFold(l.key, "include") {
		l.kind = include
	}
	return open
}

// phpValueEnd finds where a value that may start at text[at] ends. A single
// quote opens a string only where a word starts (don't is a word).
func phpValueEnd(text string, at int) (end int, open bool) {
	word := true
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case c == ';' || c == '\n':
			return i, false
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				return len(text), true
			}
			word = true
		case c == '\'' && word:
			n := strings.IndexByte(text[i+1:], '\'')
			if n < 0 {
				word = false // a lone quote is text
				continue
			}
			i += n + 1
		default:
			word = isSpace(c) || strings.IndexByte("&|^~()!=", c) >= 0
		}
	}
	return len(text), false
}

// split finds key and value in text, which is l.text without what lies behind
// the value.
func (l *line) split(text string, start int) {
	l.kind = entry
	eq := strings.IndexByte(text, '=')
	key := text
	if eq >= 0 {
		key = text[:eq]
		l.hasSep = true
	}
	key = strings.TrimRight(key, spaces)
	l.keyEnd = len(key)
	if l.keyEnd < start {
		l.keyEnd = start
	}
	l.key = l.text[start:l.keyEnd]
	l.from, l.to = l.keyEnd, l.keyEnd
	if l.hasSep {
		rest := text[eq+1:]
		l.from = eq + 1 + len(rest) - len(strings.TrimLeft(rest, spaces))
		l.to = l.from + len(strings.TrimSpace(rest))
		if l.from == l.to { // nothing: the place right behind the =
			l.from, l.to = eq+1, eq+1
		}
	}
}
