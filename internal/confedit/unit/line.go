package unit

import (
	"strings"

	"kasoku/internal/confedit/textedit"
)

// File is one unit file or drop-in.
type File struct {
	Path string

	was, text string
	entries   []entry
}

// Bytes returns the file's text with all edits so far.
func (f *File) Bytes() []byte { return []byte(f.text) }

// entry is one assignment or section header. A line that ends in a backslash
// goes on in the next; comment lines between are passed over.
type entry struct {
	line     int // 1-based, of its first line
	from, to int // text[from:to] are its lines with the last line ending
	header   bool
	section  string
	key      string
	keyFrom  int
	value    textedit.Mapped // without white space around
	at       int             // where a value goes if there is none
}

const spaces = " \t\r\n"

func newFile(path string, src []byte) *File {
	f := &File{Path: path, was: string(src), text: string(src)}
	f.parse()
	return f
}

// parse fills f from its text (config_parse in systemd's conf-parser.c). Lines
// that are neither a header nor an assignment under one are passed over.
func (f *File) parse() {
	f.entries = nil
	section := ""
	var m textedit.Mapped
	first, line, open := 0, 0, false
	lines := textedit.Lines(f.text)
	for i, l := range lines {
		body := f.text[l.From:l.Body]
		from := l.From
		if i == 0 && strings.HasPrefix(body, textedit.BOM) {
			from += len(textedit.BOM)
			body = body[len(textedit.BOM):]
		}
		if trimmed := strings.TrimLeft(body, spaces); trimmed != "" && (trimmed[0] == '#' || trimmed[0] == ';') {
			if !open || i+1 < len(lines) {
				continue
			}
			from = l.Body // the file ends in a continuation
		}
		if !open {
			m, first, line = textedit.Mapped{}, from, l.Num
		}
		for j := from; j < l.Body; j++ {
			m.Add(f.text[j], j, j+1)
		}
		if open = continued(m.String()); open {
			n := m.Len()
			a, _ := m.Span(n-1, n, 0)
			m.Truncate(n - 1)
			m.Add(' ', a, l.To)
			if i+1 < len(lines) {
				continue
			}
		}
		f.take(&m, &section, entry{line: line, from: first, to: l.To})
		open = false
	}
}

// continued reports whether a line ends in a backslash that is not escaped.
func continued(s string) bool {
	n := len(s) - len(strings.TrimRight(s, `\`))
	return n%2 == 1
}

// take reads one logical line.
func (f *File) take(m *textedit.Mapped, section *string, e entry) {
	text := m.String()
	start := len(text) - len(strings.TrimLeft(text, spaces))
	text = strings.TrimRight(text, spaces)
	if start >= len(text) {
		return
	}
	e.keyFrom, _ = m.Span(start, start+1, 0)
	if text[start] == '[' {
		if strings.HasSuffix(text, "]") {
			*section = text[start+1 : len(text)-1]
			e.header, e.section = true, *section
			f.entries = append(f.entries, e)
		}
		return
	}
	eq := strings.IndexByte(text[start:], '=')
	if eq < 0 || *section == "" {
		return
	}
	e.section, e.key = *section, strings.TrimRight(text[start:start+eq], spaces)
	_, e.at = m.Span(start+eq, start+eq+1, 0)
	v := start + eq + 1
	v += len(text[v:]) - len(strings.TrimLeft(text[v:], spaces))
	for i := v; i < len(text); i++ {
		a, b := m.Span(i, i+1, 0)
		e.value.Add(text[i], a, b)
	}
	f.entries = append(f.entries, e)
}
