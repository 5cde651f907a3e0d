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

	plainQuotes bool // a ' in it is text

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
		l, err := d.line(src, num)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", num, err)
		}
		num += strings.Count(l.text, "\n")
		src = src[len(l.text):]
		out = append(out, l)
	}
	return out, nil
}

// line takes one line, or as many as a quoted PHP value needs.
func (d Dialect) line(src string, num int) (*line, error) {
	first := lineLen(src)
	for end := first; ; end += lineLen(src[end:]) {
		l := &line{text: src[:end], num: num}
		open, err := d.parse(l)
		if open == 0 || err != nil {
			return l, err
		}
		if d == PHP && end < len(src) {
			continue
		}
		if open == '"' {
			return nil, fmt.Errorf("a quote opened in the value of %s is never closed", l.key)
		}
		l = &line{text: src[:first], num: num} // a lone ' is text
		l.plainQuotes = true
		_, err = d.parse(l)
		return l, err
	}
}

// lineLen returns the length of src's first line with its line ending.
func lineLen(src string) int {
	if i := strings.IndexByte(src, '\n'); i >= 0 {
		return i + 1
	}
	return len(src)
}

// parse fills l from its text. open is a quote that is not closed yet, or 0.
func (d Dialect) parse(l *line) (open byte, err error) {
	start := len(l.text) - len(strings.TrimLeft(l.text, spaces))
	if start == len(l.text) {
		return 0, nil
	}
	switch c := l.text[start]; {
	case c == ';' || c == '#' && d == MySQL:
		return 0, nil
	case c == '[':
		return 0, d.parseHeader(l, start)
	case c == '!' && d == MySQL:
		parseBang(l, start)
		return 0, nil
	case d == MySQL:
		parseOption(l, start)
		return 0, nil
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
// The server passes over any other line with an exclamation mark.
func parseBang(l *line, start int) {
	text := strings.TrimLeft(l.text[start+1:], spaces)
	for _, word := range []string{"includedir", "include"} {
		rest, ok := strings.CutPrefix(text, word)
		if ok && (rest == "" || isSpace(rest[0])) {
			if rest != "" && !strings.HasSuffix(l.text, "\n") && !isSpace(rest[len(rest)-1]) {
				rest = rest[:len(rest)-1] // the server takes the last byte for the line end
			}
			l.kind, l.key, l.value = include, "!"+word, strings.Trim(rest, spaces)
			return
		}
	}
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
func (d Dialect) parsePHP(l *line, start int) (open byte) {
	text := body(l.text)
	eq := strings.IndexAny(text[start:], "=;\n")
	if eq >= 0 && text[start+eq] == '=' {
		var end int
		end, open = phpValueEnd(text, start+eq+1, l.plainQuotes)
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

// phpValueEnd finds where a value that may start at text[at] ends: at a ; or
// the end of line outside quotes. plain says that a ' is not a quote.
func phpValueEnd(text string, at int, plain bool) (end int, open byte) {
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case c == ';' || c == '\n':
			return i, 0
		case c == '"':
			if i = phpStringEnd(text, i+1); i >= len(text) {
				return len(text), c
			}
		case c == '\'' && !plain:
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return len(text), c
			}
			i += n + 1
		}
	}
	return len(text), 0
}

// phpStringEnd returns the place of the double quote that closes a string
// whose inside starts at text[i], len(text) if none does. A backslash takes a
// quote along, but not one at the end of a line ("C:\dir\").
func phpStringEnd(text string, i int) int {
	for ; i < len(text) && text[i] != '"'; i++ {
		if text[i] != '\\' {
			continue
		}
		if rest := text[i+1:]; rest != `"` && !strings.HasPrefix(rest, "\"\r") && !strings.HasPrefix(rest, "\"\n") {
			i++
		}
	}
	return min(i, len(text))
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
		l.to = l.from + len(strings.Trim(rest, spaces))
		if l.from == l.to { // nothing: the place right behind the =
			l.from, l.to = eq+1, eq+1
		}
	}
}
